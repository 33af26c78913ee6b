import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// The servers of sensors.
@Suite("Sensors") struct SensorTests {
  private static let servers: [ClusterServer] = [
    SensorServers.booleanState(false), SensorServers.booleanState(true), SensorServers.occupancySensing(),
    SensorServers.temperature(), SensorServers.humidity(), SensorServers.illuminance(), SensorServers.pressure(),
    SensorServers.flow(), SensorServers.soilMoisture(),
  ]

  @Test func servesMandatoryElementsWithValidValues() throws {
    for server in Self.servers {
      expectConformance(of: server)
    }
  }

  /// The payloads of the events of a cluster, each a structure with one field.
  private func payloads<C: Cluster>(_ node: TestNode, _: C.Type) -> [[UInt8]] {
    node.context.node.events.records.filter { $0.path.cluster == C.id }.map(\.payload)
  }

  @Test func emitsEventForEachChangeOfState() {
    let node = TestNode([SensorServers.booleanState(true)])
    node.act(BooleanState.stateValue, true)
    #expect(payloads(node, BooleanState.self).isEmpty)
    node.act(BooleanState.stateValue, false)
    node.act(BooleanState.stateValue, true)
    #expect(
      payloads(node, BooleanState.self)
        == [BooleanState.StateChangeEvent(stateValue: false).tlv, BooleanState.StateChangeEvent(stateValue: true).tlv])
  }

  @Test("the range of a sensor includes the present value") func keepsRange() throws {
    let node = TestNode([SensorServers.temperature()])
    let error = StatusError(.invalidInState)
    #expect(throws: error) { try node.press(TemperatureMeasurement.maxMeasuredValue, .value(1000)) }
    #expect(throws: error) { try node.press(TemperatureMeasurement.minMeasuredValue, .value(2001)) }
    try node.press(TemperatureMeasurement.maxMeasuredValue, .value(2000))
    try node.press(TemperatureMeasurement.measuredValue, .null)
    try node.press(TemperatureMeasurement.maxMeasuredValue, .value(1000))
    #expect(node[TemperatureMeasurement.maxMeasuredValue] == .value(1000))
  }

  @Test func holdsOccupancy() throws {
    let node = TestNode([SensorServers.occupancySensing()])
    try node.write(OccupancySensing.holdTime, 5)
    node.act(OccupancySensing.occupancy, .occupied)
    node.wait(60_000)
    #expect(node[OccupancySensing.occupancy] == .occupied)
    node.act(OccupancySensing.occupancy, [])
    node.wait(4000)
    #expect(node[OccupancySensing.occupancy] == .occupied)
    // A detection restarts the hold time.
    node.act(OccupancySensing.occupancy, .occupied)
    node.act(OccupancySensing.occupancy, [])
    node.wait(4900)
    // The same state without a detection does not restart it.
    node.act(OccupancySensing.occupancy, [])
    #expect(node[OccupancySensing.occupancy] == .occupied)
    node.wait(200)
    #expect(node[OccupancySensing.occupancy] == [])
    #expect(
      payloads(node, OccupancySensing.self)
        == [
          OccupancySensing.OccupancyChangedEvent(occupancy: .occupied).tlv,
          OccupancySensing.OccupancyChangedEvent(occupancy: []).tlv,
        ])
  }

  @Test func limitsHoldTime() throws {
    let node = TestNode([SensorServers.occupancySensing()])
    for time in [0, 3601] as [UInt16] {
      let error = #expect(throws: StatusError.self) { try node.write(OccupancySensing.holdTime, time) }
      #expect(error?.status.code == .constraintError)
    }
    try node.write(OccupancySensing.holdTime, 3600)
    #expect(node[OccupancySensing.holdTime] == 3600)
  }

  @Test func limitsMeasurements() throws {
    let node = TestNode([SensorServers.temperature()])
    let path = TemperatureMeasurement.measuredValue.path(on: 1)
    #expect(throws: StatusError.self) { try node.check(path, Int16(8501).tlv) }
    try node.check(path, Int16(8500).tlv)
    try node.check(path, Nullable<Int16>.null.tlv)
  }
}
