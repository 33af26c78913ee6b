import HearthHome
import HomeModel
import HomeStore
import HomeText
import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import hearth

/// Bridged devices and devices with several sources on the command line.
@Suite("Sources on the command line") struct SourceTests {
  private static let own = SourceID(5), bridged = SourceID(7, 2)
  private static let online = SourceStatus(SourceConnectivity(.online, .peer))
  private static let offline = SourceStatus(SourceConnectivity(.offline, .peer), reason: .timedOut)

  /// A lamp that is node 5 and endpoint 2 of bridge 7, and another lamp at endpoint 1 of the bridge. Both lamps are on by their own
  /// attributes, and the first one is off by those of the bridge.
  private static func state(id: String = "5", _ changes: [HomeChange] = []) -> HomeState {
    var state = HomeState()
    let other = SourceID(7, 1)
    for change: HomeChange in [
      .structureAdded(HomeReducer.firstStructure),
      .deviceAdded(id: id, name: "Lamp", roomID: nil, structureID: "home"), .sourceAdded(own, device: id),
      .sourceAdded(bridged, device: id),
      .topology(
        own,
        [
          .init(id: 0, deviceTypes: [0x16], servers: [0x1D, 0x28]),
          .init(id: 1, deviceTypes: [0x101], servers: [3, 6, 8]),
        ], DeviceIdentity()),
      .topology(bridged, [.init(id: 2, deviceTypes: [0x13, 0x101], servers: [3, 6, 0x39])], DeviceIdentity()),
      .deviceAdded(id: "7/1", name: "Other", roomID: nil, structureID: "home"), .sourceAdded(other, device: "7/1"),
      .topology(other, [.init(id: 1, deviceTypes: [0x13, 0x101], servers: [3, 6, 8, 0x39])], DeviceIdentity()),
      .attribute(5, .init(1, 6, 0), value: [0x09]), .attribute(5, .init(1, 8, 0), value: [0x04, 101]),
      .attribute(7, .init(1, 6, 0), value: [0x09]), .attribute(7, .init(1, 8, 0), value: [0x04, 101]),
      .attribute(7, .init(2, 6, 0), value: [0x08]), .connectivity(own, online), .connectivity(bridged, online),
      .connectivity(other, online),
    ] + changes { state.apply(change) }
    return state
  }

  private func check(
    _ text: String, of target: String = "lamp", parsedIn before: HomeState, in state: HomeState
  ) throws -> DeviceCondition.Finding {
    let registry = HomeRegistry(before)
    let found = try registry.resolve(target)
    let condition = try DeviceCondition(parsing: text, of: found)
    let device = state.devices[found.device.id].map { entry in
      HomeDevice(
        entry, values: entry.active.flatMap { state.values[$0.id.node] } ?? NodeValues(), contact: Contact(),
        settled: .unknown, home: OutputTests.NoHome())
    }
    return condition.check(device, state)
  }

  @Test func conditionsUseActiveSource() throws {
    let before = Self.state()
    #expect(try check("onOff=true", parsedIn: before, in: before).holds)
    #expect(try check("currentLevel=101", parsedIn: before, in: before).holds)
    // Through the bridge, where endpoint 1 is another lamp.
    let after = Self.state(id: "5", [.connectivity(Self.own, Self.offline)])
    #expect(after.devices["5"]?.active?.id == Self.bridged)
    #expect(try !check("onOff=true", parsedIn: before, in: after).holds)
    #expect(try check("onOff=false", parsedIn: before, in: after).holds)
    let level = try check("currentLevel=101", parsedIn: before, in: after)
    // The bridge does not offer it.
    #expect(!level.holds && level.actual.hasSuffix(", stale, device is offline"), "\(level.actual)")
    // And the other way round.
    #expect(try check("onOff=true", parsedIn: after, in: before).holds)
    #expect(try !check("onOff=false", parsedIn: after, in: before).holds)
    #expect(try check("onOff=false", of: "lamp/2", parsedIn: after, in: after).holds)
  }

