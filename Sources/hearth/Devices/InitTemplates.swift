extension Init.Kind {
  /// The text of a definition file.
  var definition: String {
    switch self {
    case .light: Self.lightDefinition
    case .bridge: Self.bridgeDefinition
    case .sensors: Self.sensorsDefinition
    case .covers: Self.coversDefinition
    case .water: Self.waterDefinition
    case .house: Self.houseDefinition
    }
  }

  private static let lightDefinition = """
    # One dimmable light.
    #
    #   hearth run FILE              start it; Ctrl-C stops it
    #   hearth pair CODE             in another terminal, with the code that `hearth run` prints
    #   hearth level lamp 40%

    home: My home

    devices:
      - name: Lamp
        # `hearth types` lists the types of devices.
        type: dimmable light
        # The initial state. Levels are from 1 to 254.
        attributes:
          onOff.onOff: false
          levelControl.currentLevel: 128
        # Optional. Codes, serial number and ids are derived from the room and the name, so they are the same in each run.
        # room: Kitchen
        # passcode: 61837254
        # discriminator: 2976
        # port: 5540

    """

  private static let bridgeDefinition = """
    # A bridge: one Matter node with several devices behind it.
    #
    #   hearth run FILE              start it; Ctrl-C stops it
    #   hearth pair CODE             commission the bridge and all devices behind it
    #   hearth sim power Lamp off    make a device unreachable for the bridge

    home: My bridge

    devices:
      - name: Cellar Bridge
        type: bridge
        devices:
          - name: Lamp
            room: Hall
            type: dimmable light

          # `count` makes several devices of one entry: Spot 1 to Spot 3.
          - name: Spot
            room: Kitchen
            type: on/off light
            count: 3

          - name: Heater
            room: Bathroom
            type: plug

          # Each button is an endpoint.
          - name: Remote
            type: generic switch
            buttons: [On, Off]

    """

  private static let sensorsDefinition = """
    # Sensors that change by themselves.
    #
    #   hearth run FILE              start them; Ctrl-C stops them
    #   hearth pair CODE             for each sensor, with the code that `hearth run` prints
    #   hearth sim set Outdoor.temperatureMeasurement.measuredValue=-5C
    #
    # A value that is set stays until the device starts again: hearth sim power Outdoor cycle

    home: My sensors

    devices:
      # A sensor without `behave` keeps its value: hearth sim set Door.booleanState.stateValue=false
      - name: Door
        type: contact sensor

      - name: Motion
        type: occupancy sensor
        behave:
          # Each value with its time; the list starts again at its end.
          occupancySensing.occupancy: { steps: [false for 4m, true for 1m] }

      - name: Outdoor
        type: temperature sensor
        behave:
          # 12 °C on average, from 4 °C to 20 °C within 24 hours.
          temperatureMeasurement.measuredValue:
            sine: { mean: 12C, amplitude: 8C, period: 24h }

      - name: Humidity
        type: humidity sensor
        behave:
          # A random walk, which moves by at most `step` each minute.
          relativeHumidityMeasurement.measuredValue:
            walk: { from: 40%, to: 60%, step: 1%, every: 1m }

      - name: Leak
        type: water leak detector
        behave:
          # Dry for an hour, then leaking for good. A file with a time and a value in each line: { file: leak.csv }
          booleanState.stateValue: { steps: [false for 1h, true] }

    """

  private static let houseDefinition = """
    # A house with lights, plugs and switches.
    #
    #   hearth run FILE              start all devices; Ctrl-C stops them
    #   hearth pair CODE             for each device, with the code that `hearth run` prints
    #   hearth sim press Doorbell long

    home: My house

    # A device in any other room is an error.
    rooms: [Hall, Kitchen, Living Room, Bedroom]

    devices:
      - name: Hall Light
        room: Hall
        type: on/off light

      # `count` makes several devices of one entry: Downlight 1 to Downlight 4.
      - name: Downlight
        room: Kitchen
        type: dimmable light
        count: 4

      - name: Kettle
        room: Kitchen
        type: plug

      - name: Corner Lamp
        room: Living Room
        type: color temperature light
        # In mireds, a million divided by the kelvins: 2700 K.
        attributes: { colorControl.colorTemperatureMireds: 370 }

      - name: Bookcase
        room: Living Room
        type: extended color light

      # A light switch controls the lights that it is bound to: hearth bind 'Bed Switch' 'Bed Lamp'
      - name: Bed Switch
        room: Bedroom
        type: on/off light switch

      - name: Bed Lamp
        room: Bedroom
        type: dimmable light
        # Its state after a power cut: On, Off, Toggle, or null for the state before.
        attributes: { onOff.startUpOnOff: "Off" }

      # Reports short, long and double presses as events.
      - name: Doorbell
        room: Hall
        type: generic switch

    """
}
