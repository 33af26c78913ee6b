public import MatterModel

/// Localization Configuration (0x002B). The language of the node's user interface. Matter Core § 11.3.
public enum LocalizationConfiguration: Cluster {
  public static let id: ClusterID = 0x002B, revision: UInt16 = 1, name = "LocalizationConfiguration"

  // MARK: Attributes

  public static let activeLocale = Attribute<Self, String>(
    0x0000, "ActiveLocale", quality: .nonVolatile, write: .manage)
  public static let supportedLocales = Attribute<Self, [String]>(
    0x0001, "SupportedLocales", quality: .fixed, constraint: .entries(32))

  public static let elements: [any ClusterElement] = [activeLocale, supportedLocales]
}
