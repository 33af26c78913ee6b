import HearthHome
import HomeModel
import HomeText
import MatterModel
import Testing

@testable import MatterController

@Suite("Targets") struct TargetTests {
  @Test(
    arguments: [
      ("kitchen/lamp", 2, nil), ("BEDROOM/LAMP", 3, nil), ("ceiling", 1, nil), ("Ceil", 1, nil), ("kitchen/c", 1, nil),
      ("desk v2.0", 4, nil), ("3", 3, nil), ("0x3", 3, nil), ("9/2", 9, 2), ("strip/1", 9, 1), ("attic/strip/2", 9, 2),
      // A numeric name that differs from all node ids.
      ("5", 77, nil),
    ] as [(String, UInt64, UInt16?)])
  func resolves(_ text: String, node: UInt64, endpoint: UInt16?) throws {
    let target = try Samples.registry().resolve(text)
    #expect(target.device.nodeID == NodeID(node))
    #expect(target.endpoint == endpoint.map { EndpointID($0) })
  }

  @Test func resolvesEachNodeOfDevice() throws {
    var state = Samples.state()
    state.apply(.deviceAdded(id: "7/3", name: "Floor", roomID: nil, structureID: "home"))
    state.apply(.sourceAdded(SourceID(7, 3), device: "7/3"))
    state.apply(.topology(SourceID(7, 3), [.init(id: 3, deviceTypes: [0x13, 0x101], servers: [6])], DeviceIdentity()))
    state.apply(.sourceAdded(SourceID(12), device: "7/3"))
    state.apply(.topology(SourceID(12), Samples.light, DeviceIdentity()))
    func found(_ text: String) throws -> String {
      let target = try HomeRegistry(state).resolve(text)
      let source = target.device.source.id
      let own = target.device.endpoints.map { "\($0.id)" }.joined(separator: "+")
      return "\(target.device.id) by \(source) with \(own)" + (target.endpoint.map { " at \($0)" } ?? "")
    }
    #expect(try found("12") == "7/3 by 12 with 0+1")
    #expect(try found("0xC/1") == "7/3 by 12 with 0+1 at 1")
    // The id does not depend on the active source.
    #expect(try found("7/3") == "7/3 by 12 with 0+1")
    // A name resolves to the active source.
    #expect(try found("floor") == "7/3 by 12 with 0+1")
    state.apply(.connectivity(SourceID(7, 3), SourceStatus(SourceConnectivity(.online, .peer))))
    #expect(try found("floor") == "7/3 by 7/3 with 3")
    #expect(try found("12") == "7/3 by 12 with 0+1")
    #expect(HomeRegistry(state).device(12)?.id == "7/3" && HomeRegistry(state).device(7) == nil)
    // The same for an endpoint of a bridge.
    state.apply(.deviceAdded(id: "7", name: "Bridge", roomID: nil, structureID: "home"))
    state.apply(.sourceAdded(SourceID(7), device: "7"))
    state.apply(.topology(SourceID(7), [.init(id: 0, deviceTypes: [0x16]), .init(id: 1)], DeviceIdentity()))
    state.apply(.connectivity(SourceID(7, 3), .unknown))
    #expect(try found("bridge/3") == "7/3 by 7/3 with 3 at 3")
    #expect(try found("7/1") == "7 by 7 with 0+1 at 1")
  }

  @Test func namesRemedyForNewDeviceBehindBridge() throws {
    var state = Samples.state()
    let plain = failure { () throws(HomeError) in _ = try HomeRegistry(state).resolve("porch") }
    #expect(plain?.code == .notFound && plain?.hint == nil)
    state.apply(.deviceAdded(id: "7", name: "Bridge", roomID: nil, structureID: "home"))
    state.apply(.sourceAdded(SourceID(7), device: "7"))
    state.apply(.topology(SourceID(7), [.init(id: 0), .init(id: 1, deviceTypes: [0x0E])], DeviceIdentity()))
    for text in ["porch", "7/3"] {
      let error = failure { () throws(HomeError) in _ = try HomeRegistry(state).resolve(text) }
      #expect(error?.code == .notFound && error?.hint?.contains("`hearth devices`") == true, "\(text)")
    }
  }

