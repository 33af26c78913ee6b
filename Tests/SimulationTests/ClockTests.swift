import HearthHome
import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

/// A home whose host clock is set during operation.
@Suite struct ClockTests {
  private static let hour: Int64 = 3_600_000_000

  private func set(_ home: FollowedHome, by step: Int64) throws {
    let engine = try #require(home.home.engine)
    let time = engine.time + step
    home.home.command { engine, now in engine.noteClock(time, at: now) }
  }

  @Test(arguments: [24 * hour, -hour]) func eventsHaveTheNewTime(_ step: Int64) throws {
    let home = try FollowedHome()
    try home.start()
    let before = try #require(home.home.engine).time
    try set(home, by: step)
    #expect(home.home.engine?.time == before + step)
    let isOn = try home.lampState()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run { home.lampIsOn($0) == !isOn })
    let last = try #require(home.log.last)
    #expect(last.time >= before + step && last.time < before + step + 60_000_000)
    // No device is late because of the step, and the next report stays due.
    let contact = try #require(home.home.engine?.reducer.contacts[2]?.nextReport)
    #expect(contact > before + step && contact < before + step + 70_000_000)
    try home.world.run(for: .seconds(600))
    #expect(home.isOnline("1") && home.isOnline("2"))
  }

  /// The grace period is measured in elapsed time, independent of the wall clock.
  @Test(arguments: [24 * hour, -hour]) func gracePeriodIgnoresClockSteps(_ step: Int64) throws {
    let home = try FollowedHome { $0.grace = .seconds(300) }
    try home.start()
    home.lamp.cutPower()
    #expect(try home.run(for: .seconds(120)) { $0.devices["1"]?.isOnline == false })
    func settled() -> ConnectivityState? {
      home.home.engine?.reducer.settledConnectivity(of: "1").connectivityState
    }
    try set(home, by: step)
    try home.world.run(for: .seconds(290))
    #expect(settled() == .online)
    try home.world.run(for: .seconds(20))
    #expect(settled() == .offline)
  }
}
