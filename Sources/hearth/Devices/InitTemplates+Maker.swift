extension Init.Kind {
  static let makerDefinition = """
    # A fan with a cluster of its manufacturer. docs/catalogue.md describes the language of its declaration.
    #
    #   hearth run FILE              start it; Ctrl-C stops it
    #   hearth pair CODE             in another terminal, with the code that `hearth run` prints
    #
    # With the declaration in a file of its own, named here as `clusters: [acme-fan.cluster]`, a controller knows its names:
    #
    #   hearth home clusters add acme-fan.cluster
    #   hearth read fan.acmeFan.speed
    #   hearth invoke fan.acmeFan.goToSpeed speed=80 transitionTime=50

    home: My fan

    clusters:
      - |
        # 0xFFF1 is a vendor for tests.
        cluster 0xFFF1FC20 AcmeFan "Acme Fan" revision 1
        feature 0 TRB Turbo

        // The speed in percent.
        attribute 0x0000 Speed    uint8  max 100 nonvolatile write operate = 0
        attribute 0x0001 IsTurbo  bool   TRB = false

        command 0x00 GoToSpeed
          0 Speed uint8
          1 TransitionTime uint16 O // tenths of a second
          emit SpeedRequested Speed = field.Speed Previous = attribute.Speed
          transition Speed to field.Speed over field.TransitionTime tenths
        command 0x01 Step
          0 Difference int8
          add field.Difference to Speed
        command 0x02 ToggleTurbo TRB
          toggle IsTurbo

        event 0x00 SpeedRequested info
          0 Speed uint8
          1 Previous uint8

    devices:
      - name: Fan
        type: fan
        # The cluster with its feature.
        clusters: [AcmeFan TRB]
        attributes: { acmeFan.speed: 30 }

    """
}
