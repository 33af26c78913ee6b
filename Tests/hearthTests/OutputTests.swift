import HearthHome
import HomeModel
import HomeText
import Logging
import MatterModel
import MatterProtocol
import Synchronization
import Testing

@testable import hearth

@Suite("Output") struct OutputTests {
  @Test func alignsColumns() {
    var table = Table("NAME", "STATE", "LAST CONTACT")
    table.add("Ceiling", "on 40%", "2 s ago")
    table.add("電球", "–", "")
    #expect(
      table.text == """
        NAME     STATE   LAST CONTACT
        Ceiling  on 40%  2 s ago
        電球     –
        """)
  }

  @Test("fits a table to a terminal") func narrowTable() {
    var table = Table("NAME", "TYPE", "STATE")
    table.add("A lamp with a long name", "Dimmable Light", "on")
    table.add("電球電球電球電球", "Plug", "off")
    let wide = table.text(columns: 80)
    #expect(wide == table.text(columns: nil))
    let lines = table.text(columns: 30).split(separator: "\n")
    #expect(lines.allSatisfy { Table.width(String($0)) <= 30 }, "\(lines)")
    #expect(lines[1].hasPrefix("A lamp wi") && lines[1].contains("…") && lines[1].hasSuffix("on"), "\(lines)")
    #expect(lines[2].hasPrefix("電球") && lines[2].contains("…"), "\(lines)")
    // Columns keep a minimum width.
    #expect(table.text(columns: 5).split(separator: "\n")[1] == "A lam…  Dimma…  on")
  }

  @Test("wraps a column instead of cutting it") func wrappedColumn() {
    var table = Table("CHECK", "WHAT TO DO")
    table.wrappedColumns = ["WHAT TO DO"]
    table.add("clock", "start a time service, such as systemd-timesyncd")
    table.add("ports", "")
    #expect(
      table.text(columns: 30) == """
        CHECK  WHAT TO DO
        clock  start a time service,
               such as
               systemd-timesyncd
        ports
        """)
    #expect(table.text(columns: nil).contains("start a time service, such as systemd-timesyncd"))
    #expect(Table.wrap("abcdefgh ij", 4) == ["abcd", "efgh", "ij"])
  }

  @Test("never cuts a setup code, and leaves less important columns out first") func wholeColumn() {
    var table = Table("NAME", "CODE", "DISCRIMINATOR", "STATE")
    table.wholeColumns = ["CODE"]
    table.optionalColumns = ["DISCRIMINATOR"]
    table.add("A lamp with a long name", "34970112332", "3840", "on")
    #expect(table.text(columns: 60).contains("DISCRIMINATOR"))
    let narrow = table.text(columns: 40)
    #expect(narrow.contains("34970112332") && !narrow.contains("3840") && !narrow.contains("DISC"), "\(narrow)")
    #expect(narrow.split(separator: "\n").allSatisfy { $0.count <= 40 }, "\(narrow)")
    #expect(table.text(columns: 10).contains("34970112332"))
  }

  @Test("colors headings, states and messages") func colors() {
    let table = "NAME  CONNECTIVITY\nA b   online\nC     offline"
    #expect(
      Paint.result(table)
        == "\u{1B}[1mNAME  CONNECTIVITY\u{1B}[0m\nA b   \u{1B}[32monline\u{1B}[0m\nC     \u{1B}[31moffline\u{1B}[0m")
    #expect(Paint.result("Lamp: on") == "Lamp: on")
    #expect(Paint.result("FAILED  Lamp, seed 1\n  why") == "\u{1B}[31mFAILED\u{1B}[0m  Lamp, seed 1\n  why")
    #expect(Paint.message("hearth: no lamp") == "\u{1B}[31mhearth:\u{1B}[0m no lamp")
    #expect(Paint.message("hearth: warning: two lamps") == "\u{1B}[33mhearth: warning:\u{1B}[0m two lamps")
    #expect(Paint.message("waiting") == "waiting")
    #expect(Terminal.allowsColors([:]) && Terminal.allowsColors(["NO_COLOR": "", "TERM": "xterm"]))
    #expect(!Terminal.allowsColors(["NO_COLOR": "1"]) && !Terminal.allowsColors(["TERM": "dumb"]))
  }

  @Test func putsStaleStateInParentheses() {
    let offline = row(.offline)
    let text = DeviceTable.text([row(.online), offline], now: 240_000)
    #expect(
      text
        == """
        NAME   ROOM     TYPE            STATE       CONNECTIVITY  LOCALITY  LAST CONTACT
        Strip  Kitchen  Dimmable Light  on 80%      online        peer      4 min ago
        Strip  Kitchen  Dimmable Light  (on 80%)    offline       –         4 min ago, subscription lost
        """.replacing("on 80%      online", with: "on 80%    online").replacing(
          "(on 80%)    off", with: "(on 80%)  off"
        )
        .replacing("STATE       CONN", with: "STATE     CONN"))
  }

  @Test func updatesTableAfterChangesAndPeriodicallyForTimes() {
    let screen = TableScreen(isInPlace: true)
    #expect(screen.needsUpdate(["a"], "just now", at: 1000))
    #expect(!screen.needsUpdate(["a"], "2 s ago", at: 3000))
    #expect(screen.needsUpdate(["b"], "2 s ago", at: 3000))
    #expect(!screen.needsUpdate(["b"], "7 s ago", at: 7999))
    #expect(screen.needsUpdate(["b"], "7 s ago", at: 8000))
    // The same table.
    #expect(!screen.needsUpdate(["b"], "7 s ago", at: 20_000))
    // The clock was set back.
    #expect(screen.needsUpdate(["b"], "just now", at: 10))
    let pipe = TableScreen(isInPlace: false)
    #expect(pipe.needsUpdate(["a"], "just now", at: 1000))
    #expect(!pipe.needsUpdate(["a"], "2 min ago", at: 120_000))
    #expect(pipe.needsUpdate(["b"], "2 min ago", at: 120_000))
  }

  @Test func logEscapesControlCharacters() {
    let lines = Mutex<[String]>([])
    var logger = Logger(label: "test") { _ in ShownLog(Lines { line in lines.withLock { $0.append(line) } }) }
    logger.logLevel = .info
    logger[metadataKey: "node"] = "7\u{1B}c"
    logger.info("found \u{1B}[2JLamp\nand more", metadata: ["name": "a\nb\u{9B}"])
    logger.debug("nothing")
    #expect(lines.withLock(\.self) == ["found <U+001B>[2JLamp\nand more name a<U+000A>b<U+009B> node 7<U+001B>c"])
  }

  @Test("a shared log level replaces the own level of all handlers") func sharesLogLevel() {
    let shared = SharedLogLevel()
    let lines = Mutex<[String]>([])
    let loggers = (0..<2).map { number in
      Logger(label: "\(number)") { _ in ShownLog(Lines { line in lines.withLock { $0.append(line) } }, shared) }
    }
    for logger in loggers { logger.debug("before") }
    shared.set(.debug)
    for logger in loggers { logger.debug("debug") }
    shared.set(.critical)
    for logger in loggers { logger.error("after") }
    #expect(lines.withLock(\.self) == ["debug", "debug"])
    #expect(loggers.map(\.logLevel) == [.critical, .critical])
  }

  @Test func cutsTableToTerminalHeight() {
    let screen = TableScreen(isInPlace: true)
    func lines(_ table: String, _ rows: Int?) -> [String] {
      let text = screen.text(table, rows: rows)
      // Line wrapping is off, and each line is cleared to its end.
      #expect(text.hasPrefix("\u{1B}[?7l\u{1B}[H") && text.hasSuffix("\u{1B}[K\u{1B}[J\u{1B}[?7h"))
      return text.dropFirst(8).split(separator: "\n").map { String($0.prefix { $0 != "\u{1B}" }) }
    }
    #expect(lines("a\nb\nc", nil) == ["a", "b", "c"])
    #expect(lines("a\nb\nc", 4) == ["a", "b", "c"])
    #expect(lines("a\nb\nc", 3) == ["a", "… and 2 more"])
    #expect(lines("a\nb\nc", 1) == ["a", "… and 2 more"])
    #expect(TableScreen(isInPlace: false).text("a\nb\nc", rows: 3) == "a\nb\nc")
  }

  @Test("prints the same wait once") func printsWaitOnce() throws {
    let notes = WaitingNotes(Output(), timeout: .seconds(86_400))
    for text in ["waiting for a", nil] {
      let number = try #require(notes.begin("a"))
      #expect(notes.takeOverdue(upTo: number).text == text)
      notes.end(number)
    }
    let (first, second) = (try #require(notes.begin("b")), try #require(notes.begin("c")))
    let (text, next) = notes.takeOverdue(upTo: first)
    #expect(text == "waiting for b" && next == second)
  }

  @Test func formatsWaitingNotes() {
    #expect(WaitingNotes.text([]) == nil)
    #expect(WaitingNotes.text(["Lamp to answer onOff.on"]) == "waiting for Lamp to answer onOff.on")
    #expect(WaitingNotes.text(["a", "b"]) == "waiting for a, and for b")
    #expect(WaitingNotes.text(["a", "b", "c", "d"]) == "waiting for a, for b, and for 2 more")
  }

  @Test func devicesHaveDocumentedKeys() {
    let json = DeviceTable.json(row(.online))
    guard case .object(let members) = json else {
      Issue.record("no object")
      return
    }
    let keys = members.map(\.name)
    for key in [
      "id", "nodeID", "name", "room", "types", "online", "connectivityState", "dataSourceLocality", "state",
      "lastContact",
    ] {
      #expect(keys.contains(key))
    }
    #expect(json.description.contains(#""nodeID":"7""#))
    #expect(json.description.contains(#""types":["Dimmable Light"],"online":true,"connectivityState":"online""#))
    #expect(json.description.contains(#""dataSourceLocality":"peer""#))
    #expect(json.description.contains(#""lastContact":"1970-01-01T00:00:00.000Z""#))
    #expect(DeviceTable.json(row(.offline)).description.contains(#""dataSourceLocality":"unspecified""#))
  }

  private func row(_ connectivity: ConnectivityState) -> DeviceRow {
    var entry = DeviceEntry(id: "7", name: "Strip", structureID: "home")
    var source = DeviceSource(SourceID(7))
    source.endpoints = [
      .init(id: 0, deviceTypes: [0x16], servers: [0x1D]),
      .init(id: 1, deviceTypes: [0x101, 0x11], servers: [0x06, 0x08]),
    ]
    let locality: DataSourceLocality = connectivity == .online ? .peer : .unspecified
    source.status = SourceStatus(
      SourceConnectivity(connectivity, locality), reason: connectivity == .offline ? .subscriptionLost : nil)
    entry.sources = [source]
    var values = NodeValues()
    values[.init(1, 6, 0)] = [0x09]
    values[.init(1, 8, 0)] = [0x04, 203]
    let device = HomeDevice(
      entry, values: values, contact: Contact(last: 0), settled: SourceConnectivity(connectivity, locality),
      home: NoHome())
    return DeviceRow(device: device, record: DeviceRecord(entry, source, room: "Kitchen"))
  }

  /// A stub of a home, for values that require one.
  final class NoHome: HomeAccess {
    func invoke(
      _ command: CommandData, isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
    ) async throws(HomeError) -> CommandData? { throw HomeError(.notFound, "no home") }
    func write(
      _ writes: [AttributeWrite], isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
    ) async throws(HomeError) { throw HomeError(.notFound, "no home") }
    func edit(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result] {
      throw HomeError(.notFound, "no home")
    }
    func setName(_ name: String, of device: String) async throws(HomeError) -> HomeDevice {
      throw HomeError(.notFound, "no home")
    }
    func reports(of device: String) -> DeviceReports { .none }
  }

  @Test func escapesJSON() {
    let json: JSON = [
      "a": "“\"\\\n\u{1}”", "b": .array([nil, true, -5, .number(1.5)]), "c": [:], "d": .encoded("[1]"),
    ]
    #expect(json.description == #"{"a":"“\"\\\n\u0001”","b":[null,true,-5,1.5],"c":{},"d":[1]}"#)
  }

  @Test func errorsListCandidates() {
    let ambiguous = HomeError(.ambiguousTarget, "“lamp” matches 2 devices", candidates: ["A/Lamp", "B/Lamp"])
    #expect(Output.sentence(ambiguous) == "“lamp” matches 2 devices:\n  A/Lamp\n  B/Lamp")
    #expect(
      Output.sentence(HomeError(.notFound, "no x", device: "D", candidates: ["y", "z"]))
        == "D: no x; did you mean “y” or “z”?")
    #expect(
      Output.object(HomeError(.refused, "no", device: "Lamp")).description
        == #"{"code":"refused","message":"no","device":"Lamp"}"#)
  }

  @Test func exitCodesMatchDocumentation() {
    let codes: [HomeError.Code: Int32] = [
      .internalError: 1, .badArguments: 2, .notFound: 3, .ambiguousTarget: 4, .unreachable: 5, .timedOut: 6,
      .accessDenied: 7, .refused: 8, .commissioningFailed: 9, .partlyFailed: 10, .expectationFailed: 11,
      .badDefinition: 12, .notRunning: 13, .interrupted: 130,
    ]
    for code in HomeError.Code.allCases { #expect(ProcessExit(code).rawValue == codes[code]) }
  }

  @Test func parsesAssignments() throws {
    func pairs(_ arguments: String...) throws -> [String] {
      try Write.pairs(arguments).map { "\($0.path)→\($0.value)" }
    }
    #expect(try pairs("a.b.c=5") == ["a.b.c→5"])
    #expect(try pairs("a.b.c", "x=y") == ["a.b.c→x=y"])
    #expect(try pairs("a.b.c=x=y", "d.e.f", "[1, 2]") == ["a.b.c→x=y", "d.e.f→[1, 2]"])
    #expect(throws: HomeError.self) { try pairs("a.b.c") }
  }

  @Test(
    "fields of commands accept units",
    arguments: [
      (8, 0, ["level=40%", "transitionTime=2s"], ["level=102", "transitionTime=20"]),
      (8, 2, ["0=up", "stepSize=10%", "2=500ms"], ["0=up", "stepSize=25", "2=5"]),
      (
        6, 0x42, ["onOffControl=0", "onTime=1min", "offWaitTime=0"], ["onOffControl=0", "onTime=600", "offWaitTime=0"]
      ),
      (
        0x300, 0x0A, ["colorTemperatureMireds=2700K", "transitionTime=1s"],
        ["colorTemperatureMireds=370", "transitionTime=10"]
      ),
      (0x201, 0, ["mode=heat", "amount=0.5C"], ["mode=heat", "amount=5"]),
      (0x201, 0, ["mode=heat", "amount=-5"], ["mode=heat", "amount=-5"]),
      (0x102, 5, ["liftPercent100thsValue=30%"], ["liftPercent100thsValue=3000"]),
      (3, 0, ["{identifyTime: 1min}"], ["identifyTime=60"]),
      (
        0x201, 1,
        [
          "numberOfTransitionsForSequence=1", "dayOfWeekForSequence=Monday", "modeForSequence=1",
          "transitions=[{transitionTime: 60, heatSetpoint: 21.5C, coolSetpoint: null}]",
        ],
        [
          "numberOfTransitionsForSequence=1", "dayOfWeekForSequence=Monday", "modeForSequence=1",
          "transitions=[{transitionTime: 60, heatSetpoint: 2150, coolSetpoint: null}]",
        ]
      ),
    ] as [(ClusterID, CommandID, [String], [String])])
  func commandUnits(_ cluster: ClusterID, _ command: CommandID, _ fields: [String], _ wire: [String]) throws {
    let info = try #require(ElementNames.command(CommandPath(endpoint: 1, cluster: cluster, command: command)))
    #expect(
      try CommandFields.encode(fields, info, of: cluster)
        == CommandFields.encode(wire, info, of: cluster, raw: true))
    guard fields != wire else { return }
    #expect(throws: HomeError.self) { try CommandFields.encode(fields, info, of: cluster, raw: true) }
  }

  @Test("percentages of a command are those of the device's levels") func commandLevels() throws {
    let info = try #require(ElementNames.command(CommandPath(endpoint: 1, cluster: 8, command: 0)))
    let levels = LevelRange(lowest: 1, highest: 100)
    #expect(
      try CommandFields.encode(["level=40%"], info, of: 8, levels: levels)
        == CommandFields.encode(["level=40"], info, of: 8))
  }

  @Test func omittedCommandFieldsHaveDefaults() throws {
    let info = try #require(ElementNames.command(CommandPath(endpoint: 1, cluster: 8, command: 0)))
    let full: [UInt8] = [0x15, 0x24, 0, 128, 0x34, 1, 0x24, 2, 0, 0x24, 3, 0, 0x18]
    #expect(try CommandFields.encode(["level=128"], info, of: 8) == full)
    #expect(try CommandFields.encode([#"{"level": 128, "transitionTime": null}"#], info, of: 8) == full)
    #expect(throws: HomeError.self) { try CommandFields.encode([], info, of: 8) }
    #expect(throws: HomeError.self) { try CommandFields.encode(["brightness=3"], info, of: 8) }
    #expect(try CommandFields.encode([], nil, of: 8) == [0x15, 0x18])
    // Fields may be named by number; values may hold commas and colons.
    let timed: [UInt8] = [0x15, 0x24, 0, 100, 0x24, 1, 0, 0x24, 2, 0, 0x24, 3, 0, 0x18]
    #expect(try CommandFields.encode(["0=100", "1=0"], info, of: 8) == timed)
    #expect(try CommandFields.encode(["{0: u8:100, 1: 0}"], info, of: 8) == timed)
    #expect(try CommandFields.encode(["0=u8:100", "transitionTime=u16:0"], info, of: 8) == timed)
    #expect(throws: HomeError.self) { try CommandFields.encode(["0=u16:100"], info, of: 8) }
    #expect(throws: HomeError.self) { try CommandFields.encode(["0=100", "level=100"], info, of: 8) }
    let group = try #require(ElementNames.command(CommandPath(endpoint: 1, cluster: 4, command: 0)))
    #expect(
      try CommandFields.encode(["groupID=7", #"groupName="a, groupName: b""#], group, of: 4)
        == CommandFields.encode(["groupID=7", "groupName=a, groupName: b"], group, of: 4))
  }

  @Test func matchesKindsByFamilyAndTypeName() {
    func isOfKind(_ type: DeviceTypeID, _ kind: String) -> Bool {
      var source = DeviceSource(SourceID(1))
      source.endpoints = [.init(id: 1, deviceTypes: [type])]
      return DeviceRecord(DeviceEntry(id: "1", name: "X", structureID: "home"), source, room: nil).isOfKind(kind)
    }
    #expect(isOfKind(0x0101, "light"))
    // A light switch is not a light.
    #expect(!isOfKind(0x0103, "light"))
    #expect(isOfKind(0x0103, "switch"))
    #expect(isOfKind(0x010A, "plug"))
    #expect(isOfKind(0x010D, "extended"))
  }

  @Test func namesUtilityTypesOnlyWithoutOthers() {
    func names(_ types: [DeviceTypeID]) -> [String] {
      var source = DeviceSource(SourceID(1))
      source.endpoints = [.init(id: 1, deviceTypes: types)]
      return DeviceRecord(DeviceEntry(id: "1", name: "X", structureID: "home"), source, room: nil).typeNames
    }
    let administrator = ElementNames.deviceType(0x0130)
    #expect(names([0x0130, 0x0011, 0x010D]) == [ElementNames.deviceType(0x010D)])
    #expect(names([0x0130]) == [administrator])
  }
}

