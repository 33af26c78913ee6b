/// The version of the standard that the declarations follow: Matter 1.4.2.
public enum SpecificationVersion {
  /// Basic Information's SpecificationVersion: major, minor, patch, and a byte that is zero.
  public static let current: UInt32 = 0x0104_0200
  /// As it is spoken of.
  public static let text = "1.4.2"
  /// Basic Information's DataModelRevision. Matter Core § 7.1.1.
  public static let dataModelRevision: UInt16 = 19
}
