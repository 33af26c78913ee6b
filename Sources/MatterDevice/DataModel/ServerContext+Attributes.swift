public import MatterModel
internal import MatterProtocol

extension ServerContext {
  /// The value of an attribute on this endpoint, or on another.
  ///
  /// If the attribute is not served, the getter returns its declared initial value and the setter has no effect. Use
  /// ``value(_:on:)`` to distinguish that case.
  public subscript<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, on endpoint: EndpointID? = nil
  ) -> Value {
    mutating get {
      if let value = value(attribute, on: endpoint) { return value }
      if let initial = attribute.details.initial, let value = try? Value(tlv: initial) { return value }
      guard let zero = try? Value(tlv: Value.schema.zero) else {
        preconditionFailure("\(Value.self) does not decode the zero of its own schema")
      }
      return zero
    }
    set { set(attribute, newValue, on: endpoint) }
  }

  /// Returns the value of an attribute; nil if it is not served.
  public mutating func value<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, on endpoint: EndpointID? = nil
  ) -> Value? {
    guard let index = index(of: C.self, on: endpoint),
      let bytes = encoded(index, attribute.id)
    else { return nil }
    return try? Value(tlv: bytes)
  }

  /// Sets an attribute. The server's ``ClusterServer/onChange(_:_:)`` handler runs immediately if the value changed.
  /// - Parameter reporting: `.quiet` for a change of a Quieter Reporting attribute that need not be reported.
  public mutating func set<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, _ value: Value, reporting: Reporting = .now, on endpoint: EndpointID? = nil
  ) {
    guard let index = index(of: C.self, on: endpoint) else { return }
    set(index, attribute.id, value.tlv, reporting: reporting)
  }

  /// Reports a change of an attribute that ``ClusterServer/onRead(_:_:)`` computes.
  public mutating func markChanged<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, on endpoint: EndpointID? = nil
  ) {
    node.markChanged(ConcreteAttributePath(endpoint ?? self.endpoint, C.id, attribute.id))
  }

  /// Returns the encoded value of any attribute; nil if it is not served. For servers that handle all types, as scenes
  /// do.
  public mutating func encoded(_ path: ConcreteAttributePath) -> [UInt8]? {
    node.index(ClusterPath(path.endpoint, path.cluster)).flatMap { encoded($0, path.attribute) }
  }

  /// Returns the declaration of an attribute; nil if it is not served.
  public func info(_ path: ConcreteAttributePath) -> AttributeInfo? {
    node.index(ClusterPath(path.endpoint, path.cluster)).flatMap { node.clusters[$0].info(path.attribute) }
  }

  /// Sets any attribute.
  /// - Parameter encoded: One element with an anonymous tag.
  /// - Throws: `unsupportedCluster`, `unsupportedAttribute`, or `invalidDataType` for bytes of another type.
  public mutating func set(
    _ path: ConcreteAttributePath, encoded value: [UInt8], reporting: Reporting = .now
  ) throws(StatusError) {
    guard let index = node.index(ClusterPath(path.endpoint, path.cluster)) else {
      throw StatusError(.unsupportedCluster)
    }
    guard let served = node.clusters[index].server.attributes[path.attribute], served.read == nil else {
      throw StatusError(.unsupportedAttribute)
    }
    guard served.info.isWellFormed(value) else { throw StatusError(.invalidDataType) }
    set(index, path.attribute, value, reporting: reporting)
  }

  /// Changes any attribute as the physical device does: at once, or as ``ClusterServer/onAct(_:_:)`` handles it.
  /// - Parameter encoded: One element with an anonymous tag.
  /// - Throws: as ``set(_:encoded:reporting:)``.
  public mutating func act(set path: ConcreteAttributePath, encoded value: [UInt8]) throws(StatusError) {
    guard let (index, served) = served(path), let act = served.act else { return try set(path, encoded: value) }
    guard served.info.isWellFormed(value) else { throw StatusError(.invalidDataType) }
    enterQuietly(index) { act(&$0, value) }
  }

  /// Throws unless the attribute may have the value now: `invalidDataType` or `constraintError`.
  mutating func check(_ path: ConcreteAttributePath, _ value: [UInt8]) throws(StatusError) {
    guard let (index, served) = served(path) else { return }
    try served.check(value) { encoded(index, $0) }
  }

  /// Returns the range of values that are allowed now; nil if the attribute is not a number or not served.
  mutating func range(of path: ConcreteAttributePath) -> ClosedRange<Int64>? {
    guard let (index, served) = served(path) else { return nil }
    return served.range { encoded(index, $0) }
  }

  private func served(_ path: ConcreteAttributePath) -> (index: Int, attribute: ServedAttribute)? {
    guard let index = node.index(ClusterPath(path.endpoint, path.cluster)) else { return nil }
    return node.clusters[index].server.attributes[path.attribute].map { (index, $0) }
  }

  mutating func encoded(_ index: Int, _ attribute: AttributeID) -> [UInt8]? {
    if let bytes = pendingValue(index, attribute) { return bytes }
    if let bytes = node.clusters[index].values[attribute] { return bytes }
    if let read = node.clusters[index].server.attributes[attribute]?.read {
      var bytes: [UInt8]?
      enterQuietly(index) { bytes = read(&$0) }
      return bytes
    }
    return node.clusters[index].globals[attribute]
  }

  mutating func set(_ index: Int, _ attribute: AttributeID, _ bytes: [UInt8], reporting: Reporting) {
    guard node.set(index, attribute, bytes, reporting: reporting),
      let change = node.clusters[index].server.attributes[attribute]?.change
    else { return }
    enterQuietly(index, change)
  }

  // MARK: Events

  /// Records and reports an event of the handler's own endpoint, or of another.
  public mutating func emit<C: Cluster, Payload: ModelStruct>(
    _ event: Event<C, Payload>, _ payload: Payload, on endpoint: EndpointID? = nil
  ) {
    let endpoint = endpoint ?? self.endpoint
    guard let index = node.index(ClusterPath(endpoint, C.id)), node.clusters[index].server.events[event.id] != nil
    else { return }
    let fabric = event.details.isFabricSensitive ? (payload as? any FabricScoped)?.fabricIndex : nil
    node.append(
      event: event.details, ConcreteEventPath(endpoint, C.id, event.id), payload: payload.tlv, fabric: fabric)
  }
}
