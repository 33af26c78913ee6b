import Dispatch
import HearthHome
import HomeModel
import HomeStore
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Testing
import WebClient

@testable import HomeControl
@testable import Hub

/// The Matter server, with a raw client over loopback.
struct MatterServerTests {
  /// A home with one lamp, node 5, and its server.
  private struct Served {
    let home: ServedHome
    let url: String

    init(isEmpty: Bool = false) async throws {
      home = try await ServedHome(isEmpty: isEmpty) { $0.loopback = .init(host: "127.0.0.1", port: 0) }
      url = try #require(try await home.webSocketURL)
    }

    func client(listens: Bool = true) async throws -> RawWebSocket {
      let client = try await RawWebSocket(url)
      #expect(await eventually { client.messages.count == 1 })
      if listens { _ = await client.result("start_listening") }
      return client
    }

    func close() async { await home.close() }
  }

  @Test func speaksFirst() async throws {
    let served = try await Served()
    let client = try await served.client(listens: false)
    let info = try #require(client.messages.first)
    #expect(info["schema_version"] == 13)
    #expect(info["min_supported_schema_version"] == 11 && info["fabric_index"] == 1)
    #expect(info["compressed_fabric_id"]?.integer(as: UInt64.self) != nil)
    #expect(await client.result("server_info")?["result"] == info)
    await served.close()
    #expect(await eventually { client.now.isClosed })
  }

