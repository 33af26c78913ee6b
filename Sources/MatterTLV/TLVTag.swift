/// The tag of an element. Matter Core § A.2.
public enum TLVTag: Hashable, Sendable {
  case anonymous
  /// Means something in the structure or list that it is in.
  case context(UInt8)
  /// A tag of the Matter common profile, number up to 32 bits.
  case common(UInt32)
  /// A tag of the profile that the context implies.
  case implicit(UInt32)
  /// Carries the vendor and profile that it belongs to.
  case qualified(vendor: UInt16, profile: UInt16, number: UInt32)
}

/// The kind of an element, without the width of its length or value. Matter Core § A.7.1.
public enum TLVType: Hashable, Sendable {
  case signedInteger, unsignedInteger, boolean, float, double, utf8String, octetString, null
  case structure, array, list

  /// Whether other elements are in it.
  public var isContainer: Bool { self == .structure || self == .array || self == .list }
}
