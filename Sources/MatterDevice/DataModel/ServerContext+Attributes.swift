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
    encoder.removeAll()
    value.encode(to: &encoder, .anonymous)
    set(index, attribute.id, encoder.bytes, reporting: reporting)
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
    try enter(index) { (context) throws(StatusError) in try act(&context, value) }
  }

  /// Returns the parts of the physical device on an endpoint with their states, the texts that others take, and a cluster
  /// that follows each.
  package func parts(
    on endpoint: EndpointID
  ) -> [(name: String, values: [String], expected: String?, cluster: ClusterID)] {
    node.clusters.filter { $0.path.endpoint == endpoint }.flatMap { cluster in
      cluster.server.parts.sorted { $0.key < $1.key }.map { name, part in
        (name: name, values: part.values, expected: part.expected, cluster: cluster.path.cluster)
      }
    }
  }

  /// Whether the handler's own endpoint has power; false for a bridged device whose power was cut.
  package var hasPower: Bool { !node.isUnreachable(node.clusters[current].path) }

  /// Moves a part of the physical device, see ``ClusterServer/onPart(_:_:_:)``. If one server refuses, none of those
  /// after it is notified.
  /// - Throws: `unsupportedAttribute` for an unknown part, `constraintError` for an unknown state, or the error of the
  ///   server.
  package mutating func act(part name: String, _ value: String, on endpoint: EndpointID) throws(StatusError) {
    var isKnown = false
    for index in node.clusters.indices where node.clusters[index].path.endpoint == endpoint {
      guard let part = node.clusters[index].server.parts[name] else { continue }
      guard part.values.isEmpty || part.values.contains(value) else { throw StatusError(.constraintError) }
      isKnown = true
      try enter(index) { (context) throws(StatusError) in try part.act(&context, value) }
    }
    guard isKnown else { throw StatusError(.unsupportedAttribute) }
  }

  /// Changes an attribute of the handler's own endpoint as the physical device does; no effect if that fails.
  mutating func act<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>, _ value: Value) {
    try? act(set: attribute.path(on: endpoint), encoded: value.tlv)
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
    if let bytes = node.clusters[index].changedValue(attribute) { return bytes }
    let server = node.clusters[index].server
    guard let served = server.attributes[attribute] else { return server.globals.values[attribute] }
    guard let read = served.read else { return server.initial(of: attribute, served) }
    var bytes: [UInt8]?
    enterQuietly(index) { bytes = read(&$0) }
    return bytes
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
