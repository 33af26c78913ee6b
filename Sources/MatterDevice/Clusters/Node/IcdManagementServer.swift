internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// ICD Management: the timing of an intermittently connected device, and its registered clients. Matter Core § 9.16.
public enum IcdManagementServer {
  typealias Client = IcdManagement.MonitoringRegistrationStruct

  /// The part of the device that wakes it, as its UserActiveModeTriggerHint states.
  public static let button = "setupButton"

  /// Whether a test event requires a short idle time.
  private struct Requirement: Sendable {
    var isShort = false
  }

  /// Returns the server for the root endpoint.
  public static func make(_ sleep: SleepConfiguration) -> ClusterServer {
    let isLong = sleep.mode == .long
    let lasting: [Feature] = [
      IcdManagement.checkInProtocolSupport, IcdManagement.userActiveModeTrigger, IcdManagement.longIdleTimeSupport,
    ]
    let features = isLong ? lasting + (sleep.isDynamic ? [IcdManagement.dynamicSitLitSupport] : []) : []
    let server = ClusterServer.shared(IcdManagement.self, features: features) { isLong ? registering($0) : common($0) }
      .initial(IcdManagement.idleModeDuration, UInt32(clamping: sleep.idleDuration.components.seconds))
      .initial(IcdManagement.activeModeDuration, UInt32(clamping: sleep.activeDuration.milliseconds))
      .initial(IcdManagement.activeModeThreshold, UInt16(clamping: sleep.activeThreshold.milliseconds))
    guard isLong else { return server }
    return server.initial(IcdManagement.clientsSupportedPerFabric, sleep.clientsPerFabric)
      // Check-In messages are sent in each active mode.
      .initial(IcdManagement.maximumCheckInBackOff, UInt32(clamping: sleep.idleDuration.components.seconds))
      .initial(IcdManagement.userActiveModeTriggerHint, [.powerCycle, .setupButtonSeconds])
      // The seconds for which a user presses the button.
      .initial(IcdManagement.userActiveModeTriggerInstruction, "1")
  }

  /// The button, and the test events of all devices.
  private static func common(_ server: ClusterServer) -> ClusterServer {
    server.onPart(button, ["pressed"]) { context, _ in context.node.sleep?.isWoken = true }
      .onTest(1, "stayActive") { context in context.node.sleep?.isKeptActive = true }
      .onTest(2, "stopStayingActive") { context in context.node.sleep?.isKeptActive = false }
  }

  /// The registrations of a device with a long idle time.
  private static func registering(_ server: ClusterServer) -> ClusterServer {
    let registering = common(server)
      .onStart { context in
        if context[stored: "counter"] == nil {
          context[stored: "counter"] = true.tlv
          context[IcdManagement.icdCounter] = context.random(in: 0...UInt32.max)
        }
        updateMode(&context)
      }
      .answer(IcdManagement.registerClient) { context, request throws(StatusError) in
        try register(&context, request)
        return .init(icdCounter: context[IcdManagement.icdCounter])
      }
      .on(IcdManagement.unregisterClient) { context, request throws(StatusError) in
        let (fabric, node) = (context.subject.fabric, request.checkInNodeID)
        let isMeant = { @Sendable (client: Client) in client.fabricIndex == fabric && client.checkInNodeID == node }
        guard context[IcdManagement.registeredClients].contains(where: isMeant) else { throw StatusError(.notFound) }
        try checkKey(context, request.verificationKey, of: node)
        context[IcdManagement.registeredClients].removeAll(where: isMeant)
        context[stored: key(fabric, node)] = nil
        updateMode(&context)
      }
      .answer(IcdManagement.stayActiveRequest) { context, request throws(StatusError) in
        let (duration, now) = (Duration.milliseconds(Int64(request.stayActiveDuration)), context.now)
        let promised = context.node.sleep?.stayActive(duration, at: now)
        return .init(promisedActiveDuration: UInt32(clamping: promised?.milliseconds ?? 0))
      }
      .onFabricRemoved { context, fabric in
        for key in context.storedKeys(prefix: "key/\(fabric.rawValue)/") { context[stored: key] = nil }
        updateMode(&context)
      }
      .onTest(3, "invalidateHalfOfCounters") { $0[IcdManagement.icdCounter] &+= UInt32.max / 2 }
      .onTest(4, "invalidateAllCounters") { $0[IcdManagement.icdCounter] &-= 1 }
      // The device does not back off.
      .onTest(5, "forceMaximumBackOff") { _ in }
    guard server.features & IcdManagement.dynamicSitLitSupport.mask != 0 else { return registering }
    return
      registering
      .onTest(6, "requireShortIdleTime") { require(&$0, isShort: true) }
      .onTest(7, "withdrawShortIdleTime") { require(&$0, isShort: false) }
  }

