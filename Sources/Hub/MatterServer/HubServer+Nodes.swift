internal import HomeControl
internal import HomeModel
internal import Logging
internal import MatterClusters
internal import MatterController
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import WebClient

// Commands about single nodes.
extension HubServer {
  func fabrics(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try fabricNode(arguments)
    let path = OperationalCredentials.fabrics.path(on: .root)
    let report = try await request { () throws(HomeError) in
      try await controller.read(node, [AttributePath(path)], isFabricFiltered: false)
    }
    guard let value = report[path]?.value,
      let list = try? [OperationalCredentials.FabricDescriptorStruct](tlv: value)
    else { throw MatterServerError(.sdkStackError, "the fabrics of node \(node.rawValue) can't be read") }
    let names = vendorNames
    return .array(
      list.map { fabric in
        .present([
          "fabric_id": .int(fabric.fabricID.rawValue), "vendor_id": .int(fabric.vendorID.rawValue),
          "fabric_index": .int(fabric.fabricIndex.rawValue), "fabric_label": .string(fabric.label),
          "vendor_name": names[fabric.vendorID.rawValue].map { .string($0) },
        ])
      })
  }

  func removeFabric(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try fabricNode(arguments)
    let index = FabricIndex(try arguments.integer("fabric_index"))
    guard state.values[node]?.value(OperationalCredentials.currentFabricIndex, on: .root) != index else {
      throw arguments.invalid("fabric \(index) is the fabric of this server; use remove_node")
    }
    _ = try await request { () throws(HomeError) in
      try await controller.invoke(
        OperationalCredentials.removeFabric, .init(fabricIndex: index), on: .root, of: node)
    }
    return [:]
  }

  /// Reads an attribute of the node over its known address, since an ICMP echo requires privileges.
  func ping(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    if testNodes.all[node.rawValue] != nil { return .object(Self.testAddresses.map { .init($0, true) }) }
    guard let address = address(of: node) else { return [:] }
    var isReachable = false
    for _ in 0..<max(1, min(10, try arguments.optionalInteger("attempts") ?? 1)) {
      let report = try? await controller.read(
        node, [AttributePath(BasicInformation.dataModelRevision.path(on: .root))], timeout: .seconds(10))
      isReachable = report != nil
      if isReachable { break }
    }
    return ["\(address)": .bool(isReachable)]
  }

  func addresses(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    if testNodes.all[node.rawValue] != nil { return .array(Self.testAddresses.map { .string($0) }) }
    let isScoped = try arguments.flag("scoped") ?? false
    if try arguments.flag("prefer_cache") == false || foundAddresses[node] == nil { await findAddresses(of: node) }
    let all = [address(of: node)].compactMap { $0 } + (foundAddresses[node] ?? [])
    let texts = all.map { isScoped ? "\($0)" : String("\($0)".prefix { $0 != "%" }) }
    return .array(texts.enumerated().filter { !texts[..<$0.offset].contains($0.element) }.map { .string($0.element) })
  }

  /// Searches for the addresses that a node announces, for one second. Those found earlier are kept if there are none.
  private func findAddresses(of node: NodeID) async {
    guard controller.options.discovery != .off else { return }
    do {
      for try await case .found(let service) in controller.discover(query(for: node), for: .seconds(1)) {
        foundAddresses[node] = service.addresses
      }
    } catch { logger.notice("the addresses of node \(node.rawValue) were not found: \(error)") }
  }

  private static let testAddresses = ["0.0.0.0", "0000:1111:2222:3333:4444"]

  private func query(for node: NodeID) -> DiscoveryQuery {
    let fabric = controller.assumeIsolated { $0.fabric }
    return .operational(compressedFabricID: fabric.compressedID, nodeID: node.rawValue)
  }

  /// Returns the address in use.
  private func address(of node: NodeID) -> IPAddress? {
    controller.assumeIsolated { $0.nodes.first { $0.nodeID == node }?.address?.ip }
  }

