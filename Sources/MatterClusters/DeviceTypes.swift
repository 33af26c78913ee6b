public import MatterModel

/// The device types of the Device Library 1.4.2, and some of 1.5, with the clusters that their endpoints must serve.
/// Clusters/DeviceTypes.devices declares them.
public enum DeviceTypes {
  /// Returns the device type with this id; nil if it is unknown.
  public static func named(_ id: DeviceTypeID) -> DeviceType? { byID[id] }

  /// Returns the device type by its name, in any spelling: "On/Off Light", "onOffLight".
  public static func named(_ name: String) -> DeviceType? { byName[NormalizedName(name)] }

  private static let byID = Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
  private static let byName = Dictionary(
    all.map { (NormalizedName($0.name), $0) }, uniquingKeysWith: { first, _ in first })
}
