internal import MatterClusters
internal import MatterCrypto
public import MatterModel
public import MatterProtocol

// What a driver can do with a device, besides passing it datagrams: what a person or the world does to a real one.
extension DeviceEngine {
  /// The fabrics that the device is on.
  public var fabrics: [Fabric] { context.node.commissioning.fabrics }

  /// Whether somebody can commission it now.
  public var isCommissionable: Bool { context.node.commissioning.window != nil }

  /// The encoded value of an attribute as an administrator of no fabric would see it; nil if there is none.
  /// - Parameter now: for values that time alone changes, as clocks and remaining times.
  public mutating func value(of path: ConcreteAttributePath, at now: Instant) -> [UInt8]? {
    context.node.now = max(now, context.node.now)
    return context.encoded(path)
  }

  /// The value of an attribute; nil if it is not served.
  public mutating func value<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, on endpoint: EndpointID
  ) -> Value? {
    context.value(attribute, on: endpoint)
  }

  /// All attributes that are served, in order, with their facts.
  public var attributes: [(path: ConcreteAttributePath, info: AttributeInfo)] { attributes { _ in true } }

  /// The attributes of some clusters, in order, with their facts.
  public func attributes(
    where isIncluded: (ClusterID) -> Bool
  ) -> [(path: ConcreteAttributePath, info: AttributeInfo)] {
    context.node.clusters.filter { isIncluded($0.path.cluster) }.flatMap { cluster in
      cluster.attributeIDs.compactMap { id in
        cluster.info(id).map { (ConcreteAttributePath(cluster.path.endpoint, cluster.path.cluster, id), $0) }
      }
    }
  }

  /// Changes an attribute as the physical device would: a switch was pressed, it got warmer. Writable or not does not
  /// matter, type and range do.
  /// - Parameter value: one element with an anonymous tag.
  /// - Throws: `unsupportedCluster`, `unsupportedAttribute`, `invalidDataType`, `constraintError`.
  public mutating func act(
    set path: ConcreteAttributePath, encoded value: [UInt8], at now: Instant
  ) throws(StatusError) {
    advance(to: now)
    try context.check(path, value)
    try context.set(path, encoded: value)
    settle()
  }

  /// The numbers that an attribute may have now; nil: it is not a number, or not served.
  public mutating func range(of path: ConcreteAttributePath) -> ClosedRange<Int64>? { context.range(of: path) }

  /// Changes an attribute as the physical device would.
  public mutating func act<C: Cluster, Value: ModelValue>(
    set attribute: Attribute<C, Value>, _ value: Value, on endpoint: EndpointID, at now: Instant
  ) throws(StatusError) {
    try act(set: attribute.path(on: endpoint), encoded: value.tlv, at: now)
  }

  /// Carries out a command as if its button on the device was pressed.
  @discardableResult
  public mutating func press<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ request: Request, on endpoint: EndpointID, at now: Instant
  ) throws(StatusError) -> Response? {
    advance(to: now)
    defer { settle() }
    return try context.invoke(command, request, on: endpoint)
  }

  /// Goes down in good order: says so to subscribers, takes its services back, and notes for the next start that it was no
  /// loss of power.
  public mutating func shutDown(at now: Instant) {
    guard !isShutDown else { return }
    advance(to: now)
    context.emit(BasicInformation.shutDown, NoFields(), on: .root)
    context.call(GeneralDiagnosticsHooks.bookOperation, NoFields(), on: .root)
    context.node.changes.append(StoreChange(StoreKey.shutDown, true.tlv))
    distributeChanges()
    reportToSubscribers(isLast: true)
    settle()
    withdrawAll()
    stop()
  }

  private static func stored(by effects: [Effect<DeviceEvent>]) -> [StoreChange] {
    effects.flatMap { effect -> [StoreChange] in if case .store(let changes) = effect { changes } else { [] } }
  }

  /// Becomes as it was when it left the factory, and starts anew: fabrics, settings and sessions are gone.
  public mutating func factoryReset(at now: Instant) {
    advance(to: now)
    let begin = effects.count
    for session in core.sessions { core.close(session.id, notifyingPeer: true, at: now) }
    for fabric in fabrics { context.remove(fabric.index) }
    settle()
    withdrawAll()
    let forgotten = storedKeys.sorted().map { StoreChange($0, nil, isDurable: true) }
    var random: any RandomSource = context.node.random
    let earlier = Array(effects[effectsTaken..<begin])
    let last = Array(effects[begin...])
    let source = random.fork()
    // Nothing is left but that it was no loss of power.
    self = DeviceEngine(
      configuration, endpoints: endpoints, stored: [StoreKey.shutDown: true.tlv], random: source,
      signatures: context.node.signatures, at: now)
    // One step for the store, before anything is said: a power cut leaves the device as it was, or as new.
    let changes = Self.stored(by: last) + forgotten + Self.stored(by: effects)
    let others = (last + effects).filter { if case .store = $0 { false } else { true } }
    effects = earlier
    if !changes.isEmpty { effects.append(.store(Self.lastOfEach(changes))) }
    effects += others
  }
}
