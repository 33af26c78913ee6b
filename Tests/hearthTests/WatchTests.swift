import ArgumentParser
import HearthHome
import HomeModel
import HomeStore
import HomeText
import MatterModel
import MatterProtocol
import Synchronization
import Testing

@testable import HomeAutomation
@testable import hearth

@Suite("hearth watch, wait and observe") struct WatchTests {
  @Test func limitedWatchDoesNotTriggerObservers() throws {
    #expect(try Watch.parse([]).wakesObservers)
    #expect(try !Watch.parse(["--for", "1m"]).wakesObservers)
    #expect(try !Watch.parse(["--count", "3"]).wakesObservers)
  }

  /// An online lamp with two OnOff endpoints.
  private static func state() -> HomeState {
    var state = HomeState()
    let source = SourceID(5)
    for change: HomeChange in [
      .structureAdded(HomeReducer.firstStructure), .roomAdded(.init(id: "r", name: "Den", structureID: "home")),
      .deviceAdded(id: "5", name: "Lamp", roomID: "r", structureID: "home"), .sourceAdded(source, device: "5"),
      .topology(
        source,
        [
          .init(id: 0, deviceTypes: [0x16], servers: [0x1D, 0x28]),
          .init(id: 1, deviceTypes: [0x101], servers: [3, 6, 8, 0x402]),
          .init(id: 2, deviceTypes: [0x100], servers: [6]),
        ], DeviceIdentity()),
      .connectivity(source, SourceStatus(SourceConnectivity(.online, .peer))),
      .attribute(5, .init(1, 6, 0), value: [0x09]), .attribute(5, .init(1, 8, 0), value: [0x05, 101, 0]),
      .attribute(5, .init(1, 0x402, 0), value: [0x01, 0x66, 0x08]),
    ] { state.apply(change) }
    return state
  }

  private static func sample(
    _ change: HomeChange, _ sequence: Int64 = 7, device: String? = "5", name: String? = nil
  ) -> HomeSample {
    HomeSample(
      anchor: Anchor(log: 0xA, sequence: sequence), time: 1_000_000, change: change, device: device, name: name,
      origin: nil, update: sequence)
  }

  @Test func formatsLines() {
    var report = ChangeFormatter(Self.state())
    func words(_ change: HomeChange, device: String? = "5") -> String {
      let line = report.report(Self.sample(change, device: device)).text ?? ""
      #expect(line.contains("  ha-7  "))
      return line.split(separator: "  ", maxSplits: 2).last.map(String.init) ?? ""
    }
    #expect(words(.attribute(5, .init(1, 8, 0), value: [0x04, 203])) == "Den/Lamp/1.levelControl.currentLevel  80%")
    #expect(words(.attribute(5, .init(1, 6, 0), value: nil)) == "Den/Lamp/1.onOff.onOff  removed")
    let lost = SourceStatus(SourceConnectivity(.offline, .peer), reason: .subscriptionLost)
    #expect(words(.connectivity(SourceID(5), lost)) == "Den/Lamp  offline (subscription lost)")
    #expect(words(.connectivity(SourceID(5), .init(.init(.online, .peer)))) == "Den/Lamp  online (peer)")
    #expect(words(.roomRenamed(id: "r", name: "Study"), device: nil) == "room Study  renamed, was Den")
    #expect(words(.deviceRenamed(id: "5", name: "Light")) == "Study/Light  renamed, was Lamp")
    #expect(words(.deviceMoved(id: "5", roomID: nil)) == "Light  moved out of its room")
    // Removed devices and rooms keep their names in these lines.
    #expect(words(.sourceRemoved(SourceID(5))) == "Light  source 5 removed")
    #expect(words(.deviceRemoved(id: "5")) == "Light  removed")
    #expect(words(.roomRemoved(id: "r"), device: nil) == "room Study  removed")
    #expect(words(.attribute(9, .init(1, 6, 0), value: [0x09]), device: "9") == "9/1.onOff.onOff  true")
    // A node that is not a device yet.
    #expect(words(.attribute(9, .init(1, 6, 0), value: [0x09]), device: nil) == "9/1.onOff.onOff  true")
    #expect(words(.sourceRemoved(SourceID(9)), device: nil) == "9  source 9 removed")
  }

