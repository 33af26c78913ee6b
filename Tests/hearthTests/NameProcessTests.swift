import Foundation
import HearthHome
import HomeModel
import HomeStore
import Logging
import MatterModel
import Runtime
import Testing

extension Hearth {
  /// Stores changes in the home of the state directory.
  func seed(_ changes: [HomeChange], contacts: [NodeID: Contact] = [:]) throws {
    try StoredNames(StateDirectory(state)).withDatabase { database throws(HomeError) in
      _ = try database.commit([HomeUpdate(changes, at: 1)], contacts: contacts)
    }
  }

  /// Returns the member `data` of a command's output with --json.
  func data(_ arguments: String...) async throws -> Any? {
    let result = try await run(arguments + ["--json"])
    #expect(result.status == 0, "\(result.output)")
    return (try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])?["data"]
  }
}

/// Commands for rooms and names, in a home with unreachable devices.
@Suite("Names of the executable", .serialized, .processes, .timeLimit(.minutes(10))) struct NameProcessTests {
  /// A lamp in the den, a plug without a room, and an empty hall.
  private func seeded() throws -> Hearth {
    let hearth = Hearth()
    let (lamp, plug) = (SourceID(5), SourceID(6))
    try hearth.seed([
      .structureAdded(HomeReducer.firstStructure), .roomAdded(Room(id: "r1", name: "Den", structureID: "home")),
      .roomAdded(Room(id: "r2", name: "Hall", structureID: "home")),
      .deviceAdded(id: "5", name: "Lamp", roomID: "r1", structureID: "home"), .sourceAdded(lamp, device: "5"),
      .topology(
        lamp, [DeviceEndpoint(id: 0, parts: [1]), DeviceEndpoint(id: 1, deviceTypes: [0x100], servers: [6])],
        DeviceIdentity()),
      .deviceAdded(id: "6", name: "Plug", roomID: nil, structureID: "home"), .sourceAdded(plug, device: "6"),
      .topology(
        plug, [DeviceEndpoint(id: 0, parts: [1]), DeviceEndpoint(id: 1, deviceTypes: [0x10A], servers: [6])],
        DeviceIdentity()),
    ])
    return hearth
  }

  @Test func renamesAndRemovesRooms() async throws {
    let hearth = try seeded()
    #expect(try await hearth("rooms").output == "ROOM  DEVICES\nDen   Lamp\nHall  –\n–     Plug\n")
    #expect(try await hearth("room", "rename", "den", "Study").output == "Den is now Study\n")
    #expect(try await hearth("room", "rename", "study", "HALL").status == 2)
    #expect(try await hearth("room", "rename", "attic", "Loft").status == 3)
    #expect(try await hearth("rooms").output == "ROOM   DEVICES\nStudy  Lamp\nHall   –\n–      Plug\n")
    #expect(try await hearth("room", "remove", "hall").output == "removed Hall\n")
    #expect((try await hearth.data("room", "remove", "STUDY") as? [String: String]) == ["id": "r1", "name": "Study"])
    // The devices of the room remain.
    #expect(try await hearth("rooms").output == "ROOM  DEVICES\n–     Lamp, Plug\n")
  }

  @Test func waitEndsWhenDeviceIsRemoved() async throws {
    let hearth = try seeded()
    let waiting = try Follower(hearth, "wait", "lamp", "--for", "onOff=true", "--mdns", "off")
    #expect(await waiting.reports("waiting for Lamp"))
    #expect(try await hearth("remove", "lamp", "--force", "--mdns", "off").status == 0)
    #expect(await waiting.process.end() == .exit(3) && waiting.errors.contains("no longer in the home"))
  }

  /// As in `hearth watch | head -1` and `hearth watch > /mnt/full`.
  @Test(arguments: [true, false]) func watchEndsWhenOutputCannotBeWritten(_ isPipe: Bool) async throws {
    let hearth = try seeded()
    let pipe = hearth.state + "/pipe"
    var reader: Int32 = -1
    if isPipe {
      try #require(mkfifo(pipe, 0o600) == 0)
      reader = open(pipe, O_RDONLY | O_NONBLOCK)
    }
    let errors = URL(filePath: hearth.state + "/watch.err")
    let process = try hearth.start(
      ["watch", "--mdns", "off"], output: URL(filePath: isPipe ? pipe : "/dev/full"), errors: errors)
    close(reader)
    var number = 0
    #expect(
      try await eventuallyByCommands {
        number += 1
        _ = try await hearth("rename", "5", "Lamp \(number)")
        return !process.isRunning
      })
    let end = await process.end()
    let message = try String(contentsOf: errors, encoding: .utf8)
    if isPipe {
      #expect(end == .exit(0) && message.isEmpty, "\(message)")
    } else {
      #expect(end == .exit(1) && message.contains("standard output can't be written"), "\(message)")
    }
  }

  @Test func rejectsFileAsStateDirectory() async throws {
    let hearth = try seeded()
    let file = hearth.state + "/file"
    try Data().write(to: URL(filePath: file))
    let result = try await Hearth(state: file).run(["devices"])
    #expect(result.status == 2 && result.errors.contains("is a file"), "\(result.errors)")
  }

  @Test func assignsAndUnassignsRooms() async throws {
    let hearth = try seeded()
    #expect(
      try await hearth("room", "assign", "lamp", "plug", "hall").output == "Lamp is now in Hall\nPlug is now in Hall\n")
    let table = try await hearth("rooms").output
    #expect(table == "ROOM  DEVICES\nDen   –\nHall  Lamp, Plug\n")
    // No colors in a pipe.
    #expect(!table.contains("\u{1B}"))
    #expect(try await hearth("room", "assign", "--none", "hall/lamp").output == "Lamp is now in no room\n")
    #expect(try await hearth("rooms").output == "ROOM  DEVICES\nDen   –\nHall  Plug\n–     Lamp\n")
    let moved = try await hearth.data("room", "assign", "plug", "--none") as? [[String: Any]]
    #expect(moved?.count == 1 && moved?.first?["room"] is NSNull)
    #expect(try await hearth("room", "assign", "--none").status == 2)
    #expect(try await hearth("room", "assign", "lamp").status == 2)
  }

  @Test func truncatesLongNames() async throws {
    let hearth = try seeded()
    let long = String(repeating: "é", count: 59) + "ab"
    let renamed = try await hearth("rename", "lamp", long)
    let cut = String(long.dropLast())
    #expect(renamed.output == "Lamp is now \(cut)\n")
    #expect(renamed.errors == "the name was truncated to 60 characters\n")
    let short = try #require(try await hearth.data("rename", cut, "Desk") as? [String: Any])
    #expect(short["wasCut"] as? Bool == false && short["name"] as? String == "Desk" && short["id"] as? String == "5")
    let again = try #require(try await hearth.data("rename", "desk", long) as? [String: Any])
    #expect(again["wasCut"] as? Bool == true && again["name"] as? String == cut)
    #expect(try await hearth("rename", "plug", "  ").status == 2)
    // Names of rooms and homes.
    for result in try await [
      hearth("room", "add", long), hearth("room", "rename", "hall", "y" + long), hearth("home", "add", long),
      hearth("home", "rename", cut, "y" + long),
    ] {
      #expect(result.status == 0 && result.errors == "the name was truncated to 60 characters\n")
    }
    for (arguments, name) in [(["room", "rename", cut, "Attic"], "Attic"), (["home", "add", "Cottage"], "Cottage")] {
      let result = try await hearth.run(arguments + ["--json"])
      #expect(result.errors.isEmpty && result.output.contains(#""name":"\#(name)""#))
      #expect(result.output.contains(#""wasCut":false"#))
    }
  }

  @Test func filtersDevices() async throws {
    let hearth = try seeded()
    func names(_ arguments: String...) async throws -> [String] {
      let result = try await hearth.run(["devices", "--json", "--timeout", "300ms", "--mdns", "off"] + arguments)
      #expect(result.status == 0)
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
      return (object?["data"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
    }
    #expect(try await names() == ["Lamp", "Plug"])
    #expect(try await names("--room", "DEN") == ["Lamp"])
    #expect(try await names("--room", "hall") == [])
    #expect(try await names("--kind", "light") == ["Lamp"])
    #expect(try await names("--kind", "plug") == ["Plug"])
    #expect(try await names("--kind", "plug", "--room", "den") == [])
    #expect(try await names("--offline") == ["Lamp", "Plug"])
    #expect(try await hearth("devices", "--room", "attic").status == 3)
    let none = try await hearth("devices", "--kind", "lock")
    #expect(none.status == 0 && none.output.isEmpty && none.errors == "no matching device\n")
  }

  @Test func offlineFilterExcludesPartiallyOnlineDevices() async throws {
    let hearth = try seeded()
    let (online, offline) = (SourceConnectivity(.online, .peer), SourceConnectivity(.offline, .peer))
    try hearth.seed([
      .connectivity(SourceID(5), SourceStatus(online)),
      .connectivity(SourceID(6), SourceStatus(offline, reason: .timedOut)),
      // A device with an unreachable part.
      .deviceAdded(id: "7/2", name: "Strip", roomID: nil, structureID: "home"),
      .sourceAdded(SourceID(7, 2), device: "7/2"),
      .topology(
        SourceID(7, 2),
        [
          DeviceEndpoint(id: 2, servers: [0x39], parts: [3, 4]),
          DeviceEndpoint(id: 3, deviceTypes: [0x100], servers: [6]),
          DeviceEndpoint(id: 4, deviceTypes: [0x100], servers: [6, 0x39]),
        ], DeviceIdentity()),
      .attribute(7, .init(4, 0x39, 0x11), value: [0x08]), .connectivity(SourceID(7, 2), SourceStatus(online)),
    ])
    // The commands use the connectivity of the process that follows the devices, which is this one.
    var options = HomeController.Options(state: StateDirectory(hearth.state), logger: Logger(label: "test"))
    options.discovery = .off
    let home = try await Home(options)
    try await home.follow()
    try await home.controller.change { _ throws(HomeError) -> (changes: [HomeChange], result: Void) in
      (
        [
          .connectivity(SourceID(5), SourceStatus(online)), .connectivity(SourceID(7, 2), SourceStatus(online)),
          .connectivity(SourceID(6), SourceStatus(offline, reason: .timedOut)),
        ], ()
      )
    }
    func states(_ arguments: String...) async throws -> [String: String] {
      let result = try await hearth.run(["devices", "--json", "--timeout", "300ms", "--mdns", "off"] + arguments)
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
      return (object?["data"] as? [[String: Any]] ?? []).reduce(into: [:]) {
        $0[$1["name"] as? String ?? ""] = $1["connectivityState"] as? String
      }
    }
    // Repeated, because on a busy machine the answers take longer than the timeout of the command.
    #expect(
      try await eventuallyByCommands {
        try await states() == ["Lamp": "online", "Plug": "offline", "Strip": "partiallyOnline"]
      })
    #expect(try await states("--offline") == ["Plug": "offline"])
    await home.close()
  }

  @Test func distinguishesRoomsWithSameName() async throws {
    let hearth = try seeded()
    try hearth.seed([
      .structureAdded(Structure(id: "c", name: "Cabin")), .roomAdded(Room(id: "r3", name: "den", structureID: "c")),
      .deviceAdded(id: "8", name: "Stove", roomID: "r3", structureID: "c"), .sourceAdded(SourceID(8), device: "8"),
    ])
    #expect(
      try await hearth("rooms").output
        == "ROOM         DEVICES\nDen (Home)   Lamp\nHall         –\nden (Cabin)  Stove\n–            Plug\n")
    let rooms = try #require(try await hearth.data("rooms") as? [[String: Any]])
    #expect(rooms.map { $0["id"] as? String } == ["r1", "r2", "r3", nil])
    #expect(rooms.map { $0["home"] as? String } == ["Home", "Home", "Cabin", nil])
    #expect(rooms.map { $0["devices"] as? [String] } == [["Lamp"], [], ["Stove"], ["Plug"]])
    // An ambiguous name is an error.
    let either = try await hearth("devices", "--room", "den")
    #expect(either.status == 4 && either.errors.contains("Home/Den") && either.errors.contains("Cabin/den"))
    let devices = try await hearth.data("devices", "--room", "cabin/den", "--timeout", "300ms", "--mdns", "off")
    #expect((devices as? [[String: Any]])?.map { $0["name"] as? String } == ["Stove"])
  }

  /// The active source is not necessarily the first one.
  @Test func handlesDevicesWithTwoSources() async throws {
    let hearth = Hearth()
    func lamp(_ id: String, _ name: String, _ node: NodeID, behind bridge: SourceID, isOn: UInt8) -> [HomeChange] {
      let own = SourceID(node)
      return [
        .deviceAdded(id: id, name: name, roomID: nil, structureID: "home"), .sourceAdded(own, device: id),
        .sourceAdded(bridge, device: id),
        .topology(
          own, [DeviceEndpoint(id: 0, parts: [1]), DeviceEndpoint(id: 1, deviceTypes: [0x100], servers: [6])],
          DeviceIdentity()),
        .topology(
          bridge, [DeviceEndpoint(id: bridge.endpoint, deviceTypes: [0x13, 0x100], servers: [6, 0x39])],
          DeviceIdentity()),
        .attribute(node, .init(1, 6, 0), value: [isOn]),
        .attribute(bridge.node, .init(bridge.endpoint, 6, 0), value: [isOn]),
      ]
    }
    // While no source is reachable, the one without a bridge is active.
    func bridge(_ node: NodeID) -> [HomeChange] {
      [
        .deviceAdded(id: "\(node.rawValue)", name: "Bridge \(node.rawValue)", roomID: nil, structureID: "home"),
        .sourceAdded(SourceID(node), device: "\(node.rawValue)"),
        .topology(
          SourceID(node), [DeviceEndpoint(id: 0), DeviceEndpoint(id: 1, deviceTypes: [0x0E])], DeviceIdentity()),
      ]
    }
    try hearth.seed(
      [.structureAdded(HomeReducer.firstStructure)] + bridge(7) + bridge(8)
        + lamp("9", "Left", 9, behind: SourceID(7, 2), isOn: 0x09)
        + lamp("8/3", "Right", 6, behind: SourceID(8, 3), isOn: 0x08))
    let quick = ["--timeout", "300ms", "--mdns", "off"]
    func described(_ device: String) async throws -> [String: Any] {
      let result = try await hearth.run(["describe", device, "--json"] + quick)
      #expect(result.status == 0, "\(device): \(result.output)")
      let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
      return try #require(object?["data"] as? [String: Any])
    }
    for (texts, id, node, endpoints) in [
      (["left", "9", "7/2"], "9", "9", [0, 1]), (["right", "8/3", "6"], "8/3", "6", [0, 1]),
    ] {
      for text in texts {
        let device = try await described(text)
        #expect(device["id"] as? String == id && device["nodeID"] as? String == node, "\(text)")
        #expect((device["endpoints"] as? [[String: Any]])?.compactMap { $0["id"] as? Int } == endpoints)
        #expect((device["state"] as? [String: Any])?["isLast"] as? Bool == true)
      }
    }
    for (device, value) in [("9", "(true)"), ("7/2", "(true)"), ("left", "(true)"), ("8/3", "(false)")] {
      let result = try await hearth.run(["wait", device, "--for", "onOff=true"] + quick)
      #expect(result.status == 11 && result.errors.contains("onOff is \(value), stale,"), "\(result.errors)")
    }
    #expect(try await hearth("rename", "8/3", "Desk").output == "Right is now Desk\n")
    #expect(try await hearth("rename", "9", "Table").output == "Left is now Table\n")
    #expect(try await hearth("rooms").output == "ROOM  DEVICES\n–     Desk, Bridge 7, Table, Bridge 8\n")
  }
}
