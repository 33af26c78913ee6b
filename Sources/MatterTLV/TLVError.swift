/// What was wrong with a TLV encoding, or with how it was read. Matter Core, Appendix A.
public enum TLVError: Error, Hashable, Sendable {
  /// The input ended inside an element.
  case truncated
  /// A control octet names an element type that is reserved.
  case reservedType(UInt8)
  /// Containers nest deeper than ``TLVReader/maximumDepth``.
  case tooDeep
  /// An end-of-container where no container is open.
  case unexpectedEnd
  /// The tag is not allowed in this container: structure members need one, array elements must not have one.
  case invalidTag
  /// A character string that is not UTF-8.
  case invalidUTF8
  /// The element is of another type than the one asked for.
  case unexpectedType(found: TLVType, expected: String)
  /// The number does not fit the type asked for.
  case outOfRange
  /// A member that must be there is missing.
  case missingMember(UInt8)
  /// The same member comes twice in one structure.
  case duplicateMember(UInt8)
  /// Bytes follow where the element should have been the last.
  case trailingBytes
  /// A value is longer or has more entries than its type allows.
  case tooLong(maximum: Int)
}
