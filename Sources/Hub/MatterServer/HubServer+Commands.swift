internal import HomeControl
internal import HomeModel
internal import Logging
internal import NIOCore
internal import Runtime
internal import WebClient

// Requests and their results.
extension HubServer {
  static let schemaVersion = 13, minimumSchemaVersion = 11

  func received(_ text: [UInt8], from number: Int) {
    guard let connection = connections[number], !connection.isClosed else { return }
    var id: JSONValue = ""
    func refuse(_ error: MatterServerError) { connection.send(Self.result(id, .failure(error))) }
    let message: JSONValue
    do throws(JSONParser.Failure) { message = try JSONParser.parse(text) } catch {
      return refuse(MatterServerError(.unknown, "malformed JSON: \(error)"))
    }
    id = message["message_id"] ?? ""
    guard let command = message["command"]?.text else {
      return refuse(MatterServerError(.invalidArguments, "the message has no command"))
    }
    let values = message["args"] ?? .null
    guard values.isNull || values.members != nil else {
      return refuse(MatterServerError(.invalidArguments, "\(command): args is not an object"))
    }
    if Self.expensiveCommands.contains(command) { charge(Self.expense, to: connection, number) }
    if command.hasPrefix(HubJSON.prefix) {
      guard let id = id.text else {
        return refuse(MatterServerError(.invalidArguments, "\(command): message_id is not a string"))
      }
      return receivedOwn(message, id, connection, number)
    }
    guard !isEnding else { return refuse(MatterServerError(Self.ending)) }
    guard connection.outstanding < Limits.requests else {
      return refuse(MatterServerError(.unknown, "too many concurrent requests; wait for results"))
    }
    connection.outstanding += 1
    let role = connection.role
    controller.options.machine.task { [id] in
      await self.perform(CommandArguments(command: command, values: values, role: role, client: number), id)
    }
  }

  private func perform(_ arguments: CommandArguments, _ id: JSONValue) async {
    let result = await Result { () async throws(MatterServerError) in try await self.result(arguments) }
    guard let connection = connections[arguments.client] else { return }
    connection.outstanding -= 1
    // In the same turn of the event loop as the list, so that no event occurs between the list and the first change.
    if arguments.command == "start_listening", !connection.isClosed { connection.isListening = true }
    connection.write(Self.result(id, result).bytes)
    connection.channel.flush()
    noteEnd()
  }

  private static func result(_ id: JSONValue, _ result: Result<JSONValue, MatterServerError>) -> JSONValue {
    switch result {
    case .success(let value): ["message_id": id, "result": value]
    case .failure(let error):
      ["message_id": id, "error_code": .int(error.code.rawValue), "details": .string(error.details)]
    }
  }

  /// The commands for guests and, in addition, for members; all others are for owners.
  private static let guestCommands: Set = [
    "server_info", "start_listening", "get_nodes", "get_node", "diagnostics", "server_diagnostics", "get_vendor_names",
    "get_loglevel",
    "get_fabric_label", "read_attribute", "ping_node", "get_node_ip_addresses", "get_icd_state", "get_network_topology",
    "get_thread_border_routers", "get_thread_diagnostics", "check_node_update",
  ]
  private static let memberCommands: Set = ["device_command", "write_attribute", "interview_node"]

  /// The commands that describe the whole home or search the network.
  private static let expensiveCommands: Set = [
    "start_listening", "get_nodes", "diagnostics", "server_diagnostics", "get_network_topology", "discover",
    "discover_commissionable_nodes", "hearth_start",
  ]
  /// The tokens that they cost in addition to those of their frames.
  static let expense: Int64 = 19

  /// The lowest role that may use a command. The elements of a device are checked in addition.
  static func role(for command: String) -> HomeRole {
    guestCommands.contains(command) ? .guest : memberCommands.contains(command) ? .member : .owner
  }

  private func result(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    try arguments.require(Self.role(for: arguments.command))
    switch arguments.command {
    case "server_info": return serverInfo
    case "start_listening": return .array(nodeObjects(for: arguments.role))
    case "get_nodes":
      let all = nodeObjects(for: arguments.role)
      return .array(try arguments.flag("only_available") == true ? all.filter { $0["available"] == true } : all)
    case "get_node": return try node(arguments)
    case "diagnostics", "server_diagnostics":
      let visibility = RoleVisibility.of(arguments.role)
      let events = recentEvents.filter { visibility.contains($0.data) }.map { NodeObject.event($0.node, $0.data) }
      return ["info": serverInfo, "nodes": .array(nodeObjects(for: arguments.role)), "events": .array(events)]
    case "get_vendor_names": return try vendorNames(arguments)
    case "get_loglevel": return logLevels
    case "set_loglevel": return try setLogLevel(arguments)
    case "set_default_fabric_label": return try setFabricLabel(arguments)
    case "get_fabric_label": return ["fabric_label": .optional(settings.fabricLabel)]
    case "device_command": return try await deviceCommand(arguments)
    case "read_attribute": return try await readAttribute(arguments)
    case "write_attribute": return try await writeAttribute(arguments)
    case "set_acl_entry": return try await setAccessList(arguments)
    case "set_node_binding": return try await setBindings(arguments)
    case "get_matter_fabrics": return try await fabrics(arguments)
    case "remove_matter_fabric": return try await removeFabric(arguments)
    case "ping_node": return try await ping(arguments)
    case "get_node_ip_addresses": return try await addresses(arguments)
    case "interview_node": return try await interview(arguments)
    case "remove_node": return try await remove(arguments)
    case "commission_with_code": return try await commissionWithCode(arguments)
    case "commission_on_network": return try await commissionOnNetwork(arguments)
    case "open_commissioning_window": return try await openWindow(arguments)
    case "discover", "discover_commissionable_nodes": return try await discover()
    case "import_test_node": return try importTestNodes(arguments)
    case "set_wifi_credentials": return try setWiFi(arguments)
    case "set_thread_dataset": return try setThread(arguments)
    case "remove_wifi_credentials": return try removeCredentials(from: \.wifi, arguments)
    case "remove_thread_dataset": return try removeCredentials(from: \.thread, arguments)
    case "get_all_credentials": return allCredentials
    case "get_icd_state": return try icdState(arguments)
    case "get_network_topology": return try await topology(arguments)
    case "get_thread_border_routers": return []
    case "get_thread_diagnostics": return try threadDiagnostics(arguments)
    case "check_node_update": return try checkUpdate(arguments)
    case "update_node": return try await update(arguments)
    case "initiate_ota_upload": throw MatterServerError(.otaUploadError, "OTA is disabled")
    case "register_icd", "unregister_icd", "resync_icd":
      _ = try known(try arguments.nodeID())
      throw arguments.invalid("the server registers for the check-in messages of each device itself")
    default: throw MatterServerError(.invalidCommand, "unknown command \(arguments.command)")
    }
  }

