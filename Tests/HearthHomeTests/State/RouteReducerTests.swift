import HearthHome
import HomeModel
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

/// The reducer of a client that reaches the home through routes. See the article “The home model”, “Routes”.
@Suite("Route reducer") struct RouteReducerTests {
  private static func lamp(_ connectivity: ConnectivityState, _ locality: DataSourceLocality) -> HomeState {
    var state = HomeState()
    for change in HomeSamples.lamp(5) { state.apply(change) }
    state.apply(.connectivity(SourceID(5), SourceStatus(SourceConnectivity(connectivity, locality))))
    return state
  }

  private func status(_ reducer: HomeReducer, _ device: String = "5") -> SourceStatus? {
    reducer.state.devices[device]?.active?.status
  }

  @Test(
    arguments: [
      (.peer, .local, .local), (.peer, .remote, .remote), (.peer, .peer, .peer), (.local, .remote, .remote),
      (.local, .local, .local), (.local, .peer, .local), (.remote, .local, .remote), (.remote, .remote, .remote),
      (.mixed, .local, .mixed), (.mixed, .remote, .remote), (.unspecified, .local, .unspecified),
      (.unspecified, .remote, .unspecified),
    ] as [(DataSourceLocality, DataSourceLocality, DataSourceLocality)])
  func combinesLocalityOfDeviceAndRoute(
    there: DataSourceLocality, by route: DataSourceLocality, here: DataSourceLocality
  ) {
    var reducer = HomeReducer()
    _ = reducer.reduce(.route(.home(Self.lamp(.online, there), DebouncerState(), by: route)), at: 1)
    #expect(status(reducer)?.connectivity == SourceConnectivity(.online, here))
    let change = HomeChange.connectivity(SourceID(5), SourceStatus(.init(.offline, there), reason: .timedOut))
    let update = reducer.reduce(.route(.update(HomeUpdate([change], at: 7, origin: "o"), by: route)), at: 2)
    let seen = SourceStatus(.init(.offline, here), reason: .timedOut)
    #expect(update == HomeUpdate([.connectivity(SourceID(5), seen)], at: 7, origin: "o"))
    #expect(status(reducer) == seen)
    reducer.reload(Self.lamp(.online, there), contacts: [:], DebouncerState(), by: route, at: 3)
    #expect(status(reducer)?.connectivity == SourceConnectivity(.online, here))
    #expect(reducer.settledConnectivity(of: "5") == SourceConnectivity(.online, here))
  }

  @Test func lossOfAllRoutesMakesDevicesOffline() {
    var reducer = HomeReducer()
    var home = Self.lamp(.online, .peer)
    for change in HomeSamples.lamp(6).dropFirst() { home.apply(change) }
    let away = SourceStatus(.init(.offline, .peer), reason: .poweredOffAnnounced)
    home.apply(.connectivity(SourceID(6), away))
    _ = reducer.reduce(.route(.home(home, DebouncerState(), by: .local)), at: 1)
    let before = reducer.state
    #expect(!reducer.isCutOff)
    let lost = reducer.reduce(.route(.lost), at: 2)
    let unreachable = SourceStatus(.init(.offline, .local), reason: .hubUnreachable)
    #expect(lost?.changes == [.connectivity(SourceID(5), unreachable)] && reducer.isCutOff)
    #expect(status(reducer, "6")?.reason == .poweredOffAnnounced)
    #expect(reducer.reduce(.route(.lost), at: 3) == nil)
    // The same route resumes: the previous state, followed by the missed updates.
    #expect(reducer.reduce(.route(.resumed), at: 4)?.changes.count == 1)
    #expect(reducer.state == before && !reducer.isCutOff)
    #expect(reducer.reduce(.route(.resumed), at: 5) == nil)
    // Another route: the state that it delivers.
    _ = reducer.reduce(.route(.lost), at: 6)
    let moved = reducer.reduce(.route(.home(home, DebouncerState(), by: .remote)), at: 7)
    #expect(status(reducer)?.connectivity == SourceConnectivity(.online, .remote) && !reducer.isCutOff)
    #expect(moved?.changes.count == 2)
  }

