import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import Home
@testable import Simulation

/// A device is started again before anybody misses it. All that tells is that it announces itself, the same as before.
@Suite struct UnnoticedRestartTests {
  /// - Parameter echoes: when it is heard again what it announced, in milliseconds: on other interfaces, or repeated.
  @Test(arguments: [[], [100], [300, 700], [990]] as [[Int64]]) func whatItSaysIsHeardSoon(_ echoes: [Int64]) throws {
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
    // It was there all the time, as far as anybody can say, and the others were.
    try home.world.run(for: .seconds(100))
    let changes = home.log.dropFirst(count).flatMap(\.changes)
    #expect(!changes.contains { if case .connectivity = $0 { true } else { false } }, "\(changes)")
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, wasOn, on: 1, at: now) }
    #expect(try home.run(for: .seconds(1)) { home.lampIsOn($0) == wasOn })
  }

  /// Whoever is alone with us does not look for others of its name first: it announces itself at once.
  @Test(arguments: [0, 1, 100, 500, 749, 751] as [Int64])
  func soIsWhoIsStartedAgainJustAfterItsSubscriptionStands(_ milliseconds: Int64) throws {
    let home = try FollowedHome()
    try home.start()
    let isOn = try home.lampState()
    home.lamp.restart()
    #expect(try home.run(for: .seconds(3)) { _ in home.home.engine?.probes.isEmpty == false })
    #expect(try home.run(for: .seconds(3)) { _ in home.home.engine?.probes.isEmpty == true })
    // Its subscription is anew.
    try home.world.run(for: .milliseconds(milliseconds))
    home.lamp.restart()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run(for: .seconds(7)) { home.lampIsOn($0) == !isOn })
  }

  /// Who was asked for a new subscription goes before it has granted it, at any moment of that.
  @Test(arguments: stride(from: 1000, through: 1100, by: 2).map(Int64.init))
  func soIsWhoIsStartedAgainWhileItIsAskedForAnother(_ milliseconds: Int64) throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    let isOn = try home.lampState()
    home.lamp.restart()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    try home.world.run(for: .milliseconds(milliseconds))
    home.lamp.restart()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, isOn, on: 1, at: now) }
    let began = home.world.now
    // What the first one told is heard, if it came to that; then what the second one is.
    try home.world.run(for: .seconds(7))
    #expect(try home.lampState() == isOn)
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run(for: .seconds(1)) { home.lampIsOn($0) == !isOn }, "\(home.world.now - began)")
  }

  /// Its record ran out, as all that told of it was lost, or another one of its host name took that back: it was there all the
  /// time, and is not said to have been away.
  @Test(arguments: [0, 10, 1000, 20_000] as [Int64]) func whoseServiceComesBackIsNotAway(_ milliseconds: Int64) throws {
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

  /// Whoever is looked for is heard of, too: that is no reason to begin anew what has just been begun.
  @Test(arguments: [true, false]) func whoDoesNotAnswerIsNotAskedTimeAndAgain(_ wasWithdrawn: Bool) throws {
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
    // A read and two beginnings of a session, each sent up to five times.
    #expect(home.world.network.packetCount - before <= 20, "\(home.world.network.packetCount - before)")
  }

  /// Nothing of this process, or of the machine, ran for so long that nodes have given it up.
  @Test func whoDidNotListenForLongLooksAnewAtAll() throws {
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

  @Test func aBridgesChildrenAreHeardToo() throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    home.bridge.restart()
    home.bridge.command { engine, now in try? engine.power(false, bridgedOn: 3, at: now) }
    #expect(try home.run(for: .seconds(2)) { $0.devices["2/3"]?.isOnline == false })
    #expect(home.isOnline("2/2") && home.isOnline("1"))
  }

  /// Time and again: each is heard of, and no node is asked more often than every 5 s.
  @Test func whoRestartsAllTheTimeIsHeardEachTime() throws {
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

  /// It is where it was, and says something else of itself, ten times in ten seconds: that is worth a small read or two.
  @Test func whoOnlyAnnouncesIsAskedALittle() throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(20))
    let sessions = home.home.engine?.controller.standingSubscriptions.sorted()
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
    // A read, its report and an acknowledgement; at 0 s, 1 s, 2.5 s, 5.5 s and 10.5 s.
    #expect(home.world.network.packetCount - before <= 15, "\(home.world.network.packetCount - before)")
    #expect(home.home.engine?.controller.standingSubscriptions.sorted() == sessions)
    #expect(home.home.engine?.probes.isEmpty == true)
  }

  /// Each interface that an announcement is heard on tells of it: a read, its report and an acknowledgement at once, and another
  /// when the next one may be asked, as it may have been started again in between.
  @Test func whatIsHeardOnSeveralInterfacesIsOneAnnouncement() throws {
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

  /// It had just been asked, for another announcement, and had answered.
  @Test(arguments: [30, 100, 300, 490, 510, 990] as [Int64])
  func soIsWhoIsStartedAgainJustAfterItHasAnswered(_ milliseconds: Int64) throws {
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

  /// What comes right after we subscribed is worth a small question a little later, unless it is heard until then.
  @Test(arguments: [true, false]) func anAnnouncementWithASubscriptionIsItsOwn(_ isHeard: Bool) throws {
    let home = try FollowedHome()
    try home.start()
    let service = try #require(home.service(of: 1))
    home.lamp.cutPower()
    #expect(try home.run(for: .seconds(120)) { $0.devices["1"]?.isOnline == false })
    home.lamp.powerOn()
    #expect(try home.run(for: .seconds(2)) { $0.devices["1"]?.isOnline == true })
    let sessions = try #require(home.home.engine?.controller.standingSubscriptions.sorted())
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
    // A report and its answer; or a read, its report, and an acknowledgement.
    #expect(home.world.network.packetCount - before <= (isHeard ? 3 : 4), "\(home.world.network.packetCount - before)")
    #expect((home.home.engine?.followed[1]?.askedAt == nil) == isHeard)
    #expect(home.home.engine?.probes.isEmpty == true)
    #expect(home.home.engine?.controller.standingSubscriptions.sorted() == sessions)
  }

  /// All of a house at a time: no more are called at once than when it starts.
  @Test func theyAreCalledInTurn() throws {
    let home = try FollowedHome { $0.maximumCalls = 1 }
    try home.start()
    try home.world.run(for: .seconds(20))
    let isOn = try home.lampState()
    home.lamp.restart()
    home.bridge.restart()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    home.bridge.command { engine, now in try? engine.power(false, bridgedOn: 3, at: now) }
    var most = 0
    let isHeard = try home.run(for: .seconds(5)) {
      most = max(most, home.home.engine?.calls.count ?? 0)
      return home.lampIsOn($0) == !isOn && $0.devices["2/3"]?.isOnline == false
    }
    #expect(isHeard && most == 1, "\(most)")
  }
}

extension FollowedHome {
  /// What a node of ours announces.
  fileprivate func service(of node: NodeID) -> MatterService? {
    guard let fabric = home.engine?.controller.fabric.compressedFabricID else { return nil }
    return world.discovery.publications.map(\.service).first {
      $0.kind == .operational(compressedFabricID: fabric, nodeID: node.rawValue)
    }
  }
}
