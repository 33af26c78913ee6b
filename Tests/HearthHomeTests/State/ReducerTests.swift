import HearthHome
import HomeModel
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

/// The reducer. See the article “The home model”, “Connectivity and locality”.
@Suite("Reducer") struct ReducerTests {
  private let reachable2 = BridgedDeviceBasicInformation.reachable.path(on: 2)

  // MARK: Any inputs

  /// Nodes that change at random, with valid and invalid reports.
  private struct Generator {
    var models: [NodeID: NodeModel] = [1: .lamp(1, uniqueID: "a"), 2: .bridge(2), 3: .lamp(3, uniqueID: "a")]
    var event: UInt64 = 0

    mutating func next(_ random: inout SeededRandomSource, isWild: Bool) -> HomeInput {
      func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
      let node = NodeID(UInt64(number(3) + 1))
      switch number(16) {
      case 0:
        let (name, room) = (number(2) == 0 ? "N\(number(3))" : nil, number(2) == 0 ? "r1" : nil)
        return models[node]?.commissioned(name: name, roomID: room) ?? .started
      case 1: return .nodeRemoved(node)
      case 2: return number(4) == 0 ? .started : .answered(node)
      case 3, 4: return .established(node, deadline: Int64(number(1_000)))
      case 5: return .heard(node, deadline: number(2) == 0 ? nil : 5)
      case 6, 7: return .lost(node, OfflineReason.allCases[number(OfflineReason.allCases.count)])
      case 8:
        let changes: [HomeChange] = [
          .roomAdded(Room(id: "r1", name: "Room", structureID: "home")), .roomRemoved(id: "r1"),
          .deviceRenamed(id: "2/2", name: "x\(number(3))"), .deviceMoved(id: "1", roomID: "r1"),
          .deviceRemoved(id: "3"), .deviceRenamed(id: "nobody", name: "x"),
        ]
        guard isWild else { return .update(HomeUpdate([changes[number(4)]], at: 7, origin: "other")) }
        var wild = ChangeGenerator()
        return .update(HomeUpdate(wild.next(&random) + [changes[number(6)]], at: 7))
      case 9, 10:
        event += UInt64(number(3))
        let old = NodeModel.shutDown(event)
        return .report(NodeReport(node, [], events: number(2) == 0 ? [old] : [old, old], isWhole: true))
      default: break
      }
      mutate(node, &random)
      guard let model = models[node] else { return .started }
      if number(3) > 0 { return model.report() }
      let some = model.endpoints.keys.sorted().filter { _ in number(2) == 0 }
      return model.report(of: some, isWhole: number(3) == 0)
    }

    private mutating func mutate(_ node: NodeID, _ random: inout SeededRandomSource) {
      func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
      guard var model = models[node] else { return }
      let endpoint = EndpointID(UInt16(number(6) + 1))
      switch number(8) {
      case 0: model.endpoints[endpoint] = nil
      case 1: model.addLight(endpoint, isOn: number(2) == 0)
      case 2:
        // Also cycles, and parts of itself.
        let parts = (0..<number(3)).map { _ in EndpointID(UInt16(number(6) + 1)) }
        model.addBridged(
          endpoint, "B", parts: parts, isReachable: number(2) == 0, uniqueID: ["a", "b", nil][number(3)])
      case 3: model[BridgedDeviceBasicInformation.reachable.path(on: endpoint)] = (number(2) == 0).tlv
      case 4: model[BasicInformation.uniqueID.path(on: 0)] = ["a", "b", ""][number(3)].tlv
      case 5: model.endpoints[0]?.parts = (1...6).filter { _ in number(2) == 0 }.map { EndpointID(UInt16($0)) }
      case 6: model.endpoints[endpoint]?.clusters[OnOff.id] = nil
      default: model[OnOff.onOff.path(on: endpoint)] = (number(2) == 0).tlv
      }
      models[node] = model
    }
  }