  @Test func listsNodesForDevicesInRoomsOfSameName() throws {
    var state = Samples.state()
    state.apply(.structureAdded(Structure(id: "s", name: "Cottage")))
    state.apply(.roomAdded(Room(id: "k", name: "kitchen", structureID: "s")))
    state.apply(.deviceAdded(id: "20", name: "lamp", roomID: "k", structureID: "s"))
    state.apply(.sourceAdded(SourceID(20), device: "20"))
    let error = failure { () throws(HomeError) in _ = try HomeRegistry(state).resolve("kitchen/lamp") }
    #expect(error?.code == .ambiguousTarget)
    #expect(error?.candidates == ["Kitchen/Lamp (node 2)", "kitchen/lamp (node 20)"])
  }

  @Test func listsCandidatesOfAmbiguousNames() throws {
    let registry = try Samples.registry()
    let error = failure { () throws(HomeError) in _ = try registry.resolve("lamp") }
    #expect(error?.code == .ambiguousTarget)
    #expect(error?.candidates == ["Kitchen/Lamp", "Bedroom/Lamp"])
    let prefix = failure { () throws(HomeError) in _ = try registry.resolve("kit") }
    #expect(prefix?.candidates == ["Kitchen/Ceiling", "Kitchen/Lamp"])
  }

  /// No guesses: a name without a room may be that of a device in a room, and a node id the name of another device.
  @Test func rejectsNameThatMatchesTwoDevices() throws {
    var state = Samples.state()
    state.apply(.deviceAdded(id: "20", name: "Lamp", roomID: nil, structureID: "home"))
    state.apply(.sourceAdded(SourceID(20), device: "20"))
    state.apply(.deviceAdded(id: "21", name: "3", roomID: nil, structureID: "home"))
    state.apply(.sourceAdded(SourceID(21), device: "21"))
    let registry = HomeRegistry(state)
    func candidates(_ text: String) -> [String]? {
      failure { () throws(HomeError) in _ = try registry.resolve(text) }?.candidates
    }
    #expect(candidates("lamp") == ["Kitchen/Lamp", "Bedroom/Lamp", "Lamp (node 20)"])
    #expect(candidates("3") == ["Bedroom/Lamp", "3 (node 21)"] && candidates("3/1") == candidates("3"))
    // A node id that is the name of another device is shown in hexadecimal.
    state.apply(.deviceRenamed(id: "21", name: "20"))
    #expect(
      failure { () throws(HomeError) in _ = try HomeRegistry(state).resolve("20") }?.candidates == [
        "Lamp (node 0x14)", "20 (node 21)",
      ])
    #expect(try HomeRegistry(state).resolve("0x14").device.nodeID == 20)
    // Each of the devices still has an unambiguous target.
    #expect(
      try ["kitchen/lamp", "20", "bedroom/lamp", "21"].map { try registry.resolve($0).device.nodeID } == [2, 20, 3, 21])
  }

  /// A bridged device has only some of the endpoints of its node.
  @Test func wildcardIsLimitedToEndpointsOfDevice() throws {
    var state = Samples.state()
    for (id, endpoints) in [(SourceID(30), [0, 1]), (SourceID(30, 4), [4, 5])] as [(SourceID, [UInt16])] {
      state.apply(.deviceAdded(id: "\(id)", name: id.isBridged ? "Part" : "Whole", roomID: nil, structureID: "home"))
      state.apply(.sourceAdded(id, device: "\(id)"))
      let all = endpoints.map { DeviceEndpoint(id: EndpointID($0), servers: $0 == 5 ? [6, 0x1D] : [0x1D]) }
      state.apply(.topology(id, all, DeviceIdentity()))
    }
    let registry = HomeRegistry(state)
    func endpoints(_ text: String) throws -> [UInt16?] { try registry.paths(text).map { $0.endpoint?.rawValue } }
    #expect(try endpoints("part") == [4, 5] && endpoints("part/5") == [5])
    #expect(try endpoints("part.onOff.*") == [5] && endpoints("30/4/*/29/0") == [4, 5])
    #expect(try endpoints("whole") == [nil] && endpoints("30/*/29/0") == [nil])
    #expect(try registry.part(5, of: registry.resolve("whole").device).name == "Part")
  }

  @Test func suggestsSimilarNames() throws {
    let registry = try Samples.registry()
    let error = failure { () throws(HomeError) in _ = try registry.resolve("celing") }
    #expect(error?.code == .notFound)
    #expect(error?.candidates == ["Ceiling"])
    #expect(failure { () throws(HomeError) in _ = try registry.resolve("9/7") }?.code == .notFound)
    #expect(failure { () throws(HomeError) in _ = try registry.resolve("") }?.code == .badArguments)
    #expect(failure { () throws(HomeError) in _ = try registry.resolve("12345") }?.code == .notFound)
    #expect(failure { () throws(HomeError) in _ = try HomeRegistry().resolve("x") }?.message.contains("pair") == true)
  }

  @Test func starMatchesAllDevices() throws {
    #expect(try Samples.registry().resolveAll("*").count == 6)
    #expect(failure { () throws(HomeError) in _ = try HomeRegistry().resolveAll("*") }?.code == .notFound)
  }

  @Test func findsEndpointByCluster() throws {
    let target = try Samples.registry().resolve("ceiling")
    #expect(try target.endpoint(serving: 0x06) == 1)
    #expect(try target.endpoint(serving: 0x28) == 0)
    #expect(
      failure { () throws(HomeError) in _ = try target.endpoint(serving: 0x0300) }?.code == .notFound)
  }
}

