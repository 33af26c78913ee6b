/// The answer to a cloud-to-cloud SYNC request: what of a home a cloud account is told, so that the same device seen through
/// the cloud and through Matter is found to be one. See <doc:TheHomeModel>, “Objects”.
///
/// It encodes to the JSON that Google's cloud-to-cloud integrations expect.
public struct CloudSync: Hashable, Sendable, Codable {
  /// Of the request that this answers.
  public var requestID: String
  public var payload: Payload

  /// Whose devices they are, and the devices.
  public struct Payload: Hashable, Sendable, Codable {
    /// The user, as the agent calls them.
    public var agentUserID: String
    public var devices: [CloudDevice]

    enum CodingKeys: String, CodingKey {
      case agentUserID = "agentUserId"
      case devices
    }
  }

  enum CodingKeys: String, CodingKey {
    case requestID = "requestId"
    case payload
  }

  /// - Parameters:
  ///   - requestID: of the request that this answers.
  ///   - agentUserID: the user, as the agent calls them; the same each time.
  ///   - devices: of one home. What has no counterpart in the cloud is left out; see `CloudMapping.swift`.
  ///   - rooms: all that the devices may be in.
  ///   - agentID: the agent that ``CloudDevice/otherDeviceIDs`` are for, nil to leave that out.
  public init(
    requestID: String, agentUserID: String, devices: some Sequence<HomeDevice>, rooms: some Sequence<Room>,
    agentID: String? = nil
  ) {
    self.requestID = requestID
    let names = Dictionary(rooms.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    payload = Payload(
      agentUserID: agentUserID,
      devices: devices.flatMap { device in
        CloudDevice.all(of: device, room: device.roomID.flatMap { names[$0] }, agentID: agentID)
      })
  }
}

/// A device as a cloud account sees it.
public struct CloudDevice: Hashable, Sendable, Codable, Identifiable {
  /// The ``HomeDevice/id``; with `:` and an endpoint for the second and later ones of a device that is several to the
  /// cloud, as a power strip is.
  public var id: String
  /// `action.devices.types.LIGHT`.
  public var type: String
  /// `action.devices.traits.OnOff`, in the order of their names.
  public var traits: [String]
  public var name: Name
  /// Whether changes are told without being asked for: a home always can.
  public var willReportState: Bool
  /// The name of its room, nil for the room for the entire home.
  public var roomHint: String?
  public var attributes: CloudAttributes
  /// For people, and for the cloud's statistics.
  public var deviceInfo: Info
  /// `0xfff1`, may be empty.
  public var matterOriginalVendorID: String
  /// `0x8000`, may be empty.
  public var matterOriginalProductID: String
  /// What its maker tells it from all others by; nil: it has none, and can't be found to be the same.
  public var matterUniqueID: String?
  /// The ways that it is reached by locally: `5`, `7/3`; with `:` and an endpoint as in ``id``, so that no two devices have one in
  /// common.
  public var otherDeviceIDs: [OtherID]

  /// What a device is called, by whom.
  public struct Name: Hashable, Sendable, Codable {
    /// The home's name for it.
    public var name: String
    /// What its maker calls it.
    public var defaultNames: [String]
    /// Its NodeLabel, where it is not the name.
    public var nicknames: [String]
  }

  /// Who made a device, and what it runs.
  public struct Info: Hashable, Sendable, Codable {
    /// VendorName of Basic Information.
    public var manufacturer: String?
    /// ProductName of Basic Information.
    public var model: String?
    /// HardwareVersionString; nil: not known.
    public var hwVersion: String?
    /// SoftwareVersionString; nil: not known.
    public var swVersion: String?
  }

  /// A name by which the device is known to somebody else, here to a controller in the local network.
  public struct OtherID: Hashable, Sendable, Codable {
    /// Whose name it is; nil: that of the agent who is asked.
    public var agentID: String?
    /// `5`, or `7/3` for what is behind a bridge; `5:2` for a part of one that is several to the cloud.
    public var deviceID: String

    enum CodingKeys: String, CodingKey {
      case agentID = "agentId"
      case deviceID = "deviceId"
    }
  }

  enum CodingKeys: String, CodingKey {
    case id, type, traits, name, willReportState, roomHint, attributes, deviceInfo
    case matterOriginalVendorID = "matterOriginalVendorId"
    case matterOriginalProductID = "matterOriginalProductId"
    case matterUniqueID = "matterUniqueId"
    case otherDeviceIDs = "otherDeviceIds"
  }
}
