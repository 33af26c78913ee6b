public import MatterModel

/// A place where a device is found: a whole node of our fabric, a bridged endpoint with what is below it, or, by the temporary
/// local node id that the home gave it, what a cloud account tells of.
public struct SourceID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public var node: NodeID
  /// `.root` for the whole node; else the endpoint of the bridged device.
  public var endpoint: EndpointID

  public init(_ node: NodeID, _ endpoint: EndpointID = .root) { (self.node, self.endpoint) = (node, endpoint) }

  /// Reads what ``description`` writes.
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

  /// Whether it is an endpoint of a bridge.
  public var isBridged: Bool { endpoint != .root }

  /// Whether it is a way through a maker's cloud.
  public var isCloud: Bool { node.isTemporaryLocal }

  /// `5`, or `7/3` for what is behind a bridge.
  public var description: String { isBridged ? "\(node.rawValue)/\(endpoint)" : "\(node.rawValue)" }
}

/// An endpoint as its Descriptor tells it. Matter Core § 9.5.
public struct DeviceEndpoint: Hashable, Sendable {
  public var id: EndpointID
  public var deviceTypes: [DeviceTypeID]
  /// ServerList: the clusters that it serves.
  public var servers: [ClusterID]
  /// ClientList: the clusters that it uses of others.
  public var clients: [ClusterID]
  /// PartsList: the endpoints that belong to it.
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

/// Who made a device, and what tells it from all others: from Basic Information, or Bridged Device Basic Information.
public struct DeviceIdentity: Hashable, Sendable {
  public var vendorID: VendorID?
  /// Given by the maker; together with the vendor's it names the model.
  public var productID: UInt16?
  /// 32 bytes at most.
  public var vendorName: String?
  /// 32 bytes at most.
  public var productName: String?
  /// A name of the product for people, 64 bytes at most.
  public var productLabel: String?
  /// What people called it, in the device itself: 32 bytes at most. Not the home's name for it.
  public var nodeLabel: String?
  /// 32 bytes at most.
  public var serialNumber: String?
  /// Tells it from all others of its maker. Matter Core § 11.1.
  public var uniqueID: String?
  /// As people read it: SoftwareVersionString, 64 bytes at most.
  public var softwareVersion: String?

  public init() {}

  /// Whether this is the same device seen through another way: the same unique id, from the same maker as far as both tell.
  public func isSameDevice(as other: DeviceIdentity) -> Bool {
    guard let uniqueID, !uniqueID.isEmpty, uniqueID == other.uniqueID else { return false }
    return Self.agree(vendorID, other.vendorID) && Self.agree(productID, other.productID)
  }

  private static func agree<Value: Equatable>(_ left: Value?, _ right: Value?) -> Bool {
    guard let left, let right else { return true }
    return left == right
  }

  // MARK: Cloud identity

  /// "0xfff1", empty where it is not known.
  public var matterOriginalVendorID: String { vendorID.map { Self.hexadecimal($0.rawValue) } ?? "" }
  /// "0x8000", empty where it is not known.
  public var matterOriginalProductID: String { productID.map { Self.hexadecimal($0) } ?? "" }
  /// Empty where it is not known.
  public var matterUniqueID: String { uniqueID ?? "" }

  private static func hexadecimal(_ number: UInt16) -> String {
    let digits = String(number, radix: 16)
    return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
