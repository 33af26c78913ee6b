internal import MatterModel

// The same device, seen through a cloud account and through Matter. See the article “The home model”, “Objects”.
extension DeviceIdentity {
  /// What a cloud account tells of who made a device.
  /// - Parameters:
  ///   - vendorID: `0xfff1`, in whatever case; empty: it is not told.
  ///   - productID: the same.
  ///   - uniqueID: without it no device can be found to be the same.
  public init(
    matterOriginalVendorID vendorID: String, matterOriginalProductID productID: String, matterUniqueID uniqueID: String
  ) {
    self.init()
    self.vendorID = Self.number(vendorID).map { VendorID($0) }
    self.productID = Self.number(productID)
    self.uniqueID = uniqueID
  }

  private static func number(_ text: String) -> UInt16? {
    let text = text.lowercased()
    // Some say 0 of what they don't know; it is nobody's.
    return text.hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16).flatMap { $0 == 0 ? nil : $0 } : nil
  }
}

extension CloudDevice {
  /// Whether it is this device of a home: the same unique id, from the same maker as far as both tell.
  public func isSameDevice(as device: HomeDevice) -> Bool {
    identity.isSameDevice(as: device.identity)
  }

  /// Who made it, as far as the cloud tells.
  var identity: DeviceIdentity {
    DeviceIdentity(
      matterOriginalVendorID: matterOriginalVendorID, matterOriginalProductID: matterOriginalProductID,
      matterUniqueID: matterUniqueID ?? "")
  }
}
