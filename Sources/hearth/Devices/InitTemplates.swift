extension Init.Kind {
  /// The text of a definition file.
  var definition: String {
    switch self {
    case .light: Self.lightDefinition
    case .bridge: Self.bridgeDefinition
    case .sensors: Self.sensorsDefinition
    case .alarms: Self.alarmsDefinition
    case .appliances: Self.appliancesDefinition
    case .lock: Self.lockDefinition
    case .climate: Self.climateDefinition
    case .covers: Self.coversDefinition
    case .water: Self.waterDefinition
    case .energy: Self.energyDefinition
    case .software: Self.softwareDefinition
    case .media: Self.mediaDefinition
    case .maker: Self.makerDefinition
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

      - name: Flower Bed
        type: soil sensor
        behave:
          soilMeasurement.soilMoistureMeasuredValue: { steps: [60% for 12h, 40% for 12h, 20% for 12h] }

      - name: Leak
        type: water leak detector
        behave:
          # Dry for an hour, then leaking for good. A file with a time and a value in each line: { file: leak.csv }
          booleanState.stateValue: { steps: [false for 1h, true] }

    """

  private static let alarmsDefinition = """
    # Alarms, air quality, and a battery.
    #
    #   hearth run FILE              start them; Ctrl-C stops them
    #   hearth pair CODE             for each device, with the code that `hearth run` prints
    #   hearth sim trigger 'Hall Alarm' smokeWarning

    home: My alarms

    devices:
      # An alarm always has a battery, which can be replaced: hearth sim set 'Hall Alarm.powerSource.batPercentRemaining=100%'
      - name: Hall Alarm
        type: smoke CO alarm
        # The key that controllers need to cause test events.
        enableKey: "00112233445566778899aabbccddeeff"
        battery: { charge: 90%, type: AA, cells: 2, lasts: 3y }

      - name: Kitchen Alarm
        type: smoke alarm
        behave:
          smokeCoAlarm.smokeState: { steps: [Normal for 6h, Warning for 2m, Critical for 3m] }

      # The air quality follows the concentrations.
      - name: Air
        type: air quality sensor
        behave:
          carbonDioxideConcentrationMeasurement.measuredValue:
            walk: { from: 450, to: 1800, step: 60, every: 1m }

      # Any device can have a battery. Each time that the door opens or closes takes 0.02% of the charge.
      - name: Front Door
        type: contact sensor
        battery: { type: CR2450, lasts: 2y, perUse: 0.02% }
        behave:
          booleanState.stateValue: { steps: [true for 55m, false for 5m] }

    """

  private static let appliancesDefinition = """
    # Appliances that run a program and end.
    #
    #   hearth run FILE                                     start them; Ctrl-C stops them
    #   hearth pair CODE                                    for each, with the code that `hearth run` prints
    #   hearth invoke washer.operationalState.start         start a run
    #   hearth sim set Robot.wheels=stuck                   interrupt a run; continue with wheels=free

    home: My appliances

    devices:
      - name: Washer
        type: laundry washer
        # The names and times of the phases. Without this line the washer has the usual ones.
        phases: { Washing: 40m, Rinsing: 20m, Spinning: 10m }
        modes:
          Normal: { tags: [normal] }
          # A run takes half of the time.
          Quick: { tags: [quick], pace: 50% }

      - name: Robot
        type: robotic vacuum cleaner
        # The areas and the time that each takes.
        areas: { Kitchen: 8m, Living Room: 15m }

    """

  private static let lockDefinition = """
    # A door lock.
    #
    #   hearth run FILE              start it; Ctrl-C stops it
    #   hearth pair CODE             in another terminal, with the code that `hearth run` prints
    #   hearth invoke 'Front Door.doorLock.unlockDoor'
    #
    # At the door:
    #
    #   hearth sim set 'Front Door.doorLock.lockState=Locked'        turn the key
    #   hearth sim set 'Front Door.doorLock.doorState=DoorOpen'      open the door
    #   hearth sim set 'Front Door.keypad=1234'                      enter a code at the keypad
    #   hearth sim set 'Front Door.bolt=blocked'                     jam the bolt (until it is `free`)

    home: My lock

    devices:
      - name: Front Door
        type: door lock
        attributes:
          # Locks 30 seconds after it was unlocked, as soon as the door is closed. 0: never.
          doorLock.autoRelockTime: 30
          # The third wrong code in a row disables codes for a minute.
          doorLock.wrongCodeEntryLimit: 3
          doorLock.userCodeTemporaryDisableTime: 60
          # Whether commands need a PIN code. Controllers set users and their codes.
          doorLock.requirePINforRemoteOperation: false

    """

  private static let climateDefinition = """
    # A room with a thermostat, and devices that move and clean the air.
    #
    #   hearth run FILE              start them; Ctrl-C stops them
    #   hearth pair CODE             for each device, with the code that `hearth run` prints
    #   hearth sim ps                list the temperatures and speeds
    #   hearth sim set Thermostat.thermostat.localTemperature=15C      let cold air into the room

    home: My climate

    devices:
      - name: Thermostat
        room: Living Room
        type: thermostat
        # The temperature of the room at the start.
        attributes: { thermostat.localTemperature: 18C }
        behave:
          # The weather.
          thermostat.outdoorTemperature:
            sine: { mean: 6C, amplitude: 5C, period: 24h }
        # The heat capacity of the room, its loss of heat to the outdoors, and the powers. 0W: it can't heat or cool.
        climate: { capacity: 2000kJ/K, loss: 80W/K, heating: 3000W, cooling: 0W }

      - name: Thermometer
        room: Living Room
        type: temperature sensor
        behave:
          temperatureMeasurement.measuredValue: { room: Living Room }

      - name: Air Conditioner
        room: Bedroom
        type: room air conditioner
        attributes: { thermostat.localTemperature: 28C, thermostat.outdoorTemperature: 32C }

      # A valve with a battery, which opens the farther the colder the room is.
      - name: Radiator
        room: Bathroom
        type: radiator thermostat
        attributes: { thermostat.localTemperature: 17C, thermostat.outdoorTemperature: 4C }

      # Its thermostat is on endpoint 2. `performance` is the heat for each unit of electrical energy at 7 °C outdoors.
      - name: Heat Pump
        room: Workshop
        type: heat pump
        attributes: { 2.thermostat.localTemperature: 16C, 2.thermostat.outdoorTemperature: 2C }
        climate: { heating: 6000W, performance: 4 }

      - name: Fan
        room: Bedroom
        type: fan

      - name: Purifier
        room: Bedroom
        type: air purifier
        # The time of use at full speed for which the filters last.
        filters: { hepa: 4000h, carbon: 2000h }

      - name: Hood
        type: extractor hood

      # A tank of hot water: hearth sim set Boiler.tap=open
      - name: Boiler
        type: water heater
        attributes: { thermostat.localTemperature: 48C }
        tank:
          volume: 200l
          heaters: { immersionElement1: 3kW }
          # The water that is drawn, in liters per minute.
          draw: { steps: [0 for 6h, 8 for 10m, 0 for 17h] }

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