@Suite("Paths") struct ElementPathTests {
  private func path(_ text: String, _ kind: ElementKind = .attribute) throws -> String {
    try Samples.registry().paths(text, kind).map { path in
      [
        "\(path.target.device.nodeID.rawValue)", path.endpoint.map { "\($0.rawValue)" } ?? "*",
        path.cluster.map { "\($0.rawValue)" } ?? "*", path.element.map { "\($0)" } ?? "*",
      ].joined(separator: "/")
    }.joined(separator: " ")
  }

  @Test(arguments: [
    ("kitchen/lamp.levelControl.currentLevel", "2/1/8/0"), ("1/1/8/0", "1/1/8/0"), ("1/1/0x8/0x4000", "1/1/8/16384"),
    ("ceiling.LevelControl.CURRENTLEVEL", "1/1/8/0"), ("ceiling.level-control.*", "1/1/8/*"),
    ("ceiling.*.*", "1/*/*/*"),
    ("1/*/8/*", "1/*/8/*"), ("ceiling", "1/*/*/*"), ("strip/2.onOff.onOff", "9/2/6/0"),
    ("strip.onOff.onOff", "9/1/6/0"),
    ("desk v2.0.onOff.onOff", "4/1/6/0"), ("desk v2.0", "4/*/*/*"), ("1/1/levelControl/currentLevel", "1/1/8/0"),
    ("ceiling.*.clusterRevision", "1/*/*/65533"), ("ceiling.onOff.featureMap", "1/1/6/65532"),
    ("strip.2.onOff.onOff", "9/2/6/0"), ("9.2.onOff.onOff", "9/2/6/0"), ("attic/strip.2", "9/2/*/*"),
    ("kitchen/lamp/1/6/0", "2/1/6/0"), ("1/1/0xFFF1FC00/3", "1/1/4294048768/3"),
  ])
  func reads(_ text: String, expected: String) throws {
    #expect(try path(text) == expected)
  }

  @Test func starSkipsDevicesWithoutTheCluster() throws {
    #expect(try path("*.levelControl.currentLevel") == "1/1/8/0 2/1/8/0 3/1/8/0 4/1/8/0 77/1/8/0")
  }

  @Test("a wildcard with numbers skips devices without the cluster") func numbersSkipDevices() throws {
    #expect(try path("*/1/8/0") == "1/1/8/0 2/1/8/0 3/1/8/0 4/1/8/0 77/1/8/0")
    #expect(try path("*/*/8/0") == "1/*/8/0 2/*/8/0 3/*/8/0 4/*/8/0 77/*/8/0")
    #expect(try path("*/2/6/0") == "9/2/6/0" && path("9/1/8/0") == "9/1/8/0")
    let registry = try Samples.registry()
    let error = failure { () throws(HomeError) in _ = try registry.paths("*/1/0x300/0") }
    #expect(error?.code == .notFound && error?.message.contains("has a colorControl cluster") == true)
  }

  @Test("chooses the first endpoint that has the attribute") func choosesEndpointWithAttribute() throws {
    var state = Samples.state()
    for (endpoint, attributes) in [(1, [0x4001]), (2, [0, 0x4001])] as [(EndpointID, [AttributeID])] {
      let list = ConcreteAttributePath(endpoint, 0x06, GlobalAttribute.attributeList)
      state.apply(.attribute(9, list, value: attributes.tlv))
    }
    let registry = HomeRegistry(state)
    func endpoints(_ text: String) throws -> [EndpointID?] { try registry.paths(text).map(\.endpoint) }
    #expect(try endpoints("strip.onOff.onOff") == [2] && endpoints("strip.onOff.onTime") == [1])
    #expect(try endpoints("strip.onOff.offWaitTime") == [1] && endpoints("strip.1.onOff.onOff") == [1])
    let condition = try DeviceCondition(parsing: "onOff=true", of: try registry.resolve("strip"))
    guard case .attribute(let path, _, _, _) = condition.kind else {
      Issue.record("\(condition)")
      return
    }
    #expect(path.endpoint == 2)
  }

