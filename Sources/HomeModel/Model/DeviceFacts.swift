/// The id of a source of a device: a node of this home's fabric, a bridged endpoint with its parts, or a cloud device,
/// by the temporary local node id that the home assigned.
public struct SourceID: Hashable, Comparable, Sendable, TextCodable {
  public var node: NodeID
  /// `.root` for a node; else the endpoint of the bridged device.
  public var endpoint: EndpointID

  public init(_ node: NodeID, _ endpoint: EndpointID = .root) { (self.node, self.endpoint) = (node, endpoint) }

  /// Parses the format of ``description``.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let first = parts.first, let node = UInt64(first), parts.count <= 2 else { return nil }
    guard parts.count == 2 else {
      self.init(NodeID(node))
      return
    }
    guard let endpoint = UInt16(parts[1]) else { return nil }
    self.init(NodeID(node), EndpointID(endpoint))
  }

  public static func < (left: Self, right: Self) -> Bool { (left.node, left.endpoint) < (right.node, right.endpoint) }

  /// Whether the source is an endpoint of a bridge.
  public var isBridged: Bool { endpoint != .root }

  /// Whether the source is a manufacturer's cloud.
  public var isCloud: Bool { node.isTemporaryLocal }

  /// `5`, or `7/3` for a bridged device.
  public var description: String { isBridged ? "\(node.rawValue)/\(endpoint)" : "\(node.rawValue)" }
}

/// The description of an endpoint, from its Descriptor cluster. Matter Core § 9.5.
public struct DeviceEndpoint: Hashable, Sendable, Codable {
  public var id: EndpointID
  public var deviceTypes: [DeviceTypeID]
  /// ServerList: the server clusters.
  public var servers: [ClusterID]
  /// ClientList: the client clusters.
  public var clients: [ClusterID]
  /// PartsList: the endpoints that are parts of this one.
  public var parts: [EndpointID]

  public init(
    id: EndpointID, deviceTypes: [DeviceTypeID] = [], servers: [ClusterID] = [], clients: [ClusterID] = [],
    parts: [EndpointID] = []
  ) {
    self.id = id
    self.deviceTypes = deviceTypes
    self.servers = servers
    self.clients = clients
    self.parts = parts
  }
}

/// The manufacturer, product and unique id of a device, from Basic Information or Bridged Device Basic Information.
public struct DeviceIdentity: Hashable, Sendable, Codable {
  public var vendorID: VendorID?
  /// The product id, which identifies the model together with the vendor id.
  public var productID: UInt16?
  /// The vendor name, at most 32 bytes.
  public var vendorName: String?
  /// The product name, at most 32 bytes.
  public var productName: String?
  /// The product label for users, at most 64 bytes.
  public var productLabel: String?
  /// The NodeLabel stored in the device, at most 32 bytes. Not the home's name for it.
  public var nodeLabel: String?
  /// The serial number, at most 32 bytes.
  public var serialNumber: String?
  /// The unique id among the devices of the manufacturer. Matter Core § 11.1.
  public var uniqueID: String?
  /// SoftwareVersionString, at most 64 bytes.
  public var softwareVersion: String?

  package init() {}

  /// Whether both identities are of one device: the unique ids are equal, and the vendor and product ids as far as both
  /// are known.
  package func isSameDevice(as other: DeviceIdentity) -> Bool {
    guard let uniqueID, !uniqueID.isEmpty, uniqueID == other.uniqueID else { return false }
    return Self.agree(vendorID, other.vendorID) && Self.agree(productID, other.productID)
  }

  private static func agree<Value: Equatable>(_ left: Value?, _ right: Value?) -> Bool {
    guard let left, let right else { return true }
    return left == right
  }

  // MARK: Cloud identity

  /// "0xfff1"; empty if unknown.
  public var matterOriginalVendorID: String { vendorID.map { "\($0)".lowercased() } ?? "" }
  /// "0x8000"; empty if unknown.
  public var matterOriginalProductID: String { productID.map { "0x" + $0.hexadecimal(4).lowercased() } ?? "" }
  /// The unique id; empty if unknown.
  public var matterUniqueID: String { uniqueID ?? "" }
}
