public import MatterTLV

/// The value of an attribute of a device, as reported to an ``AccessoryDelegate``.
///
///     if let isOn = value[OnOff.onOff] { … }
public struct AttributeValue: Hashable, Sendable, CustomStringConvertible {
  /// The path on the device's node.
  public let path: ConcreteAttributePath
  /// One TLV element with an anonymous tag; nil: the attribute was removed.
  let encoded: [UInt8]?

  /// Whether the device no longer has the attribute.
  public var isRemoved: Bool { encoded == nil }

  /// The value if it is one of this attribute and type; otherwise nil.
  public subscript<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? {
    guard path.cluster == C.id, path.attribute == attribute.id else { return nil }
    return encoded.flatMap { try? Value(tlv: $0) }
  }

  /// The value of a nullable attribute; nil also for null.
  public subscript<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Nullable<Value>>) -> Value? {
    guard path.cluster == C.id, path.attribute == attribute.id else { return nil }
    return encoded.flatMap { try? Nullable<Value>(tlv: $0) }?.wrapped
  }

  /// The value by its encoding, for attributes without a declaration; nil if the attribute was removed.
  public var element: TLVElement.Value? { encoded.flatMap { try? TLVElement(decoding: $0) }?.value }

  /// `1/onOff.onOff = true`: the path, and the value as text.
  public var description: String {
    "\(path.endpoint)/\(ElementNames.attribute(path)) = \(encoded.map { ElementNames.schema(path).text(of: $0) } ?? "removed")"
  }
}
