/// The tag of an element. Matter Core § A.2.
public enum TLVTag: Hashable, Sendable {
  case anonymous
  /// A tag defined by the enclosing structure or list.
  case context(UInt8)
  /// A tag of the Matter common profile, number up to 32 bits.
  case common(UInt32)
  /// A tag of the implied profile.
  case implicit(UInt32)
  /// A tag with its vendor and profile.
  case qualified(vendor: UInt16, profile: UInt16, number: UInt32)
}

/// The type of an element, regardless of the width of its length or value. Matter Core § A.7.1.
public enum TLVType: Hashable, Sendable {
  case signedInteger, unsignedInteger, boolean, float, double, utf8String, octetString, null
  case structure, array, list
}
