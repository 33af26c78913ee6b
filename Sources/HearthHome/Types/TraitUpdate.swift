/// Attributes to write in one request: `try await trait.update { $0.onLevel = 128; $0.onTransitionTime = nil }`.
///
/// For a nullable attribute, nil writes null; for any other, nil removes a previous assignment.
@dynamicMemberLookup public struct TraitUpdate<C: Cluster>: Sendable {
  package private(set) var writes: [(info: AttributeInfo, value: [UInt8])] = []

  init() {}

  /// The value to write to the attribute with this name; nil: none.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Value>>) -> Value? {
    get { self[C.self[keyPath: key]] }
    set { self[C.self[keyPath: key]] = newValue }
  }

  /// The value to write to a nullable attribute; nil writes null.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Nullable<Value>>>) -> Value? {
    get { self[C.self[keyPath: key]]?.wrapped }
    set { self[C.self[keyPath: key]] = Nullable(newValue) }
  }

  /// The value to write to an attribute; nil: none.
  public subscript<Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? {
    get { writes.first { $0.info.id == attribute.id }.flatMap { try? Value(tlv: $0.value) } }
    set {
      writes.removeAll { $0.info.id == attribute.id }
      if let newValue { writes.append((attribute.details, newValue.tlv)) }
    }
  }
}

extension Trait {
  /// Writes an attribute, in a timed interaction if required.
  /// - Throws: ``HomeError`` `badArguments` for a read-only attribute; else as ``invoke(_:_:)``.
  public func write<Value: ModelValue>(_ attribute: Attribute<C, Value>, _ value: Value) async throws(HomeError) {
    var update = TraitUpdate<C>()
    update[attribute] = value
    try await write(update)
  }

  /// Writes several attributes in one request, in the order of assignment.
  /// - Throws: ``HomeError`` `badArguments` for a read-only attribute, and then nothing is written; else as
  ///   ``invoke(_:_:)``, with the status of the first rejected write.
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
