package import MatterModel

/// A way in which an attribute that a client reads can violate the data model.
package enum ModelViolation: String, Hashable, Sendable, Codable, CaseIterable {
  /// The attribute doesn't exist, neither in responses nor in AttributeList.
  case missing
  /// The value is null, though the attribute isn't nullable.
  case null
  /// An enumeration has a value, or a bitmap a bit, that the standard doesn't define.
  case unknown
  /// A list has half of its entries, and its last structure half of its fields.
  case cut
  /// The value is a text, or a number if it should be a text.
  case type

  /// Whether a value of the type can be violated in this way.
  package func isPossible(for schema: Schema) -> Bool {
    switch (self, schema) {
    case (.missing, _): true
    case (_, .any): false
    case (.null, .nullable): false
    case (_, .nullable(let wrapped)): isPossible(for: wrapped)
    case (.null, _), (.type, _), (.cut, .list), (.unknown, .enumeration): true
    case (.unknown, .bitmap(let bits, let names, _)): (0..<bits).contains { names[$0] == nil }
    case (.unknown, _), (.cut, _): false
    }
  }

  /// Returns the violating value in place of a valid one.
  /// - Parameter value: One element with an anonymous tag.
  func value(instead value: [UInt8], _ schema: Schema) -> [UInt8] {
    switch (self, schema) {
    case (.missing, _): return value
    case (.null, _): return TLVElement(.null).encoded
    case (_, .nullable(let wrapped)): return self.value(instead: value, wrapped)
    case (.type, .string): return TLVElement(.unsigned(1)).encoded
    case (.type, _): return TLVElement(.string("invalid")).encoded
    case (.unknown, .enumeration(let bits, let names)):
      // The highest value stands for null.
      let values = 0..<(UInt64(1) << UInt64(min(bits, 16)) - 1)
      return TLVElement(.unsigned(values.last { names[$0] == nil } ?? values.upperBound)).encoded
    case (.unknown, .bitmap(let bits, let names, _)):
      guard let bit = (0..<bits).last(where: { names[$0] == nil }) else { return value }
      let number: UInt64 = if case .unsigned(let set)? = (try? TLVElement(decoding: value))?.value { set } else { 0 }
      return TLVElement(.unsigned(number | 1 << UInt64(bit))).encoded
    case (.cut, .list):
      guard case .array(var entries)? = (try? TLVElement(decoding: value))?.value else { return value }
      let isSingle = entries.count == 1
      entries.removeLast(entries.count / 2)
      if case .structure(let members)? = entries.last?.value {
        entries[entries.count - 1].value = .structure(Array(members.prefix(members.count / 2)))
      } else if isSingle {
        entries = []
      }
      return TLVElement(.array(entries)).encoded
    case (.unknown, _), (.cut, _): return value
    }
  }
}
