import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Filters that age with the airflow.
@Suite("Filters") struct FilterTests {
  private static let hour: Int64 = 3_600_000

  private func node(stored: StoredState = [:]) -> TestNode {
    TestNode(
      [
        FanControlServer.make(features: [], speeds: 10), FilterServer.hepa(lifetime: .seconds(100 * 3600)),
        FilterServer.carbon(lifetime: .seconds(50 * 3600)),
      ], stored: stored)
  }

  @Test func servesValidValues() throws {
    for server in [FilterServer.hepa(lifetime: .seconds(60)), FilterServer.carbon(lifetime: .seconds(60))] {
      expectConformance(of: server)
    }
  }

  @Test("the condition falls with the airflow") func ages() throws {
    let node = node()
    node.wait(1000 * Self.hour)
    #expect(node[HepaFilterMonitoring.condition] == 100)
    try node.write(FanControl.percentSetting, .value(50))
    node.wait(20 * Self.hour + 1000)
    #expect(node[HepaFilterMonitoring.condition] == 90)
    #expect(node[ActivatedCarbonFilterMonitoring.condition] == 80)
    try node.write(FanControl.percentSetting, .value(100))
    node.wait(35 * Self.hour)
    #expect(node[HepaFilterMonitoring.condition] == 55)
    #expect(node[ActivatedCarbonFilterMonitoring.condition] == 10)
    #expect(node[ActivatedCarbonFilterMonitoring.changeIndication] == .warning)
    #expect(node[HepaFilterMonitoring.changeIndication] == .ok)
    node.wait(5 * Self.hour)
    #expect(node[ActivatedCarbonFilterMonitoring.condition] == 0)
    #expect(node[ActivatedCarbonFilterMonitoring.changeIndication] == .critical)
    // One report for each percent.
    #expect(
      try node.takeReports(of: ActivatedCarbonFilterMonitoring.condition).map(\.value)
        == Array((0...99 as ClosedRange<UInt8>).reversed()))
  }

  @Test func isReset() throws {
    let node = node()
    node.setClock(1000)
    node.act(HepaFilterMonitoring.condition, 5)
    #expect(node[HepaFilterMonitoring.changeIndication] == .warning)
    node.wait(5000)
    try node.invoke(HepaFilterMonitoring.resetCondition)
    #expect(node[HepaFilterMonitoring.condition] == 100 && node[HepaFilterMonitoring.changeIndication] == .ok)
    #expect(node[HepaFilterMonitoring.lastChangedTime] == .value(1005))
    #expect(node[ActivatedCarbonFilterMonitoring.lastChangedTime] == .null)
    #expect(self.node(stored: node.stored)[HepaFilterMonitoring.lastChangedTime] == .value(1005))
  }

  @Test("a filter that was taken out does not age") func isTakenOut() throws {
    let node = node()
    try node.write(FanControl.fanMode, .high)
    node.act(HepaFilterMonitoring.inPlaceIndicator, false)
    node.wait(10 * Self.hour)
    #expect(node[HepaFilterMonitoring.condition] == 100)
    node.act(HepaFilterMonitoring.inPlaceIndicator, true)
    node.wait(10 * Self.hour + 1000)
    #expect(node[HepaFilterMonitoring.condition] == 90)
  }

  @Test("the use survives a restart") func survivesRestart() throws {
    let node = node()
    try node.write(FanControl.fanMode, .high)
    node.wait(30 * Self.hour + 1000)
    let restarted = self.node(stored: node.stored)
    #expect(restarted[HepaFilterMonitoring.condition] == 70)
    #expect(restarted[FanControl.percentCurrent] == 100)
    restarted.wait(10 * Self.hour + 1000)
    #expect(restarted[HepaFilterMonitoring.condition] == 60)
  }

  @Test func wearIsIndependentOfItsSteps() {
    var (whole, parts) = (
      FilterWear(lifetime: .seconds(360_000), at: .zero), FilterWear(lifetime: .seconds(360_000), at: .zero)
    )
    (whole.airflow, parts.airflow) = (37, 37)
    whole.advance(to: .zero + .seconds(100_000))
    for second in stride(from: 1000 as Int64, through: 100_000, by: 1000) {
      parts.advance(to: .zero + .seconds(second))
    }
    #expect(whole == parts && whole.used == .seconds(37_000) && whole.condition == 90)
    whole.advance(to: .zero + .seconds(100_000_000))
    #expect(whole.condition == 0 && whole.nextChange == nil)
    // An earlier time has no effect.
    parts.advance(to: .zero)
    #expect(parts.used == .seconds(37_000))
  }
}