  func interview(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    let time = now
    if testNodes.all[node.rawValue] != nil {
      testNodes.setInterview(NodeObject.time(time), of: node.rawValue)
      broadcast("node_updated") { testNodes.all[node.rawValue]?.object($0) }
      return .null
    }
    // UpdateFabricLabel requires Administer.
    if arguments.role >= .owner { await setFabricLabel(of: node) }
    // The home applies the report, which sends the changed attributes.
    _ = try await request { () throws(HomeError) in try await controller.read(node, [AttributePath()]) }
    interviews[node] = time
    let state = state
    broadcast("node_updated") { nodeObject(node, state, $0) }
    return .null
  }

  /// Sets the label of the fabric without surrounding blanks, or “Home” if it is null or blank. After a client has set
  /// it, others don't change it until that client disconnects.
  func setFabricLabel(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    let text = try arguments.optionalText("label")?.drop { $0.isWhitespace }.prefix { !$0.isNewline } ?? ""
    // The label of a fabric has at most 32 bytes.
    var label = text.prefix(32)
    while label.utf8.count > 32 || label.last?.isWhitespace == true { label.removeLast() }
    guard connections[arguments.client] != nil, labelOwner ?? arguments.client == arguments.client else {
      logger.notice("the label “\(label)” of the fabric is ignored: another client has set one")
      return .null
    }
    labelOwner = arguments.client
    settings.fabricLabel = label.isEmpty ? "Home" : String(label)
    storeSettings()
    return .null
  }

  /// Sets the label of the fabric at the node, if a client has set one. The device refuses the label of another fabric.
  func setFabricLabel(of node: NodeID) async {
    guard let label = settings.fabricLabel else { return }
    do throws(HomeError) {
      try await controller.invoke(
        OperationalCredentials.updateFabricLabel, .init(label: label), on: .root, of: node)
    } catch { logger.notice("the label of the fabric was not set at node \(node.rawValue): \(error)") }
  }

  func icdState(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    if testNodes.all[node.rawValue] != nil { throw arguments.invalid("test nodes have no ICD state") }
    let values = state.values[node]
    let features: UInt32? = values?[.root, IcdManagement.id].flatMap { _ in
      values?[ConcreteAttributePath(.root, IcdManagement.id, GlobalAttribute.featureMap)].flatMap {
        try? UInt32(tlv: $0)
      }
    }
    guard let features else {
      return [
        "supported": false, "lit_supported": false, "registered": false, "operating_mode": .null, "awake": .null,
        "available": .null, "next_expected_checkin": .null,
      ]
    }
    let mode = values?.value(IcdManagement.operatingMode, on: .root)
    let (isRegistered, isAsleep) = controller.dispatcher.value.perform { engine, now in
      (engine.isRegistered(with: node), engine.isAsleep(node, at: now))
    }
    // In milliseconds since 1970: the node sends a message after each idle mode.
    let last = isRegistered ? controller.view.reducer.contacts[node]?.last : nil
    let duration = values?.value(IcdManagement.idleModeDuration, on: .root)
    let next = last.flatMap { last in duration.map { last / 1000 + Int64($0) * 1000 } }
    return [
      "supported": true, "lit_supported": .bool(features & IcdManagement.longIdleTimeSupport.mask != 0),
      "registered": .bool(isRegistered), "operating_mode": mode.map { $0 == .lit ? "LIT" : "SIT" } ?? .null,
      "awake": isRegistered ? .bool(!isAsleep) : .null,
      "available": .bool(projection.nodes[node]?.isAvailable ?? false),
      "next_expected_checkin": next.map { .integer(Int128($0)) } ?? .null,
    ]
  }

  func importTestNodes(_ arguments: CommandArguments) throws(MatterServerError) -> JSONValue {
    for id in try testNodes.add(dump: try arguments.text("dump")) {
      broadcast("node_added") { testNodes.all[id]?.object($0) }
    }
    return .null
  }

  /// Returns the node if it is in the fabric, and not a test node.
  func fabricNode(_ arguments: CommandArguments) throws(MatterServerError) -> NodeID {
    let node = try arguments.nodeID()
    guard projection.nodes[node] != nil else { throw Self.unknown(node) }
    return node
  }
}
