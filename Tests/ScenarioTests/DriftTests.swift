import MatterProtocol
import NIOCore
import Simulation
import Synchronization
import Testing

@testable import Scenario

/// Clock drift of a machine in real time. Here the thread of its loop runs on virtual time.
@Suite struct DriftTests {
  private static func seconds(_ time: NIODeadline) -> Double { Double(time.uptimeNanoseconds) / 1e9 }

  @Test func appliesDriftToClocks() throws {
    let world = World(seed: 1)
    let machine = RealMachine(on: world.addMachine("loop").eventLoop, in: RealNetworks())
    let loop: any EventLoop = machine.loop
    let (wall, start) = (machine.unixMicroseconds(), world.now)
    machine.setDrift(500_000)
    try world.run(for: .seconds(100))
    #expect(abs(Self.seconds(loop.now) - 150) < 0.001)
    machine.setDrift(-500_000)
    // The clock is continuous when the drift changes.
    #expect(abs(Self.seconds(loop.now) - 150) < 0.001)
    try world.run(for: .seconds(100))
    #expect(abs(Self.seconds(loop.now) - 200) < 0.001)
    // The wall clock drifts as well; the host's own clock has hardly advanced.
    machine.setDrift(500_000)
    try world.run(until: start + .seconds(7_400))
    let shown = machine.unixMicroseconds() - wall
    #expect(shown >= 3_600_000_000 && shown < 4_200_000_000, "\(shown)")
    machine.moveWallClock(by: .seconds(-3_600))
    let moved = machine.unixMicroseconds() - wall - shown
    #expect(moved <= -3_000_000_000 && moved >= -3_600_000_000, "\(moved)")
  }

  @Test func appliesDriftToTimers() throws {
    let world = World(seed: 1)
    let machine = RealMachine(on: world.addMachine("loop").eventLoop, in: RealNetworks())
    let loop: any EventLoop = machine.loop
    let fired = Mutex<[String]>([])
    loop.scheduleTask(in: .seconds(100)) { fired.withLock { $0.append("old") } }
    let never = loop.scheduleTask(in: .seconds(100)) { fired.withLock { $0.append("never") } }
    try world.run(for: .seconds(40))
    // The remaining 60 s take 40 s.
    machine.setDrift(500_000)
    never.cancel()
    loop.scheduleTask(in: .seconds(90)) { fired.withLock { $0.append("new") } }
    try world.run(for: .milliseconds(39_900))
    #expect(fired.withLock(\.self).isEmpty)
    try world.run(for: .milliseconds(200))
    #expect(fired.withLock(\.self) == ["old"])
    // The remaining 29.85 s take 59.7 s.
    machine.setDrift(-500_000)
    try world.run(for: .milliseconds(59_500))
    #expect(fired.withLock(\.self) == ["old"])
    try world.run(for: .milliseconds(400))
    #expect(fired.withLock(\.self) == ["old", "new"])
  }
}
