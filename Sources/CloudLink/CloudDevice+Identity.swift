public import HomeModel
internal import MatterModel

// The same device, seen through a cloud account and through Matter. See the article “The home model”, “Objects”.
extension DeviceIdentity {
  /// Creates the identity that a cloud account reports for a device.
  /// - Parameters:
  ///   - vendorID: such as `0xfff1`, in any case; empty: unknown.
  ///   - productID: such as `0x8000`, in any case; empty: unknown.
  ///   - uniqueID: without it the device can't be matched with another one.
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
    // Some clouds report 0 for unknown ids; it is not assigned.
    return text.hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16).flatMap { $0 == 0 ? nil : $0 } : nil
  }
}

extension CloudDevice {
  /// Whether this is the given device of a home: the unique ids are equal, and the vendor and product ids as far as
  /// both are known.
  public func isSameDevice(as device: HomeDevice) -> Bool {
    identity.isSameDevice(as: device.identity)
  }

  /// The identity of the device as far as the cloud reports it.
  package var identity: DeviceIdentity {
    DeviceIdentity(
      matterOriginalVendorID: matterOriginalVendorID, matterOriginalProductID: matterOriginalProductID,
      matterUniqueID: matterUniqueID ?? "")
  }
}
