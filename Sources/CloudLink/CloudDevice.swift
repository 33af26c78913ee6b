/// A device in a SYNC response.
package struct CloudDevice: Hashable, Sendable, Codable, Identifiable {
  /// The ``HomeDevice/id``; with `:` and an endpoint for the second and further cloud devices of one device, such as a
  /// power strip.
  package var id: String
  /// The device type, such as `action.devices.types.LIGHT`.
  package var type: String
  /// The traits, such as `action.devices.traits.OnOff`, in the order of their names.
  package var traits: [String]
  package var name: Name
  /// Whether changes are reported without a request; always true for a home.
  package var willReportState: Bool
  /// The name of the room; nil for the room for the entire home.
  package var roomHint: String?
  package var attributes: CloudAttributes
  /// Manufacturer, model and versions of the device.
  package var deviceInfo: Info
  /// The vendor id, such as `0xfff1`; empty if unknown.
  package var matterOriginalVendorID: String
  /// The product id, such as `0x8000`; empty if unknown.
  package var matterOriginalProductID: String
  /// The unique id assigned by the manufacturer; nil: there is none, and the device can't be matched.
  package var matterUniqueID: String?
  /// The local sources of the device: `5`, `7/3`; with `:` and an endpoint as in ``id``, so that each belongs to one
  /// cloud device only.
  package var otherDeviceIDs: [OtherID]

  /// The names of a device.
  package struct Name: Hashable, Sendable, Codable {
    /// The name in the home.
    package var name: String
    /// The product names given by the manufacturer.
    package var defaultNames: [String]
    /// The NodeLabel, if it differs from the name.
    package var nicknames: [String]

    package init(name: String, defaultNames: [String], nicknames: [String]) {
      self.name = name
      self.defaultNames = defaultNames
      self.nicknames = nicknames
    }
  }

  /// The manufacturer and versions of a device.
  package struct Info: Hashable, Sendable, Codable {
    /// VendorName of Basic Information.
    package var manufacturer: String?
    /// ProductName of Basic Information.
    package var model: String?
    /// HardwareVersionString; nil if unknown.
    package var hwVersion: String?
    /// SoftwareVersionString; nil if unknown.
    package var swVersion: String?

    package init(
      manufacturer: String? = nil, model: String? = nil, hwVersion: String? = nil, swVersion: String? = nil
    ) {
      self.manufacturer = manufacturer
      self.model = model
      self.hwVersion = hwVersion
      self.swVersion = swVersion
    }
  }

  /// The id of the device at another agent, here a controller in the local network.
  package struct OtherID: Hashable, Sendable, Codable {
    /// The agent of the id; nil: the agent that answers the request.
    package var agentID: String?
    /// `5`, or `7/3` for a bridged device; `5:2` for one of several cloud devices of a device.
    package var deviceID: String

    package init(agentID: String?, deviceID: String) {
      self.agentID = agentID
      self.deviceID = deviceID
    }

    package enum CodingKeys: String, CodingKey {
      case agentID = "agentId"
      case deviceID = "deviceId"
    }
  }

  package enum CodingKeys: String, CodingKey {
    case id, type, traits, name, willReportState, roomHint, attributes, deviceInfo
    case matterOriginalVendorID = "matterOriginalVendorId"
    case matterOriginalProductID = "matterOriginalProductId"
    case matterUniqueID = "matterUniqueId"
    case otherDeviceIDs = "otherDeviceIds"
  }
}
