import MatterModel
import Testing

@testable import VirtualDevices

/// Returns all problems of a file.
private func problems(_ text: String, catalogue: AttributeCatalogue? = nil) -> [String] {
  do throws(DefinitionError) {
    _ = try load(text, catalogue: catalogue)
    return []
  } catch {
    return error.problems.map(\.description)
  }
}

/// Returns the problems of one field in an otherwise valid device; the field begins in line 4, column 5.
private func problem(field: String) -> String {
  problems("devices:\n  - name: Lamp\n    type: plug\n    \(field)\n").joined(separator: "\n")
}

/// The names of all kinds, as listed in messages.
private let everyKind = DefinitionReader.list(DeviceKind.all.map { "“\($0.name)”" })

@Suite("Definition file errors")
struct DefinitionErrorTests {
  @Test(
    "reports unknown device types",
    arguments: [
      ("dimable light", "“dimable light”, expected a known device type, did you mean “dimmable light”?"),
      ("outlett", "“outlett”, expected a known device type, did you mean “on/off plug-in unit”?"),
      ("Humidifier", "“Humidifier”, expected a device type of Matter 1.4.2, which has none for it"),
      ("dimmer sensor", "“dimmer sensor”, expected a device type of Matter 1.4.2, which has none for it"),
      ("toaster", "“toaster”, expected \(everyKind)"), ("[a]", "a list, expected \(everyKind)"),
    ])
  func types(text: String, message: String) {
    #expect(
      problems("devices:\n  - name: Lamp\n    type: \(text)\n") == ["home.yaml:3:11: found device type \(message)"])
  }

  @Test(
    "reports invalid field values",
    arguments: [
      ("port: 0", "4:11: found 0, expected a number from 1 to 65535"),
      ("port: 70000", "4:11: found 70000, expected a number from 1 to 65535"),
      ("port: abc", "4:11: found “abc”, expected a number from 1 to 65535"),
      ("port: 55.5", "4:11: found 55.5, expected a number from 1 to 65535"),
      ("port:", "4:10: found nothing, expected a number from 1 to 65535"),
      ("port: [1]", "4:11: found a list, expected a number from 1 to 65535"),
      ("discriminator: 4096", "4:20: found 4096, expected a number from 0 to 4095"),
      ("discriminator: -1", "4:20: found -1, expected a number from 0 to 4095"),
      ("vendor: 0", "4:13: found 0, expected a vendor id from 0x0001 to 0xFFF4"),
      ("vendor: 0xFFF5", "4:13: found 0xFFF5, expected a vendor id from 0x0001 to 0xFFF4"),
      ("product: true", "4:14: found true, expected a product id from 0x0001 to 0xFFFF"),
      ("count: 0", "4:12: found 0, expected a number from 1 to 16384"),
      ("serial: {a: b}", "4:13: found a mapping, expected a text of 1 to 32 bytes"),
      ("uniqueID: abc", "4:15: found “abc”, expected a unique id of 32 hexadecimal digits in quotation marks"),
      ("vendorName: \"\"", "4:17: found “”, expected a text of 1 to 32 bytes"),
      ("room: a/b", "4:11: found “a/b”, expected the room's name: 1 to 60 characters, none of them “/”"),
      ("provisional: 1", "4:18: found 1, expected true or false"),
      ("resumesSubscriptions: maybe", "4:27: found “maybe”, expected true or false"),
      ("attributes: 5", "4:17: found 5, expected a mapping such as { onOff.onOff: true }"),
      (
        "attributes: { onOff: 5 }",
        "4:19: found attribute “onOff”, expected cluster.attribute or endpoint.cluster.attribute, such as onOff.onOff"
      ),
      (
        "attributes: { x.onOff.onOff: 5 }", "4:19: found endpoint “x”, expected a number from 0 to 65534"
      ),
      (
        "attributes: { onOff.onOff: [] }",
        "4:32: found a list, expected a single value: a number, a text, true or false"
      ),
      (
        "attributes: { onOff.onOff: 1, 1.onoff.onoff: 2 }",
        "4:35: found attribute “1.onoff.onoff” again, expected each attribute once; it is in line 4 already"
      ),
    ])
  func values(field: String, message: String) {
    #expect(problem(field: field) == "home.yaml:" + message)
  }

  @Test("reports invalid passcodes", arguments: ["0", "99999999", "100000000", "11111111", "12345678", "abc", "-5"])
  func passcodes(text: String) {
    let found = text == "abc" ? "“abc”" : text
    #expect(
      problem(field: "passcode: \(text)")
        == "home.yaml:4:15: found \(found), "
        + "expected a passcode from 1 to 99999998 that is not trivial like 11111111 or 12345678")
  }

  @Test("reports unknown keys")
  func keys() {
    #expect(
      problem(field: "prot: 5540")
        == "home.yaml:4:5: found key “prot”, expected a key of a device, did you mean “port”?")
    #expect(
      problem(field: "vendorname: X")
        == "home.yaml:4:5: found key “vendorname”, expected a key of a device, did you mean “vendorName”?")
    #expect(
      problems("hose: X\ndevices: []")
        == ["home.yaml:1:1: found key “hose”, expected a key of a home, did you mean “home”?"])
    #expect(
      problems("xyz: X\ndevices: []") == ["home.yaml:1:1: found key “xyz”, expected home, rooms, devices or clusters"])
    #expect(
      problem(field: "[a]: 1") == "home.yaml:4:5: found key a list, expected name, room, type, passcode, "
        + "discriminator, port, vendor, product, vendorName, productName, serial, uniqueID, enableKey, attributes, "
        + "behave, battery, count, labels, switch, buttons, devices, parts, provisional, resumesSubscriptions, climate, "
        + "filters, tank, phases, modes, areas, compartments, doorAlarm, travel, encoder, faults, load, solar, storage, "
        + "vehicle, images, media, clusters, sleepy, sounds, tariff or closure"
    )
  }

  @Test("reports duplicate keys")
  func duplicates() {
    #expect(
      problem(field: "port: 1\n    name: X")
        == "home.yaml:5:5: found the key “name” again, expected each key once; it is in line 2 already")
    #expect(
      problems("devices: [{name: A, type: plug, \"name\": B}]")
        == ["home.yaml:1:33: found the key “name” again, expected each key once; it is in line 1 already"])
    #expect(
      problems("home: A\ndevices: []\nhome : B")
        == ["home.yaml:3:1: found the key “home” again, expected each key once; it is in line 1 already"])
  }

  @Test("reports an invalid structure")
  func shape() {
    let expected = "“devices:” and a list of devices"
    #expect(problems("") == ["home.yaml:1:1: found an empty file, expected \(expected)"])
    #expect(problems("# only a comment\n") == ["home.yaml:1:1: found an empty file, expected \(expected)"])
    #expect(problems("\nhome: A") == ["home.yaml:2:1: found no devices, expected \(expected)"])
    #expect(problems("- A") == ["home.yaml:1:1: found a list, expected a home with “home:”, “rooms:” and “devices:”"])
    #expect(
      problems("devices: A") == [
        "home.yaml:1:10: found “A”, expected a list of devices, each beginning with “- name: ”"
      ])
    #expect(
      problems("devices: [A]")
        == ["home.yaml:1:11: found “A”, expected a device with “name:”, “room:” and “type:”"])
    #expect(
      problems("devices:\n  - room: A") == [
        "home.yaml:2:5: found a device without name, expected “name: …”",
        "home.yaml:2:5: found a device without type, expected “type: …”",
      ])
    #expect(
      problems("home: A\n---\nhome: B") == [
        "home.yaml:2:1: found a second document (---), expected one for each file"
      ])
    #expect(
      problems("home: [A]\ndevices: []")
        == ["home.yaml:1:7: found a list, expected the home's name: 1 to 60 characters, none of them “/”"])
  }

  @Test("reports YAML errors")
  func syntax() {
    let blocks = "expected “key: value” lines with consistent indentation"
    #expect(
      problems("home: A: B")
        == ["home.yaml:1:8: found text that is not YAML (mapping values are not allowed in this context), \(blocks)"])
    #expect(
      problems("devices:\n  - name: A\n   type: plug") == [
        "home.yaml:3:4: found text that is not YAML (did not find expected '-' indicator, "
          + "while parsing a block collection that begins in line 2), \(blocks)"
      ])
    #expect(
      problems("devices:\n\t- name: A") == [
        "home.yaml:2:1: found text that is not YAML (found character that cannot start any token, "
          + "while scanning for the next token that begins in line 2), expected blanks: a tab can't indent"
      ])
    #expect(
      problems("home: \u{1}A").first?.hasPrefix("home.yaml:1:7: found text that is not YAML (control char") == true)
    #expect(problems("a: *b").first?.hasPrefix("home.yaml:1:4: found text that is not YAML (found undefined") == true)
  }

  @Test("reports unknown and duplicate rooms")
  func rooms() {
    let text = "rooms: [Kitchen, Hall]\ndevices:\n  - name: A\n    room: Kitchn\n    type: plug\n"
    #expect(
      problems(text) == [
        "home.yaml:4:11: found room “Kitchn”, expected one of the file's rooms (Kitchen, Hall), did you mean “Kitchen”?"
      ])
    #expect(
      problems("rooms: [Hall, hall]\ndevices: []")
        == ["home.yaml:1:15: found room “hall” again, expected each room once; it is in line 1 already"])
    #expect(
      problems("rooms: Hall\ndevices: []")
        == ["home.yaml:1:8: found “Hall”, expected a list of rooms such as [Kitchen, Hall]"])
  }

  @Test("reports conflicts within and between files")
  func conflicts() {
    let text = """
      devices:
        - name: A
          room: Hall
          type: plug
          port: 5540
          discriminator: 7
          serial: X
        - name: a
          room: hall
          type: plug
          serial: X
          discriminator: 0x7
          port: 5540
      """
    #expect(
      problems(text) == [
        "home.yaml:8:11: found device “Hall/a” again, expected another one: “Hall/A” has it (home.yaml:2)",
        "home.yaml:11:13: found serial “X”, expected another one: “Hall/A” has it (home.yaml:7)",
        "home.yaml:12:20: found discriminator 7, expected another one: “Hall/A” has it (home.yaml:6)",
        "home.yaml:13:11: found port 5540, expected another one: “Hall/A” has it (home.yaml:5)",
      ])
    let files = [
      (name: "z.yaml", text: "devices: [{name: A, type: plug, port: 5542}]"),
      (name: "b.yaml", text: "devices:\n  - {name: B, type: plug, port: 5540, count: 9}"),
    ]
    let error = #expect(throws: DefinitionError.self) { try HomeDefinition.load(files: files) }
    #expect(error?.description == "b.yaml:2:33: found port 5542, expected another one: “A” has it (z.yaml:1)")
  }

  @Test("reports conflicts with counted names")
  func countedNames() {
    #expect(
      problems("devices:\n  - {name: A, type: plug, count: 3}\n  - {name: A 2, type: plug}")
        == ["home.yaml:3:12: found device “A 2” again, expected another one: “A 2” has it (home.yaml:2)"])
  }

  @Test("limits the rooms of a file, also those of aliases")
  func roomLimit() throws {
    let names = (1...4096).map { "R\($0)" }
    let devices = "devices: [{ name: A, type: plug }]"
    #expect(try load("rooms: [\(names.joined(separator: ", "))]\n\(devices)").rooms == names)
    #expect(
      problems("rooms:\n  - Hall\n" + names.map { "  - \($0)\n" }.joined() + "  - Hall\n\(devices)")
        == ["home.yaml:4098:5: found more than 4096 rooms, expected at most that many"])
    let list = "[&a Hall, " + String(repeating: "*a, ", count: 5000) + "*a]"
    #expect(problems("rooms: \(list)\n\(devices)").count == 4096)
  }

  @Test("reports too many devices and exceeded ranges")
  func limits() {
    #expect(
      problems("devices:\n  - {name: A, type: plug, count: 16384}\n  - {name: B, type: plug}") == [
        "home.yaml:3:5: found 16385 devices in all, expected at most 16384, including bridged devices"
      ])
    #expect(
      problem(field: "port: 65535\n    count: 2")
        == "home.yaml:4:11: found port 65535 for the first of 2 devices, "
        + "expected at most 65534, so that the last one has 65535")
  }

  @Test("rejects counts before expanding them")
  func totalLimits() {
    // 400 lines of this would be 1.6 million devices, all with the same names.
    let many = (0..<400).map { _ in "  - {name: A, type: plug, count: 16384}" }.joined(separator: "\n")
    #expect(
      problems("devices:\n" + many) == [
        "home.yaml:3:34: found 6553600 devices in all, expected at most 16384, including bridged devices"
      ])
    let bridge = "\n    devices:\n      - {name: B, type: plug, count: 250}"
    let bridges = (0..<80).map { "  - name: Bridge \($0)\n    type: bridge" + bridge }.joined(separator: "\n")
    #expect(
      problems("devices:\n" + bridges) == [
        "home.yaml:262:5: found 20080 devices in all, expected at most 16384, including bridged devices"
      ])
    #expect(
      problems("devices:\n  - name: A\n    type: bridge\n    count: 4096" + bridge.replacing("250", with: "4096"))
        == [
          "home.yaml:2:5: found 4096 devices behind one bridge, expected at most 250",
          "home.yaml:4:12: found several bridges with the same devices behind them, "
            + "expected an entry of its own for each bridge that has devices",
          "home.yaml:4:12: found 16781312 devices in all, expected at most 16384, including bridged devices",
        ])
  }

  @Test("rejects entries multiplied by aliases")
  func aliases() {
    // 17,030 entries.
    let list = (0..<130).map { "      - {name: P\($0), type: plug}" }.joined(separator: "\n")
    let rest = (0..<130).map { "  - {name: B\($0), type: bridge, devices: *parts}" }.joined(separator: "\n")
    let found = problems("devices:\n  - name: B\n    type: bridge\n    devices: &parts\n\(list)\n\(rest)")
    #expect(found.contains { $0.contains("found more than 16384 entries, expected at most that many") }, "\(found)")
  }

  @Test("reports all problems in the order of the lines")
  func several() {
    let text = "devices:\n  - name: A\n    type: plugg\n    port: 0\n  - nam: B\n    type: plug\n"
    let positions = problems(text).map { $0.prefix { $0 != " " } }
    #expect(positions == ["home.yaml:3:11:", "home.yaml:4:11:", "home.yaml:5:5:", "home.yaml:5:5:"])
  }

  @Test("survives truncated and mutated files")
  func mutations() {
    let text = """
      home: Demo
      rooms: [Hall]
      devices:
        - name: "A"
          room: Hall
          type: plug
          attributes: { onOff.onOff: true }
          count: 2
      """
    let characters = Array(text)
    for index in characters.indices {
      _ = problems(String(characters[..<index]))
      for replacement in "\"{[:-&*!\t\n#0" {
        var changed = characters
        changed[index] = replacement
        _ = problems(String(changed))
      }
    }
    #expect(problems(text).isEmpty)
    #expect(!problems(String(repeating: "[", count: 5000)).isEmpty)
  }

  @Test(
    "rejects impossible initial values",
    arguments: [
      ("levelControl.currentLevel: 0", "5:34: found 0, expected a number from 1 to 254, or null"),
      ("levelControl.currentLevel: 255", "5:34: found 255, expected a number from 1 to 254, or null"),
      ("levelControl.currentLevel: -1", "5:34: found -1, expected a number from 1 to 254, or null"),
      ("levelControl.currentLevel: high", "5:34: found “high”, expected a number from 1 to 254, or null"),
      ("levelControl.defaultMoveRate: fast", "5:37: found “fast”, expected a number from 1 to 254, or null"),
      ("levelControl.currentLevel: 101\n      levelControl.maxLevel: 100", "expected a number from 1 to 100"),
      ("levelControl.onLevel: 19\n      levelControl.minLevel: 20", "expected a number from 20 to 254"),
      ("levelControl.minLevel: 200\n      levelControl.maxLevel: 100", "expected a number from"),
      ("onOff.startUpOnOff: 7", "5:27: found 7, expected Off (0), On (1) or Toggle (2), or null"),
    ])
  func initialValues(_ values: String, expected: String) throws {
    let text = "devices:\n  - name: Lamp\n    type: dimmable light\n    attributes:\n      \(values)\n"
    let error = #expect(throws: DefinitionError.self) {
      try HomeDefinition.load(simulating: [("home.yaml", text)])
    }
    let problems = error?.problems.map(\.description) ?? []
    #expect(problems.first?.hasPrefix("home.yaml:5:") == true, "\(problems)")
    #expect(problems.first?.contains(expected) == true, "\(problems)")
  }

  @Test("accepts possible initial values")
  func possibleValues() throws {
    let text = """
      devices:
        - name: Speaker
          type: dimmable light
          attributes:
            levelControl.currentLevel: 40
            levelControl.minLevel: 0
            levelControl.maxLevel: 100
            levelControl.onLevel: null
            onOff.startUpOnOff: toggle
      """
    #expect(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.count == 1)
  }
}
