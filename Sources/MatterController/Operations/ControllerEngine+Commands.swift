internal import MatterClusters
internal import MatterCrypto
public import MatterModel
public import MatterProtocol

/// The commands of a controller. Each returns at once; its result is an event.
extension ControllerEngine {
  /// Default timeout of an operation.
  public static let usualTimeout: Duration = .seconds(30)

  // MARK: Requests

  /// Reads attributes and events; wildcards are allowed. Completes with ``OperationOutcome/report(_:)``.
  public mutating func read(
    _ node: NodeID, _ paths: [AttributePath], events: [EventPath] = [], eventMin: UInt64? = nil,
    isFabricFiltered: Bool = true, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    let request = ReadRequest(
      attributePaths: paths, eventPaths: events,
      eventFilters: eventMin.map { [EventFilter(eventMin: $0)] } ?? [], isFabricFiltered: isFabricFiltered)
    return start(.request(.read(request)), node, timeout, at: now)
  }

  /// Writes attributes, in as many messages as needed. Completes with ``OperationOutcome/written(_:)``.
  /// - Parameter timed: timeout of the timed interaction, or nil for an untimed write.
  public mutating func write(
    _ node: NodeID, _ writes: [AttributeWrite], timed: Duration? = nil, timeout: Duration = usualTimeout,
    at now: Instant
  ) -> OperationID {
    do {
      let chunks = try WriteRequestChunks(writes, isTimed: timed != nil)
      return start(.request(.write(chunks, timed: timed)), node, timeout, at: now)
    } catch {
      return refuse(.interaction(error))
    }
  }

  /// Invokes commands, in batches as large as the node supports. Completes with ``OperationOutcome/invoked(_:)``; a
  /// command that the node refuses is among the results with its status.
  /// - Parameter timed: timeout of the timed interaction, or nil for an untimed invoke.
  public mutating func invoke(
    _ node: NodeID, _ commands: [CommandData], timed: Duration? = nil, timeout: Duration = usualTimeout,
    at now: Instant
  ) -> OperationID {
    guard !commands.isEmpty else { return refuse(.invalidRequest("invoke: no commands")) }
    return start(.request(.invoke(commands, timed: timed)), node, timeout, at: now)
  }

  /// Opens a session with a node unless one is established. Completes with ``OperationOutcome/connected(_:)``.
  public mutating func connect(
    _ node: NodeID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    start(.connect, node, timeout, at: now)
  }

  // MARK: Administration

  /// Commissions a device into the fabric and reports each step. Completes with ``OperationOutcome/commissioned(_:)``
  /// or ``ControllerError/commissioningFailed(_:_:)``.
  public mutating func commission(_ request: CommissioningRequest, at now: Instant) -> OperationID {
    let id = newOperationID()
    operations[id] = Operation(id: id, task: .commission, deadline: now + request.timeout)
    schedule(now + request.timeout)
    startCommissioning(request, id, at: now)
    settle(at: now)
    return id
  }

  /// Removes the fabric from a node and the node from the controller. Completes with
  /// ``OperationOutcome/removed(_:_:)``.
  /// - Parameter force: removes the node from the controller even if the node cannot be reached.
  public mutating func removeNode(
    _ node: NodeID, force: Bool = false, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    start(.remove(isForced: force, index: nil), node, timeout, at: now)
  }

  /// Opens a window in which another administrator may commission the node. Completes with
  /// ``OperationOutcome/windowOpened(_:)``. Matter Core § 11.19.8.
  public mutating func openCommissioningWindow(
    _ node: NodeID, _ request: CommissioningWindowRequest = .init(), timeout: Duration = usualTimeout,
    at now: Instant
  ) -> OperationID {
    let seconds = UInt16(clamping: request.duration.components.seconds)
    guard request.isEnhanced else {
      let fields = AdministratorCommissioning.OpenBasicCommissioningWindowRequest(commissioningTimeout: seconds)
      let path = AdministratorCommissioning.openBasicCommissioningWindow.path(on: .root)
      let window = CommissioningWindow(kind: .basic, duration: request.duration)
      return start(.openWindow(window, CommandData(path, fields: fields.tlv)), node, timeout, at: now)
    }
    let passcode = request.passcode ?? randomPasscode()
    let discriminator = request.discriminator ?? UInt16(truncatingIfNeeded: random.next() & 0xFFF)
    let salt = request.salt ?? random.bytes(32)
    guard SetupPasscode.isValid(passcode), discriminator <= 0xFFF, (16...32).contains(salt.count),
      (1000...100_000).contains(request.iterations),
      let verifier = try? SPAKE2PlusVerifier(passcode: passcode, salt: salt, iterations: Int(request.iterations))
    else { return refuse(.invalidRequest("passcode, discriminator, iterations or salt: out of range")) }
    let fields = AdministratorCommissioning.OpenCommissioningWindowRequest(
      commissioningTimeout: seconds, pakePasscodeVerifier: OctetString(verifier.bytes), discriminator: discriminator,
      iterations: request.iterations, salt: OctetString(salt))
    let record = peers[node]?.record
    let code = SetupPayload(
      vendorID: record?.vendorID.rawValue ?? 0, productID: record?.productID ?? 0, discovery: .onNetwork,
      discriminator: .long(discriminator), passcode: passcode)
    let window = CommissioningWindow(
      kind: .enhanced(passcode: passcode, discriminator: discriminator), duration: request.duration, code: code)
    let path = AdministratorCommissioning.openCommissioningWindow.path(on: .root)
    return start(.openWindow(window, CommandData(path, fields: fields.tlv)), node, timeout, at: now)
  }

  private mutating func randomPasscode() -> UInt32 {
    while true {
      let candidate = UInt32(truncatingIfNeeded: random.next() % 99_999_999)
      if SetupPasscode.isValid(candidate) { return candidate }
    }
  }

  // MARK: Discovery

  /// Reports services that are found and lost. Completes with ``OperationOutcome/discovered`` after the timeout.
  /// - Parameter timeout: nil: until the operation is canceled.
  public mutating func discover(_ query: DiscoveryQuery, timeout: Duration?, at now: Instant) -> OperationID {
    let id = newOperationID()
    operations[id] = Operation(id: id, task: .discover(query), deadline: timeout.map { now + $0 })
    schedule(operations[id]?.deadline)
    browse(query)
    for service in known(query) { emit(.serviceFound(id, service)) }
    return id
  }

  // MARK: Cancellation

  /// Cancels an operation, which completes with ``ControllerError/cancelled``. Changes that the device has made stay,
  /// but a commissioning in progress is reverted.
  public mutating func cancel(_ id: OperationID, at now: Instant) {
    guard operations[id] != nil else { return }
    if commissionings[id] != nil {
      failCommissioning(id, .cancelled, at: now)
    } else {
      complete(id, .failure(.cancelled), at: now)
    }
    settle(at: now)
  }
}
