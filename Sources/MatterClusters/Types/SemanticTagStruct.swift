public import MatterModel

/// A tag that distinguishes similar endpoints of a node: "left", "top", "2nd floor". Matter Core § 7.19.2.42.
public struct SemanticTagStruct: ModelStruct {
  /// The vendor of the namespace; null for a standard namespace.
  public var mfgCode: Nullable<VendorID> = .null
  public var namespaceID: UInt8 = 0
  public var tag: UInt8 = 0
  public var label: Nullable<String>?
  public static let fields: [Field<Self>] = [
    .init(0, "MfgCode", \.mfgCode), .init(1, "NamespaceID", \.namespaceID), .init(2, "Tag", \.tag),
    .init(3, "Label", \.label),
  ]

  public init() {}

  public init(mfgCode: Nullable<VendorID>, namespaceID: UInt8, tag: UInt8, label: Nullable<String>? = nil) {
    self.mfgCode = mfgCode
    self.namespaceID = namespaceID
    self.tag = tag
    self.label = label
  }
}
