public import MatterModel

/// Attributes to be written together: `try await trait.update { $0.onLevel = 128; $0.onTransitionTime = nil }`.
///
/// For an attribute that may be null, nil writes null; for any other, nil takes back what was set before.
@dynamicMemberLookup public struct TraitUpdate<C: Cluster>: Sendable {
  private(set) var writes: [(info: AttributeInfo, value: [UInt8])] = []

  init() {}

  /// What is to be written to the attribute with this name; nil: nothing.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Value>>) -> Value? {
    get { self[C.self[keyPath: key]] }
    set { self[C.self[keyPath: key]] = newValue }
  }

  /// What is to be written to an attribute that may be null; set to nil, it becomes null.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Nullable<Value>>>) -> Value? {
    get { self[C.self[keyPath: key]]?.wrapped }
    set { self[C.self[keyPath: key]] = Nullable(newValue) }
  }

  /// What is to be written to an attribute; nil: nothing.
  public subscript<Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? {
    get { writes.first { $0.info.id == attribute.id }.flatMap { try? Value(tlv: $0.value) } }
    set {
      writes.removeAll { $0.info.id == attribute.id }
      if let newValue { writes.append((attribute.details, newValue.tlv)) }
    }
  }
}

extension Trait {
  /// Writes an attribute, in a timed interaction if it needs one.
  /// - Throws: ``HomeError`` `badArguments` where the cluster has it as read only; else as ``invoke(_:_:)``.
  public func write<Value: ModelValue>(_ attribute: Attribute<C, Value>, _ value: Value) async throws(HomeError) {
    var update = TraitUpdate<C>()
    update[attribute] = value
    try await write(update)
  }

  /// Writes several attributes in one request, in the order they were set.
  /// - Throws: ``HomeError`` `badArguments` where the cluster has one as read only, and nothing is written then; else as
  ///   ``invoke(_:_:)``, what the device says of the first write that it refuses.
  public func update(_ change: (inout TraitUpdate<C>) -> Void) async throws(HomeError) {
    var update = TraitUpdate<C>()
    change(&update)
    try await write(update)
  }

  private func write(_ update: TraitUpdate<C>) async throws(HomeError) {
    if let fixed = update.writes.first(where: { $0.info.write == nil }) {
      throw HomeError(.badArguments, "\(C.name).\(fixed.info.name) can't be written")
    }
    try await untyped.write(
      update.writes.map { ($0.info.id, $0.value) },
      isTimed: update.writes.contains { $0.info.quality.contains(.timed) })
  }
}
