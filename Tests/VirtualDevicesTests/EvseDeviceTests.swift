import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Charging stations with their vehicles, in virtual time.
@Suite("Charging stations") struct EvseDeviceTests {
  private typealias Evse = EnergyEvse
  private typealias Energy = ElectricalEnergyMeasurement

  private func load(_ text: String) throws -> [DeviceDefinition] {
    try HomeDefinition.load(simulating: [("home.yaml", "devices:\n" + text)]).devices
  }

  /// - Parameter epoch: Unix time at the start in seconds.
  private func engine(_ text: String, epoch: Int64? = nil) throws -> DeviceEngine {
    try DeviceEngine(try #require(try load(text).first), epoch: epoch)
  }

  private func at(_ minutes: Int64) -> Instant { .zero + .seconds(60 * minutes) }

  private let enabled = "energyEvse.chargingEnabledUntil: null"

  private func imported(_ engine: inout DeviceEngine, on endpoint: EndpointID = 2) -> Int64? {
    engine.value(Energy.cumulativeEnergyImported, on: endpoint)?.wrapped?.energy
  }

  @Test("the meter measures the energy of the vehicle") func measures() throws {
    var station = try engine(
      """
        - name: A
          type: wallbox
          vehicle: { capacity: 40kWh, charge: 50%, charging: 3.6kW }
          attributes: { \(enabled), energyEvse.state: PluggedInDemand, energyEvse.circuitCapacity: 20A }

      """)
    #expect(station.value(Evse.state, on: 1) == .value(.pluggedInCharging))
    #expect(station.value(Evse.maximumChargeCurrent, on: 1) == 20_000)
    #expect(station.value(ElectricalPowerMeasurement.activePower, on: 2) == .value(3_600_000))
    #expect(station.value(PowerTopology.availableEndpoints, on: 2) == [1])
    #expect(VirtualDevice.charging(&station, on: 1) == "plugged in charging, 3600.0 W")
    advance(&station, to: at(60))
    try station.act(part: "cable", "unplugged", on: 1, at: at(60))
    #expect(station.value(ElectricalPowerMeasurement.activePower, on: 2) == .value(0))
    advance(&station, to: at(90))
    try station.act(part: "charge", "95%", on: 1, at: at(90))
    try station.act(part: "cable", "plugged in", on: 1, at: at(90))
    advance(&station, to: at(300))
    // 2 kWh more, until the vehicle is full.
    #expect(imported(&station) == 5_600_000 && VirtualDevice.charging(&station, on: 1) == "plugged in no demand")
    #expect(station.value(Evse.sessionEnergyCharged, on: 1) == .value(2_000_000))
  }

  @Test("follows the course of a vehicle that comes and goes") func followsCourse() throws {
    var station = try engine(
      """
        - name: A
          type: EVSE
          vehicle: { capacity: 60kWh, charge: 60%, charging: 7kW, trip: 3.5kWh }
          attributes: { \(enabled) }
          behave:
            energyEvse.state: { steps: [NotPluggedIn for 10h, PluggedInDemand for 14h] }

      """)
    advance(&station, to: at(9 * 60))
    #expect(station.value(Evse.state, on: 1) == .value(.notPluggedIn) && imported(&station) == 0)
    advance(&station, to: at(24 * 60 - 1))
    #expect(imported(&station) == 27_500_000 && station.value(Evse.sessionID, on: 1) == .value(1))
    advance(&station, to: at(24 * 60 + 10 * 60 + 29))
    #expect(station.value(Evse.state, on: 1) == .value(.pluggedInCharging))
    advance(&station, to: at(48 * 60))
    #expect(imported(&station) == 31_000_000 && station.value(Evse.sessionID, on: 1) == .value(2))
  }

  @Test("a station behind a bridge keeps its vehicle without power") func keepsVehicle() throws {
    var bridge = try engine(
      """
        - name: B
          type: bridge
          devices:
            - name: A
              type: EVSE
              vehicle: { charging: 6kW }
              attributes: { \(enabled), energyEvse.state: PluggedInDemand }

      """)
    let endpoints = (1...5).map { EndpointID($0) }
    let station = try #require(endpoints.first { bridge.value(Evse.state, on: $0) != nil })
    let meter = try #require(endpoints.first { bridge.value(Energy.cumulativeEnergyImported, on: $0) != nil })
    advance(&bridge, to: at(60))
    try bridge.power(false, bridgedOn: station, at: at(60))
    advance(&bridge, to: at(120))
    try bridge.power(true, bridgedOn: station, at: at(120))
    #expect(bridge.value(Evse.state, on: station) == .value(.pluggedInCharging))
    advance(&bridge, to: at(180))
    #expect(bridge.value(Evse.sessionEnergyCharged, on: station) == .value(12_000_000))
    #expect(imported(&bridge, on: meter) == 12_000_000)
  }

  @Test("reports the state of charge only with provisional features") func servesProvisional() throws {
    var usual = try engine("  - { name: A, type: EVSE }\n")
    var smart = try engine("  - { name: A, type: EVSE, provisional: true }\n")
    #expect(usual.value(Evse.stateOfCharge, on: 1) == nil && smart.value(Evse.stateOfCharge, on: 1) == .null)
  }

  @Test(
    arguments: [
      ("type: EVSE, vehicle: 60kWh", "a vehicle with"),
      ("type: EVSE, vehicle: { capacity: 60 }", "an energy from 100Wh"),
      ("type: EVSE, vehicle: { charge: 120% }", "a charge from 0% to 100%"),
      ("type: EVSE, vehicle: { charging: 0W }", "a power up to 100kW"),
      ("type: EVSE, vehicle: { trip: -1kWh }", "an energy up to 1000kWh"),
      ("type: EVSE, vehicle: { capacity: 60kWh, trip: 90kWh }", "an energy up to the capacity of the vehicle"),
      ("type: EVSE, vehicle: { range: 300km }", "capacity, charge, charging or trip"),
      ("type: EVSE, load: 60W", "“battery storage”"),
      ("type: EVSE, attributes: { energyEvse.circuitCapacity: 5A }", "a number from 6.0 A to 80.0 A"),
      ("type: EVSE, attributes: { energyEvse.state: Fault }", "NotPluggedIn (0), PluggedInNoDemand (1)"),
      ("type: battery storage, vehicle: { charge: 5% }", "“EVSE”"),
    ] as [(String, String)]) func reportsErrors(_ entry: String, _ expected: String) throws
  {
    let error = #expect(throws: DefinitionError.self) { try load("  - { name: A, \(entry) }\n") }
    #expect(error?.problems.contains { "\($0)".contains(expected) } == true, "\(error?.problems.map { "\($0)" } ?? [])")
  }
}
