import Logging
import MatterModel
import MatterProtocol
import Synchronization
import Testing

@testable import Home
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

  @Test func formatsWaitingNotes() {
    #expect(WaitingNotes.text([]) == nil)
    #expect(WaitingNotes.text(["Lamp to answer onOff.on"]) == "waiting for Lamp to answer onOff.on")
    #expect(WaitingNotes.text(["a", "b"]) == "waiting for a, and for b")
    #expect(WaitingNotes.text(["a", "b", "a", "c", "d"]) == "waiting for a, for b, and for 2 more")
  }

  @Test func devicesHaveDocumentedKeys() {
    let json = DeviceTable.json(row(.online))
    guard case .object(let members) = json else {
      Issue.record("no object")
      return
    }
    let keys = members.map(\.key)
    for key in [
      "id", "nodeID", "name", "room", "types", "online", "connectivityState", "dataSourceLocality", "state",
      "lastContact",
    ] {
      #expect(keys.contains(key))
    }
    #expect(json.text.contains(#""nodeID":"7""#))
    #expect(json.text.contains(#""types":["Dimmable Light"],"online":true,"connectivityState":"online""#))
    #expect(json.text.contains(#""dataSourceLocality":"peer""#))
    #expect(json.text.contains(#""lastContact":"1970-01-01T00:00:00.000Z""#))
    #expect(DeviceTable.json(row(.offline)).text.contains(#""dataSourceLocality":"unspecified""#))
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
    return DeviceRow(device: device, record: DeviceRecord(entry, room: "Kitchen") ?? DeviceRecord(nodeID: 7, name: ""))
  }

  /// A stub of a home, for values that require one.
  final class NoHome: HomeAccess {
    func invoke(
      _ command: CommandData, isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
    ) async throws(HomeError) -> CommandData? { throw HomeError(.notFound, "no home") }
    func write(
      _ writes: [AttributeWrite], isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
    ) async throws(HomeError) { throw HomeError(.notFound, "no home") }
    func setName(_ name: String, of device: String) async throws(HomeError) -> NamedDevice {
      throw HomeError(.notFound, "no home")
    }
    func reports(of device: String) -> DeviceReports { .none }
  }

  @Test func escapesJSON() {
    let json: JSON = [
      "a": "“\"\\\n\u{1}”", "b": .array([nil, true, -5, .decimal(1.5)]), "c": [:], "d": .encoded("[1]"),
    ]
    #expect(json.text == #"{"a":"“\"\\\n\u0001”","b":[null,true,-5,1.5],"c":{},"d":[1]}"#)
  }

  @Test func errorsListCandidates() {
    let ambiguous = HomeError(.ambiguousTarget, "“lamp” matches 2 devices", candidates: ["A/Lamp", "B/Lamp"])
    #expect(Output.sentence(ambiguous) == "“lamp” matches 2 devices:\n  A/Lamp\n  B/Lamp")
    #expect(
      Output.sentence(HomeError(.notFound, "no x", device: "D", candidates: ["y", "z"]))
        == "D: no x; did you mean “y” or “z”?")
    #expect(
      Output.object(HomeError(.refused, "no", device: "Lamp")).text
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

  @Test func omittedCommandFieldsHaveDefaults() throws {
    let info = try #require(ElementNames.command(CommandPath(endpoint: 1, cluster: 8, command: 0)))
    let full: [UInt8] = [0x15, 0x24, 0, 128, 0x34, 1, 0x24, 2, 0, 0x24, 3, 0, 0x18]
    #expect(try CommandFields.encode(["level=128"], info) == full)
    #expect(try CommandFields.encode([#"{"level": 128, "transitionTime": null}"#], info) == full)
    #expect(throws: HomeError.self) { try CommandFields.encode([], info) }
    #expect(throws: HomeError.self) { try CommandFields.encode(["brightness=3"], info) }
    #expect(try CommandFields.encode([], nil) == [0x15, 0x18])
  }

  @Test func matchesKindsByFamilyAndTypeName() {
    func isOfKind(_ type: DeviceTypeID, _ kind: String) -> Bool {
      DeviceRecord(nodeID: 1, name: "X", endpoints: [.init(id: 1, deviceTypes: [type])]).isOfKind(kind)
    }
    #expect(isOfKind(0x0101, "light"))
    // A light switch is not a light.
    #expect(!isOfKind(0x0103, "light"))
    #expect(isOfKind(0x0103, "switch"))
    #expect(isOfKind(0x010A, "plug"))
    #expect(isOfKind(0x010D, "extended"))
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
    #expect(report.json.text.contains(#""vendorID":65521,"productID":32768"#))
    #expect(report.json.text.contains(#""valid":true"#))
  }

  @Test func reportsForbiddenPasscode() throws {
    let payload = SetupPayload(discriminator: .long(1), passcode: 12_345_678)
    let report = SetupCodeReport(payload)
    #expect(report.qrText == nil)
    #expect(report.text(picture: true).contains("Invalid"))
    #expect(report.json.text.contains(#""valid":false"#))
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