  @Test(arguments: 0..<12) func changesAndLogReproduceTheHome(_ seed: UInt64) throws {
    var random = SeededRandomSource(seed: seed)
    let isWild = seed % 4 == 0
    var generator = Generator()
    var home = CheckedReducer()
    let scratch = try TestDatabase()
    let database = try scratch.open()
    for _ in 0..<250 {
      let before = home.state
      let update = home.process(generator.next(&random, isWild: isWild))
      if update == nil { #expect(home.state == before) }
      if isWild { continue }
      // Each device has a source, and without a grace time the settled state is the current one.
      for device in home.state.devices.values {
        #expect(!device.sources.isEmpty)
        #expect(home.reducer.settledConnectivity(of: device.id) == home.reducer.connectivity(of: device))
      }
    }
    #expect(home.faults.isEmpty, "\(home.faults.prefix(2))")
    var replayed = HomeState()
    for update in home.log { for change in update.changes { replayed.apply(change) } }
    #expect(replayed == home.state)
    // The log in the database reproduces the home as well.
    for start in stride(from: 0, to: home.log.count, by: 16) {
      try database.commit(Array(home.log[start..<min(start + 16, home.log.count)]))
    }
    #expect(try database.load().state == home.state)
    #expect(home.log.count > 60 && !home.state.devices.isEmpty)
  }

  @Test func unchangedReportMakesNoUpdate() {
    var home = CheckedReducer()
    let lamp = NodeModel.lamp(5)
    home.meet(lamp)
    #expect(home.process(lamp.report())?.changes ?? [] == [])
    #expect(home.process(.established(5, deadline: 7)) == nil)
    #expect(home.process(.heard(5, deadline: 7)) == nil)
  }

  // MARK: Connectivity

  @Test func tracksConnectivityOfDevice() {
    var home = CheckedReducer()
    home.meet(.lamp(5))
    #expect(home.status("5") == SourceStatus(SourceConnectivity(.online, .peer)))
    home.process(.lost(5, .subscriptionLost))
    #expect(home.status("5") == SourceStatus(SourceConnectivity(.offline, .peer), reason: .subscriptionLost))
    // The first reason is kept, except that a refused session replaces it.
    #expect(home.process(.lost(5, .timedOut)) == nil)
    #expect(home.process(.lost(5, .noAddress)) == nil)
    #expect(home.status("5")?.reason == .subscriptionLost)
    home.process(.lost(5, .sessionRefused))
    #expect(home.status("5")?.reason == .sessionRefused)
    home.process(.established(5, deadline: 7))
    #expect(home.status("5") == SourceStatus(SourceConnectivity(.online, .peer)))
    // After our own restart connectivity and locality are unknown.
    home.process(.started)
    #expect(home.status("5") == .unknown)
    home.process(.lost(5, .timedOut))
    #expect(home.status("5") == SourceStatus(SourceConnectivity(.offline, .unspecified), reason: .timedOut))
  }

  /// The device announced a shutdown, but reports again.
  @Test func reportAfterShutDownIsOneUpdate() {
    var home = CheckedReducer()
    home.meet(.lamp(5))
    home.process(.lost(5, .poweredOffAnnounced))
    guard case .report(var report) = NodeModel.report(5, OnOff.onOff.path(on: 1), false.tlv) else { return }
    (report.isOfEstablished, report.deadline) = (true, 7)
    let update = home.process(.report(report))
    #expect(update?.changes.count == 2 && home.status("5") == SourceStatus(SourceConnectivity(.online, .peer)))
    #expect(home.reducer.contacts[5]?.nextReport == 7)
    // The deadline of the previous process does not apply.
    home.process(.started)
    #expect(home.reducer.contacts[5]?.nextReport == nil && home.reducer.contacts[5]?.last != nil)
  }

  @Test func restoresStateAfterRestart() {
    var home = CheckedReducer()
    home.meet(.bridge(7))
    home.process(.lost(7, .subscriptionLost))
    var next = HomeReducer(home.state, contacts: home.reducer.contacts)
    #expect(next.state == home.state && next.contacts == home.reducer.contacts)
    #expect(next.status(of: 7).reason == .subscriptionLost)
    #expect(next.settledConnectivity(of: "7/2").connectivityState == .offline)
    let update = next.reduce(.started, at: 1)
    #expect(update?.changes.count == 3)
    #expect(next.state.devices.values.allSatisfy { $0.active?.status == .unknown })
    #expect(next.state.values == home.state.values)
  }

  @Test func shutDownEventMakesDeviceOffline() {
    var home = CheckedReducer()
    home.meet(.lamp(5))
    home.process(.report(NodeReport(5, [], events: [NodeModel.shutDown(10)], isWhole: true)))
    #expect(home.status("5") == SourceStatus(SourceConnectivity(.offline, .peer), reason: .poweredOffAnnounced))
    #expect(home.process(.lost(5, .subscriptionLost)) == nil)
    // A repeated event changes nothing.
    home.process(.established(5, deadline: 7))
    #expect(home.process(.report(NodeReport(5, [], events: [NodeModel.shutDown(10)], isWhole: true))) == nil)
    #expect(home.connectivity("5") == .online)
  }

  @Test func ignoresShutDownBeforeSubscription() {
    var home = CheckedReducer()
    home.process(NodeModel.lamp(5).report(events: [NodeModel.shutDown(3)]))
    home.process(.established(5, deadline: 7))
    #expect(home.connectivity("5") == .online)
    #expect(home.state.lastEvents[5] == 3)
    // The same for another event, or on another endpoint.
    var other = NodeModel.shutDown(4)
    other.path = .init(1, BasicInformation.id, BasicInformation.shutDown.id)
    home.process(.report(NodeReport(5, [], events: [other], isWhole: true)))
    #expect(home.connectivity("5") == .online)
  }

  @Test func appliesReachableAttributeOfBridge() {
    var home = CheckedReducer()
    home.meet(.bridge(7))
    home.process(NodeModel.report(7, reachable2, false.tlv))
    let status = home.status("7/2")
    #expect(status?.connectivity == SourceConnectivity(.offline, .peer) && status?.reason == .bridgeSaysUnreachable)
    #expect(status?.lastContact != nil)
    #expect(home.connectivity("7/3") == .online && home.connectivity("7") == .online)
    // If the bridge is lost all its devices are offline, for the same reason; after its return all but the unreachable
    // one are online.
    home.process(.lost(7, .subscriptionLost))
    #expect(["7", "7/2", "7/3"].allSatisfy { home.status($0)?.reason == .subscriptionLost })
    home.process(.established(7, deadline: 7))
    #expect(home.status("7/2")?.reason == .bridgeSaysUnreachable)
    #expect(home.connectivity("7/3") == .online)
    home.process(NodeModel.report(7, reachable2, true.tlv))
    #expect(home.status("7/2") == SourceStatus(SourceConnectivity(.online, .peer)))
    #expect(home.faults.isEmpty)
  }

  @Test func unreachablePartMakesDevicePartiallyOnline() throws {
    var home = CheckedReducer()
    var bridge = NodeModel.bridge(7)
    // Endpoint 2 is composed of 4 and 5, where 5 has its own Reachable attribute but is not a separate device.
    bridge.endpoints[1]?.parts = [2, 3, 4, 5]
    bridge.endpoints[0]?.parts = [1, 2, 3, 4, 5]
    bridge.addBridged(2, "Composed", parts: [4, 5])
    bridge.addLight(4)
    bridge.addLight(5)
    bridge[BridgedDeviceBasicInformation.reachable.path(on: 5)] = true.tlv
    home.meet(bridge)
    #expect(home.reducer.settledConnectivity(of: "7/2").connectivityState == .online)
    let update = home.process(NodeModel.report(7, BridgedDeviceBasicInformation.reachable.path(on: 5), false.tlv))
    #expect(update?.settled == ["7/2"])
    let entry = try #require(home.state.devices["7/2"])
    #expect(entry.active?.status.connectivity.connectivityState == .online)
    #expect(home.reducer.connectivity(of: entry) == SourceConnectivity(.partiallyOnline, .peer))
    #expect(home.reducer.settledConnectivity(of: "7/2") == SourceConnectivity(.partiallyOnline, .peer))
    // The device value agrees.
    let sample = SampleHome()
    let device = HomeDevice(
      entry, values: try #require(home.state.values[7]), contact: Contact(), settled: .unknown, home: sample)
    #expect(device.sourceConnectivity == SourceConnectivity(.partiallyOnline, .peer))
    #expect(device.source?.connectivity(of: 5, device.values).connectivityState == .offline)
    #expect(device.source?.connectivity(of: 4, device.values).connectivityState == .online)
  }

  // MARK: Contact

  @Test func everyMessageUpdatesContact() {
    var home = CheckedReducer()
    home.meet(.lamp(5))
    func contact() -> Contact? { home.reducer.contacts[5] }
    home.process(.heard(5, deadline: 42))
    #expect(contact() == Contact(last: home.time, nextReport: 42))
    var report = NodeReport(5, [], isWhole: true)
    home.process(.report(report))
    #expect(contact() == Contact(last: home.time, nextReport: 42))
    report.deadline = 43
    home.process(.report(report))
    #expect(contact() == Contact(last: home.time, nextReport: 43))
    let last = home.time
    // An offline device has no deadline, and the loss does not count as contact.
    home.process(.lost(5, .subscriptionLost))
    #expect(contact() == Contact(last: last, nextReport: nil))
    home.process(.answered(5))
    #expect(contact()?.last == home.time)
    #expect(home.connectivity("5") == .online)
  }

  // MARK: ConnectivityDebouncer

  private func settled(_ home: CheckedReducer) -> ConnectivityState {
    home.reducer.settledConnectivity(of: "5").connectivityState
  }

  @Test func suppressesShortBreaks() {
    var reducer = HomeReducer(grace: .seconds(10))
    let second: Int64 = 1_000_000
    func state() -> ConnectivityState { reducer.settledConnectivity(of: "5").connectivityState }
    _ = reducer.reduce(NodeModel.lamp(5).report(), at: 0)
    #expect(reducer.reduce(.established(5, deadline: 0), at: 0)?.settled == ["5"])
    #expect(state() == .online)
    #expect(reducer.reduce(.lost(5, .subscriptionLost), at: second)?.settled == [])
    #expect(state() == .online && reducer.debouncer.nextDeadline == 11 * second)
    #expect(reducer.advance(to: 10 * second) == nil)
    // Back within the grace time: the trial ends.
    #expect(reducer.reduce(.established(5, deadline: 0), at: 10 * second)?.settled == [])
    #expect(reducer.advance(to: 12 * second) == nil)
    #expect(reducer.debouncer.nextDeadline == nil)
    // Offline for longer than the grace time, with another state in between.
    _ = reducer.reduce(.lost(5, .subscriptionLost), at: 20 * second)
    _ = reducer.reduce(.started, at: 25 * second)
    #expect(reducer.advance(to: 30 * second)?.settled == ["5"])
    #expect(state() == .unknown && reducer.debouncer.nextDeadline == nil)
    // Improvements settle at once.
    #expect(reducer.reduce(.established(5, deadline: 0), at: 31 * second)?.settled == ["5"])
    #expect(state() == .online)
  }

  /// The log has the device that a source belonged to when it changed, so a query of that device is notified as well.
  @Test func updateMatchesDeviceThatSourceLeft() throws {
    var state = HomeState()
    for change in HomeSamples.lamp(5) + HomeSamples.lamp(6).dropFirst() { state.apply(change) }
    var reducer = HomeReducer(state)
    let offline = SourceStatus(SourceConnectivity(.offline, .peer), reason: .timedOut)
    let changes: [HomeChange] = [.connectivity(SourceID(5), offline), .sourceAdded(SourceID(5), device: "6")]
    let reduced = reducer.reduce(.update(HomeUpdate(changes, at: 1)), at: 1)
    let update = try #require(reduced)
    func matches(_ device: String) -> Bool {
      update.matches(SampleFilter(.connectivity, devices: [device]), reducer.state)
    }
    #expect(matches("5") && matches("6") && !matches("7"))
  }

  @Test func settlesPartiallyOnline() {
    var debouncer = ConnectivityDebouncer(grace: .seconds(1))
    let (online, partly, offline) = (
      SourceConnectivity(.online, .peer), SourceConnectivity(.partiallyOnline, .peer),
      SourceConnectivity(.offline, .peer)
    )
    func note(_ value: SourceConnectivity, at time: Int64) -> Bool { debouncer.note("1", value, at: time) }
    let first = note(partly, at: 0)
    let worse = note(offline, at: 0)
    #expect(first && !worse && debouncer["1"] == partly)
    let late = debouncer.advance(to: 1_000_000)
    #expect(late == ["1"] && debouncer["1"] == offline)
    let better = note(partly, at: 2_000_000)
    let best = note(online, at: 2_000_001)
    let again = note(partly, at: 3_000_000)
    #expect(better && best && !again && debouncer["1"] == online)
  }
}
