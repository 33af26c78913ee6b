import MatterClusters
import MatterModel
import Scenario
import Simulation
import Testing
import VirtualDevices

/// What devices keep while they have no power.
@Suite("Loss of power") struct PowerLossTests {
  @Test("meters and batteries keep the energy since the last snapshot") func keepsEnergy() async throws {
    let definition = try SimulatedHomeTests.definition(
      """
      devices:
        - { name: Plug, type: metering plug, load: 1kW, attributes: { onOff.onOff: true } }
        - { name: Battery, type: battery storage, storage: { capacity: 10kWh, charge: 20% }, load: 2kW }
      """)
    let run = await simulate(definition, seed: 1) { _, world -> ([Int64], [UInt8]) in
      typealias Energy = ElectricalEnergyMeasurement
      let meter = AttributePlace(Energy.id, Energy.cumulativeEnergyImported.id)
      let charge = AttributePlace(PowerSource.id, PowerSource.batPercentRemaining.id, on: 3)
      var (energies, charges): ([Int64], [UInt8]) = ([], [])
      for _ in 0...10 {
        try await world.simulation.sleep(for: .seconds(54))
        for device in ["Plug", "Battery"] {
          try await world.cutPower(of: device)
          try await world.restorePower(of: device)
        }
        let energy = try #require(await world.value(of: meter, in: "Plug"))
        energies.append(try Energy.EnergyMeasurementStruct(tlv: energy).energy)
        let percent = try #require(await world.value(of: charge, in: "Battery"))
        charges.append(try UInt8(tlv: percent))
      }
      return (energies, charges)
    }
    let (energies, charges) = try run.result.get()
    // 540 seconds with 1 kW, and 300 Wh in steps of 50 Wh.
    #expect(abs((energies.last ?? 0) - (energies.first ?? 0) - 150_000) <= 1, "\(energies)")
    #expect((5...7).contains(Int(charges.last ?? 0) - Int(charges.first ?? 0)), "\(charges)")
  }

  @Test("a freezer and a tank approach the temperature around them") func changesTemperatures() async throws {
    let definition = try SimulatedHomeTests.definition(
      """
      devices:
        - { name: Fridge, type: refrigerator }
        - { name: Boiler, type: water heater, attributes: { thermostat.localTemperature: 60C } }
      """)
    let run = await simulate(definition, seed: 1) { _, world -> (Int16, Int16) in
      for device in ["Fridge", "Boiler"] { try await world.cutPower(of: device) }
      try await world.simulation.sleep(for: .seconds(36_000))
      for device in ["Fridge", "Boiler"] { try await world.restorePower(of: device) }
      let measured = AttributePlace(TemperatureMeasurement.id, TemperatureMeasurement.measuredValue.id, on: 3)
      let local = AttributePlace(Thermostat.id, Thermostat.localTemperature.id)
      let freezer = try #require(await world.value(of: measured, in: "Fridge"))
      let water = try #require(await world.value(of: local, in: "Boiler"))
      return (try Int16(tlv: freezer), try Int16(tlv: water))
    }
    let (freezer, water) = try run.result.get()
    #expect((1750...1800).contains(freezer))
    #expect((5600...5700).contains(water))
  }
}