  // MARK: The server

  var serverInfo: JSONValue {
    let fabric = controller.assumeIsolated { $0.fabric }
    let wifi = settings.wifi[MatterServerSettings.defaultID]
    return .present([
      "fabric_id": .int(fabric.id.rawValue), "compressed_fabric_id": .int(fabric.compressedID),
      // The index in the table of the controller, which has one fabric; a node may have given the fabric another index.
      "fabric_index": 1,
      "schema_version": .int(Self.schemaVersion), "min_supported_schema_version": .int(Self.minimumSchemaVersion),
      "sdk_version": .string("hearth/\(options.version)"), "wifi_credentials_set": .bool(wifi != nil),
      "wifi_ssid": wifi.map { .string($0.ssid) },
      "thread_credentials_set": .bool(settings.thread[MatterServerSettings.defaultID] != nil),
      "bluetooth_enabled": false, "ble_proxy_enabled": false, "controller_node_id": .int(fabric.nodeID.rawValue),
    ])
  }

  private var logLevels: JSONValue {
    [
      "console_loglevel": .string(logger.logLevel == .trace ? "debug" : logger.logLevel.rawValue),
      "file_loglevel": .null,
    ]
  }

  /// Sets the level of the log on standard error. There is no log file, so a valid level of one has no effect.
  private func setLogLevel(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    let console = try Self.level("console_loglevel", arguments)
    _ = try Self.level("file_loglevel", arguments)
    if let console {
      if let set = options.setLogLevel { set(console) } else { logger.logLevel = console }
    }
    return logLevels
  }

  private static func level(
    _ name: String, _ arguments: CommandArguments
  ) throws(MatterServerError) -> Logger.Level? {
    guard let text = try arguments.optionalText(name) else { return nil }
    let synonyms = ["fatal": "critical", "warn": "warning"]
    // The API has no level “trace”.
    guard text != "trace", let level = Logger.Level(rawValue: synonyms[text] ?? text) else {
      throw arguments.invalid("\(name): unknown level “\(text)”")
    }
    return level
  }

  /// Returns no diagnostics, because the server collects none.
  private func threadDiagnostics(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    guard let network = try arguments.optionalText("ext_pan_id") else { return [] }
    guard network.utf8.count == 16, network.allSatisfy(\.isHexDigit) else {
      throw arguments.invalid("ext_pan_id is “\(network)”; expected 16 hexadecimal digits")
    }
    return .null
  }

  /// The names of the test vendors, and of the vendors of the devices in the home.
  private func vendorNames(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    var filter: Set<UInt16>?
    if let wanted = arguments("filter_vendors") {
      guard let list = wanted.array else { throw arguments.invalid("filter_vendors is not an array") }
      if !list.isEmpty { filter = Set(list.compactMap { $0.integer(as: UInt16.self) }) }
    }
    let names = vendorNames.filter { filter?.contains($0.key) ?? true }.sorted { $0.key < $1.key }
    return .object(names.map { .init(String($0.key), .string($0.value)) })
  }

  var vendorNames: [UInt16: String] {
    var names: [UInt16: String] = [:]
    for number in UInt16(1)...4 { names[0xFFF0 + number] = "Test Vendor \(number)" }
    // Sorted, so that the same one of several names is used each time.
    for identity in state.devices.sorted(by: { $0.key < $1.key }).flatMap(\.value.sources).map(\.identity) {
      if let vendor = identity.vendorID, let name = identity.vendorName {
        names[vendor.rawValue] = names[vendor.rawValue] ?? name
      }
    }
    return names
  }

  // MARK: Nodes

  /// Returns all nodes as clients with this role see them, those of the fabric first.
  private func nodeObjects(for role: HomeRole) -> [JSONValue] {
    let (state, visibility) = (state, RoleVisibility.of(role))
    return projection.sortedIDs.compactMap { nodeObject($0, state, visibility) } + testNodes.objects(visibility)
  }

  private func node(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    let id = try arguments.nodeID()
    let visibility = RoleVisibility.of(arguments.role)
    guard let object = testNodes.all[id.rawValue]?.object(visibility) ?? nodeObject(id, state, visibility) else {
      throw Self.unknown(id)
    }
    return object
  }

  /// Returns the node if it is in the fabric.
  func known(_ id: NodeID) throws(MatterServerError) -> NodeID {
    guard projection.nodes[id] != nil || testNodes.all[id.rawValue] != nil else { throw Self.unknown(id) }
    return id
  }

  static func unknown(_ id: NodeID) -> MatterServerError {
    MatterServerError(.nodeNotExists, "node \(id.rawValue) does not exist")
  }
}