  @Test func adoptsTrialsOfHub() {
    let second: Int64 = 1_000_000
    var reducer = HomeReducer()
    // The clock of the hub is ahead.
    let trial = DebounceTrial(settled: .init(.online, .peer), since: 9_000 * second)
    let sent = DebouncerState(grace: .seconds(10), trials: ["5": trial, "gone": trial], time: 9_006 * second)
    let update = reducer.reduce(.route(.home(Self.lamp(.offline, .peer), sent, by: .local)), at: 100 * second)
    #expect(update?.settled == ["5"] && reducer.settledConnectivity(of: "5") == .init(.online, .local))
    #expect(reducer.debouncer.grace == .seconds(10) && reducer.debouncer.nextDeadline == 104 * second)
    let begun = DebounceTrial(settled: .init(.online, .local), since: 94 * second)
    #expect(
      reducer.debouncerState(at: 101 * second)
        == DebouncerState(grace: .seconds(10), trials: ["5": begun], time: 101 * second))
    #expect(reducer.advance(to: 104 * second)?.settled == ["5"])
    #expect(reducer.settledConnectivity(of: "5") == .init(.offline, .local))
    // The hub has no trial any longer: the device was online throughout, and the trial ends here as well.
    _ = reducer.reduce(.route(.home(Self.lamp(.online, .peer), sent, by: .local)), at: 200 * second)
    _ = reducer.reduce(.route(.lost), at: 201 * second)
    #expect(reducer.settledConnectivity(of: "5") == .init(.online, .local))
    #expect(reducer.debouncer.nextDeadline == 211 * second)
    #expect(reducer.reduce(.route(.debouncer(DebouncerState(grace: .seconds(5)), by: .local)), at: 202 * second) == nil)
    #expect(reducer.settledConnectivity(of: "5") == .init(.online, .local) && reducer.debouncer.grace == .seconds(5))
    _ = reducer.reduce(.route(.resumed), at: 203 * second)
    #expect(reducer.advance(to: 300 * second) == nil)
    #expect(reducer.reduce(.route(.debouncer(DebouncerState(), by: .local)), at: 300 * second) == nil)
    #expect(reducer.debouncer.grace == .zero)
    // A clock of the hub that is far ahead or behind changes no deadline.
    reducer.debouncer.grace = .seconds(10)
    let change = HomeChange.connectivity(SourceID(5), SourceStatus(.init(.offline, .peer), reason: .timedOut))
    _ = reducer.reduce(.route(.update(HomeUpdate([change], at: 5), by: .local)), at: 400 * second)
    #expect(reducer.debouncer.nextDeadline == 410 * second && reducer.advance(to: 409 * second) == nil)
  }

  /// A hub whose devices change, and a client whose routes are lost and resumed.
  @Test(arguments: 0..<24) func clientMatchesHub(_ seed: UInt64) throws {
    var random = SeededRandomSource(seed: seed)
    func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    var hub = HomeReducer(grace: .seconds(20))
    var client = HomeReducer()
    var time: Int64 = 1_000_000_000
    var missed: [HomeUpdate]?
    var locality = DataSourceLocality.local
    var (breaks, unsettled) = (0, 0)
    for model in [NodeModel.lamp(5), .bridge(7)] {
      for input in [model.report(), .established(model.node, deadline: 0)] as [HomeInput] {
        _ = hub.reduce(input, at: time)
      }
    }
    func seen(_ value: SourceConnectivity) -> SourceConnectivity {
      value.dataSourceLocality == .unspecified ? value : .init(value.connectivityState, locality)
    }
    _ = client.reduce(.route(.home(hub.state, hub.debouncerState(at: time), by: locality)), at: time)
    for _ in 0..<300 {
      time += Int64(number(8)) * 1_000_000
      _ = hub.advance(to: time)
      _ = client.advance(to: time)
      let node: NodeID = [5, 7][number(2)]
      let input: HomeInput =
        switch number(6) {
        case 0, 1: .lost(node, OfflineReason.allCases[number(5)])
        case 2: .established(node, deadline: 0)
        case 3: NodeModel.report(7, BridgedDeviceBasicInformation.reachable.path(on: 2), (number(2) == 0).tlv)
        case 4: number(5) == 0 ? .started : .answered(node)
        default: NodeModel.report(5, OnOff.onOff.path(on: 1), (number(2) == 0).tlv)
        }
      if let update = hub.reduce(input, at: time) {
        let sent = HomeUpdate(update.changes, at: update.time, origin: update.origin)
        if missed == nil { _ = client.reduce(.route(.update(sent, by: locality)), at: time) }
        missed?.append(sent)
      }
      switch (missed, number(12)) {
      case (nil, 0):
        breaks += 1
        missed = []
        _ = client.reduce(.route(.lost), at: time)
      case (nil, 1):
        locality = locality == .local ? .remote : .local
        _ = client.reduce(.route(.home(hub.state, hub.debouncerState(at: time), by: locality)), at: time)
      case (let updates?, 0...3):
        _ = client.reduce(.route(.resumed), at: time)
        for update in updates { _ = client.reduce(.route(.update(update, by: locality)), at: time) }
        _ = client.reduce(.route(.debouncer(hub.debouncerState(at: time), by: locality)), at: time)
        missed = nil
      case (_?, 4):
        client.reload(hub.state, contacts: [:], hub.debouncerState(at: time), by: locality, at: time)
        missed = nil
      default: break
      }
      for (id, device) in client.state.devices {
        let there = try #require(hub.state.devices[id])
        let (here, settled) = (client.connectivity(of: device), client.settledConnectivity(of: id))
        guard missed == nil else {
          #expect(here.connectivityState != .online && here.connectivityState != .partiallyOnline)
          continue
        }
        #expect(here == seen(hub.connectivity(of: there)))
        #expect(device.active?.status.reason == there.active?.status.reason)
        #expect(settled == seen(hub.settledConnectivity(of: id)), "\(id) at \(time)")
        if settled != here { unsettled += 1 }
      }
      if missed == nil { #expect(client.state.values == hub.state.values) }
    }
    #expect(breaks > 3 && unsettled > 10)
  }
}
