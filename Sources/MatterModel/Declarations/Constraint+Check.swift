internal import MatterTLV

extension Constraint {
  /// Whether an encoded value satisfies the constraint. Null always does; a value of a type that the constraint does
  /// not apply to does not.
  /// - Parameter tlv: one element with any tag.
  public func allows(_ tlv: [UInt8]) -> Bool {
    guard let value = try? TLVElement(decoding: tlv).value else { return false }
    return switch (self, value) {
    case (.none, _), (_, .null): true
    case (.range(let range), .unsigned(let number)): Int64(exactly: number).map(range.contains) ?? false
    case (.range(let range), .signed(let number)): range.contains(number)
    case (.length(let range), .string(let text)): range.contains(text.utf8.count)
    case (.length(let range), .octets(let octets)): range.contains(octets.count)
    case (.entries(let range), .array(let entries)): range.contains(entries.count)
    default: false
    }
  }
}
