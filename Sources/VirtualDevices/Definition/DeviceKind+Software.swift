internal import MatterModel

extension DeviceKind {
  public static let otaProvider = DeviceKind(
    name: "OTA provider", aliases: ["software provider", "update provider"], deviceType: 0x0014, productID: 0x8070,
    summary: "a provider of software images for other devices")

  /// Providers of software.
  static let software = [otaProvider]

  /// Whether a device of the kind can share its node: be behind a bridge, have parts or be one. A provider is addressed by its
  /// node id.
  package var sharesNode: Bool { self != .bridge && self != .otaProvider }
}
