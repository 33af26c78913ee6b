internal import MatterModel
internal import MatterProtocol

/// A write interaction of one or more messages. Matter Core § 8.7.
struct WriteJob: Sendable {
  /// The maximum size in bytes of a value that is appended to by entry, if the attribute has no limit itself.
  static let longestValue = 16_384

  let isTimed: Bool
  /// Attributes for which access was already granted. Replacing the ACL by an empty list must not prevent the same
  /// write from appending the entries.
  private var granted: Set<ConcreteAttributePath> = []

  /// The store keys of the written lists.
  private(set) var lists: Set<String> = []

  init(isTimed: Bool) { self.isTimed = isTimed }

  /// Returns whether the statuses fit into a single WriteResponse, which can't be continued. Checked before any
  /// attribute is written, because the request can't be refused afterward.
  static func isAnswerable(_ writes: [AttributeWrite], _ context: ServerContext) -> Bool {
    // The longest status is 40 bytes.
    if writes.count * 40 + 16 <= InteractionLimits.maximumPayload && writes.allSatisfy({ $0.path.endpoint != nil }) {
      return true
    }
    let longest = Status(.failure, clusterCode: 0xFF)
    let statuses = writes.flatMap { write in
      guard write.path.endpoint == nil else { return [AttributeStatus(write.path, write.operation, status: longest)] }
      return context.endpoints.compactMap { endpoint in
        guard let cluster = write.path.cluster, let attribute = write.path.attribute,
          let index = context.node.index(ClusterPath(endpoint, cluster)),
          context.node.clusters[index].info(attribute) != nil
        else { return nil }
        let path = ConcreteAttributePath(endpoint, cluster, attribute)
        return AttributeStatus(AttributePath(path), write.operation, status: longest)
      }
    }
    return WriteResponse(statuses).encoded.count <= InteractionLimits.maximumPayload
  }

  /// Performs the writes of one message.
  mutating func run(_ writes: [AttributeWrite], _ context: inout ServerContext) -> [AttributeStatus] {
    var statuses: [AttributeStatus] = []
    for write in writes {
      guard let attribute = write.path.attribute, let cluster = write.path.cluster else {
        statuses.append(AttributeStatus(write.path, write.operation, status: Status(.invalidAction)))
        continue
      }
      guard let endpoint = write.path.endpoint else {
        // A write to all endpoints skips those where it is not possible.
        for endpoint in context.endpoints {
          let path = ConcreteAttributePath(endpoint, cluster, attribute)
          if case .success = Result(catching: { () throws(StatusError) in try self.apply(write, path, &context) }) {
            statuses.append(AttributeStatus(AttributePath(path), write.operation, status: .success))
          }
        }
        continue
      }
      let path = ConcreteAttributePath(endpoint, cluster, attribute)
      var status = Status.success
      do throws(StatusError) { try apply(write, path, &context) } catch { status = error.status }
      statuses.append(AttributeStatus(AttributePath(path), write.operation, status: status))
    }
    return statuses
  }

  private mutating func apply(
    _ write: AttributeWrite, _ path: ConcreteAttributePath, _ context: inout ServerContext
  ) throws(StatusError) {
    let clusterPath = ClusterPath(path.endpoint, path.cluster)
    let isGranted = granted.contains(path)
    guard context.isAddressed(path.endpoint) else { throw StatusError(.unsupportedAccess) }
    guard isGranted || context.isAllowed(.view, clusterPath) else { throw StatusError(.unsupportedAccess) }
    guard context.node.hasEndpoint(path.endpoint) else { throw StatusError(.unsupportedEndpoint) }
    guard let index = context.node.index(clusterPath) else { throw StatusError(.unsupportedCluster) }
    guard let info = context.node.clusters[index].info(path.attribute), !context.node.isHidden(path) else {
      throw StatusError(.unsupportedAttribute)
    }
    guard let privilege = info.write, let served = context.node.clusters[index].server.attributes[path.attribute] else {
      throw StatusError(.unsupportedWrite)
    }
    guard isGranted || context.isAllowed(privilege, clusterPath) else { throw StatusError(.unsupportedAccess) }
    guard !info.quality.contains(.fabricScoped) || context.subject.fabric != .none else {
      throw StatusError(.unsupportedAccess)
    }
    guard isTimed || !info.quality.contains(.timed) else { throw StatusError(.needsTimedInteraction) }
    if let version = write.dataVersion, version != context.node.clusters[index].dataVersion {
      throw StatusError(.dataVersionMismatch)
    }
    guard !context.node.isUnreachable(clusterPath) else { throw StatusError(.failure) }
    granted.insert(path)
    if served.isList { lists.insert(StoreKey.attribute(path)) }
    try context.enter(index) { (context) throws(StatusError) in
      let value = try Self.value(write, served, context.encoded(index, path.attribute) ?? [], context.subject.fabric)
      if !served.isList { try served.check(value) { context.encoded(index, $0) } }
      guard value.count <= Self.longestValue else { throw StatusError(.resourceExhausted) }
      context.isReplacingList = served.isList && write.operation == .replaceAll
      defer { context.isReplacingList = false }
      try context.write(index, path.attribute, value)
    }
  }

  /// Returns the new value of the attribute.
  private static func value(
    _ write: AttributeWrite, _ served: ServedAttribute, _ old: [UInt8], _ fabric: FabricIndex
  ) throws(StatusError) -> [UInt8] {
    let info = served.info
    guard served.isList else {
      guard write.operation == .replaceAll else { throw StatusError(.invalidAction) }
      return write.value
    }
    if write.operation == .replaceAll, case .nullable = info.schema, Self.isNull(write.value) { return write.value }
    // An entry that is appended to null is the first one.
    let old = Self.isNull(old) ? FabricList.encode([]) : old
    do throws(TLVError) {
      let isScoped = info.quality.contains(.fabricScoped)
      let new: [[UInt8]]
      switch write.operation {
      case .replaceAll: new = try FabricList.entries(of: write.value).map(\.bytes)
      case .append: new = [write.value]
      case .item: throw .invalidTag
      }
      let stamped = isScoped ? try new.map { entry throws(TLVError) in try FabricList.stamp(entry, fabric) } : new
      var kept: [[UInt8]] = []
      if isScoped || write.operation == .append {
        kept = try FabricList.entries(of: old)
          .filter { !isScoped || write.operation == .append || $0.fabric != fabric }.map(\.bytes)
      }
      let list = FabricList.encode(kept + stamped)
      try Self.check(info, list)
      return list
    } catch {
      throw error == .invalidTag ? StatusError(.invalidAction) : StatusError(attributeValue: error)
    }
  }

  private static func isNull(_ value: [UInt8]) -> Bool { (try? TLVElement(decoding: value))?.value == .null }

  /// Like ``AttributeInfo/check(_:)``, but with the error type of the caller.
  private static func check(_ info: AttributeInfo, _ list: [UInt8]) throws(TLVError) {
    do { try info.check(list) } catch {
      throw error.status.code == .constraintError ? .outOfRange : .unexpectedType(found: .array, expected: "list")
    }
  }
}
