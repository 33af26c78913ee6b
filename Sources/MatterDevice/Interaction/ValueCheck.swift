internal import MatterModel

extension AttributeInfo {
  /// Throws unless the bytes are a value that the attribute may have: `invalidDataType` or `constraintError`.
  func check(_ value: [UInt8]) throws(StatusError) {
    guard let element = try? TLVElement(decoding: value) else { throw StatusError(.invalidDataType) }
    guard isWellFormed(value) else {
      // A number that is one, but too large for its type, is out of its range.
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
  /// Whether the number is less than the highest.
  var isHighestExcluded = false
}

// The one check of what a client writes, a definition file sets and a hand changes.
extension ServedAttribute {
  /// Throws unless the bytes are a value that the attribute may have: `invalidDataType` or `constraintError`.
  /// - Parameter encoded: the values of the attributes of the same cluster.
  func check(_ value: [UInt8], _ encoded: (AttributeID) -> [UInt8]?) throws(StatusError) {
    try info.check(value)
    guard let number = (try? TLVElement(decoding: value))?.value.number, let range = range(encoded) else { return }
    guard range.contains(number) else { throw StatusError(.constraintError) }
  }

  /// The numbers that the attribute may have, by its type, its constraint and its limits; nil: it is not a number.
  func range(_ encoded: (AttributeID) -> [UInt8]?) -> ClosedRange<Int64>? {
    guard var range = info.schema.range else { return nil }
    if case .range(let allowed) = info.constraint { range = range.clamped(to: allowed) }
    func number(_ attribute: AttributeID?) -> Int64? {
      attribute.flatMap(encoded).flatMap { (try? TLVElement(decoding: $0))?.value.number }
    }
    let lowest = max(range.lowerBound, number(limits.lowest) ?? range.lowerBound)
    var highest = min(range.upperBound, number(limits.highest) ?? range.upperBound)
    if limits.isHighestExcluded, highest == number(limits.highest), highest > .min { highest -= 1 }
    // Limits that contradict each other limit nothing.
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

  /// The numbers of the type; nil: it is not one. The largest value of a nullable type stands for null, of a signed one the
  /// smallest. Matter Core § 7.19.1.
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

  /// Whether a number stands for null.
  func isReserved(_ value: TLVElement.Value) -> Bool {
    switch (self, value) {
    case (.nullable(.unsigned(let bits)), .unsigned(let number)): number == UInt64.max >> UInt64(64 - bits)
    case (.nullable(.signed(let bits)), .signed(let number)): number == Int64.min >> Int64(64 - bits)
    default: false
    }
  }

  /// Whether a value of an enumeration, or the bits of a bitmap, are among those that have a name.
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