  @Test func pathsUseSourceThatServesCluster() throws {
    let registry = HomeRegistry(Self.state(id: "5", [.connectivity(Self.own, Self.offline)]))
    func nodes(_ text: String) throws -> [NodeID] { try registry.paths(text).map(\.target.device.nodeID) }
    #expect(try nodes("lamp.onOff.onOff") == [7])
    // Only the node offers Level Control, on its endpoint 1.
    #expect(try nodes("lamp.levelControl.currentLevel") == [5])
    #expect(try registry.paths("lamp.levelControl.currentLevel").map(\.endpoint) == [1])
    #expect(try registry.resolve(all: ["lamp"], serving: LevelControl.id).map(\.device.nodeID) == [5])
    #expect(throws: HomeError.self) { try nodes("lamp.doorLock.lockState") }
  }

  @Test func resolvesDeviceIDWithAnyActiveSource() throws {
    let state = Self.state(id: "7/2")
    #expect(state.devices["7/2"]?.active?.id == Self.own)
    #expect(try check("onOff=true", of: "7/2", parsedIn: state, in: state).holds)
    #expect(try HomeRegistry(state).resolve("7/2").device.nodeID == 5)
    #expect(try HomeRegistry(state).paths("7/2.onOff.onOff").map(\.target.device.nodeID) == [5])
    let bridged = Self.state(id: "5", [.connectivity(Self.own, Self.offline)])
    #expect(try HomeRegistry(bridged).resolve("5").device.nodeID == 7)
  }

  @Test func unreachableBridgedDeviceIsOffline() throws {
    let reachable = ConcreteAttributePath(1, 0x39, 0x11)
    let state = Self.state(id: "5", [.attribute(7, reachable, value: [0x08])])
    let result = try check("onOff=true", of: "other", parsedIn: state, in: state)
    #expect(!result.holds && result.actual == "(true), stale, device is offline")
    let back = Self.state(id: "5", [.attribute(7, reachable, value: [0x09])])
    #expect(try check("onOff=true", of: "other", parsedIn: back, in: back).holds)
  }

  private static func sample(_ source: SourceID, _ status: SourceStatus) -> HomeSample {
    HomeSample(
      anchor: Anchor(log: 0xA, sequence: 7), time: 1, change: .connectivity(source, status), device: "5", origin: nil,
      update: 7)
  }

