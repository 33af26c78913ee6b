/// The version of the standard that the declarations implement: Matter 1.4.2.
public enum SpecificationVersion {
  /// The value of SpecificationVersion in Basic Information: major, minor, patch, and a zero byte.
  public static let current: UInt32 = 0x0104_0200
  /// The version as text.
  public static let text = "1.4.2"
  /// The value of DataModelRevision in Basic Information. Matter Core § 7.1.1.
  public static let dataModelRevision: UInt16 = 19
}