  @Test func resolvesCommandNames() throws {
    #expect(try path("strip.2.onOff.toggle", .command) == "9/2/6/2")
    #expect(try path("ceiling.onOff.toggle", .command) == "1/1/6/2")
    #expect(try path("1/1/6/1", .command) == "1/1/6/1")
  }

  @Test(
    arguments: [
      ("ceiling.levelControl.curentLevel", HomeError.Code.notFound, "currentLevel"),
      ("ceiling.levelContol.currentLevel", .notFound, "levelControl"),
      ("strip.levelControl.currentLevel", .notFound, nil),
      ("nobody.onOff.onOff", .notFound, nil), ("lamp.onOff.onOff", .ambiguousTarget, "Kitchen/Lamp"),
      ("ceiling.onOff", .badArguments, nil), ("1/70000/6/0", .badArguments, nil), ("1/x/6/0", .badArguments, nil),
      ("ceiling.*.onOff", .badArguments, nil),
    ] as [(String, HomeError.Code, String?)])
  func refuses(_ text: String, code: HomeError.Code, suggestion: String?) throws {
    let registry = try Samples.registry()
    let error = failure { () throws(HomeError) in _ = try registry.paths(text) }
    #expect(error?.code == code)
    #expect(error?.candidates.first == suggestion)
  }

  @Test(arguments: [
    ("OnOff", "onOff"), ("HVACSystem", "hvacSystem"), ("CurrentLevel", "currentLevel"), ("ACL", "acl"), ("", ""),
    ("NOCs", "nocs"), ("IPv4Addresses", "ipv4Addresses"),
  ])
  func camelCases(_ name: String, expected: String) {
    #expect(NormalizedName.camelCase(name) == expected)
  }
}

@Suite("Target selection") struct TargetSelectionTests {
  private func nodes(_ texts: String..., serving cluster: ClusterID? = nil) throws -> [String] {
    let registry = try Samples.registry().with([Self.den, Self.empty])
    return try registry.resolve(all: texts, serving: cluster).map { target in
      "\(target.device.nodeID.rawValue)" + (target.endpoint.map { "/\($0)" } ?? "")
    }
  }

  private func error(_ text: String, serving cluster: ClusterID? = nil) -> HomeError? {
    failure { () throws(HomeError) in
      var registry = HomeRegistry(Samples.state())
      registry = registry.with([Self.den, Self.empty])
      _ = try registry.resolveAll(text, serving: cluster)
    }
  }

  private static let den = GroupRecord(7, name: "Den", members: [(9, 2), (1, 1)])
  private static let empty = GroupRecord(8, name: "Nothing", members: [])

  @Test("expands wildcards, rooms and groups to devices with the cluster") func wildcards() throws {
    #expect(try nodes("*", serving: 0x08) == ["1", "2", "3", "4", "77"])
    #expect(try nodes("kitchen") == ["1", "2"] && nodes("KITCHEN/*") == ["1", "2"])
    #expect(try nodes("Home/Kitchen") == ["1", "2"])
    #expect(try nodes("attic/*", serving: 0x06) == ["9"])
    #expect(error("attic", serving: 0x08)?.code == .notFound)
    #expect(error("attic", serving: 0x08)?.message == "no device of “attic” has a levelControl cluster")
    #expect(try nodes("group:den") == ["1/1", "9/2"] && nodes("group:7", serving: 0x08) == ["1/1"])
    // A named device is not left out: the command reports the missing cluster.
    #expect(try nodes("strip", serving: 0x08) == ["9"])
  }

  @Test("removes duplicate targets") func duplicates() throws {
    #expect(try nodes("kitchen", "ceiling", "kitchen/lamp") == ["1", "2"])
    #expect(try nodes("group:den", "ceiling", "strip/2") == ["9/2", "1"])
  }

