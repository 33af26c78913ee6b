public import MatterModel

/// Fixed Label (0x0040). Labels of an endpoint set by the manufacturer. Matter Core § 9.8.
public enum FixedLabel: Cluster {
  public static let id: ClusterID = 0x0040, revision: UInt16 = 1, name = "FixedLabel"

  // MARK: Attributes

  public static let labelList = Attribute<Self, [LabelStruct]>(0x0000, "LabelList", initial: [], quality: .nonVolatile)

  public static let elements: [any ClusterElement] = [labelList]

  // MARK: Types

  /// Matter Core § 9.7.4.1.
  public struct LabelStruct: ModelStruct {
    public var label: String = ""
    public var value: String = ""
    public static let fields: [Field<Self>] = [.init(0, "Label", \.label), .init(1, "Value", \.value)]

    public init() {}

    public init(label: String, value: String) {
      self.label = label
      self.value = value
    }
  }
}
