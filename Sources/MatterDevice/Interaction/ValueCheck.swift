internal import MatterModel

extension AttributeInfo {
  /// Throws unless the bytes are an allowed value of the attribute: `invalidDataType` or `constraintError`.
  func check(_ value: [UInt8]) throws(StatusError) {
    guard let element = try? TLVElement(decoding: value) else { throw StatusError(.invalidDataType) }
    guard isWellFormed(value) else {
      // A number that is too large for its type violates the constraint, not the type.
      throw StatusError(schema.isNumber && element.value.isNumber ? .constraintError : .invalidDataType)
    }
    guard schema.names(element.value), !schema.isReserved(element.value), constraint.allows(value) else {
      throw StatusError(.constraintError)
    }
  }
}

/// The attributes of the same cluster that limit a number.
struct AttributeLimits: Sendable {
  var lowest: AttributeID?
  var highest: AttributeID?
  /// Whether the upper limit is exclusive.
  var isHighestExcluded = false
  /// The allowed values of an enumeration; nil for all.
  var values: Set<UInt64>?
  /// The attribute that determines the allowed values of an enumeration, which it has instead of ``values``.
  var valuesBy: (attribute: AttributeID, values: @Sendable (UInt64) -> Set<UInt64>)?
  /// The status for the other values.
  var refusal = StatusCode.constraintError
  /// The allowed numbers; nil for all of the type and the constraint.
  var range: ClosedRange<Int64>?
  /// The attribute with the bits that a bitmap may have.
  var bits: AttributeID?
  /// The attribute of which a percentage below 100 is a multiple, or its difference to the lowest value.
  var step: AttributeID?
}

// The common check of values from clients, definition files and physical actions.
extension ServedAttribute {
  /// Throws unless the bytes are an allowed value of the attribute: `invalidDataType`, `constraintError` or the status of
  /// its limits.
  /// - Parameter encoded: Returns the encoded value of an attribute of the same cluster.
  func check(_ value: [UInt8], _ encoded: (AttributeID) -> [UInt8]?) throws(StatusError) {
    try info.check(value)
    if let code = try? UInt64(tlv: value) {
      guard values(encoded)?.contains(code) != false else { throw StatusError(limits.refusal) }
      let bits = limits.bits.flatMap(encoded).flatMap { try? UInt64(tlv: $0) } ?? .max
      guard code & ~bits == 0 else { throw StatusError(.constraintError) }
    }
    func decoded(_ bytes: [UInt8]?) -> TLVElement.Value? { bytes.flatMap { try? TLVElement(decoding: $0) }?.value }
    if limits.lowest != nil || limits.highest != nil, let real = decoded(value)?.real {
      let lowest = limits.lowest.flatMap { decoded(encoded($0))?.real } ?? -.infinity
      let highest = limits.highest.flatMap { decoded(encoded($0))?.real } ?? .infinity
      // NaN is in no range; as a limit it is ignored, as contradictory limits are.
      guard !real.isNaN, !(lowest <= highest) || (lowest...highest).contains(real) else {
        throw StatusError(.constraintError)
      }
    }
    guard let number = decoded(value)?.number, let range = range(encoded) else { return }
    guard range.contains(number) else { throw StatusError(.constraintError) }
    let step = limits.step.flatMap { decoded(encoded($0))?.number } ?? 1
    // The steps begin at the lowest value, if an attribute limits it.
    let lowest = limits.lowest.flatMap { decoded(encoded($0))?.number } ?? 0
    guard (number == 100 && lowest == 0) || (number &- lowest) % max(step, 1) == 0 else {
      throw StatusError(.constraintError)
    }
  }

  /// Returns the allowed values of an enumeration; nil for all.
  func values(_ encoded: (AttributeID) -> [UInt8]?) -> Set<UInt64>? {
    guard let limit = limits.valuesBy, let code = encoded(limit.attribute).flatMap({ try? UInt64(tlv: $0) }) else {
      return limits.values
    }
    return limit.values(code)
  }

  /// Returns the range by the attribute's type, constraint and limits; nil if it is not a number.
  func range(_ encoded: (AttributeID) -> [UInt8]?) -> ClosedRange<Int64>? {
    guard var range = info.schema.range else { return nil }
    if case .range(let allowed) = info.constraint { range = range.clamped(to: allowed) }
    if let allowed = limits.range { range = range.clamped(to: allowed) }
    func number(_ attribute: AttributeID?) -> Int64? {
      attribute.flatMap(encoded).flatMap { (try? TLVElement(decoding: $0))?.value.number }
    }
    let lowest = max(range.lowerBound, number(limits.lowest) ?? range.lowerBound)
    var highest = min(range.upperBound, number(limits.highest) ?? range.upperBound)
    if limits.isHighestExcluded, highest == number(limits.highest), highest > .min { highest -= 1 }
    // Contradictory limits are ignored.
    return lowest <= highest ? lowest...highest : range
  }
}

extension Schema {
  var isNumber: Bool {
    switch self {
    case .unsigned, .signed, .enumeration, .bitmap: true
    case .nullable(let wrapped): wrapped.isNumber
    default: false
    }
  }
}

extension TLVElement.Value {
  var isNumber: Bool {
    switch self {
    case .unsigned, .signed: true
    default: false
    }
  }

  /// A floating-point number; nil for other types.
  fileprivate var real: Double? {
    switch self {
    case .float(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }
}
