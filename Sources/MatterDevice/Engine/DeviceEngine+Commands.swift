internal import MatterClusters
internal import MatterCrypto
public import MatterModel
public import MatterProtocol

// Operations of the driver besides passing datagrams: inspection, and physical actions on the device.
extension DeviceEngine {
  /// The fabrics of the device.
  public var fabrics: [Fabric] { context.node.commissioning.fabrics }

  /// Whether a commissioning window is open.
  public var isCommissionable: Bool { context.node.commissioning.window != nil }

  /// Returns the encoded value of an attribute, as read by an administrator without a fabric; nil if it is not served.
  /// - Parameter now: The time for values that depend on it, such as clocks and remaining times.
  public mutating func value(of path: ConcreteAttributePath, at now: Instant) -> [UInt8]? {
    context.node.now = max(now, context.node.now)
    return context.encoded(path)
  }

  /// Returns the value of an attribute; nil if it is not served.
  public mutating func value<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, on endpoint: EndpointID
  ) -> Value? {
    context.value(attribute, on: endpoint)
  }

  /// All served attributes with their declarations, sorted.
  public var attributes: [(path: ConcreteAttributePath, info: AttributeInfo)] {
    context.node.clusters.flatMap { cluster in
      cluster.attributeIDs.compactMap { id in
        cluster.info(id).map { (ConcreteAttributePath(cluster.path.endpoint, cluster.path.cluster, id), $0) }
      }
    }
  }

  /// The data versions of all clusters, sorted by their paths. They change with each attribute that is stored, not
  /// with attributes that are computed at each read. Matter Core § 7.13.2.1.
  package var dataVersions: [UInt32] { context.node.clusters.map(\.dataVersion) }

  /// Calls the body with the encoded value of each attribute of some clusters, sorted, as read by an administrator without a
  /// fabric.
  /// - Parameters:
  ///   - now: The time for values that depend on it.
  ///   - excluded: Returns the attributes of a cluster that are left out; nil leaves out the whole cluster.
  public mutating func forEachValue(
    at now: Instant, without excluded: (ClusterID) -> Set<AttributeID>?,
    _ body: (ConcreteAttributePath, [UInt8]) -> Void
  ) {
    context.node.now = max(now, context.node.now)
    for index in context.node.clusters.indices {
      let path = context.node.clusters[index].path
      guard let excluded = excluded(path.cluster) else { continue }
      for attribute in context.node.clusters[index].attributeIDs where !excluded.contains(attribute) {
        guard let value = context.encoded(index, attribute) else { continue }
        body(ConcreteAttributePath(path.endpoint, path.cluster, attribute), value)
      }
    }
  }

  /// Sets an attribute as the physical device does, such as a pressed switch or a sensor. The value must have the
  /// attribute's type and range, but the attribute need not be writable. An attribute with a behavior keeps the value
  /// until the next start of the device.
  /// - Parameter value: One element with an anonymous tag.
  /// - Throws: `unsupportedCluster`, `unsupportedAttribute`, `invalidDataType`, `constraintError`, or `invalidInState` if the
  ///   device can't do it now.
  public mutating func act(
    set path: ConcreteAttributePath, encoded value: [UInt8], at now: Instant
  ) throws(StatusError) {
    advance(to: now)
    try context.check(path, value)
    defer { settle() }
    try context.act(set: path, encoded: value)
    context.endBehavior(of: path)
  }

  /// Returns the range of values that are allowed now; nil if the attribute is not a number or not served.
  public mutating func range(of path: ConcreteAttributePath) -> ClosedRange<Int64>? { context.range(of: path) }

  /// Returns the values of an enumeration that the physical device can set; nil if it can set all of them, or the attribute
  /// is not served.
  public func values(of path: ConcreteAttributePath) -> Set<UInt64>? {
    guard let index = context.node.index(ClusterPath(path.endpoint, path.cluster)) else { return nil }
    let server = context.node.clusters[index].server
    return server.attributes[path.attribute]?.actValues ?? server.values(of: path.attribute)
  }

  /// Returns whether the attribute follows from others, so that the physical device can't set it.
  package func isDerived(_ path: ConcreteAttributePath) -> Bool {
    let index = context.node.index(ClusterPath(path.endpoint, path.cluster))
    return index.map { context.node.clusters[$0].server.source(of: path.attribute) == .attributes } ?? false
  }

  /// Sets an attribute as the physical device does.
  public mutating func act<C: Cluster, Value: ModelValue>(
    set attribute: Attribute<C, Value>, _ value: Value, on endpoint: EndpointID, at now: Instant
  ) throws(StatusError) {
    try act(set: attribute.path(on: endpoint), encoded: value.tlv, at: now)
  }

  /// Runs a command as if its button on the device was pressed.
  @discardableResult
  public mutating func press<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ request: Request, on endpoint: EndpointID, at now: Instant
  ) throws(StatusError) -> Response? {
    advance(to: now)
    defer { settle() }
    return try context.invoke(command, request, on: endpoint)
  }

  /// Shuts down in an orderly way: notifies subscribers, withdraws the services, and stores that the next start does
  /// not follow a loss of power.
  public mutating func shutDown(at now: Instant) {
    guard !isShutDown else { return }
    advance(to: now)
    context.prepareForStop()
    context.emit(BasicInformation.shutDown, NoFields(), on: .root)
    context.call(GeneralDiagnosticsHooks.recordOperatingTime, NoFields(), on: .root)
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

  /// Restores the factory state and restarts. Fabrics, settings and sessions are removed.
  public mutating func factoryReset(at now: Instant) {
    advance(to: now)
    let earlier = effects.takeAll()
    for session in core.sessions { core.close(session.id, notifyingPeer: true, at: now) }
    for fabric in fabrics { context.remove(fabric.index) }
    settle()
    withdrawAll()
    let forgotten = storedKeys.sorted().map { StoreChange($0, nil, isDurable: true) }
    var random: any RandomSource = context.node.random
    let last = effects.takeAll()
    let source = random.fork()
    // Only the record of the orderly shutdown is kept.
    self = DeviceEngine(
      configuration, endpoints: context.node.definitions, stored: [StoreKey.shutDown: true.tlv], random: source,
      signatures: context.node.signatures, at: now)
    // One store effect before all others, so that a loss of power leaves the device either unchanged or reset.
    let first = effects.takeAll()
    let changes = Self.stored(by: last) + forgotten + Self.stored(by: first)
    for effect in earlier { effects.append(effect) }
    if !changes.isEmpty { effects.append(.store(Self.lastOfEach(changes))) }
    for effect in last + first { if case .store = effect { continue } else { effects.append(effect) } }
  }
}
