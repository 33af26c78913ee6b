import MatterClusters
public import MatterModel

/// The description of a bridged device.
public struct BridgedDeviceFacts: Sendable {
  /// At most 32 bytes.
  public var vendorName: String
  public var vendorID: VendorID
  /// At most 32 bytes.
  public var productName: String
  /// Assigned by the vendor.
  public var productID: UInt16
  /// The initial name, at most 32 bytes. Administrators can change it.
  public var nodeLabel: String
  /// At most 32 bytes.
  public var serialNumber: String
  /// Unique among devices, at most 32 bytes.
  public var uniqueID: String
  /// A number assigned by the manufacturer.
  public var hardwareVersion: UInt16 = 1
  /// The human-readable version, at most 64 bytes.
  public var hardwareVersionString = "1.0"
  /// A number assigned by the manufacturer.
  public var softwareVersion: UInt32 = 1
  /// The human-readable version, at most 64 bytes.
  public var softwareVersionString = "1.0"
  /// Whether the provisional attribute ConfigurationVersion is served.
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

/// The Bridged Device Basic Information server: describes a bridged device and reports whether it is reachable.
/// Matter Core § 9.13.
public enum BridgedDeviceServer {
  /// Returns a server with this description. The device is initially reachable.
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

  /// Switches the power of the bridged device on or off.
  static let power = ServerHook<BridgedDeviceBasicInformation, Bool>("power")
}

extension NodeState {
  /// Clusters that the bridge itself stores for a bridged device, and which can change while the device is unreachable.
  private static let kept: Set<ClusterID> = [
    Descriptor.id, BridgedDeviceBasicInformation.id, FixedLabel.id, UserLabel.id, Groups.id, Binding.id,
  ]

  /// Returns whether the cluster belongs to an unreachable bridged device. Commands and writes to it fail.
  func isUnreachable(_ path: ClusterPath) -> Bool {
    // By index, since an iterator copies the elements.
    guard
      isUnreachable(path.endpoint)
        || endpoints.indices.contains(where: {
          endpoints[$0].parts.contains(path.endpoint) && isUnreachable(endpoints[$0].id)
        })
    else { return false }
    return !Self.kept.contains(path.cluster)
  }

  private func isUnreachable(_ endpoint: EndpointID) -> Bool {
    guard let index = index(ClusterPath(endpoint, BridgedDeviceBasicInformation.id)) else { return false }
    return clusters[index][BridgedDeviceBasicInformation.reachable.id] == false.tlv
  }
}
