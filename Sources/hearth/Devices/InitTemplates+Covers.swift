extension Init.Kind {
  static let coversDefinition = """
    # Window coverings, and a closure.
    #
    #   hearth run FILE              start them; Ctrl-C stops them
    #   hearth pair CODE             for each covering, with the code that `hearth run` prints
    #   hearth invoke shade.windowCovering.goToLiftPercentage liftPercent100thsValue=50%
    #   hearth sim set Shade.windowCovering.safetyStatus=ObstacleDetected       something is in the way
    #   hearth sim set Curtain.windowCovering.currentPositionLiftPercent100ths=30%       moved by hand
    #   hearth invoke garage.closureControl.moveTo position=MoveToFullyOpen
    #   hearth sim set Garage.way=blocked                                                something is in the way

    home: My coverings

    devices:
      # Lift only, 20 s from open to closed.
      - name: Shade
        type: window covering

      # The motors, each with the time of a full travel.
      - name: Blind
        type: window covering
        travel: { lift: 30s, tilt: 2s }

      # Without an encoder the position is unknown (null) after a movement by hand, and after a loss of power on the way.
      - name: Curtain
        type: window covering
        travel: 8s
        encoder: false

      # A garage door with a latch and one panel, which is endpoint 2.
      - name: Garage
        type: closure
        travel: 15s
        closure: { kind: garage door, panels: { Door: { moves: upward, range: [0mm, 2100mm] } } }

    """

  static let waterDefinition = """
    # A water valve and a pump.
    #
    #   hearth run FILE              start them; Ctrl-C stops them
    #   hearth pair CODE             for each device, with the code that `hearth run` prints
    #   hearth invoke sprinkler.valveConfigurationAndControl.open openDuration=600 targetLevel=50
    #   hearth sim set Sprinkler.valveConfigurationAndControl.valveFault=Blocked
    #   hearth sim set Pump.pumpConfigurationAndControl.speed=0                 the rotor is blocked

    home: My water

    devices:
      - name: Sprinkler
        type: water valve
        # The time from closed to open.
        travel: 3s
        attributes:
          # Seconds; null for no limit.
          valveConfigurationAndControl.defaultOpenDuration: 900

      # The level is the set point; speed, capacity and power follow with inertia.
      - name: Pump
        type: pump
        attributes:
          pumpConfigurationAndControl.controlMode: ConstantPressure

    """
}
