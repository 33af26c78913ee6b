import HearthHome
import HomeModel
import HomeStore
import Logging
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Scenario
import Simulation
import Synchronization
import Testing
import VirtualDevices
import WebClient

@testable import HomeControl
@testable import Hub

/// Optional arguments of the Matter server's commands.
@Suite("Matter server arguments", .timeLimit(.minutes(10))) struct MatterServerArgumentTests {
  private func arguments(_ command: String, _ values: JSONValue) -> CommandArguments {
    CommandArguments(command: command, values: values, role: .owner, client: 0)
  }

  /// Opens a home with a hub, and a client on loopback.
  private func serve(
    discovery: ServiceDiscovery.Mode = .off, _ change: (inout HubServer.Options) -> Void = { _ in }
  ) async throws -> (home: ServedHome, client: RawWebSocket) {
    let home = try await ServedHome(discovery: discovery) {
      $0.loopback = .init(host: "127.0.0.1", port: 0)
      change(&$0)
    }
    let client = try await RawWebSocket(try #require(try await home.webSocketURL))
    #expect(await eventually { client.messages.count == 1 })
    return (home, client)
  }

  @Test("set_loglevel sets the level of the process") func setsLogLevel() async throws {
    let levels = Mutex<[Logger.Level]>([])
    let (home, client) = try await serve { $0.setLogLevel = { level in levels.withLock { $0.append(level) } } }
    for level in ["fatal", "warn", "debug"] {
      _ = await client.result("set_loglevel", #"{"console_loglevel":"\#(level)","file_loglevel":"debug"}"#)
    }
    #expect(levels.withLock(\.self) == [.critical, .warning, .debug])
    // The logger of the test ignores the level.
    #expect(
      await client.result("get_loglevel")?["result"] == ["console_loglevel": "critical", "file_loglevel": .null])
    await home.close()
    // Without a level of the process, that of the server's own logger is set.
    let (other, user) = try await serve()
    let result = await user.result("set_loglevel", #"{"console_loglevel":"error"}"#)?["result"]
    #expect(result?["console_loglevel"] == "error")
    await other.close()
  }

  @Test("open_commissioning_window uses all arguments") func readsWindow() throws {
    let usual = try HubServer.window(arguments("open_commissioning_window", [:]))
    #expect(usual == CommissioningWindowRequest(duration: .seconds(300)))
    let window = try HubServer.window(
      arguments(
        "open_commissioning_window", ["timeout": 180, "iteration": 2000, "option": 0, "discriminator": 4095]))
    #expect(window.duration == .seconds(180) && window.iterations == 2000 && window.discriminator == 4095)
    #expect(!window.isEnhanced)
    for (name, value) in [("iteration", 999), ("iteration", 100_001), ("option", 2), ("discriminator", 4096)] {
      do throws(MatterServerError) {
        _ = try HubServer.window(
          arguments("open_commissioning_window", .object([.init(name, .int(value))])))
        Issue.record("\(name) \(value) was accepted")
      } catch { #expect(error.code == .invalidArguments && error.details.contains(name)) }
    }
  }

  @Test(
    "device_command rejects timeouts out of range",
    arguments: [
      ("interaction_timeout_ms", "0", 8), ("interaction_timeout_ms", "600001", 8), ("timed_request_timeout_ms", "0", 8),
      ("timed_request_timeout_ms", "65536", 8), ("interaction_timeout_ms", "-1", 8),
      // The device is not in the fabric.
      ("interaction_timeout_ms", "1000", 5),
    ])
  func checksTimeouts(name: String, value: String, code: Int) async throws {
    let (home, client) = try await serve()
    let result = await client.result(
      "device_command", #"{"node_id":5,"endpoint_id":1,"cluster_id":6,"command_name":"On","\#(name)":\#(value)}"#)
    #expect(result?["error_code"] == .int(code))
    await home.close()
  }

  @Test("timeouts of a command reach the device") func usesTimeouts() async throws {
    let definition = try HomeDefinition.load(
      simulating: [("home.yaml", "devices:\n  - { name: Lamp, type: on/off light }\n")])
    let run = await simulate(definition, seed: 1) { home, world in
      let controller = try home.controller
      let node = try #require(await controller.nodes.first?.nodeID)
      let on = CommandData(OnOff.on.path(on: 1))
      _ = try await controller.invoke(node, on, timed: .seconds(1), timeout: .seconds(1))
      // The timed interaction is over when the command arrives.
      let late = await code { _ = try await controller.invoke(node, on, timed: .zero) }
      try await world.cutPower(of: "Lamp")
      let begin = controller.eventLoop.now
      let cut = await code { _ = try await controller.invoke(node, on, timed: nil, timeout: .seconds(1)) }
      return ("\(String(describing: late)) \(String(describing: cut))", controller.eventLoop.now - begin)
    }
    let (codes, time) = try run.result.get()
    #expect(!codes.contains("nil"))
    // In virtual time.
    #expect(time < .seconds(2), "\(codes)")
  }

  @Test("get_node_ip_addresses returns all announced addresses, and caches them") func findsAddresses() async throws {
    let (home, client) = try await serve(discovery: .builtin)
    let fabric = try await home.home.controller.fabric
    let loop = HostMachine().nextEventLoop()
    let discovery = try HostMachine().openDiscovery(
      .builtin, .loopback, registry: home.scratch.state.responders, on: loop, logger: ServedHome.logger)
    func publish(_ addresses: [String]) {
      let service = MatterService(
        kind: .operational(compressedFabricID: fabric.compressedID, nodeID: 5), hostName: "0123456789AB", port: 5540,
        addresses: addresses.compactMap { IPAddress($0) })
      discovery.publish(service, on: nil, onConflict: nil)
    }
    func found(_ arguments: String) async -> Set<String> {
      let result = await client.result("get_node_ip_addresses", #"{"node_id":5\#(arguments)}"#)?["result"]
      return Set(result?.array?.compactMap(\.text) ?? [])
    }
    publish(["10.0.0.5", "fd00::5"])
    #expect(await eventually { await found(#","prefer_cache":false"#) == ["10.0.0.5", "fd00::5"] })
    publish(["10.0.0.6", "fd00::6"])
    for arguments in ["", #","prefer_cache":true"#] { #expect(await found(arguments) == ["10.0.0.5", "fd00::5"]) }
    #expect(await eventually { await found(#","prefer_cache":false"#).contains("fd00::6") })
    try await discovery.stop().get()
    await home.close()
  }

  private static let administrators = #"[{"privilege":5,"auth_mode":2,"subjects":[7],"targets":null}]"#

  @Test(
    "wrong arguments are refused before anything is sent",
    arguments: [
      ("commission_on_network", #"{"setup_pin_code":1,"filter_type":1,"filter":16}"#, "filter is 16; expected 0 to 15"),
      (
        "commission_on_network", #"{"setup_pin_code":1,"filter_type":2,"filter":4642}"#,
        "filter is 4642; expected 0 to 4095"
      ),
      ("commission_on_network", #"{"setup_pin_code":1,"filter_type":99}"#, "filter_type is 99; expected 0 to 3"),
      ("commission_on_network", #"{"setup_pin_code":1,"ip_addr":"lamp"}"#, "ip_addr is not an IP address"),
      ("write_attribute", #"{"node_id":5,"attribute_path":"1/8/17"}"#, "value is missing"),
      ("open_commissioning_window", #"{"node_id":5,"timeout":179}"#, "timeout is 179; expected 180 to 900"),
      ("open_commissioning_window", #"{"node_id":5,"timeout":901}"#, "timeout is 901; expected 180 to 900"),
      ("get_thread_diagnostics", #"{"ext_pan_id":"zz"}"#, "expected 16 hexadecimal digits"),
      ("set_acl_entry", #"{"node_id":5,"entry":[]}"#, "entry has no entry by which this server (node "),
      ("set_acl_entry", #"{"node_id":5,"entry":\#(administrators)}"#, "entry has no entry by which this server"),
      (
        "write_attribute", #"{"node_id":5,"attribute_path":"0/31/0","value":\#(administrators)}"#,
        "value has no entry by which this server"
      ),
      (
        "set_acl_entry", #"{"node_id":5,"entry":[{"privilege":5,"subjects":null,"targets":null}]}"#,
        "entry.0.auth_mode: missing"
      ),
      (
        "write_attribute", #"{"node_id":5,"attribute_path":"0/31/0","value":[{"privilege":5,"auth_mode":2}]}"#,
        "value.0.subjects: missing"
      ),
    ])
  func refuses(command: String, arguments: String, reason: String) async throws {
    let (home, client) = try await serve()
    let result = await client.result(command, arguments)
    #expect(
      result?["error_code"] == 8 && result?["details"]?.text?.contains(reason) == true, "\(String(describing: result))")
    await home.close()
  }

  @Test("right arguments are accepted") func accepts() async throws {
    let (home, client) = try await serve()
    let own = try #require(await client.result("server_info")?["result"]?["controller_node_id"])
    let level = #""node_id":5,"endpoint_id":1,"cluster_id":8"#
    let administrator = #"{"privilege":5,"auth_mode":2,"subjects":[\#(own)]}"#
    let controlling = #"{"privilege":3,"auth_mode":2,"targets":[{"cluster":6}]}"#
    for (command, arguments) in [
      ("set_acl_entry", #"{"node_id":5,"entry":[{"privilege":5,"auth_mode":2,"subjects":[\#(own)],"targets":null}]}"#),
      // Absent fields are null.
      ("set_acl_entry", #"{"node_id":5,"entry":[\#(administrator),\#(controlling)]}"#),
      ("set_node_binding", #"{"node_id":5,"endpoint":1,"bindings":[{"node":7,"endpoint":1}]}"#),
      // OnLevel may be null.
      ("write_attribute", #"{"node_id":5,"attribute_path":"1/8/17","value":null}"#),
      // The example of the published API.
      (
        "device_command",
        #"{\#(level),"command_name":"moveToLevelWithOnOff","payload":{"level":128,"transitionTime":10}}"#
      ), ("device_command", #"{\#(level),"command_name":"Stop","payload":{}}"#),
      ("device_command", #"{"node_id":5.0,"endpoint_id":1.0,"cluster_id":8.0,"command_name":"Stop","payload":{}}"#),
    ] {
      let result = await client.result(command, arguments)
      // The device is not in the fabric.
      #expect(result?["error_code"] == 5, "\(String(describing: result))")
    }
    #expect(
      await client.result("get_thread_diagnostics", #"{"ext_pan_id":"1122334455667788"}"#)?["result"] == .null)
    await home.close()
  }

  @Test("omitted fields of a command have their defaults") func addsDefaults() throws {
    let move = try #require(LevelControl.command(spelled: "moveToLevelWithOnOff")).request
    #expect(
      HubServer.addingDefaults(["level": 128, "transitionTime": 10, "optionsMask": .null], move) == [
        "level": 128, "transitionTime": 10, "optionsMask": .null, "OptionsMask": 0, "OptionsOverride": 0,
      ])
    #expect(
      HubServer.addingDefaults(["0": 1, "options_override": 1], move) == [
        "0": 1, "options_override": 1, "TransitionTime": .null, "OptionsMask": 0,
      ])
    let color = try #require(ColorControl.command(spelled: "MoveToColorTemperature")).request
    #expect(HubServer.addingDefaults(["colorTemperatureMireds": 250], color)["TransitionTime"] == 0)
  }

  @Test("vendors have the same name each time") func namesVendors() async throws {
    let (home, client) = try await serve()
    try await home.make(ServedHome.bridge)
    func identity(_ vendor: VendorID, _ name: String) -> DeviceIdentity {
      var identity = DeviceIdentity()
      (identity.vendorID, identity.vendorName) = (vendor, name)
      return identity
    }
    for (source, identity) in [
      (SourceID(5), identity(0x1234, "Ash")), (SourceID(7), identity(0xFFF1, "Elm Works")),
      (SourceID(7, 2), identity(0x1234, "Oak")), (SourceID(7, 3), identity(0x1234, "Yew")),
    ] {
      let endpoints = try #require(await home.home.state.source(source)).endpoints
      try await home.make([.topology(source, endpoints, identity)])
    }
    let names = await client.result("get_vendor_names", #"{"filter_vendors":[65521,4660]}"#)?["result"]
    #expect(names == ["4660": "Ash", "65521": "Test Vendor 1"])
    await home.close()
  }

  @Test("a second commissioning window replaces an open one, or is refused as busy")
  func namesBusyWindow() async throws {
    let definition = try HomeDefinition.load(
      simulating: [("home.yaml", "devices:\n  - { name: Lamp, type: on/off light }\n")])
    let run = await simulate(definition, seed: 1) { home, _ in
      let controller = try home.controller
      let node = try #require(await controller.nodes.first?.nodeID)
      let request = CommissioningWindowRequest(duration: .seconds(300))
      for _ in 0..<3 { _ = try await controller.openWindow(node, request, replacesOpen: true) }
      do throws(HomeError) {
        _ = try await controller.openWindow(node, request)
        return ""
      } catch { return error.message }
    }
    #expect(try run.result.get() == "the device refused: Busy (FAILURE, cluster status 2)")
  }

  @Test("interview_node sets the label of the fabric for owners only") func setsLabelForOwner() async throws {
    let log = LogCounter()
    let (home, client) = try await serve { $0.logger = log.logger }
    let token = try await home.invite("Kind", .member)
    let member = try await RawWebSocket(socket: home.scratch.state.hubSocket, token: token)
    _ = await client.result("set_default_fabric_label", #"{"label":"Villa"}"#)
    // The device is not in the fabric, so that each attempt fails.
    let failure =
      "the label of the fabric was not set at node 5: node 5 is not in the fabric of this home; pair it again"
    for (user, count) in [(member, 0), (client, 1)] {
      #expect(await user.result("interview_node", #"{"node_id":5}"#)?["error_code"] == 5)
      #expect(log[failure] == count)
    }
    await home.close()
  }

  @Test("remove_matter_fabric refuses the fabric of the server") func keepsOwnFabric() async throws {
    let (home, client) = try await serve()
    let own = OperationalCredentials.currentFabricIndex.path(on: .root)
    try await home.make([.attribute(5, own, value: FabricIndex(3).tlv)])
    let result = await client.result("remove_matter_fabric", #"{"node_id":5,"fabric_index":3}"#)
    #expect(result?["error_code"] == 8)
    #expect(
      result?["details"] == "remove_matter_fabric: fabric 3 is the fabric of this server; use remove_node")
    // The device is not in the fabric.
    let other = await client.result("remove_matter_fabric", #"{"node_id":5,"fabric_index":2}"#)
    #expect(other?["error_code"] == 5)
    await home.close()
  }

  @Test("a test node has no ICD state") func refusesStateOfTestNode() async throws {
    let (home, client) = try await serve()
    _ = await client.result("import_test_node", #"{"dump":"{\"data\":{\"node\":{\"attributes\":{}}}}"}"#)
    let node = try #require(await client.result("get_nodes")?["result"]?.array?.last?["node_id"])
    let result = await client.result("get_icd_state", #"{"node_id":\#(node)}"#)
    #expect(result?["error_code"] == 8 && result?["details"] == "get_icd_state: test nodes have no ICD state")
    await home.close()
  }

  @Test("unreadable settings don't prevent the start") func startsWithUnreadableSettings() async throws {
    let (scratch, log) = (Scratch(), LogCounter())
    let database = try HomeDatabase.open(scratch.state.database, identity: ServedHome.identity)
    try database.set("{", for: "matterServer")
    try database.close()
    let home = try await ServedHome(scratch) { $0.logger = log.logger }
    #expect(try await home.hub.settings == MatterServerSettings())
    let message =
      "\(scratch.state.database): the setting “matterServer” can't be read and is kept as “matterServer.unreadable”; set the "
      + "fabric label and the credentials again"
    #expect(log[message] == 1)
    let kept = try await home.home.controller.withDatabase { try $0.setting("matterServer.unreadable") }
    #expect(kept == "{")
    await home.close()
  }
}
