import Foundation
import HearthHome
import MatterModel
import Testing
import hearth

/// Compares the keys of the JSON output with docs/json.md.
@Suite("Documented keys", .serialized, .processes, .timeLimit(.minutes(10))) struct DocumentedKeyTests {
  /// The documented keys of each command: all code words in its row of the table.
  private static func documented() throws -> [String: Set<String>] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let reference = try String(contentsOf: root.appending(path: "docs/json.md"), encoding: .utf8)
    var rows: [String: Set<String>] = [:]
    for line in reference.split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.split(separator: " | ")
      guard cells.count == 2 else { continue }
      for command in words(cells[0]) { rows[command, default: []].formUnion(words(cells[1])) }
    }
    return rows
  }

  private static func words(_ text: some StringProtocol) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
      .map { String($0.element) }
  }

  private func seeded() throws -> Hearth {
    let hearth = Hearth()
    let lamp = SourceID(5)
    try hearth.seed([
      .structureAdded(HomeReducer.firstStructure), .roomAdded(Room(id: "r1", name: "Den", structureID: "home")),
      .deviceAdded(id: "5", name: "Lamp", roomID: "r1", structureID: "home"), .sourceAdded(lamp, device: "5"),
      .topology(
        lamp, [DeviceEndpoint(id: 0, parts: [1]), DeviceEndpoint(id: 1, deviceTypes: [0x100], servers: [6])],
        DeviceIdentity()),
      .attribute(5, .init(1, 6, 0), value: [0x09]),
    ])
    return hearth
  }

  @Test func resultsHaveDocumentedKeys() async throws {
    let hearth = try seeded()
    let documented = try Self.documented()
    for command in [
      "devices --timeout 200ms --mdns off", "describe lamp --timeout 200ms --mdns off", "rooms", "room add Attic",
      "room rename attic Loft", "room assign lamp loft", "room remove loft", "rename lamp Desk", "home list",
      "home add Cabin", "home rename cabin Cottage", "home primary", "home remove cottage", "home grace",
      "home trust", "home interface lo", "group create Crowd",
      "home sync", "observe add --attribute --webhook http://127.0.0.1:1/", "observe list", "observe resume 1",
      "observe remove 1",
    ] {
      let words = command.split(separator: " ").map { String($0) }
      let result = try await hearth.run(words + ["--json"])
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
      let data = (object?["data"] as? [[String: Any]])?.first ?? object?["data"] as? [String: Any]
      let keys = Set(try #require(data, "\(command): \(result.output)\(result.errors)").keys)
      let names = ["\(words[0])", words.prefix(2).joined(separator: " ")]
      var row = try #require(names.lazy.compactMap { documented[$0] }.first, "\(command) is not in docs/json.md")
      if words[0] == "describe" { row = row.subtracting(["devices"]).union(documented["devices"] ?? []) }
      #expect(keys.isSubset(of: row), "\(command) has \(keys.subtracting(row).sorted()), which docs/json.md lacks")
      // All documented keys occur, except those that only some commands of a row have.
      var rest = row.subtracting(keys)
      if ["home primary", "room remove"].contains(names[1]) { rest.subtract(["rooms", "devices", "wasCut"]) }
      if words[0] == "describe" {
        rest.subtract(["violations", "remarks", "endpoint", "clusterID", "cluster", "message"])
      }
      if words[0] == "observe" { rest.subtract(["run", "webhook", "resumed", "removed"]) }
      #expect(rest.isEmpty, "docs/json.md has \(rest.sorted()), which \(command) lacks")
    }
  }

  @Test func reportsEmptyLists() async throws {
    let empty = Hearth()
    #expect(try await empty("rooms").errors.hasPrefix("no rooms yet"))
    #expect(try await empty("observe", "list").errors.hasPrefix("no observers yet"))
    #expect(try await empty("home", "list").errors.hasPrefix("no homes yet"))
    #expect(try await empty("hub", "clients").errors.hasPrefix("no invited clients"))
    let hearth = try seeded()
    let banana = try await hearth("devices", "--kind", "banana")
    #expect(banana.status == 3 && banana.errors.contains("expected light, plug"), "\(banana.errors)")
    #expect(try await hearth("devices", "--kind", "ligth").errors.contains("did you mean “light”"))
    // A known kind without devices is not an error.
    #expect(try await hearth("devices", "--kind", "locks").status == 0)
  }

  @Test func reportsLongWaits() async throws {
    let hearth = try seeded()
    let slow = try await hearth("describe", "lamp", "--timeout", "3s")
    #expect(slow.status == 0 && slow.errors == "waiting for Lamp to answer\n", "\(slow.errors)")
    #expect(try await hearth("describe", "lamp", "--timeout", "2s", "--quiet").errors.isEmpty)
    // Repeated, because on a busy machine a short wait takes longer.
    #expect(
      try await eventuallyByCommands { try await hearth("describe", "lamp", "--timeout", "300ms").errors.isEmpty })
    let wait = try await hearth("wait", "lamp", "--for", "onOff=false", "--timeout", "3s")
    #expect(wait.status == 11 && wait.errors.hasPrefix("waiting for Lamp: onOff to be false\n"), "\(wait.errors)")
  }

  /// The log has the name of a removed device at its removal; it is also used for its earlier changes.
  @Test func removedDevicesKeepTheirNames() async throws {
    let hearth = try seeded()
    let before = try StoredNames(StateDirectory(hearth.state)).withDatabase { database throws(HomeError) in
      "\(try database.anchor())"
    }
    try hearth.seed([
      .attribute(5, .init(1, 6, 0), value: [0x08]), .deviceMoved(id: "5", roomID: nil), .roomRemoved(id: "r1"),
      .sourceRemoved(SourceID(5)), .deviceRemoved(id: "5"),
    ])
    func lines(_ more: String...) async throws -> [Substring] {
      try await hearth.run(["watch", "--since", before, "--for", "0s", "--mdns", "off"] + more).output.split(
        separator: "\n")
    }
    let words = try await lines().map { $0.split(separator: "  ", maxSplits: 2).last.map { String($0) } }
    #expect(
      words == [
        "Lamp/1.onOff.onOff  false", "Lamp  moved out of its room", "room Den  removed", "Lamp  source 5 removed",
        "Lamp  removed",
      ])
    let json = try await lines("--json")
    #expect(json.filter { $0.contains(#""device":"Lamp","nodeID":"5""#) }.count == 4, "\(json)")
    #expect(json.contains { $0.contains(#""change":"roomRemoved","id":"r1","name":"Den""#) }, "\(json)")
  }

  @Test func watchHasDocumentedKeys() async throws {
    let hearth = try seeded()
    let row = try #require(Self.documented()["watch"])
    let before = try StoredNames(StateDirectory(hearth.state)).withDatabase { database throws(HomeError) in
      "\(try database.anchor())"
    }
    #expect(try await hearth("rename", "lamp", "Desk").status == 0)
    #expect(try await hearth("room", "add", "Attic").status == 0)
    let result = try await hearth.run(["watch", "--since", before, "--for", "0s", "--json", "--mdns", "off"])
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 2)
    for line in lines {
      let whole = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let object = try #require(whole["data"] as? [String: Any])
      #expect(Set(object.keys).isSubset(of: row), "\(Set(object.keys).subtracting(row).sorted())")
      #expect(Set(object.keys).isSuperset(of: ["type", "change", "time", "anchor"]))
    }
  }
}