  private static func require(_ context: inout ServerContext, isShort: Bool) {
    context[scratch: Requirement.self] = Requirement(isShort: isShort)
    updateMode(&context)
    context.node.sleep?.isWoken = true
  }

  /// A device has a long idle time only while a client is registered. § 9.16.1.4.
  private static func updateMode(_ context: inout ServerContext) {
    let isShort =
      context[scratch: Requirement.self]?.isShort == true || context[IcdManagement.registeredClients].isEmpty
    context[IcdManagement.operatingMode] = isShort ? .sit : .lit
    guard context.node.sleep?.operatesLong == isShort else { return }
    context.node.sleep?.operatesLong = !isShort
    // DNS-SD announces the mode.
    context.node.commissioning.isChanged = true
  }

  // MARK: Registrations

  private static func key(_ fabric: FabricIndex, _ node: NodeID) -> String {
    "key/\(fabric.rawValue)/\(String(node.rawValue, radix: 16))"
  }

  /// § 9.16.7.1.
  private static func register(
    _ context: inout ServerContext, _ request: IcdManagement.RegisterClientRequest
  ) throws(StatusError) {
    let (fabric, node) = (context.subject.fabric, request.checkInNodeID)
    guard request.clientType.isKnown, request.key.bytes.count == CheckInMessage.keyByteCount else {
      throw StatusError(.constraintError)
    }
    var clients = context[IcdManagement.registeredClients]
    let client = Client(
      checkInNodeID: node, monitoredSubject: request.monitoredSubject, clientType: request.clientType,
      fabricIndex: fabric)
    if let index = clients.firstIndex(where: { $0.fabricIndex == fabric && $0.checkInNodeID == node }) {
      try checkKey(context, request.verificationKey, of: node)
      clients[index] = client
    } else {
      guard clients.count(where: { $0.fabricIndex == fabric }) < context[IcdManagement.clientsSupportedPerFabric] else {
        throw StatusError(.resourceExhausted)
      }
      clients.append(client)
    }
    context[stored: key(fabric, node)] = request.key.bytes
    context[IcdManagement.registeredClients] = clients
    updateMode(&context)
  }

  /// Only an administrator may change a registration without its key.
  private static func checkKey(
    _ context: ServerContext, _ verification: OctetString?, of node: NodeID
  ) throws(StatusError) {
    guard !context.isAllowed(.administer, ClusterPath(.root, IcdManagement.id)) else { return }
    guard let verification, context[stored: key(context.subject.fabric, node)] == verification.bytes else {
      throw StatusError(.failure)
    }
  }

  /// Returns the registered clients of all fabrics with their keys.
  static func registrations(in context: ServerContext) -> [(client: Client, key: [UInt8])] {
    guard let index = context.node.index(ClusterPath(.root, IcdManagement.id)) else { return [] }
    let stored = context.node.clusters[index].stored
    let list = context.node.clusters[index][IcdManagement.registeredClients.id].flatMap { try? [Client](tlv: $0) }
    return (list ?? []).compactMap { client in
      stored[key(client.fabricIndex, client.checkInNodeID)].map { (client, $0) }
    }
  }

  /// Returns the counter for the next Check-In message.
  static func takeCounter(in context: inout ServerContext) -> UInt32 {
    let counter = (context.value(IcdManagement.icdCounter, on: .root) ?? 0) &+ 1
    if let index = context.node.index(ClusterPath(.root, IcdManagement.id)) {
      context.enterQuietly(index) { $0[IcdManagement.icdCounter] = counter }
    }
    return counter
  }
}
