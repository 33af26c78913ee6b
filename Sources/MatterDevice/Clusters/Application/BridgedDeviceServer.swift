import MatterClusters
public import MatterModel

/// What a bridge knows of a device behind it.
public struct BridgedDeviceFacts: Sendable {
  /// At most 32 bytes.
  public var vendorName: String
  public var vendorID: VendorID
  /// At most 32 bytes.
  public var productName: String
  /// Given by the vendor.
  public var productID: UInt16
  /// What it is called until somebody gives it another name, at most 32 bytes.
  public var nodeLabel: String
  /// At most 32 bytes.
  public var serialNumber: String
  /// At most 32 bytes, and no other device's.
  public var uniqueID: String
  /// As the maker counts them.
  public var hardwareVersion: UInt16 = 1
  /// The same for people, at most 64 bytes.
  public var hardwareVersionString = "1.0"
  /// As the maker counts them.
  public var softwareVersion: UInt32 = 1
  /// The same for people, at most 64 bytes.
  public var softwareVersionString = "1.0"
  /// Whether it serves what the standard calls provisional: ConfigurationVersion.
  public var servesProvisional = false

  public init(
    vendorName: String, vendorID: VendorID, productName: String, productID: UInt16, nodeLabel: String,
    serialNumber: String, uniqueID: String
  ) {
    self.vendorName = vendorName
    self.vendorID = vendorID
    self.productName = productName
    self.productID = productID
    self.nodeLabel = nodeLabel
    self.serialNumber = serialNumber
    self.uniqueID = uniqueID
  }
}

/// Behaviour of Bridged Device Basic Information: what the bridge tells of the device, and whether it can be reached.
/// Matter Core § 9.13.
public enum BridgedDeviceServer {
  /// A server that tells these facts. The device is reachable until the bridge says otherwise.
  public static func make(_ facts: BridgedDeviceFacts) -> ClusterServer {
    let server = ClusterServer(BridgedDeviceBasicInformation.self)
      .initial(BridgedDeviceBasicInformation.vendorName, facts.vendorName)
      .initial(BridgedDeviceBasicInformation.vendorID, facts.vendorID)
      .initial(BridgedDeviceBasicInformation.productName, facts.productName)
      .initial(BridgedDeviceBasicInformation.productID, facts.productID)
      .initial(BridgedDeviceBasicInformation.nodeLabel, facts.nodeLabel)
      .initial(BridgedDeviceBasicInformation.hardwareVersion, facts.hardwareVersion)
      .initial(BridgedDeviceBasicInformation.hardwareVersionString, facts.hardwareVersionString)
      .initial(BridgedDeviceBasicInformation.softwareVersion, facts.softwareVersion)
      .initial(BridgedDeviceBasicInformation.softwareVersionString, facts.softwareVersionString)
      .initial(BridgedDeviceBasicInformation.serialNumber, facts.serialNumber)
      .initial(BridgedDeviceBasicInformation.uniqueID, facts.uniqueID)
      .serving(BridgedDeviceBasicInformation.startUp)
      .onChange(BridgedDeviceBasicInformation.reachable) { context in
        let isReachable = context[BridgedDeviceBasicInformation.reachable]
        context.emit(BridgedDeviceBasicInformation.reachableChanged, .init(reachableNewValue: isReachable))
      }
      .hook(power) { context, isOn in
        guard isOn != context[BridgedDeviceBasicInformation.reachable] else { return }
        context[BridgedDeviceBasicInformation.reachable] = isOn
        guard isOn else { return }
        let version = context[BridgedDeviceBasicInformation.softwareVersion]
        context.emit(BridgedDeviceBasicInformation.startUp, .init(softwareVersion: version))
      }
    return facts.servesProvisional ? server.initial(BridgedDeviceBasicInformation.configurationVersion, 1) : server
  }

  /// Gives the bridged device its power, or takes it.
  static let power = ServerHook<BridgedDeviceBasicInformation, Bool>("power")
}

extension NodeState {
  /// What a bridge keeps by itself of a device behind it, and can change while it does not reach the device.
  private static let kept: Set<ClusterID> = [
    Descriptor.id, BridgedDeviceBasicInformation.id, FixedLabel.id, UserLabel.id, Groups.id, Binding.id,
  ]

  /// Whether a cluster is one of a device that the bridge does not reach: nothing comes of commands and writes there.
  func isOutOfReach(_ path: ClusterPath) -> Bool {
    guard !Self.kept.contains(path.cluster) else { return false }
    return isUnreachable(path.endpoint)
      || endpoints.contains { $0.parts.contains(path.endpoint) && isUnreachable($0.id) }
  }

  private func isUnreachable(_ endpoint: EndpointID) -> Bool {
    guard let index = index(ClusterPath(endpoint, BridgedDeviceBasicInformation.id)) else { return false }
    return clusters[index].values[BridgedDeviceBasicInformation.reachable.id] == false.tlv
  }
}
