extension Init.Kind {
  static let energyDefinition = """
    # Devices that measure, generate and store electrical energy.
    #
    #   hearth run FILE              start them; Ctrl-C stops them
    #   hearth pair CODE             for each device, with the code that `hearth run` prints
    #   hearth sim set Heater.electricalPowerMeasurement.activePower=1.5kW      the appliance demands another power
    #   hearth sim set 'Home Battery.electricalPowerMeasurement.activePower=-2kW'        discharge the battery
    #   hearth sim set 'Wallbox.cable=plugged in'                               or unplugged

    home: My energy

    devices:
      # The power flows while the plug is on.
      - name: Heater
        type: metering plug
        load: 800W
        attributes: { onOff.onOff: true }

      # The power follows the daylight and clouds.
      - name: Roof
        type: solar power
        solar: { peak: 8kW, latitude: 48.1, longitude: 11.6, clouds: 40% }

      # A positive load charges the battery, a negative one discharges it.
      - name: Home Battery
        type: battery storage
        storage: { capacity: 10kWh, charge: 35%, charging: 5kW, discharging: 4kW }
        load: { steps: [3kW for 4h, 0W for 8h, -2kW for 6h, 0W for 6h] }

      # A charging station with its vehicle, which is unplugged at first. A controller enables charging.
      - name: Wallbox
        type: EVSE
        vehicle: { capacity: 60kWh, charge: 45%, charging: 7.4kW, trip: 9kWh }

      # A utility meter. The price of a kWh depends on the time of the day.
      - name: Grid Meter
        type: electrical utility meter
        load: { walk: { from: -2kW, to: 4kW, step: 300W, every: 1m } }
        tariff:
          prices: { Peak: 0.38, Off-peak: 0.24 }
          day: [Off-peak, Peak from 6:00, Off-peak from 22:00]
          weekend: [Off-peak]

    """
}
