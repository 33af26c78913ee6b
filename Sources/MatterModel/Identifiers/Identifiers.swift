public import MatterTLV

/// A numeric identifier. Its description is hexadecimal; in JSON it is a number, or the digits of one as a key.
public protocol Identifier: RawRepresentable, ModelValue, Comparable, Codable, CodingKeyRepresentable,
  ExpressibleByIntegerLiteral, CustomStringConvertible
where RawValue: UnsignedInteger & FixedWidthInteger & ModelValue, IntegerLiteralType == RawValue {
  init(rawValue: RawValue)
}

extension Identifier {
  /// Creates an identifier with this number.
  public init(_ rawValue: RawValue) { self.init(rawValue: rawValue) }
  public init(integerLiteral value: RawValue) { self.init(rawValue: value) }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public static var schema: Schema { RawValue.schema }
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init(rawValue: try RawValue(from: &reader, bytes))
  }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { rawValue.encode(to: &writer, tag) }
  public var codingKey: any CodingKey { IdentifierKey(stringValue: String(rawValue)) }
  /// Parses the decimal number of a dictionary key; nil for other text and numbers out of range.
  public init?(codingKey: some CodingKey) {
    guard let number = RawValue(codingKey.stringValue) else { return nil }
    self.init(rawValue: number)
  }
  /// `0x` and uppercase digits for the full width of the type.
  public var description: String { "0x" + rawValue.hexadecimal(RawValue.bitWidth / 4) }
}

private struct IdentifierKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// An endpoint of a node. Matter Core § 7.18.2.
public struct EndpointID: Identifier {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// The endpoint that describes the node itself.
  public static let root: Self = 0
  public var description: String { "\(rawValue)" }
}

/// A cluster; manufacturer-specific ids have the vendor id in the upper half. Matter Core § 7.19.2.
public struct ClusterID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// Whether this is the id of a standard or manufacturer-specific cluster. Matter Core § 7.10.
  package var isValid: Bool {
    let (vendor, number) = (rawValue >> 16, rawValue & 0xFFFF)
    return vendor == 0 ? number <= 0x7FFF : vendor <= 0xFFF4 && 0xFC00...0xFFFE ~= number
  }
}

/// An attribute of a cluster; manufacturer-specific ids have the vendor id in the upper half. Matter Core § 7.19.2.
public struct AttributeID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A command of a cluster, request or response; manufacturer-specific ids have the vendor id in the upper half. Matter
/// Core § 7.19.2.
public struct CommandID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// An event of a cluster; manufacturer-specific ids have the vendor id in the upper half. Matter Core § 7.19.2.
public struct EventID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A device type; manufacturer-specific ids have the vendor id in the upper half. Matter Core § 7.19.2.
public struct DeviceTypeID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A manufacturer, assigned by the CSA; 0xFFF1 to 0xFFF4 are for tests. Matter Core § 2.5.2.
public struct VendorID: Identifier {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// The index of a fabric on one node, 1 to 254; 0 for none.
public struct FabricIndex: Identifier {
  public var rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// The accessing fabric of a session without one: PASE before AddNOC.
  public static let none: Self = 0
  public var description: String { "\(rawValue)" }
}

/// A fabric, unique only together with its root; 0 for none. Matter Core § 2.5.1.
public struct FabricID: Identifier {
  public var rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A group of nodes on a fabric; 0 for none. Matter Core § 2.5.4.
public struct GroupID: Identifier {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// A node on a fabric, or one of the special ranges. Matter Core § 2.5.5.
public struct NodeID: Identifier {
  public var rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static let unspecified: Self = 0
  /// Whether it identifies a single node, as certificates require.
  public var isOperational: Bool { (1...0xFFFF_FFEF_FFFF_FFFF).contains(rawValue) }
  /// Whether it contains a CASE authenticated tag.
  public var isTag: Bool { rawValue >> 32 == 0xFFFF_FFFD }
  /// Whether it is a temporary local id, which has a meaning only for its creator. Matter Core § 2.5.5.4.
  public var isTemporaryLocal: Bool { rawValue >> 32 == 0xFFFF_FFFE }
  /// Returns the temporary local node id with this number.
  public static func temporaryLocal(_ number: UInt32) -> Self { .init(0xFFFF_FFFE_0000_0000 | UInt64(number)) }
  /// Returns the node id of a group.
  public static func group(_ id: GroupID) -> Self { .init(0xFFFF_FFFF_FFFF_0000 | UInt64(id.rawValue)) }
  /// Returns the node id of all nodes with a tag.
  public static func tag(_ tag: CASEAuthenticatedTag) -> Self { .init(0xFFFF_FFFD_0000_0000 | UInt64(tag.rawValue)) }
}

/// A tag shared by several nodes, with a version in the lower half. Matter Core § 6.6.2.1.2.
public struct CASEAuthenticatedTag: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// The identifier, assigned by the fabric's administrator.
  public var identifier: UInt16 { UInt16(rawValue >> 16) }
  /// The version; a node with a later version has the privileges of an earlier one. 0 is not allowed.
  public var version: UInt16 { UInt16(truncatingIfNeeded: rawValue) }
}