  /// Before the first logged change of a name, its past value is not known: the recorded name is the current one.
  @Test func pastLinesHaveOldNamesFromLog() {
    var report = ChangeFormatter(Self.state(), isPast: true)
    func words(_ change: HomeChange, device: String? = "5") -> String {
      let line = report.report(Self.sample(change, device: device))
      return (line.text ?? "").split(separator: "  ", maxSplits: 2).last.map(String.init) ?? ""
    }
    #expect(words(.deviceRenamed(id: "5", name: "Light")) == "Den/Light  renamed")
    #expect(words(.deviceRenamed(id: "5", name: "Lamp")) == "Den/Lamp  renamed, was Light")
    #expect(words(.roomRenamed(id: "r", name: "Study"), device: nil) == "room Study  renamed")
    #expect(words(.roomRenamed(id: "r", name: "Den"), device: nil) == "room Den  renamed, was Study")
    #expect(words(.structureRenamed(id: "home", name: "House"), device: nil) == "structure House  renamed")
    _ = words(.roomAdded(Room(id: "n", name: "New", structureID: "home")), device: nil)
    #expect(words(.roomRenamed(id: "n", name: "Newer"), device: nil) == "room Newer  renamed, was New")
    // From here on the recorded names are up to date.
    report.reachPresent()
    #expect(words(.structureRenamed(id: "home", name: "Home"), device: nil) == "structure Home  renamed, was House")
  }

