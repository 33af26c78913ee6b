import HearthHome
import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

/// The home model, “Connectivity and locality”, on virtual time.
@Suite struct FollowingTests {
  @Test func nodesBecomeDevices() throws {
    let home = try FollowedHome()
    try home.start()
    let state = home.state
    #expect(state.orderedDevices.map(\.id) == ["1", "2", "2/2", "2/3"])
    #expect(state.orderedDevices.map(\.name) == ["Lamp", "Bridge", "Left", "Right"])
    #expect(state.devices["2/3"]?.active?.identity.vendorName == "Others")
    #expect(state.devices["2"]?.active?.endpoints.map(\.id) == [0, 1])
    #expect(state.devices["2/2"]?.active?.endpoints.map(\.id) == [2])
    #expect(state.deviceID(of: 2, 3) == "2/3")
    #expect(home.lampIsOn(state) != nil)
  }

  @Test func replaysStateFromLog() throws {
    let home = try FollowedHome()
    try home.start()
    let isOn = try home.lampState()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run { home.lampIsOn($0) == !isOn })
    home.lamp.cutPower()
    #expect(try home.run(for: .seconds(120)) { $0.devices["1"]?.isOnline == false })
    var replayed = HomeState()
    for update in home.log { for change in update.changes { replayed.apply(change) } }
    #expect(replayed == home.state)
  }

  @Test func oneUpdatePerReportWithChanges() throws {
    let home = try FollowedHome()
    try home.start()
    let isOn = try home.lampState()
    let before = home.log.count
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run { home.lampIsOn($0) == !isOn })
    #expect(home.log.count == before + 1)
    #expect(
      home.log.last?.changes.contains(.attribute(1, OnOff.onOff.path(on: 1), value: (!isOn).tlv)) == true)
    // Keep-alives change nothing.
    try home.world.run(for: .seconds(600))
    #expect(home.log.count == before + 1)
    let contact = try #require(home.home.engine?.reducer.contacts[1])
    let now = try #require(home.home.engine?.time)
    #expect((contact.last ?? 0) > now - 70_000_000)
    #expect((contact.nextReport ?? 0) > now)
  }

  /// Without a message of the device.
  @Test func publishesDeadlineOfSleepingDevice() throws {
    let home = try FollowedHome()
    try home.start()
    home.home.command { engine, now in engine.process(.asleep(1, deadline: .max), at: now) }
    let contact = try home.home.event(within: .zero) { event -> Contact? in
      if case .contacts(let contacts) = event, contacts[1]?.nextReport == .max { contacts[1] } else { nil }
    }
    #expect(contact == home.home.engine?.reducer.contacts[1])
  }

  /// The device had announced that it powers off, but is reachable.
  @Test func reportAfterAnnouncedPowerOffIsOneUpdate() throws {
    let home = try FollowedHome()
    try home.start()
    let isOn = try home.lampState()
    home.home.command { engine, now in engine.process(.lost(1, .poweredOffAnnounced), at: now) }
    #expect(try home.run { $0.devices["1"]?.isOnline == false })
    let before = home.log.count
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run { home.lampIsOn($0) == !isOn })
    #expect(home.isOnline("1") && home.log.count == before + 1)
  }

  /// Offline at most one maximum interval plus the allowance after a device dies; the last value is kept.
  @Test func deadDeviceGoesOffline() throws {
    let home = try FollowedHome()
    try home.start()
    try home.world.run(for: .seconds(17))
    home.lamp.cutPower()
    let death = home.world.now
    let deadline = try #require(home.home.engine?.reducer.contacts[1]?.nextReport)
    #expect(try home.run(for: .seconds(120)) { $0.devices["1"]?.isOnline == false })
    let noticed = try #require(home.home.engine?.time)
    #expect(noticed <= deadline + 1_000_000)
    #expect(home.world.now - death < .seconds(75))
    #expect(home.status("1") == SourceStatus(SourceConnectivity(.offline, .peer), reason: .subscriptionLost))
    #expect(home.isOnline("2") && home.isOnline("2/2"))
    #expect(home.lampIsOn(home.state) != nil)
    // Staying offline causes no further updates.
    let count = home.log.count
    try home.world.run(for: .seconds(600))
    #expect(home.log.count == count)
  }

  /// Online within 2 s after the device is announced again, after an absence of seconds or of hours.
  @Test(arguments: [Duration.seconds(1), .seconds(45), .seconds(100), .seconds(140), .seconds(1000), .seconds(7200)])
  func returningDeviceIsOnlineAtOnce(_ absence: Duration) throws {
    let home = try FollowedHome()
    try home.start()
    home.lamp.cutPower()
    #expect(try home.run(for: .seconds(120)) { $0.devices["1"]?.isOnline == false })
    try home.world.run(for: absence)
    home.lamp.powerOn()
    #expect(try home.run(for: .seconds(2)) { $0.devices["1"]?.isOnline == true }, "\(absence)")
  }

  @Test func announcedPowerOffIsOfflineAtOnce() throws {
    let home = try FollowedHome()
    try home.start()
    home.lamp.command { engine, now in engine.shutDown(at: now) }
    #expect(try home.run(for: .seconds(1)) { $0.devices["1"]?.isOnline == false })
    #expect(home.status("1")?.reason == .poweredOffAnnounced)
    try home.world.run(for: .seconds(5))
    home.lamp.restart()
    #expect(try home.run(for: .seconds(2)) { $0.devices["1"]?.isOnline == true })
    // The subscription works again.
    let isOn = try home.lampState()
    home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !isOn, on: 1, at: now) }
    #expect(try home.run(for: .seconds(2)) { home.lampIsOn($0) == !isOn })
  }

  @Test func bridgeReportsUnreachableDevices() throws {
    let home = try FollowedHome()
    try home.start()
    home.bridge.command { engine, now in try? engine.power(false, bridgedOn: 3, at: now) }
    #expect(try home.run(for: .seconds(2)) { $0.devices["2/3"]?.isOnline == false })
    let status = home.status("2/3")
    #expect(status?.connectivity == SourceConnectivity(.offline, .peer) && status?.reason == .bridgeSaysUnreachable)
    #expect(status?.lastContact != nil)
    #expect(home.isOnline("2/2") && home.isOnline("2"))
    home.bridge.command { engine, now in try? engine.power(true, bridgedOn: 3, at: now) }
    #expect(try home.run(for: .seconds(2)) { $0.devices["2/3"]?.isOnline == true })
    home.bridge.cutPower()
    #expect(try home.run(for: .seconds(120)) { $0.devices["2"]?.isOnline == false })
    #expect(!home.isOnline("2/2") && !home.isOnline("2/3") && home.isOnline("1"))
  }

  @Test func restartOfHomeIsUnknownThenOnline() throws {
    let home = try FollowedHome()
    try home.start()
    let values = home.state.values
    home.home.restart()
    #expect(home.state.values == values)
    let count = home.log.count
    home.follow()
    #expect(home.state.devices.values.allSatisfy { $0.active?.status == .unknown })
    #expect(try home.run(for: .seconds(2)) { $0.devices.values.allSatisfy(\.isOnline) })
    // Only the connectivity changed; known values were not read again.
    let changes = home.log.dropFirst(count).flatMap(\.changes)
    #expect(changes.allSatisfy { if case .connectivity = $0 { true } else { false } }, "\(changes)")
  }

  @Test func deviceOfflineAtStartComesOnlineLater() throws {
    let home = try FollowedHome()
    try home.start()
    home.lamp.cutPower()
    home.home.restart()
    home.follow()
    #expect(try home.run(for: .seconds(30)) { $0.devices["1"]?.isOnline == false && $0.devices["2"]?.isOnline == true })
    #expect(try home.run(for: .seconds(30)) { $0.devices["1"]?.active?.status.reason == .timedOut })
    // No data since the start: their source is unspecified.
    #expect(home.status("1")?.connectivity == SourceConnectivity(.offline, .unspecified))
    try home.world.run(for: .seconds(3600))
    home.lamp.powerOn()
    #expect(try home.run(for: .seconds(2)) { $0.devices["1"]?.isOnline == true })
  }

  /// Without a known address and without an announcement.
  @Test func unknownDeviceHasNoAddress() throws {
    let home = try FollowedHome()
    try home.start()
    home.lamp.cutPower()
    home.home.cutPower()
    // Its earlier announcements expire.
    try home.world.run(for: .seconds(7200))
    home.forgetsAddresses = true
    home.home.powerOn()
    home.follow()
    #expect(try home.run(for: .seconds(60)) { $0.devices["1"]?.isOnline == false && $0.devices["2"]?.isOnline == true })
    #expect(try home.run(for: .seconds(60)) { $0.devices["1"]?.active?.status.reason == .noAddress })
    home.lamp.powerOn()
    #expect(try home.run(for: .seconds(2)) { $0.devices["1"]?.isOnline == true })
    #expect(home.status("1")?.reason == nil)
  }

  /// The device is reachable but has lost our fabric, which is reported regardless of the previous reason.
  @Test(arguments: [true, false]) func resetDeviceRefusesSession(_ afterOurRestart: Bool) throws {
    let home = try FollowedHome()
    try home.start()
    home.lamp.command { engine, now in engine.factoryReset(at: now) }
    if afterOurRestart {
      home.home.restart()
      home.follow()
    }
    #expect(try home.run(for: .seconds(300)) { $0.devices["1"]?.active?.status.reason == .sessionRefused })
    #expect(home.status("1")?.connectivity.connectivityState == .offline)
    // Reported once only.
    let count = home.log.count
    try home.world.run(for: .seconds(3600))
    #expect(home.log.count == count)
  }

  @Test func gracePeriodHidesShortInterruptions() throws {
    let home = try FollowedHome { $0.grace = .seconds(90) }
    try home.start()
    let start = home.log.count
    home.lamp.cutPower()
    #expect(try home.run(for: .seconds(120)) { $0.devices["1"]?.isOnline == false })
    #expect(home.home.engine?.reducer.settledConnectivity(of: "1").connectivityState == .online)
    try home.world.run(for: .seconds(60))
    home.lamp.powerOn()
    #expect(try home.run(for: .seconds(3)) { $0.devices["1"]?.isOnline == true })
    #expect(home.log.dropFirst(start).allSatisfy { !$0.settled.contains("1") || isFirst($0) })
    home.lamp.cutPower()
    #expect(try home.run(for: .seconds(120)) { $0.devices["1"]?.isOnline == false })
    let lost = home.world.now
    try home.world.run(for: .seconds(89))
    #expect(home.home.engine?.reducer.settledConnectivity(of: "1").connectivityState == .online)
    let isSettled = try home.world.run(for: .seconds(2)) {
      home.home.engine?.reducer.settledConnectivity(of: "1").connectivityState == .offline
    }
    #expect(isSettled)
    #expect(home.world.now - lost <= .seconds(91))
    #expect(home.log.last?.settled == ["1"])
  }

  /// Unknown, then online at the start, which is not an interruption.
  private func isFirst(_ update: HomeUpdate) -> Bool {
    update.changes.contains {
      if case .connectivity(_, let status) = $0 { status.connectivity.connectivityState == .online } else { false }
    }
  }

  @Test func removedNodeLosesItsDevices() throws {
    let home = try FollowedHome()
    try home.start()
    _ = home.home.command { engine, now in
      engine.begin(2, at: now) { controller, now in
        controller.removeNode(2, force: false, timeout: .seconds(10), at: now)
      }
    }
    #expect(try home.run(for: .seconds(20)) { $0.devices.count == 1 })
    #expect(home.state.values[2] == nil)
  }

  /// Stopping early does not change the state of devices that were not called yet.
  @Test func onlyCalledDevicesGoOffline() throws {
    let home = try FollowedHome {
      $0.maximumAttempts = 1
      $0.attemptTimeout = .seconds(10)
    }
    try home.start()
    home.lamp.cutPower()
    home.bridge.cutPower()
    home.home.cutPower()
    home.home.powerOn()
    home.follow()
    func stop() { home.home.command { engine, now in engine.stopWaiting(for: [1, 2], at: now) } }
    func states() -> [ConnectivityState?] { ["1", "2"].map { home.status($0)?.connectivity.connectivityState } }
    try home.world.run(for: .milliseconds(400))
    stop()
    #expect(states() == [.unknown, .unknown])
    // The first device does not answer, and the second has not been called yet.
    try home.world.run(for: .seconds(2))
    stop()
    #expect(states() == [.offline, .unknown])
    try home.world.run(for: .seconds(10))
    stop()
    #expect(states() == [.offline, .offline])
  }
}