@Suite("Setup codes on the command line") struct SetupCodeReportTests {
  @Test func formatsValidCode() throws {
    let report = SetupCodeReport(try SetupPayload(parsing: "MT:Y.K9042C00KA0648G00"))
    let text = report.text(picture: true)
    #expect(text.contains("Manual code    3497-011-2332"))
    #expect(text.contains("Passcode       20202021"))
    #expect(text.contains("Discriminator  3840 (0xF00)"))
    #expect(text.contains("▄▄▄▄▄"))
    #expect(!report.text(picture: false).contains("▄"))
    #expect(report.json.description.contains(#""vendorID":65521,"productID":32768"#))
    #expect(report.json.description.contains(#""valid":true"#))
  }

  @Test func reportsForbiddenPasscode() throws {
    let payload = SetupPayload(discriminator: .long(1), passcode: 12_345_678)
    let report = SetupCodeReport(payload)
    #expect(report.qrText == nil)
    #expect(report.text(picture: true).contains("Invalid"))
    #expect(report.json.description.contains(#""valid":false"#))
  }
}

/// A log handler that passes each line to a closure.
private struct Lines: LogHandler {
  let note: @Sendable (String) -> Void
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  init(_ note: @escaping @Sendable (String) -> Void) { self.note = note }

  func log(event: LogEvent) {
    let all = (event.metadata ?? [:]).merging(metadata) { $1 }.sorted { $0.key < $1.key }
    note(([event.message.description] + all.map { "\($0) \($1)" }).joined(separator: " "))
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
}