  /// A device was moved to a room that was removed later.
  @Test func namesRemovedRooms() {
    let removal = Self.sample(.roomRemoved(id: "gone"), device: nil, name: "Attic")
    for (collected, words, json) in [
      ([removal], "Attic/Lamp  moved to Attic", #""room":"Attic""#), ([], "Lamp  moved", #""room":null"#),
    ] {
      var report = ChangeFormatter(Self.state(), isPast: true)
      report.collectNames(from: collected)
      let line = report.report(Self.sample(.deviceMoved(id: "5", roomID: "gone")))
      #expect(line.text?.hasSuffix("  " + words) == true && line.json.description.contains(json), "\(line)")
      let out = report.report(Self.sample(.deviceMoved(id: "5", roomID: nil)))
      #expect(out.text?.hasSuffix("  Lamp  moved out of its room") == true)
    }
  }

  @Test func formatsPrimaryHome() throws {
    var report = ChangeFormatter(Self.state())
    _ = report.report(Self.sample(.structureAdded(Structure(id: "c", name: "Cabin")), device: nil))
    let line = report.report(Self.sample(.primaryStructureChosen(id: "c"), device: nil))
    #expect(line.text?.hasSuffix("structure Cabin  now primary") == true)
    #expect(line.json.description.contains(#""change":"primaryStructureChosen","id":"c","name":"Cabin""#))
    var state = Self.state()
    for change: HomeChange in [
      .structureAdded(Structure(id: "c", name: "Cabin")), .primaryStructureChosen(id: "c"),
    ] { state.apply(change) }
    let stored = StoredHome(state: state, anchor: try #require(Anchor("ha-7")))
    #expect(
      report.reset(stored, [], at: 1).json.description.contains(
        #""structures":[{"id":"home","name":"Home","primary":false},{"id":"c","name":"Cabin","primary":true}]"#))
  }

  @Test func formatsObjects() {
    var report = ChangeFormatter(Self.state())
    let json = report.report(Self.sample(.attribute(5, .init(1, 8, 0), value: [0x04, 203]))).json.description
    for part in [
      #""type":"attribute","change":"attribute","id":"5","room":"Den","device":"Lamp""#, #""path":"5/1/8/0""#,
      #""value":203,"text":"80%""#, #""time":"1970-01-01T00:00:01.000Z","anchor":"ha-7""#,
    ] { #expect(json.contains(part), "\(json)") }
  }

  @Test func signalThrowsErrorOfQuery() async throws {
    let signal = WatchSignal()
    let completed = Mutex(0)
    let completion = ObserverCompletion { if $0 { completed.withLock { $0 += 1 } } }
    for _ in 0..<3 { signal.query.handler(signal.query, completion, nil) }
    signal.query.handler(signal.query, completion, HomeError(.timedOut, "did not complete"))
    #expect(completed.withLock { $0 } == 4)
    var count = 0
    let error = await #expect(throws: HomeError.self) { for try await _ in signal.signals { count += 1 } }
    // The three signals are coalesced.
    #expect(error?.code == .timedOut && count == 1)
  }

  @Test func reportsSettledChangesOnce() {
    var changes = SettledChanges()
    func reports(_ state: ConnectivityState, alone: Bool, _ device: String = "5") -> Bool {
      changes.shouldReport(device, state, isAlone: alone)
    }
    // Without a grace time it changes together with the connectivity.
    for state in [ConnectivityState.online, .offline, .partiallyOnline, .online] {
      #expect(!reports(state, alone: false))
    }
    // With a grace time it changes later.
    #expect(reports(.offline, alone: true))
    #expect(!reports(.offline, alone: true))
    // The following return is reported once.
    #expect(reports(.online, alone: false))
    #expect(!reports(.offline, alone: false) && !reports(.online, alone: false))
    #expect(reports(.partiallyOnline, alone: true) && reports(.offline, alone: true) && reports(.online, alone: false))
    // After the home is opened the state is not known at first.
    #expect(!reports(.unknown, alone: true, "6") && !reports(.online, alone: true, "6"))
    // The outage is detected only after the grace time.
    #expect(!reports(.unknown, alone: true, "6") && reports(.offline, alone: false, "6"))
    #expect(reports(.online, alone: false, "6"))
  }

  @Test func detectsRouteChangesOnly() throws {
    var home = Self.state()
    var routes = RouteChanges(home)
    func becomes(_ state: ConnectivityState, _ locality: DataSourceLocality, _ reason: OfflineReason? = nil) -> Bool {
      home.apply(.connectivity(SourceID(5), SourceStatus(SourceConnectivity(state, locality), reason: reason)))
      return routes.update(to: home) == ["5"]
    }
    #expect(routes.update(to: home) == [])
    #expect(becomes(.online, .local) && becomes(.online, .remote) && !becomes(.online, .remote))
    #expect(becomes(.offline, .remote, .hubUnreachable) && becomes(.online, .local))
    // Only own sessions are left, and the device has not been reached by them.
    #expect(becomes(.unknown, .unspecified) && becomes(.online, .peer) && becomes(.online, .local))
    // These are in the hub's log.
    #expect(!becomes(.offline, .local, .timedOut) && !becomes(.offline, .local, .sessionRefused))
    #expect(!becomes(.online, .local) && becomes(.offline, .local, .hubUnreachable))
    #expect(!becomes(.offline, .remote, .timedOut))
    #expect(becomes(.offline, .local, .timedOut))
    // The client's own route changes have no change in the update; those of the home come with other changes.
    let path = ConcreteAttributePath(1, 6, 0)
    let value = HomeChange.attribute(5, path, value: [9])
    #expect(!RouteChanges.mayResult(from: HomeUpdate([value], at: 0)))
    #expect(RouteChanges.mayResult(from: HomeUpdate([], at: 0)))
    #expect(RouteChanges.mayResult(from: HomeUpdate([value, .sourceRemoved(SourceID(5))], at: 0)))
  }

  @Test func formatsRouteChanges() throws {
    var state = Self.state()
    func line(_ status: SourceStatus) throws -> (json: JSON, text: String) {
      state.apply(.connectivity(SourceID(5), status))
      let device = HomeDevice(
        try #require(state.devices["5"]), values: NodeValues(), contact: Contact(), settled: status.connectivity,
        home: OutputTests.NoHome())
      return try #require(ChangeFormatter(state).routed(device, at: 1_000_000, Anchor(log: 0xA, sequence: 7)))
    }
    let remote = try line(SourceStatus(SourceConnectivity(.online, .remote)))
    #expect(remote.text.hasSuffix("  ha-7  Den/Lamp  online (remote)"))
    #expect(
      remote.json.description
        == #"{"type":"connectivity","change":"connectivity","id":"5","room":"Den","device":"Lamp","nodeID":"5","connectivityState":"online","connectivityReason":null,"dataSourceLocality":"remote","source":"5","deviceConnectivityState":"online","deviceDataSourceLocality":"remote","time":"1970-01-01T00:00:01.000Z","anchor":"ha-7"}"#
    )
    let none = try line(SourceStatus(SourceConnectivity(.offline, .remote), reason: .hubUnreachable))
    #expect(none.text.hasSuffix("  ha-7  Den/Lamp  offline (hub unreachable)"))
  }

  @Test func formatsSettledConnectivity() throws {
    let state = Self.state()
    let entry = try #require(state.devices["5"])
    let device = HomeDevice(
      entry, values: NodeValues(), contact: Contact(), settled: SourceConnectivity(.offline, .peer),
      home: OutputTests.NoHome())
    let line = try #require(ChangeFormatter(state).settled(device, at: 1_000_000, Anchor(log: 0xA, sequence: 7)))
    #expect(line.text.hasSuffix("  ha-7  Den/Lamp  settled: offline"))
    #expect(
      line.json.description
        == #"{"type":"connectivity","change":"settledConnectivity","id":"5","room":"Den","device":"Lamp","nodeID":"5","settledConnectivityState":"offline","time":"1970-01-01T00:00:01.000Z","anchor":"ha-7"}"#
    )
  }

  private static func holds(_ text: String, of target: String = "lamp", in state: HomeState = state()) throws -> Bool {
    let registry = HomeRegistry(state)
    let condition = try DeviceCondition(parsing: text, of: try registry.resolve(target))
    let device = state.devices["5"].map {
      HomeDevice(
        $0, values: state.values[5] ?? NodeValues(), contact: Contact(), settled: .unknown, home: OutputTests.NoHome())
    }
    return condition.check(device, state).holds
  }

  @Test(
    arguments: [
      ("onOff.onOff=true", true), ("onOff.onOff=false", false), ("currentLevel=40%", true), ("currentLevel=41%", false),
      // Encoded numbers are compared exactly, whatever the width of the encoding.
      ("levelControl.currentLevel=101", true), ("currentLevel=102", false), ("connectivity=Online", true),
      ("connectivity=offline", false), ("locality=peer", true), ("locality=direct", true), ("locality=local", false),
      ("measuredValue=21.5 °C", true), ("measuredValue=2150", true), ("measuredValue=21.4C", false),
      ("identifyTime=0", false), ("onOff=true", true),
    ])
  func evaluatesConditions(_ text: String, holds: Bool) throws { #expect(try Self.holds(text) == holds) }

  @Test func acceptsBothNamesOfLocalLocality() throws {
    var state = Self.state()
    state.apply(.connectivity(SourceID(5), .init(.init(.online, .local))))
    #expect(try Self.holds("locality=local", in: state) && Self.holds("locality=localPeer", in: state))
    #expect(try !Self.holds("locality=direct", in: state))
  }

  @Test func attributeConditionsFailWhileOffline() throws {
    var state = Self.state()
    state.apply(.connectivity(SourceID(5), .init(.init(.offline, .peer), reason: .timedOut)))
    #expect(try !Self.holds("onOff=true", in: state))
    #expect(try !Self.holds("locality=peer", in: state))
    #expect(try Self.holds("connectivity=offline", in: state))
  }

  @Test(
    arguments: [
      ("onOff", .badArguments), ("=1", .badArguments), ("connectivity=up", .badArguments),
      ("locality=near", .badArguments), ("curentLevel=3", .notFound), ("onOff.*=true", .badArguments),
      ("currentLevel=bright", .badArguments), ("doorLock.lockState=1", .notFound),
    ] as [(String, HomeError.Code)])
  func rejectsInvalidConditions(_ text: String, code: HomeError.Code) {
    #expect { try Self.holds(text) } throws: { ($0 as? HomeError)?.code == code }
  }

  @Test func createsAndFormatsObservers() throws {
    let registry = HomeRegistry(Self.state())
    let filter = try ObserverReport.filter(.attribute, ["lamp/2"], ["onOff", "8"], in: registry)
    #expect(filter == SampleFilter(.attribute, devices: ["5"], endpoints: [2], clusters: [6, 8]))
    #expect(try ObserverReport.filter(.all, [], [], in: registry) == .all)
    #expect(throws: HomeError.self) { try ObserverReport.filter(.all, ["lamp/1", "lamp/2"], [], in: registry) }
    var observer = BackgroundDelivery(
      filter, .every(.seconds(60)), to: .command(["sh", "-c", "echo it's"]), after: Anchor(log: 0xA, sequence: 3))
    (observer.id, observer.strikes, observer.isSuspended) = (4, 3, true)
    (observer.failure, observer.delivered) = ("“sh” ended with 1", 0)
    let report = ObserverReport(observer, registry)
    #expect(
      ObserverReport.table([report], now: 240_000) == """
        ID  TYPE       FILTER                                     EVERY  TARGET                LAST DELIVERY  FAILURES  STATE
        4   attribute  Den/Lamp, endpoint 2, onOff, levelControl  1 min  sh -c 'echo it'\\''s'  4 min ago      3         suspended: “sh” ended with 1
        """)
    let json = report.json.description
    #expect(json.contains(#""run":["sh","-c","echo it's"],"anchor":"ha-3""#))
    #expect(json.contains(#""everyMilliseconds":60000"#) && json.contains(#""suspended":true"#))
    // A filter with a removed device.
    observer = BackgroundDelivery(
      SampleFilter(.attribute, devices: ["5", "9"]), .immediate, to: .command(["true"]),
      after: Anchor(log: 1, sequence: 1))
    let old = ObserverReport(observer, registry)
    #expect(ObserverReport.table([old], now: 0).contains(" Den/Lamp, 9 (removed) "))
    #expect(old.json.description.contains(#"{"id":"9","name":null}"#))
  }
}
