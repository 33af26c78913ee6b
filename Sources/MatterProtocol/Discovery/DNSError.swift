/// An error in decoding a DNS message. RFC 1035 § 4.1, RFC 6762 § 18.
public enum DNSError: Error, Hashable, Sendable {
  /// The message ends inside a field, or a record claims more data than there is.
  case truncated
  /// The message is longer than the 9,000 bytes that RFC 6762 § 17 allows.
  case tooLong
  /// A label uses one of the two reserved length encodings.
  case badLabel
  /// A compression pointer does not point backward, which could cause an endless loop.
  case badPointer
  /// A name is longer than 255 bytes.
  case nameTooLong
  /// The data of a record is invalid for its type.
  case badRecord
}
