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
}

// The common check of values from clients, definition files and physical actions.
extension ServedAttribute {
  /// Throws unless the bytes are an allowed value of the attribute: `invalidDataType` or `constraintError`.
  /// - Parameter encoded: Returns the encoded value of an attribute of the same cluster.
  func check(_ value: [UInt8], _ encoded: (AttributeID) -> [UInt8]?) throws(StatusError) {
    try info.check(value)
    guard let number = (try? TLVElement(decoding: value))?.value.number, let range = range(encoded) else { return }
    guard range.contains(number) else { throw StatusError(.constraintError) }
  }

  /// Returns the range by the attribute's type, constraint and limits; nil if it is not a number.
  func range(_ encoded: (AttributeID) -> [UInt8]?) -> ClosedRange<Int64>? {
    guard var range = info.schema.range else { return nil }
    if case .range(let allowed) = info.constraint { range = range.clamped(to: allowed) }
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

  /// The range of the type; nil if it is not a number. A nullable type reserves its largest value for null, a signed
  /// one its smallest. Matter Core § 7.19.1.
  var range: ClosedRange<Int64>? {
    switch self {
    case .unsigned(let bits), .enumeration(let bits, _), .bitmap(let bits, _, _):
      0...(bits < 64 ? (Int64(1) << Int64(bits)) - 1 : .max)
    case .signed(let bits): (Int64.min >> Int64(64 - bits))...(Int64.max >> Int64(64 - bits))
    case .nullable(let wrapped):
      wrapped.range.map { wrapped.isSigned ? ($0.lowerBound + 1)...$0.upperBound : $0.lowerBound...($0.upperBound - 1) }
    default: nil
    }
  }

  private var isSigned: Bool { if case .signed = self { true } else { false } }

  /// Returns whether the number is reserved for null.
  func isReserved(_ value: TLVElement.Value) -> Bool {
    switch (self, value) {
    case (.nullable(.unsigned(let bits)), .unsigned(let number)): number == UInt64.max >> UInt64(64 - bits)
    case (.nullable(.signed(let bits)), .signed(let number)): number == Int64.min >> Int64(64 - bits)
    default: false
    }
  }

  /// Returns whether an enumeration value, or each bit of a bitmap, has a name.
  func names(_ value: TLVElement.Value) -> Bool {
    switch (self, value) {
    case (.enumeration(_, let names), .unsigned(let number)): names.isEmpty || names[number] != nil
    case (.bitmap(_, let names, _), .unsigned(let bits)):
      names.isEmpty || bits & ~names.keys.reduce(0) { $0 | 1 << UInt64($1) } == 0
    case (.nullable(let wrapped), _): value == .null || wrapped.names(value)
    default: true
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

  fileprivate var number: Int64? {
    switch self {
    case .unsigned(let number): Int64(exactly: number)
    case .signed(let number): number
    default: nil
    }
  }
}