  /// A loopback client may be of another user of this machine.
  @Test func startsNoProgramsForOtherUsers() async throws {
    let served = try await Served()
    let client = try await served.client(listens: false)
    for (target, isAllowed) in [
      (#"{"command":{"_0":["true"]}}"#, false), (#"{"webhook":{"_0":"http://[::1]/"}}"#, true),
    ] {
      let reply = await client.result(
        "hearth_addDelivery", #"{"filter":{"type":"all"},"frequency":{"immediate":{}},"target":\#(target)}"#)
      #expect(reply?["hearth_error"]?["code"] == (isAllowed ? nil : "accessDenied"))
      #expect((reply?["result"] != nil) == isAllowed)
    }
    await served.close()
  }

  @Test func listsNodesAndSendsChanges() async throws {
    let served = try await Served()
    let client = try await served.client(listens: false)
    // No event precedes the result of start_listening.
    try await served.home.report(level: 2)
    let node = try #require(await client.result("start_listening")?["result"]?.array?.first)
    #expect(client.messages.count == 2)
    #expect(node["node_id"] == 5)
    #expect(node["available"] == true)
    #expect(node["is_bridge"] == false)
    #expect(node["attributes"]?["1/8/0"] == 2)
    #expect(node["attributes"]?["0/31/0"] == [])
    try await served.home.report(level: 3)
    #expect(await client.event("attribute_updated") == [5, "1/8/0", 3])
    await served.close()
    #expect(await client.event("server_shutdown") == [:])
  }

  @Test func remembersWhenNodesWereAdded() async throws {
    func date(_ home: ServedHome) async throws -> JSONValue {
      let client = try await RawWebSocket(try #require(try await home.webSocketURL))
      return try #require(await client.result("get_node", #"{"node_id":5}"#)?["result"]?["date_commissioned"])
    }
    let served = try await Served()
    let first = try await date(served.home)
    await served.close()
    let reopened = try await ServedHome(served.home.scratch, isEmpty: true) {
      $0.loopback = .init(host: "127.0.0.1", port: 0)
    }
    #expect(try await date(reopened) == first)
    await reopened.close()
  }

  @Test func sendsAvailability() async throws {
    let served = try await Served()
    let client = try await served.client()
    try await served.home.home.controller.process(.lost(5, .timedOut))
    #expect(await client.event("node_updated")?["available"] == false)
    await served.close()
  }

  @Test func announcesNodesWhenTheyAreDescribed() async throws {
    let served = try await Served()
    let client = try await served.client()
    try await served.home.make(ServedHome.bridge)
    try await served.home.home.controller.process(.established(7, deadline: .max))
    #expect(await client.result("get_node", #"{"node_id":7}"#)?["error_code"] == 5)
    // Each cluster reports an attribute.
    let clusters: [(EndpointID, ClusterID)] = [
      (0, 0x1D), (0, 0x28), (1, 0x1D), (2, 6), (2, 0x1D), (2, 0x39), (3, 6), (3, 0x1D), (3, 0x39),
    ]
    try await served.home.make(
      clusters.map { .attribute(7, .init($0, $1, GlobalAttribute.clusterRevision), value: [0x04, 1]) })
    let node = try #require(await client.event("node_added"))
    #expect(node["node_id"] == 7)
    #expect(node["is_bridge"] == true)
    #expect(node["attributes"]?.members?.count == clusters.count)
    #expect(await client.event("node_updated") == node)
    #expect(!client.messages.contains { $0["event"] == "attribute_updated" })
    await served.close()
  }

  @Test func announcesEndpointsAndRemoval() async throws {
    let served = try await Served()
    let client = try await served.client()
    let endpoint = DeviceEndpoint(id: 2, deviceTypes: [0x100], servers: [6])
    let lamp = try #require(await served.home.home.state.source(SourceID(5)))
    try await served.home.make([.topology(SourceID(5), lamp.endpoints + [endpoint], DeviceIdentity())])
    #expect(await client.event("endpoint_added") == ["node_id": 5, "endpoint_id": 2])
    try await served.home.make([.topology(SourceID(5), lamp.endpoints, DeviceIdentity())])
    #expect(await client.event("endpoint_removed") == ["node_id": 5, "endpoint_id": 2])
    try await served.home.make([.deviceRemoved(id: "5")])
    #expect(await client.event("node_removed") == 5)
    let names = client.messages.compactMap { $0["event"]?.text }
    #expect(names == ["node_updated", "endpoint_added", "endpoint_removed", "node_updated", "node_removed"])
    await served.close()
  }

  @Test func sendsNodeEventsByName() async throws {
    let served = try await Served()
    let client = try await served.client()
    let data = EventData(
      ConcreteEventPath(1, 0x3B, 6), number: .max, priority: .info, timestamp: .epoch(1_780_000_000_000),
      payload: [0x15, 0x24, 0, 1, 0x24, 1, 2, 0x18])
    try await served.home.make([.event(5, data)])
    let event = try #require(await client.event("node_event"))
    #expect(event["data"] == ["previousPosition": 1, "totalNumberOfPressesCounted": 2])
    #expect(event["event_number"] == .int(UInt64.max))
    #expect(event["timestamp_type"] == 1)
    await served.close()
  }

  @Test(arguments: [
    ("get_node", #"{"node_id":999999}"#, 5), ("get_node", "{}", 8), ("get_node", #"{"node_id":"5"}"#, 8),
    ("get_node", #"{"node_id":-1}"#, 8), ("unknown_command_xyz", "{}", 9), ("get_node", "[]", 8),
    ("write_attribute", #"{"node_id":1,"attribute_path":"0/40/*","value":1}"#, 8),
    ("write_attribute", #"{"node_id":5,"attribute_path":"1/6/999","value":1}"#, 8),
    ("write_attribute", #"{"node_id":5,"attribute_path":"0/40/5","value":1}"#, 8),
    ("read_attribute", #"{"node_id":5,"attribute_path":3}"#, 8),
    ("device_command", #"{"node_id":5,"endpoint_id":1,"cluster_id":64769,"command_name":"On"}"#, 8),
    ("device_command", #"{"node_id":5,"endpoint_id":1,"cluster_id":6,"command_name":"Explode"}"#, 8),
    ("device_command", #"{"node_id":5,"endpoint_id":1,"cluster_id":8,"command_name":"MoveToLevel","payload":{}}"#, 8),
    ("device_command", #"{"node_id":5,"endpoint_id":65536,"cluster_id":6,"command_name":"On"}"#, 8),
    ("commission_on_network", #"{"setup_pin_code":1,"filter_type":1}"#, 8),
    ("commission_with_code", #"{"code":"MT:x"}"#, 1), ("import_test_node", #"{"dump":"{\"data\":{}}"}"#, 8),
    ("set_loglevel", #"{"console_loglevel":"loud"}"#, 8), ("set_loglevel", #"{"file_loglevel":"trace"}"#, 8),
    ("set_wifi_credentials", #"{"ssid":"x","credentials":""}"#, 8), ("set_thread_dataset", #"{"dataset":"abc"}"#, 8),
    ("remove_node", #"{"node_id":999999}"#, 5), ("update_node", #"{"node_id":5,"software_version":2}"#, 11),
    // The device is not in the fabric.
    ("read_attribute", #"{"node_id":5,"attribute_path":"1/8/0"}"#, 5),
  ])
  func answersErrors(command: String, arguments: String, code: Int) async throws {
    let served = try await Served()
    let client = try await served.client(listens: false)
    let result = try #require(await client.result(command, arguments))
    #expect(result["error_code"] == .int(code), "\(result)")
    #expect(result["result"] == nil)
    let node = arguments.contains("999999") ? "999999" : "5"
    if code == 5 { #expect(result["details"]?.text?.contains("node \(node) ") == true) }
    if code == 9 { #expect(result["details"]?.text?.contains(command) == true) }
    await served.close()
  }

  @Test func keepsTheConnectionAfterMalformedText() async throws {
    let served = try await Served()
    let client = try await served.client(listens: false)
    for text in ["{", "3", "{}", #"{"message_id":7,"command":5}"#] { client.send(text) }
    #expect(await eventually { client.messages.count == 5 })
    #expect(client.messages[1]["message_id"] == "")
    #expect(client.messages[4]["message_id"] == 7)
    #expect(await client.result("get_nodes")?["result"]?.array?.count == 1)
    await served.close()
  }

  @Test func joinsFragments() async throws {
    let served = try await Served()
    let client = try await served.client(listens: false)
    let text = Array(#"{"message_id":"1","command":"get_fabric_label"}"#.utf8)
    client.send(opcode: 1, isFinal: false, Array(text[..<10]))
    client.send(opcode: 9, [1, 2])
    client.send(opcode: 0, Array(text[10...]))
    #expect(await eventually { client.messages.last?["result"] == ["fabric_label": .null] })
    await served.close()
  }

  @Test func refusesOversizedAndBinaryMessages() async throws {
    let served = try await Served()
    let large = try await served.client(listens: false)
    large.send(opcode: 1, [UInt8](repeating: 0x20, count: HubServer.Limits.messageSize + 1))
    #expect(await eventually { large.now.isClosed })
    let fragmented = try await served.client(listens: false)
    let half = [UInt8](repeating: 0x20, count: HubServer.Limits.messageSize / 2 + 1)
    fragmented.send(opcode: 1, isFinal: false, half)
    fragmented.send(opcode: 0, half)
    #expect(await eventually { fragmented.now.isClosed })
    #expect(fragmented.now.closeCode == 1009)
    let binary = try await served.client(listens: false)
    binary.send(opcode: 2, [1])
    #expect(await eventually { binary.now.isClosed })
    #expect(binary.now.closeCode == 1003)
    // Others are not affected.
    _ = try await served.client()
    await served.close()
  }

  @Test func disconnectsClientsThatDoNotRead() async throws {
    let served = try await Served()
    let client = try await RawWebSocket(served.url)
    #expect(await eventually { client.messages.count == 1 })
    try await client.channel.setOption(.autoRead, value: false).get()
    client.command("start_listening")
    let dump = #"{\"data\":{\"node\":{\"attributes\":{\"0/40/1\":\"\#(String(repeating: "x", count: 1 << 20))\"}}}}"#
    let other = try await served.client(listens: false)
    for _ in 0..<24 { #expect(await other.result("import_test_node", #"{"dump":"\#(dump)"}"#)?["error_code"] == nil) }
    client.channel.setOption(.autoRead, value: true).whenFailure { _ in }
    #expect(await eventually { client.now.isClosed })
    #expect(await other.result("get_fabric_label") != nil)
    await served.close()
  }

  @Test func checksPathAndOrigin() async throws {
    let served = try await Served()
    func status(_ path: String?, _ headers: [String], isUpgrade: Bool = true) async throws -> String? {
      let client = try await RawWebSocket(served.url, path: path, headers: headers, isUpgrade: isUpgrade)
      #expect(await eventually { client.now.head != nil })
      return client.now.head?.split(separator: " ").dropFirst().first.map { String($0) }
    }
    let host = String(served.url.dropFirst(5).prefix { $0 != "/" })
    #expect(try await status("/ws?x=1", []) == "101")
    #expect(try await status(nil, ["Origin: http://\(host)"]) == "101")
    #expect(try await status(nil, ["Origin: http://evil.example"]) == "403")
    #expect(try await status(nil, ["Origin: null"]) == "403")
    #expect(try await status(nil, ["Origin: http://\(host)", "Origin: http://evil.example"]) == "403")
    #expect(try await status("/other", []) == "404")
    #expect(try await status("/health", [], isUpgrade: false) == "200")
    #expect(try await status("/ws", [], isUpgrade: false) == "426")
    await served.close()
  }

  @Test func storesSettings() async throws {
    let served = try await Served()
    let client = try await served.client()
    #expect(await client.result("set_wifi_credentials", #"{"ssid":"home","credentials":"secret"}"#)?["result"] == [:])
    #expect(await client.event("server_info_updated")?["wifi_ssid"] == "home")
    for (label, stored) in [
      (#""\#(String(repeating: "ä", count: 17))""#, JSONValue.string(String(repeating: "ä", count: 16))),
      (#"" ""#, "Home"), (#"" \tMy hut \n""#, "My hut"), (#""Hut""#, "Hut"), ("null", "Home"), (#""Villa""#, "Villa"),
    ] {
      #expect(await client.result("set_default_fabric_label", #"{"label":\#(label)}"#)?["result"] == .null)
      #expect(await client.result("get_fabric_label")?["result"] == ["fabric_label": stored])
    }
    #expect(await client.result("set_thread_dataset", #"{"dataset":"0E08","id":"Mesh"}"#)?["result"] == [:])
    #expect(await client.result("set_thread_dataset", #"{"dataset":"0E08","id":"mesh"}"#)?["error_code"] == 8)
    await served.home.stopHub()
    try await served.home.startHub { $0.loopback = .init(host: "127.0.0.1", port: 0) }
    let later = try await RawWebSocket(try #require(try await served.home.webSocketURL))
    #expect(await later.result("get_fabric_label")?["result"] == ["fabric_label": "Villa"])
    #expect(
      await later.result("get_all_credentials")?["result"]
        == ["wifi": [["id": "default", "ssid": "home"]], "thread": [["id": "Mesh"], ["id": "default"]]])
    await served.close()
  }

  @Test func keepsLabelOfFirstClient() async throws {
    let served = try await Served()
    let first = try await served.client(listens: false)
    let second = try await served.client(listens: false)
    for (client, label, stored) in [
      (first, "Villa", "Villa"), (second, "Hut", "Villa"), (first, "House", "House"),
    ] {
      #expect(await client.result("set_default_fabric_label", #"{"label":"\#(label)"}"#)?["result"] == .null)
      #expect(await second.result("get_fabric_label")?["result"] == ["fabric_label": .string(stored)])
    }
    try await first.channel.close().get()
    #expect(
      await eventually {
        _ = await second.result("set_default_fabric_label", #"{"label":"Hut"}"#)
        return await second.result("get_fabric_label")?["result"] == ["fabric_label": "Hut"]
      })
    await served.close()
  }

  @Test func namesThreadNetworks() async throws {
    let served = try await Served()
    let client = try await served.client(listens: false)
    let datasets = [
      // An active timestamp, a network name and an extended PAN ID.
      ("default", "0E0800000000000100000304486F6D6502081122334455667788"), ("empty", "0E08"), ("unnamed", "0301FF"),
    ]
    for (id, dataset) in datasets {
      let result = await client.result("set_thread_dataset", #"{"dataset":"\#(dataset)","id":"\#(id)"}"#)
      #expect(result?["result"] == [:])
    }
    #expect(
      await client.result("get_all_credentials")?["result"]?["thread"] == [
        ["id": "default", "networkName": "Home", "extPanId": "1122334455667788"], ["id": "empty"], ["id": "unnamed"],
      ])
    await served.close()
  }

  @Test func storesSettingsBeforeItEnds() async throws {
    let served = try await Served()
    let client = try await served.client(listens: false)
    let controller = try served.home.home.controller
    let gate = DispatchSemaphore(value: 0)
    let blocked = try await controller.eventLoop.submit {
      let writer = controller.dispatcher.value.writer
      return writer.worker.submit(on: controller.eventLoop) { gate.wait() }
    }.get()
    _ = await client.result("set_default_fabric_label", #"{"label":"Villa"}"#)
    let hub = try served.home.hub
    let closing = Task { await served.home.stopHub() }
    #expect(await eventually { client.isClosed })
    try await Task.sleep(for: .milliseconds(200))
    // The home is served until the settings are stored.
    #expect(await !controller.beginServing())
    gate.signal()
    try await blocked.get()
    await closing.value
    #expect(
      try await controller.withDatabase { try MatterServerSettings.load(from: $0, ServedHome.logger) } == hub.settings)
    await served.close()
  }

  @Test func importsTestNodes() async throws {
    let served = try await Served()
    let client = try await served.client()
    let dump = #"{\"data\":{\"node\":{\"node_id\":1,\"attributes\":{\"0/40/1\":\"A\",\"1/6/0\":true}}}}"#
    _ = await client.result("import_test_node", #"{"dump":"\#(dump)"}"#)
    let id = try #require(await client.event("node_added")?["node_id"]?.integer(as: UInt64.self))
    #expect(id == 0xFFFF_FFFE_0000_0000)
    let read = await client.result("read_attribute", #"{"node_id":\#(id),"attribute_path":"*/40/1"}"#)
    #expect(read?["result"] == ["0/40/1": "A"])
    // In the spelling of both published servers.
    let result = await client.result("set_acl_entry", #"{"node_id":\#(id),"entry":[]}"#)?["result"]?.array?.first
    #expect(result?["path"] == ["endpoint_id": 0, "cluster_id": 31, "attribute_id": 0])
    #expect(result?["status"] == 0)
    #expect(result?["Path"] == ["EndpointId": 0, "ClusterId": 31, "AttributeId": 0])
    #expect(result?["Status"] == 0)
    _ = await client.result("remove_node", #"{"node_id":\#(id)}"#)
    #expect(await client.event("node_removed") == .int(id))
    await served.close()
  }

  // MARK: Ending and waiting

  @Test func endsAfterRunningRequests() async throws {
    let served = try await Served()
    let client = try await served.client(listens: false)
    let hub = try served.home.hub
    let end = hub.eventLoop.makePromise(of: Void.self)
    await hub.delayExclusive(until: end.futureResult)
    client.command("remove_node", #"{"node_id":5}"#)
    #expect(await eventually { await hub.outstanding == 1 })
    let closing = Task { await served.close() }
    #expect(await eventually { await hub.isEnding })
    #expect(await client.result("get_nodes")?["details"] == .string(HubServer.ending.description))
    end.succeed()
    await closing.value
    #expect(await eventually { client.isClosed })
    #expect(client.messages.contains { $0["message_id"] == "remove_node" })
  }

  @Test func timeoutEndsOnlyItsWait() async throws {
    let served = try await Served(isEmpty: true)
    let hub = try served.home.hub
    let other = Task { await hub.wait(for: 9, isPresent: true, within: .hours(1)) }
    #expect(await eventually { await hub.waiterCount == 1 })
    await hub.wait(for: 9, isPresent: true, within: .milliseconds(10))
    #expect(await eventually { await hub.waiterCount == 1 })
    await served.close()
    await other.value
  }

  // MARK: Roles

  @Test func filtersNodesAndEventsByRole() async throws {
    let served = try await Served()
    let token = try await served.home.invite("Gast", .guest)
    let guest = try await RawWebSocket(socket: served.home.scratch.state.hubSocket, token: token)
    let nodes = await guest.result("start_listening")?["result"]
    #expect(nodes?.array?.first?["attributes"]?["1/8/0"] == 1)
    #expect(nodes?.array?.first?["attributes"]?["0/31/0"] == nil)
    let data = [
      AttributeData(ServedHome.access, dataVersion: 0, value: [0x16, 0x15, 0x18, 0x18]),
      AttributeData(ServedHome.level, dataVersion: 0, value: [0x04, 9]),
    ]
    let owner = try await served.client()
    try await served.home.home.controller.process(.report(NodeReport(5, data, isWhole: false)))
    #expect(await guest.event("attribute_updated") == [5, "1/8/0", 9])
    #expect(await owner.event("attribute_updated") == [5, "0/31/0", [[:]]])
    await served.close()
  }

  @Test func filtersTestNodesByRole() async throws {
    let served = try await Served()
    let socket = served.home.scratch.state.hubSocket
    let member = try await RawWebSocket(socket: socket, token: try await served.home.invite("Kind", .member))
    let guest = try await RawWebSocket(socket: socket, token: try await served.home.invite("Gast", .guest))
    for client in [member, guest] { _ = await client.result("start_listening") }
    let owner = try await served.client()
    let values = [("0/31/0", "[]"), ("1/1106/9", "1"), ("1/8/0", "1"), ("x", "1")]
    let attributes = values.map { #"\"\#($0)\":\#($1)"# }.joined(separator: ",")
    _ = await owner.result("import_test_node", #"{"dump":"{\"data\":{\"node\":{\"attributes\":{\#(attributes)}}}}"}"#)
    let added = try #require(await owner.event("node_added"))
    #expect(added["attributes"] == ["0/31/0": [], "1/1106/9": 1, "1/8/0": 1])
    let id = try #require(added["node_id"]?.integer(as: UInt64.self))
    _ = await owner.result("interview_node", #"{"node_id":\#(id)}"#)
    for client in [member, guest] {
      let visible: JSONValue = ["1/8/0": 1]
      #expect(await client.event("node_added")?["attributes"] == visible)
      #expect(await client.event("node_updated")?["attributes"] == visible)
      #expect(await client.result("get_node", #"{"node_id":\#(id)}"#)?["result"]?["attributes"] == visible)
      #expect(await client.result("get_nodes")?["result"]?.array?.last?["attributes"] == visible)
      let read = await client.result("read_attribute", #"{"node_id":\#(id),"attribute_path":"*/*/*"}"#)
      #expect(read?["result"] == visible)
    }
    func isDenied(_ client: RawWebSocket, _ command: String, _ arguments: String) async -> Bool {
      let result = await client.result(command, #"{"node_id":\#(id),\#(arguments)}"#)
      #expect(result?["result"] != nil || result?["details"]?.text?.contains("access denied") == true)
      return result?["result"] == nil
    }
    let revoke = #""endpoint_id":0,"cluster_id":60,"command_name":"RevokeCommissioning""#
    let unknown = #""endpoint_id":0,"cluster_id":60,"command_name":"Explode""#
    let on = #""endpoint_id":1,"cluster_id":6,"command_name":"On""#
    #expect(await !isDenied(member, "device_command", on))
    for arguments in [revoke, unknown] {
      #expect(await isDenied(member, "device_command", arguments))
      #expect(await !isDenied(owner, "device_command", arguments))
    }
    let (level, label) = (#""attribute_path":"1/8/17","value":9"#, #""attribute_path":"0/40/5","value":"x""#)
    #expect(await !isDenied(member, "write_attribute", level))
    for arguments in [label, #""attribute_path":"0/40/999","value":1"#] {
      #expect(await isDenied(member, "write_attribute", arguments))
      #expect(await !isDenied(owner, "write_attribute", arguments))
    }
    await served.close()
  }

  @Test(arguments: [
    ("read_attribute", #"{"node_id":5,"attribute_path":"1/8/0"}"#, HomeRole.guest), ("get_nodes", "{}", .guest),
    ("device_command", #"{"node_id":5,"endpoint_id":1,"cluster_id":6,"command_name":"On"}"#, .member),
    ("device_command", #"{"node_id":5,"endpoint_id":0,"cluster_id":60,"command_name":"RevokeCommissioning"}"#, .owner),
    ("write_attribute", #"{"node_id":5,"attribute_path":"1/8/17","value":9}"#, .member),
    ("write_attribute", #"{"node_id":5,"attribute_path":"0/40/5","value":"x"}"#, .owner),
    ("set_acl_entry", #"{"node_id":5,"entry":[]}"#, .owner), ("remove_node", #"{"node_id":999999}"#, .owner),
    ("set_thread_dataset", #"{"dataset":"0E08"}"#, .owner), ("import_test_node", "{}", .owner),
    ("set_loglevel", "{}", .owner), ("commission_with_code", #"{"code":"x"}"#, .owner),
  ])
  func checksRoles(command: String, arguments: String, least: HomeRole) async throws {
    let served = try await Served()
    for role in HomeRole.allCases {
      let token = try await served.home.invite(role.rawValue, role)
      let client = try await RawWebSocket(socket: served.home.scratch.state.hubSocket, token: token)
      // The device does not exist on the network: allowed requests fail with another error.
      let details = await client.result(command, arguments)?["details"]?.text ?? ""
      #expect(details.contains("access denied for a \(role)") == (role < least), "\(role): \(details)")
    }
    await served.close()
  }

  @Test(arguments: ["0.0.0.0", "192.168.1.1", "::", "example.org"])
  func listensOnLoopbackOnly(host: String) async throws {
    let home = try await ServedHome(isEmpty: true)
    await home.stopHub()
    #expect(await code { try await home.startHub { $0.loopback = .init(host: host, port: 0) } } == .badArguments)
    await home.close()
  }
}

extension HubServer {
  /// The number of requests of the standard API without a result.
  fileprivate var outstanding: Int { connections.values.reduce(0) { $0 + $1.outstanding } }

  /// Delays the next operation with exclusive access to the fabric.
  fileprivate func delayExclusive(until end: EventLoopFuture<Void>) { lastExclusive[.fabric] = end }
}
