import HearthHome
import HomeControl
import HomeModel
import HomeStore
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Testing

/// The grace time set by the user, and the settled connectivity derived from it.
@Suite("Grace time", .timeLimit(.minutes(10))) struct GraceTests {
  /// The elapsed time that a hub reports uses the home's monotonic clock, even at the moment when the wall clock is
  /// changed.
  @Test func elapsedTimeIgnoresWallClockChange() async throws {
    let machine = ChangedMachine()
    let open = try await OpenHome(ScratchDirectory(), grace: .seconds(3600), machine: machine)
    await open.meet(.lamp(5))
    await open.process(.lost(5, .timedOut))
    let controller = open.controller
    let elapsed = try await controller.eventLoop.submit {
      // In one turn of the event loop, so that the clock is not read in between.
      machine.days.add()
      let state = controller.debouncerState
      return state.trials["5"].map { state.time - $0.since }
    }.get()
    #expect((0..<1_800_000_000).contains(try #require(elapsed)))
    await open.home.close()
  }

  private func settled(_ home: Home) async -> ConnectivityState? {
    await home.backend.device("5")?.settledConnectivity.connectivityState
  }

  @Test func takesEffectAtOnceAndAfterRestart() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    try await open.home.follow()
    await open.meet(.lamp(5))
    #expect(try await open.home.graceTime == .zero)
    try await open.home.setGraceTime(.seconds(600))
    await open.process(.lost(5, .subscriptionLost))
    #expect(try await open.device("5").sourceConnectivity.connectivityState == .offline)
    #expect(await settled(open.home) == .online)
    // The device is offline already: the new time counts from the loss.
    try await open.home.setGraceTime(.milliseconds(20))
    #expect(await eventually { await settled(open.home) == .offline })
    try await open.home.setGraceTime(.seconds(90))
    await open.home.close()

    let again = try await OpenHome(directory)
    #expect(try await again.home.graceTime == .seconds(90))
    await again.home.close()
    // The option overrides the stored time.
    let own = try await OpenHome(directory, grace: .seconds(1))
    #expect(try await own.home.graceTime == .seconds(1))
    await own.home.close()
  }

  @Test(arguments: [Duration.milliseconds(-1), .seconds(86_401)]) func rejectsInvalidTimes(_ time: Duration)
    async throws
  {
    let open = try await OpenHome()
    await #expect(throws: HomeError.self) { try await open.home.setGraceTime(time) }
    #expect(try await open.home.graceTime == .zero)
    await open.home.close()
  }

  @Test func newGraceTimeCountsFromLoss() {
    let second: Int64 = 1_000_000
    var debouncer = ConnectivityDebouncer(grace: .seconds(100))
    debouncer.restore("5", SourceConnectivity(.online, .peer), nil, at: 0)
    _ = debouncer.note("5", SourceConnectivity(.offline, .peer), at: 10 * second)
    #expect(debouncer.nextDeadline == 110 * second)
    debouncer.grace = .seconds(30)
    #expect(debouncer.nextDeadline == 40 * second)
    #expect(debouncer.advance(to: 39 * second).isEmpty && debouncer["5"].connectivityState == .online)
    debouncer.grace = .seconds(60)
    #expect(debouncer.advance(to: 69 * second).isEmpty)
    #expect(debouncer.advance(to: 70 * second) == ["5"] && debouncer["5"].connectivityState == .offline)
    #expect(debouncer.nextDeadline == nil)
  }

  // MARK: Several processes

  /// A home whose clock differs from the host's, as in a simulation.
  @Test func evaluatesStoredTrialsByClockOfHome() async throws {
    let (directory, machine) = (ScratchDirectory(), ChangedMachine())
    for _ in 0..<30 { machine.days.add() }
    let open = try await OpenHome(directory, machine: machine)
    try await open.home.follow()
    await open.meet(.lamp(5))
    try await open.home.setGraceTime(.seconds(600))
    await open.process(.lost(5, .subscriptionLost))
    try await open.controller.flush()
    var stored = try HomeDatabase.open(directory.state.database).load()
    // Longer than the maximum grace time.
    let since = machine.unixMicroseconds() - 2 * 86_400_000_000
    stored.trials["5"] = DebounceTrial(settled: SourceConnectivity(.online, .peer), since: since)
    let snapshot = await open.home.devices(of: stored)
    #expect(snapshot.map(\.settledConnectivity.connectivityState) == [.offline])
    await open.home.close()
  }

  @Test func resumesTrialAfterRestart() async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    try await open.home.follow()
    await open.meet(.lamp(5))
    try await open.home.setGraceTime(.seconds(600))
    await open.process(.lost(5, .subscriptionLost))
    await open.home.close()
    let process = try HomeDatabase.open(directory.state.database)
    let trial = try #require(try process.load().trials["5"])
    #expect(trial.settled == SourceConnectivity(.online, .peer))

    let again = try await OpenHome(directory)
    try await again.home.follow()
    #expect(try await again.device("5").sourceConnectivity == .unknown)
    #expect(await settled(again.home) == .online)
    await again.process(.lost(5, .timedOut))
    #expect(await settled(again.home) == .online)
    try await again.controller.flush()
    #expect(try process.load().trials == ["5": trial])
    await again.process(.established(5, deadline: .max))
    await again.home.close()
    #expect(try process.load().trials.isEmpty)
  }

  @Test func restoredTrialEndsInTimeByAnyClock() {
    let second: Int64 = 1_000_000
    let online = SourceConnectivity(.online, .peer)
    func lamp(_ trial: DebounceTrial?, at time: Int64) -> HomeReducer {
      var home = CheckedReducer()
      home.meet(.lamp(5))
      home.process(.lost(5, .timedOut))
      return HomeReducer(home.state, grace: .seconds(60), trials: trial.map { ["5": $0] } ?? [:], at: time)
    }
    func state(_ reducer: HomeReducer) -> ConnectivityState { reducer.settledConnectivity(of: "5").connectivityState }
    #expect(state(lamp(nil, at: 100 * second)) == .offline)
    // The grace time elapsed while no process ran.
    #expect(state(lamp(DebounceTrial(settled: online, since: 40 * second), at: 100 * second)) == .offline)
    var reducer = lamp(DebounceTrial(settled: online, since: 41 * second), at: 100 * second)
    #expect(state(reducer) == .online && reducer.debouncer.nextDeadline == 101 * second)
    let sent = reducer.debouncerState(at: 100 * second)
    #expect(sent.trials == ["5": DebounceTrial(settled: online, since: 41 * second)] && sent.time == 100 * second)
    let update = reducer.advance(to: 101 * second)
    #expect(update?.settled == ["5"] && update?.trials == ["5": nil])
    // The clock was set back since: the trial does not take longer than the grace time.
    let later = lamp(DebounceTrial(settled: online, since: 9_000 * second), at: 100 * second)
    #expect(state(later) == .online && later.debouncer.nextDeadline == 160 * second)
    // An improved state, or a state unknown to this version, starts no trial.
    #expect(state(lamp(DebounceTrial(settled: .unknown, since: 41 * second), at: 100 * second)) == .offline)
  }

  /// A reducer restored from the database settles like the reducer that processed all inputs.
  @Test(arguments: 0..<8) func restoredTrialsMatchLiveReducer(_ seed: Int) throws {
    var random = SeededRandomSource(seed: 4_200 + UInt64(seed))
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let grace = Duration.seconds(10)
    var reducer = HomeReducer(grace: grace)
    var time: Int64 = 1_000_000
    var trials = 0
    func store(_ update: HomeUpdate?) throws { if let update { try database.commit([update]) } }
    let reachable = BridgedDeviceBasicInformation.reachable.path(on: 3)
    for model in [NodeModel.lamp(5), .bridge(7)] {
      try store(reducer.reduce(model.report(), at: time))
      try store(reducer.reduce(.established(model.node, deadline: 0), at: time))
    }
    for step in 0..<60 {
      time += Int64.random(in: 1...6_000_000, using: &random)
      try store(reducer.advance(to: time))
      let node: NodeID = Bool.random(using: &random) ? 5 : 7
      let input: HomeInput =
        switch Int.random(in: 0..<9, using: &random) {
        case 0...3: .lost(node, .subscriptionLost)
        case 4: .established(node, deadline: 0)
        case 5: NodeModel.report(7, reachable, Bool.random(using: &random).tlv)
        case 6: step % 4 == 0 ? .nodeRemoved(node) : .lost(node, .timedOut)
        case 7: (node == 5 ? NodeModel.lamp(5) : .bridge(7)).report()
        default: .started
        }
      try store(reducer.reduce(input, at: time))
      let stored = try database.load()
      let other = HomeReducer(stored.state, grace: grace, trials: stored.trials, at: time)
      trials += stored.trials.count
      for device in reducer.state.devices.keys {
        #expect(other.settledConnectivity(of: device) == reducer.settledConnectivity(of: device), "\(step) \(device)")
      }
      #expect(other.debouncerState(at: time) == reducer.debouncerState(at: time), "\(step)")
    }
    #expect(trials > 10)
  }
}
