/// An error in a TLV encoding or in its use. Matter Core, Appendix A.
public enum TLVError: Error, Hashable, Sendable {
  /// The input ends inside an element.
  case truncated
  /// The control octet has a reserved element type.
  case reservedType(UInt8)
  /// Containers nest deeper than ``TLVReader/maximumDepth``.
  case tooDeep
  /// An end-of-container without an open container.
  case unexpectedEnd
  /// The tag is not allowed in this container: structure members require one, array elements must not have one.
  case invalidTag
  /// A character string that is not UTF-8.
  case invalidUTF8
  /// The element has another type than requested.
  case unexpectedType(found: TLVType, expected: String)
  /// The number does not fit the requested type.
  case outOfRange
  /// A mandatory member is missing.
  case missingMember(UInt8)
  /// A structure has the same member twice.
  case duplicateMember(UInt8)
  /// Bytes follow the last element.
  case trailingBytes
  /// A value is longer or has more entries than its type allows.
  case tooLong(maximum: Int)
}
