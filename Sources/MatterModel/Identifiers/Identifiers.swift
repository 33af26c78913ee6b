public import MatterTLV

/// A number that names something. Prints as hexadecimal, compares as a number.
public protocol Identifier: RawRepresentable, ModelValue, Comparable, ExpressibleByIntegerLiteral,
  CustomStringConvertible
where RawValue: UnsignedInteger & FixedWidthInteger & ModelValue, IntegerLiteralType == RawValue {
  init(rawValue: RawValue)
}

extension Identifier {
  /// The identifier with this number.
  public init(_ rawValue: RawValue) { self.init(rawValue: rawValue) }
  public init(integerLiteral value: RawValue) { self.init(rawValue: value) }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public static var schema: Schema { RawValue.schema }
  public init(from reader: inout TLVReader, _ bytes: RawSpan) throws(TLVError) {
    self.init(rawValue: try RawValue(from: &reader, bytes))
  }
  public func encode(to writer: inout TLVWriter, _ tag: TLVTag) { rawValue.encode(to: &writer, tag) }
  /// `0x` and as many upper-case digits as the type is wide.
  public var description: String {
    let digits = String(rawValue, radix: 16, uppercase: true)
    let width = Swift.max(RawValue.bitWidth / 8 * 2, 2)
    return "0x" + String(repeating: "0", count: Swift.max(0, (width > 8 ? 16 : width) - digits.count)) + digits
  }
}

/// Matter Core § 7.18.2.
public struct EndpointID: Identifier {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
  /// The endpoint that describes the node itself.
  public static let root: Self = 0
  public var description: String { "\(rawValue)" }
}

/// A cluster; a maker's own carries the vendor in its upper half. Matter Core § 7.19.2.
public struct ClusterID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// An attribute of a cluster; a maker's own carries the vendor in its upper half. Matter Core § 7.19.2.
public struct AttributeID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A command of a cluster, request or response; a maker's own carries the vendor in its upper half. Matter Core §
/// 7.19.2.
public struct CommandID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// An event of a cluster; a maker's own carries the vendor in its upper half. Matter Core § 7.19.2.
public struct EventID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A device type of the Device Library, or a maker's own with the vendor in its upper half. Matter Core § 7.19.2.
public struct DeviceTypeID: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A maker, as the standard's body numbers them; 0xFFF1 to 0xFFF4 are for tests. Matter Core § 2.5.2.
public struct VendorID: Identifier {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// A fabric's number on one node, 1 to 254; 0 is none.
public struct FabricIndex: Identifier {
  public var rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// The accessing fabric of a session that has none: PASE before AddNOC.
  public static let none: Self = 0
  public var description: String { "\(rawValue)" }
}

/// A fabric's number, which only its root makes unique; 0 is none. Matter Core § 2.5.1.
public struct FabricID: Identifier {
  public var rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A group of nodes on a fabric; 0 is none. Matter Core § 2.5.4.
public struct GroupID: Identifier {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }
}

/// A node on a fabric, or one of the special ranges. Matter Core § 2.5.5.
public struct NodeID: Identifier {
  public var rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static let unspecified: Self = 0
  /// Whether this names one node, as a certificate must.
  public var isOperational: Bool { (1...0xFFFF_FFEF_FFFF_FFFF).contains(rawValue) }
  /// Whether this carries a CASE authenticated tag.
  public var isTag: Bool { rawValue >> 32 == 0xFFFF_FFFD }
  /// Whether this names something that is no node of any fabric, for whoever gave it the name alone. Matter Core § 2.5.5.4.
  public var isTemporaryLocal: Bool { rawValue >> 32 == 0xFFFF_FFFE }
  /// The temporary local node id of this number.
  public static func temporaryLocal(_ number: UInt32) -> Self { .init(0xFFFF_FFFE_0000_0000 | UInt64(number)) }
  /// The node id that stands for a group.
  public static func group(_ id: GroupID) -> Self { .init(0xFFFF_FFFF_FFFF_0000 | UInt64(id.rawValue)) }
  /// The node id that stands for all who carry a tag.
  public static func tag(_ tag: CASEAuthenticatedTag) -> Self { .init(0xFFFF_FFFD_0000_0000 | UInt64(tag.rawValue)) }
}

/// A tag that stands for several nodes, with a version in the lower half. Matter Core § 6.6.2.1.2.
public struct CASEAuthenticatedTag: Identifier {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// What the tag stands for, as the fabric's administrator means it.
  public var identifier: UInt16 { UInt16(rawValue >> 16) }
  /// A node with a later version may do what was granted to an earlier one; 0 is not allowed.
  public var version: UInt16 { UInt16(truncatingIfNeeded: rawValue) }
}
