public import MatterModel

/// User Label (0x0041). Labels of an endpoint set by the user. Matter Core § 9.9.
public enum UserLabel: Cluster {
  public static let id: ClusterID = 0x0041, revision: UInt16 = 1, name = "UserLabel"

  // MARK: Attributes

  public static let labelList = Attribute<Self, [LabelStruct]>(
    0x0000, "LabelList", initial: [], quality: .nonVolatile, write: .manage)

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