  @Test("rejects ambiguous targets with candidates") func ambiguity() throws {
    var state = Samples.state()
    Samples.add(30, "kitchen", Samples.light, to: &state)
    let both = failure { () throws(HomeError) in _ = try HomeRegistry(state).resolveAll("Kitchen") }
    #expect(both?.code == .ambiguousTarget && both?.candidates == ["kitchen (node 30)", "Home/Kitchen/*"])
    #expect(try HomeRegistry(state).resolveAll("home/kitchen/*").count == 2)
    #expect(try HomeRegistry(state).resolve("kitchen").device.nodeID == 30)
    state.apply(.structureAdded(Structure(id: "s", name: "Cottage")))
    state.apply(.roomAdded(Room(id: "a", name: "attic", structureID: "s")))
    let rooms = failure { () throws(HomeError) in _ = try HomeRegistry(state).resolveAll("attic") }
    #expect(rooms?.candidates == ["Home/Attic/*", "Cottage/attic/*"])
    #expect(
      failure { () throws(HomeError) in _ = try HomeRegistry(state).resolveAll("cottage/attic") }?.code == .notFound)
  }

  @Test("lists devices of a room if one device is required") func oneDevice() throws {
    let error = failure { () throws(HomeError) in _ = try HomeRegistry(Samples.state()).resolve("kitchen") }
    #expect(error?.code == .ambiguousTarget && error?.candidates == ["Kitchen/Ceiling", "Kitchen/Lamp"])
  }

  @Test(
    "rejects wildcards, rooms and groups if one device is required",
    arguments: ["kitchen", "KITCHEN/*", "group:den", "*"])
  func several(_ text: String) throws {
    let registry = try Samples.registry().with([Self.den])
    let error = failure { () throws(HomeError) in _ = try registry.resolve(text) }
    #expect(error?.code == .ambiguousTarget && error?.message.contains("one is expected") == true)
    #expect(error?.candidates.contains("Kitchen/Ceiling") == true)
  }

  @Test("parses conditions for each device of a room that has the attributes") func conditions() throws {
    let registry = try Samples.registry().with([Self.den])
    func devices(_ texts: [String], _ targets: String...) throws -> [String] {
      try registry.conditions(texts, of: targets).map { one in
        one.target.device.id + (one.target.endpoint.map { "/\($0)" } ?? "") + " \(one.conditions.count)"
      }
    }
    #expect(try devices(["onOff=true"], "kitchen", "ceiling") == ["1 1", "2 1"])
    #expect(try devices(["onOff=true", "connectivity=online"], "group:den") == ["1/1 2", "9/2 2"])
    #expect(try devices(["currentLevel=40%"], "*").allSatisfy { !$0.hasPrefix("9") })
    // A named device, or a room without a device that has the attribute, is an error.
    for targets in [["kitchen", "strip"], ["attic"]] {
      let error = failure { () throws(HomeError) in _ = try registry.conditions(["currentLevel=40%"], of: targets) }
      #expect(error?.code == .notFound && error?.device == "Strip")
    }
  }

  @Test("names the room if it has no device with the cluster") func roomWithoutCluster() throws {
    let registry = try Samples.registry()
    let error = failure { () throws(HomeError) in _ = try registry.paths("attic.levelControl.currentLevel") }
    #expect(error?.code == .notFound && error?.message == "no device of “attic” has a levelControl cluster")
  }

  @Test("suggests similar names for unknown rooms and groups") func unknown() {
    #expect(error("kichen/*")?.candidates == ["Kitchen"] && error("group:dem")?.candidates == ["group:Den"])
    #expect(error("group:nothing")?.code == .notFound)
  }

  @Test("reports groups as unknown if the hub did not answer") func noGroups() throws {
    let error = failure { () throws(HomeError) in _ = try HomeRegistry(Samples.state()).resolveAll("group:den") }
    #expect(error?.code == .unreachable && error?.message.contains("the hub did not answer") == true)
  }

  @Test("resolves paths that begin with a room or a group") func paths() throws {
    let registry = try Samples.registry().with([Self.den])
    func paths(_ text: String) throws -> [String] {
      try registry.paths(text).map { "\($0.target.device.nodeID.rawValue)/\($0.endpoint?.rawValue ?? 999)" }
    }
    #expect(try paths("kitchen/*.onOff.onOff") == ["1/1", "2/1"] && paths("attic.onOff.onOff") == ["9/1"])
    #expect(try paths("group:den.onOff.onOff") == ["1/1", "9/2"])
    #expect(try paths("attic/*") == ["9/999"])
  }

  @Test("labels devices of the same name with their rooms") func labels() throws {
    #expect(
      try Samples.registry().devices.map(\.label) == [
        "Ceiling", "Kitchen/Lamp", "Bedroom/Lamp", "Desk v2.0", "Strip", "5",
      ])
  }
}

extension GroupRecord {
  init(_ id: GroupID, name: String, members: [(NodeID, EndpointID)]) {
    var record = GroupRecord(id, name, keySet: 1)
    record.members = members.map { Member($0.0, $0.1) }.sorted()
    self = record
  }
}