  @Test func linesHaveConnectivityOfActiveSource() {
    var report = ChangeFormatter(Self.state())
    func words(_ source: SourceID, _ status: SourceStatus) -> Substring? {
      report.report(Self.sample(source, status)).text?.split(separator: "  ").last
    }
    // The device stays online while the bridge is offline.
    #expect(words(Self.bridged, Self.offline) == nil && words(Self.bridged, Self.online) == nil)
    let json = report.report(Self.sample(Self.bridged, Self.offline)).json.description
    for part in [
      #""connectivityState":"offline""#, #""source":"7/2""#, #""deviceConnectivityState":"online""#,
      #""deviceDataSourceLocality":"peer""#,
    ] { #expect(json.contains(part), "\(json)") }
    #expect(words(Self.own, Self.offline) == "offline (timed out)")
    // The other source becomes active, or none.
    let remote = SourceStatus(SourceConnectivity(.online, .remote))
    #expect(words(Self.bridged, remote) == "online (remote)")
    #expect(words(Self.own, Self.online) == "online (peer)" && words(Self.bridged, Self.offline) == nil)
    #expect(words(Self.bridged, remote) == nil && words(Self.own, Self.offline) == "online (remote)")
  }

  /// When the log is read from an anchor, the known home is the current one.
  @Test func pastLinesOfSourcesAreNotOmitted() {
    let now = Self.state(id: "5", [.connectivity(Self.own, Self.offline)])
    func lines(isPast: Bool) -> [Substring?] {
      var report = ChangeFormatter(now, isPast: isPast)
      return [Self.offline, Self.online, Self.offline].map {
        report.report(Self.sample(Self.own, $0)).text?.split(separator: "  ").last
      }
    }
    #expect(lines(isPast: true) == ["online (peer)", "online (peer)", "online (peer)"])
    #expect(lines(isPast: false) == [nil, "online (peer)", "online (peer)"])
  }

  @Test func describesAllSources() throws {
    let state = Self.state(id: "9", [.connectivity(Self.own, Self.offline)])
    let entry = try #require(state.devices["9"])
    let device = HomeDevice(
      entry, values: NodeValues(), contact: Contact(), settled: .unknown, home: OutputTests.NoHome())
    let row = DeviceRow(device: device, record: try #require(device.record))
    let text = DeviceDescription.text(row, nil)
    #expect(text.contains("\nNode           7/2\nOther sources  5 (offline: timed out)\n"), "\(text)")
    let json = DeviceDescription.json(row, nil).description
    for part in [
      #""id":"9","nodeID":"7""#, #""source":"5","active":false,"connectivityState":"offline""#,
      #""source":"7/2","active":true,"connectivityState":"online""#,
    ] { #expect(json.contains(part), "\(json)") }
    // After its node is removed, the device remains as a bridged one.
    let lamp = try HomeRegistry(Self.state()).resolve("lamp").device
    #expect(Remove.note(Remove.rest(of: lamp)) == "; it remains in the home as 7/2")
    let other = try HomeRegistry(Self.state()).resolve("other").device
    #expect(Remove.note(Remove.rest(of: other)).isEmpty && "\(other.source.id)" == "7/1")
    #expect(VirtualDeviceReport.decimal("000000000000000A") == "10")
  }

  /// One request to the bridge, and the name of each bridged device.
  @Test func groupsPathsOfBridgedDevices() throws {
    let state = Self.state(id: "5", [.connectivity(Self.own, Self.offline)])
    let registry = HomeRegistry(state)
    let paths = try ["other.onOff.onOff", "lamp.onOff.onOff", "other.onOff.*", "lamp"].flatMap {
      try registry.paths($0)
    }
    let groups = PathGroup.groups(paths, in: registry)
    #expect(groups.count == 1 && groups[0].names == "Other, Lamp")
    // Paths that another path covers are omitted.
    #expect(
      groups[0].paths.map { "\(ElementNames.text($0))" } == ["1.onOff.*", "2.*.*"], "\(groups[0].paths)")
    let named = [1, 2].map { groups[0].device(of: $0).name }
    #expect(named == ["Other", "Lamp"] && groups[0].device(of: nil).name == "Other")
  }

  @Test func nodeIDsAreThoseOfTheSource() throws {
    let state = Self.state()
    var report = ChangeFormatter(state)
    func json(_ change: HomeChange, _ device: String) -> String {
      let anchor = Anchor(log: 0xA, sequence: 7)
      return report.report(
        HomeSample(anchor: anchor, time: 1, change: change, device: device, origin: nil, update: 7)
      ).json.description
    }
    let pressed = EventData(
      .init(1, 0x3B, 1), number: 3, priority: .info, timestamp: .epoch(1), payload: [0x15, 0x24, 0, 1, 0x18])
    for text in [
      json(.attribute(7, .init(1, 6, 0), value: [0x08]), "7/1"), json(.event(7, pressed), "7/1"),
      json(.connectivity(SourceID(7, 1), Self.offline), "7/1"), json(.deviceRenamed(id: "7/1", name: "New"), "7/1"),
    ] { #expect(text.contains(#""id":"7/1""#) && text.contains(#""nodeID":"7""#), "\(text)") }
    // A change of the inactive source.
    #expect(json(.attribute(7, .init(2, 6, 0), value: [0x09]), "5").contains(#""nodeID":"7""#))
    #expect(json(.attribute(5, .init(1, 6, 0), value: [0x08]), "5").contains(#""nodeID":"5""#))
    let other = try HomeRegistry(state).resolve("other").device
    let read = AttributeValue(other, .init(1, 6, 0), [0x09], raw: false).json.description
    // The printed path is accepted and resolves to the device.
    #expect(read.contains(#""nodeID":"7""#) && read.contains(#""path":"7/1/1/6/0""#), "\(read)")
    #expect(try HomeRegistry(state).paths("7/1/1/6/0").map(\.target.device.id) == ["7/1"])
  }
}
