internal import MatterModel
internal import MatterProtocol

/// An open atomic write: the values that its client wrote, which only this client reads until they are committed.
/// Matter Core § 7.15.
struct AtomicWrite: Sendable {
  let fabric: FabricIndex
  let node: NodeID
  let attributes: Set<AttributeID>
  /// The encoded values of the attributes that were written.
  var values: [AttributeID: [UInt8]] = [:]

  func belongs(to subject: Subject) -> Bool {
    subject.kind == .case && subject.fabric == fabric && subject.node == node
  }
}

extension ServerContext {
  /// The open atomic write of the handler's own cluster.
  var atomicWrite: AtomicWrite? {
    get { self[scratch: AtomicWrite.self] }
    set { self[scratch: AtomicWrite.self] = newValue }
  }

  /// Returns the value that the current subject wrote and has not committed, if any.
  func pendingValue(_ index: Int, _ attribute: AttributeID) -> [UInt8]? {
    guard subject.kind == .case,
      let write = node.clusters[index].scratch[ObjectIdentifier(AtomicWrite.self)] as? AtomicWrite,
      write.belongs(to: subject)
    else { return nil }
    return write.values[attribute]
  }

  /// Returns the value of an attribute of the handler's own cluster without pending changes.
  func committedValue<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? {
    node.clusters[current][attribute.id].flatMap { try? Value(tlv: $0) }
  }

  /// Performs a write of a client, after its value was checked: stores the result of the server's handler. The value of
  /// an attribute with the Atomic quality stays pending until it is committed.
  mutating func write(_ index: Int, _ attribute: AttributeID, _ value: [UInt8]) throws(StatusError) {
    guard let served = node.clusters[index].server.attributes[attribute] else {
      throw StatusError(.unsupportedAttribute)
    }
    try enter(index) { (context) throws(StatusError) in
      let isAtomic = served.info.quality.contains(.atomic)
      if isAtomic {
        guard let write = context.atomicWrite, write.attributes.contains(attribute) else {
          throw StatusError(.invalidInState)
        }
        guard write.belongs(to: context.subject) else { throw StatusError(.busy) }
      }
      let value = try served.write?(&context, value) ?? value
      if isAtomic {
        context.atomicWrite?.values[attribute] = value
      } else {
        context.set(index, attribute, value, reporting: .now)
      }
    }
  }
}
