internal import HomeControl
internal import HomeModel
internal import MatterController
internal import MatterProtocol
internal import NIOCore
internal import WebClient

// Commands that add and remove nodes.
extension HubServer {
  func commissionWithCode(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    try checkCredentials(arguments)
    let text = try arguments.text("code")
    let code: SetupPayload
    do {
      code = try SetupPayload(parsing: text)
    } catch { throw MatterServerError(.nodeCommissionFailed, "Commission failed: \(error)") }
    return try await commission(CommissioningRequest(code))
  }

  func commissionOnNetwork(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let passcode: UInt32 = try arguments.integer("setup_pin_code")
    let type: Int = try arguments.optionalInteger("filter_type", in: 0...3) ?? 0
    let filter: UInt16? = try arguments.optionalInteger("filter")
    if type != 0, filter == nil { throw arguments.invalid("filter_type \(type) requires a filter") }
    let address = try arguments.optionalText("ip_addr").map { (text) throws(MatterServerError) in
      guard let address = IPAddress(text) else { throw arguments.invalid("ip_addr is not an IP address") }
      return address
    }
    var target = CommissioningRequest.Target.any
    switch (type, filter) {
    case (1, _?): target = .discriminator(.short(try arguments.optionalInteger("filter", in: 0...0xF) ?? 0))
    case (2, _?): target = .discriminator(.long(try arguments.optionalInteger("filter", in: 0...0xFFF) ?? 0))
    case (3, let filter?):
      guard let service = try await services(.vendor(filter)).first, case .commissionable(let instance) = service.kind
      else { throw MatterServerError(.nodeCommissionFailed, "Commission failed: no device of vendor \(filter) found") }
      target = .instance(instance)
    default: break
    }
    if let address, !address.isLinkLocal {
      target = .addresses([SocketAddress(address, port: 5540)])
    }
    return try await commission(CommissioningRequest(passcode: passcode, target: target))
  }

  private func commission(_ request: CommissioningRequest) async throws(MatterServerError) -> JSONValue {
    let node: NodeID
    do throws(HomeError) {
      node = try await exclusively { [controller] () throws(HomeError) in
        try await controller.request(.pair(request: request, name: nil, room: nil, trust: nil)) {
          if case .paired(_, _, let result) = $0 { result.nodeID } else { nil }
        }
      }
    } catch {
      throw MatterServerError(.nodeCommissionFailed, "Commission failed: \(error)")
    }
    // The node is announced when it has described itself.
    await wait(for: node, isPresent: true, within: .seconds(60))
    await setFabricLabel(of: node)
    guard let object = nodeObject(node, state, .of(.owner)) else {
      throw MatterServerError(
        .nodeInterviewFailed, "node \(node.rawValue) is commissioned, but did not describe itself in time")
    }
    return object
  }

  func remove(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try known(try arguments.nodeID())
    if testNodes.remove(node.rawValue) {
      broadcast("node_removed") { _ in .int(node.rawValue) }
      return .null
    }
    do throws(HomeError) {
      try await exclusively { [controller] () throws(HomeError) in
        _ = try await controller.perform(.remove(node: node, isForced: true))
      }
    } catch { throw MatterServerError(error) }
    await wait(for: node, isPresent: false, within: .seconds(30))
    return .null
  }

  func openWindow(_ arguments: CommandArguments) async throws(MatterServerError) -> JSONValue {
    let node = try fabricNode(arguments)
    let parameters = try Self.window(arguments)
    // Like the published servers.
    let window = try await request { () throws(HomeError) in
      try await controller.openWindow(node, parameters, replacesOpen: true)
    }
    // The code on the label of the device is not known.
    if case .basic = window.kind { return ["setup_pin_code": 0, "setup_manual_code": "", "setup_qr_code": ""] }
    guard let code = window.code, let manual = try? code.manualCode, let qr = try? code.qrText else {
      throw MatterServerError(.sdkStackError, "the window has no setup code")
    }
    return [
      "setup_pin_code": .int(code.passcode), "setup_manual_code": .string(manual),
      "setup_qr_code": .string(qr),
    ]
  }

  /// Returns the parameters of a window, which is open for 3 to 15 minutes (Matter Core § 5.4.2.3.1). `option` is 0 for the
  /// passcode on the label of the device, 1 for a new one.
  static func window(_ arguments: CommandArguments) throws(MatterServerError) -> CommissioningWindowRequest {
    let seconds: UInt16 = try arguments.optionalInteger("timeout", in: 180...900) ?? 300
    let isEnhanced = try arguments.optionalInteger("option", in: 0...1) ?? 1 == 1
    var request = CommissioningWindowRequest(duration: .seconds(seconds), isEnhanced: isEnhanced)
    request.iterations = try arguments.optionalInteger("iteration", in: 1000...100_000) ?? request.iterations
    request.discriminator = try arguments.optionalInteger("discriminator", in: 0...0xFFF)
    return request
  }

  // MARK: Discovery

  func discover() async throws(MatterServerError) -> JSONValue {
    .array(try await services(.any).map { Self.object($0) })
  }

  /// Returns the commissionable devices that announce themselves within three seconds, by instance.
  private func services(
    _ filter: DiscoveryQuery.CommissionableFilter
  ) async throws(MatterServerError) -> [MatterService] {
    var found: [UInt64: MatterService] = [:]
    do {
      for try await news in controller.discover(.commissionable(filter), for: .seconds(3)) {
        switch news {
        case .found(let service):
          if case .commissionable(let instance) = service.kind { found[instance] = service }
        case .lost(let service):
          if case .commissionable(let instance) = service.kind { found[instance] = nil }
        }
      }
    } catch { throw MatterServerError(.unknown, "the discovery failed: \(error)") }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }

  private static func object(_ service: MatterService) -> JSONValue {
    .present([
      "instance_name": .string(service.kind.instanceLabel),
      "host_name": .string(String(service.hostName.prefix { $0 != "." })),
      "port": .int(service.port), "long_discriminator": .int(service.discriminator ?? 0),
      "vendor_id": service.vendorID.map { .int($0) } ?? -1, "product_id": service.productID.map { .int($0) } ?? -1,
      "commissioning_mode": .int(service.commissioningMode),
      "device_type": .int(service[text: "DT"].flatMap { UInt32($0) } ?? 0),
      "device_name": .string(service.deviceName ?? ""),
      "pairing_instruction": .string(service.pairingInstruction ?? ""),
      "pairing_hint": service.pairingHint.map { .int($0) } ?? -1, "supports_tcp": false,
      "addresses": .array(service.addresses.map { .string("\($0)") }),
      "rotating_id": .string(service[text: "RI"] ?? ""),
      "mrp_retry_interval_idle": service.idleInterval.map { .int($0.milliseconds) },
      "mrp_retry_interval_active": service.activeInterval.map { .int($0.milliseconds) },
    ])
  }
}
