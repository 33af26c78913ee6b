import HearthHome
import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import HomeControl
@testable import Simulation

/// Restarts that end before the subscription times out. The only sign is the repeated, unchanged announcement.
@Suite struct UnnoticedRestartTests {
  /// - Parameter echoes: when the announcement is received again, in milliseconds: on other interfaces, or repeated.
  @Test(arguments: [[], [100], [300, 700], [990]] as [[Int64]]) func reportsChangesSoonAfterRestart(_ echoes: [Int64])
    throws
  {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    let (wasOn, count) = (try home.lampState(), home.log.count)
    home.lamp.cutPower()
    try home.world.run(for: .milliseconds(800))
    home.lamp.powerOn()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !wasOn, on: 1, at: now) }
    let (announced, service) = (home.world.now, try #require(home.service(of: 1)))
    for echo in echoes {
      try home.world.run(until: announced + .milliseconds(echo))
      home.home.command { engine, now in engine.handle(.serviceFound(service), at: now) }
    }
    #expect(try home.run(for: announced + .seconds(2) - home.world.now) { home.lampIsOn($0) == !wasOn })
    // The device never counted as offline, and neither did the others.
    try home.world.run(for: .seconds(100))
    let changes = home.log.dropFirst(count).flatMap(\.changes)
    #expect(!changes.contains { if case .connectivity = $0 { true } else { false } }, "\(changes)")
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, wasOn, on: 1, at: now) }
    #expect(try home.run(for: .seconds(1)) { home.lampIsOn($0) == wasOn })
  }

  /// The device does not probe for name conflicts, so it announces itself at once.
  @Test(arguments: [0, 1, 100, 500, 749, 751] as [Int64])
  func handlesRestartRightAfterSubscribing(_ milliseconds: Int64) throws {
    let home = try FollowedHome()
    try home.start()
    let isOn = try home.lampState()
    home.lamp.restart()
    #expect(try home.run(for: .seconds(3)) { _ in home.home.engine?.probes.isEmpty == false })
    #expect(try home.run(for: .seconds(3)) { _ in home.home.engine?.probes.isEmpty == true })
    // The subscription was renewed.
    try home.world.run(for: .milliseconds(milliseconds))
    home.lamp.restart()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run(for: .seconds(7)) { home.lampIsOn($0) == !isOn })
  }

  /// The device restarts again at any point while it grants a new subscription: after each of its packets.
  @Test func handlesRestartWhileSubscribing() throws {
    func restarted() throws -> (FollowedHome, wasOn: Bool) {
      let home = try FollowedHome()
      try home.start()
      try home.world.run(for: .seconds(20))
      let isOn = try home.lampState()
      home.lamp.restart()
      home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
      return (home, isOn)
    }
    let (whole, _) = try restarted()
    let first = whole.world.trace.entries.count
    #expect(try whole.run(for: .seconds(3)) { _ in whole.home.engine?.probes.isEmpty == false })
    #expect(try whole.run(for: .seconds(3)) { _ in whole.home.engine?.probes.isEmpty == true })
    try whole.world.run(for: .milliseconds(100))
    let entries = whole.world.trace.entries[first...]
    let moments = Set(
      entries.filter { $0.host == whole.lamp.id && [.sent, .received].contains($0.kind) }.map(\.at)
    ).sorted()
    #expect((8...40).contains(moments.count), "\(moments)")
    for moment in moments {
      let (home, isOn) = try restarted()
      try home.world.run(until: moment)
      home.lamp.restart()
      home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, isOn, on: 1, at: now) }
      // The report before the restart, if there was one, is followed by that of the second.
      try home.world.run(for: .seconds(7))
      #expect(try home.lampState() == isOn, "\(moment)")
      home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
      #expect(try home.run(for: .seconds(1)) { home.lampIsOn($0) == !isOn }, "\(moment)")
    }
  }

  /// The service record expired because its announcements were lost, or a host with the same name withdrew it. The
  /// device was reachable all the time, and is not reported offline.
  @Test(arguments: [0, 10, 1000, 20_000] as [Int64]) func returningServiceIsNotOffline(_ milliseconds: Int64) throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    let (count, service) = (home.log.count, try #require(home.service(of: 1)))
    home.home.command { engine, now in engine.handle(.serviceLost(service), at: now) }
    try home.world.run(for: .milliseconds(milliseconds))
    home.home.command { engine, now in engine.handle(.serviceFound(service), at: now) }
    try home.world.run(for: .seconds(100))
    let changes = home.log.dropFirst(count).flatMap(\.changes)
    #expect(!changes.contains { if case .connectivity = $0 { true } else { false } }, "\(changes)")
    let isOn = try home.lampState()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run(for: .seconds(1)) { home.lampIsOn($0) == !isOn })
  }

  /// Queries for a device are echoed as announcements, which must not restart a probe in progress.
  @Test(arguments: [true, false]) func limitsProbesOfSilentDevice(_ wasWithdrawn: Bool) throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    let service = try #require(home.service(of: 1))
    home.world.network.partition([home.home.id], from: [home.lamp.id])
    let before = home.world.network.packetCount
    func handle(_ input: Input) { home.home.command { engine, now in engine.handle(input, at: now) } }
    if wasWithdrawn { handle(.serviceLost(service)) }
    for _ in 0..<500 {
      handle(.serviceFound(service))
      try home.world.run(for: .milliseconds(10))
    }
    // One read and two session establishments, each sent up to five times.
    #expect(home.world.network.packetCount - before <= 20, "\(home.world.network.packetCount - before)")
  }

  /// The process or the machine was suspended long enough for nodes to drop their subscriptions.
  @Test func probesAllDevicesAfterSuspension() throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    let (wasOn, count) = (try home.lampState(), home.log.count)
    home.world.network.partition([home.home.id], from: [home.lamp.id, home.bridge.id])
    for isOn in [!wasOn, wasOn] {
      home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, isOn, on: 1, at: now) }
      try home.world.run(for: .seconds(15))
    }
    home.world.network.heal()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !wasOn, on: 1, at: now) }
    home.home.command { engine, now in engine.awake(at: now) }
    #expect(try home.run(for: .seconds(3)) { home.lampIsOn($0) == !wasOn })
    try home.world.run(for: .seconds(100))
    let changes = home.log.dropFirst(count).flatMap(\.changes)
    #expect(!changes.contains { if case .connectivity = $0 { true } else { false } }, "\(changes)")
  }

  @Test func updatesBridgedDevicesAfterRestart() throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    home.bridge.restart()
    home.bridge.command { engine, now in try? engine.power(false, bridgedOn: 3, at: now) }
    #expect(try home.run(for: .seconds(2)) { $0.devices["2/3"]?.isOnline == false })
    #expect(home.isOnline("2/2") && home.isOnline("1"))
  }

  /// Repeated restarts: each change is reported, and no node is probed more often than every 5 s.
  @Test func reportsChangesOfEachRestart() throws {
    let home = try FollowedHome()
    try home.start()
    for pause in [20, 1, 2, 7, 1, 1] as [Int64] {
      try home.world.run(for: .seconds(pause))
      home.lamp.restart()
      let isOn = try home.lampState()
      home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
      #expect(try home.run(for: .seconds(7)) { home.lampIsOn($0) == !isOn }, "\(pause)")
    }
  }

  /// Ten changed announcements in ten seconds without a restart cause only a few small reads.
  @Test func limitsProbesOfFrequentAnnouncements() throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    let sessions = home.home.engine?.controller.establishedSubscriptions.sorted()
    let before = home.world.network.packetCount
    let service = try #require(home.service(of: 1))
    for number in 0..<10 {
      home.home.command { engine, now in
        var service = service
        service.text.append(.init("X", "\(number)"))
        engine.handle(.serviceFound(service), at: now)
      }
      try home.world.run(for: .seconds(1))
    }
    try home.world.run(for: .seconds(3))
    // A read, its report and an acknowledgment, at 0 s, 1 s, 2.5 s, 5.5 s and 10.5 s.
    #expect(home.world.network.packetCount - before <= 15, "\(home.world.network.packetCount - before)")
    #expect(home.home.engine?.controller.establishedSubscriptions.sorted() == sessions)
    #expect(home.home.engine?.probes.isEmpty == true)
  }

  /// An announcement received on several interfaces causes one read, with its report and an acknowledgment, and
  /// another one at the next time allowed, since the device may have restarted in between.
  @Test func mergesAnnouncementsOfSeveralInterfaces() throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    let (before, service) = (home.world.network.packetCount, try #require(home.service(of: 1)))
    for _ in 0..<3 {
      home.home.command { engine, now in engine.handle(.serviceFound(service), at: now) }
      try home.world.run(for: .milliseconds(200))
    }
    try home.world.run(for: .seconds(8))
    #expect(home.world.network.packetCount - before <= 8, "\(home.world.network.packetCount - before)")
  }

  /// The device had just answered the probe for another announcement.
  @Test(arguments: [30, 100, 300, 490, 510, 990] as [Int64])
  func handlesRestartRightAfterProbe(_ milliseconds: Int64) throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    let (isOn, service) = (try home.lampState(), try #require(home.service(of: 1)))
    home.home.command { engine, now in engine.handle(.serviceFound(service), at: now) }
    try home.world.run(for: .milliseconds(milliseconds))
    home.lamp.restart()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run(for: .seconds(7)) { home.lampIsOn($0) == !isOn })
  }

  /// An announcement right after subscribing causes a small read a little later, unless a report arrives before.
  @Test(arguments: [true, false]) func delaysProbeAfterSubscribing(_ isHeard: Bool) throws {
    let home = try FollowedHome()
    try home.start()
    let service = try #require(home.service(of: 1))
    home.lamp.cutPower()
    #expect(try home.run(for: .seconds(120)) { $0.devices["1"]?.isOnline == false })
    home.lamp.powerOn()
    #expect(try home.run(for: .seconds(2)) { $0.devices["1"]?.isOnline == true })
    let sessions = try #require(home.home.engine?.controller.establishedSubscriptions.sorted())
    try home.world.run(for: .milliseconds(20))
    let before = home.world.network.packetCount
    home.home.command { engine, now in engine.handle(.serviceFound(service), at: now) }
    try home.world.run(for: .milliseconds(100))
    #expect(home.world.network.packetCount == before)
    if isHeard {
      let isOn = try home.lampState()
      home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    }
    try home.world.run(for: .seconds(3))
    // A report and its response; or a read, its report and an acknowledgment.
    #expect(home.world.network.packetCount - before <= (isHeard ? 3 : 4), "\(home.world.network.packetCount - before)")
    #expect((home.home.engine?.followed[1]?.probedAt == nil) == isHeard)
    #expect(home.home.engine?.probes.isEmpty == true)
    #expect(home.home.engine?.controller.establishedSubscriptions.sorted() == sessions)
  }

  /// After restarts of all devices, no more calls run at once than at the start.
  @Test func limitsConcurrentCalls() throws {
    let home = try FollowedHome { $0.maximumAttempts = 1 }
    try home.start()
    try home.world.run(for: .seconds(20))
    let isOn = try home.lampState()
    home.lamp.restart()
    home.bridge.restart()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    home.bridge.command { engine, now in try? engine.power(false, bridgedOn: 3, at: now) }
    var most = 0
    let isHeard = try home.run(for: .seconds(5)) {
      most = max(most, home.home.engine?.attempts.count ?? 0)
      return home.lampIsOn($0) == !isOn && $0.devices["2/3"]?.isOnline == false
    }
    #expect(isHeard && most == 1, "\(most)")
  }
}

extension FollowedHome {
  /// Returns the service that a node announces.
  fileprivate func service(of node: NodeID) -> MatterService? {
    guard let fabric = home.engine?.controller.fabric.compressedFabricID else { return nil }
    return world.discovery.publications.map(\.service).first {
      $0.kind == .operational(compressedFabricID: fabric, nodeID: node.rawValue)
    }
  }
}
