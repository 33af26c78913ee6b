internal import MatterModel

extension AttributeInfo {
  /// Throws unless the bytes are a value that the attribute may have: `invalidDataType` or `constraintError`.
  func check(_ value: [UInt8]) throws(StatusError) {
    guard let element = try? TLVElement(decoding: value) else { throw StatusError(.invalidDataType) }
    guard isWellFormed(value) else {
      // A number that is one, but too large for its type, is out of its range.
      throw StatusError(schema.isNumber && element.value.isNumber ? .constraintError : .invalidDataType)
    }
    guard schema.names(element.value), constraint.allows(value) else { throw StatusError(.constraintError) }
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
}
