import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// Air quality and concentrations in virtual time.
@Suite("Air quality") struct AirQualityTests {
  private typealias CO2 = CarbonDioxideConcentrationMeasurement
  private typealias PM = Pm25ConcentrationMeasurement

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  // MARK: The window

  @Test func averagesOverWindow() {
    var window = MovingWindow(.seconds(600))
    window.measure(10, at: at(0))
    #expect(window.mean == 10 && window.peak == 10 && window.nextChange == nil)
    window.measure(40, at: at(100))
    window.advance(to: at(200))
    #expect(window.mean == 25 && window.peak == 40)
    #expect(window.nextChange == at(210))
    // 100 s with 10 and 500 s with 40.
    window.advance(to: at(600))
    #expect(window.mean == 35)
    window.advance(to: at(700))
    #expect(window.mean == 40 && window.nextChange == nil)
    // The peak leaves the window.
    window.measure(1, at: at(700))
    window.advance(to: at(1290))
    #expect(window.peak == 40)
    window.advance(to: at(1301))
    #expect(window.peak == 1 && window.mean == 1)
    // An unknown value does not count.
    window.measure(nil, at: at(1400))
    window.advance(to: at(1500))
    #expect(window.mean == 1)
    window.advance(to: at(2001))
    #expect(window.mean == nil && window.peak == nil && window.nextChange == nil)
  }

  @Test("sums up frequent values") func limitsSlices() throws {
    var window = MovingWindow(.seconds(600))
    for second in 0...6000 as ClosedRange<Int64> {
      window.measure(Double(second % 2), at: at(0) + .milliseconds(100 * second))
    }
    let mean = try #require(window.mean)
    #expect(abs(mean - 0.5) < 0.001 && window.peak == 1)
  }

  // MARK: The servers

  @Test(arguments: AirQualityServers.concentrations + [AirQualityServers.airQuality()])
  func conforms(_ server: ClusterServer) throws {
    expectConformance(of: server)
  }

  private func node() -> TestNode {
    TestNode(
      [AirQualityServers.airQuality()]
        + AirQualityServers.concentrations.filter { [CO2.id, PM.id].contains($0.id) })
  }

  @Test func ratesAirByWorstConcentration() {
    let node = node()
    #expect(node[AirQuality.airQuality] == .good && node[CO2.levelValue] == .low)
    node.act(CO2.measuredValue, .value(1200))
    #expect(node[AirQuality.airQuality] == .moderate && node[CO2.levelValue] == .medium)
    node.act(PM.measuredValue, .value(60))
    #expect(node[AirQuality.airQuality] == .veryPoor && node[PM.levelValue] == .critical)
    node.act(CO2.measuredValue, .value(9000))
    #expect(node[AirQuality.airQuality] == .extremelyPoor)
    node.act(CO2.measuredValue, .null)
    #expect(node[AirQuality.airQuality] == .veryPoor && node[CO2.levelValue] == .unknown)
    node.act(PM.measuredValue, .null)
    #expect(node[AirQuality.airQuality] == .unknown)
    node.act(PM.measuredValue, .value(10))
    #expect(node[AirQuality.airQuality] == .good)
    // A physical change stays.
    node.act(AirQuality.airQuality, .poor)
    node.act(PM.measuredValue, .value(100))
    #expect(node[AirQuality.airQuality] == .poor)
  }

  @Test func summarizesLastHour() throws {
    let node = node()
    node.wait(1_800_000)
    node.act(CO2.measuredValue, .value(1600))
    node.wait(1_800_000)
    #expect(node[CO2.peakMeasuredValue] == .value(1600))
    let average = try #require(node[CO2.averageMeasuredValue].wrapped)
    #expect(abs(average - 1100) < 20)
    node.act(CO2.measuredValue, .value(600))
    node.wait(3_700_000)
    #expect(node[CO2.peakMeasuredValue] == .value(600) && node[CO2.averageMeasuredValue] == .value(600))
    // A settled value needs no timer.
    #expect(node.context.node.timers.isEmpty)
  }

  @Test func limitsConcentrations() throws {
    let node = node()
    let path = CO2.measuredValue.path(on: 1)
    try node.check(path, Float(10_000).tlv)
    for value in [-1, 10_001] as [Float] {
      let error = #expect(throws: StatusError.self) { try node.check(path, value.tlv) }
      #expect(error?.status.code == .constraintError)
    }
  }
}
