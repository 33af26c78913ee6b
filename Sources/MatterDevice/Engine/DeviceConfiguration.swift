public import MatterClusters
public import MatterModel
public import MatterProtocol

/// The identity, commissioning data, attestation credentials and network settings of a device.
public struct DeviceConfiguration: Sendable {
  // Basic Information. Matter Core § 11.1.5.
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
  /// A number assigned by the manufacturer; part of StartUp events.
  public var softwareVersion: UInt32 = 1
  /// The human-readable version, at most 64 bytes.
  public var softwareVersionString = "1.0"

  // Commissioning. Matter Core § 5.1.
  /// 12 bits.
  public var discriminator: UInt16
  /// The parameters of the passcode on the label.
  public var passcode: PASEParameters
  /// Whether the device can be commissioned with the passcode of its label while it has no fabric.
  public var isCommissionable = true

  /// The credentials for device attestation.
  public var attestation: Attestation

  // Network.
  /// The advertised UDP port.
  public var port: UInt16
  /// The DNS-SD host name: 12 hex digits derived from the MAC address. Replaced if it conflicts with another host.
  public var hostName: String
  /// The advertised session parameters.
  public var parameters = SessionParameters.own
  /// The value of NetworkInterfaces in General Diagnostics.
  public var networkInterfaces: [GeneralDiagnostics.NetworkInterface] = []
  /// The network id in Network Commissioning, at most 32 bytes.
  public var networkName = "eth0"
  /// The time from 1970-01-01 UTC to the zero of the engine's clock, in whole milliseconds; nil if the host does not know
  /// the time.
  public var epoch: Duration?
  /// Known addresses of nodes that endpoints may be bound to. Nodes that are missing or unreachable are found by
  /// DNS-SD.
  public var peers: [NodeID: SocketAddress] = [:]
  /// The enable key of test event triggers, 16 bytes; nil to disable them. Matter Core § 11.12.7.1.
  public var enableKey: [UInt8]?
  /// The labels of Fixed Label; label and value have at most 16 bytes each.
  public var fixedLabels: [LabelStruct] = []
  /// Whether the root serves the provisional attributes ConfigurationVersion and SupportedTemperatureUnits.
  public var servesProvisional = false
  /// Whether subscriptions survive a restart: the device opens a session to each subscriber and sends a report.
  public var resumesSubscriptions = true
  /// The timing of an intermittently connected device; nil if the device is always connected. Its root endpoint needs
  /// the server ``IcdManagementServer/make(_:)``.
  public var sleep: SleepConfiguration?
  /// The limits of sessions and exchanges.
  public var limits: NodeConfiguration {
    get { boxedLimits.wrappedValue }
    set { boxedLimits.wrappedValue = newValue }
  }
  private var boxedLimits = Boxed(wrappedValue: NodeConfiguration())
  /// Replaced decisions, for tests and fault injection.
  package var hooks = DeviceHooks()

  public init(
    vendorName: String, vendorID: VendorID, productName: String, productID: UInt16, nodeLabel: String = "",
    serialNumber: String, uniqueID: String, discriminator: UInt16, passcode: PASEParameters,
    attestation: Attestation, port: UInt16, hostName: String
  ) {
    self.vendorName = vendorName
    self.vendorID = vendorID
    self.productName = productName
    self.productID = productID
    self.nodeLabel = nodeLabel
    self.serialNumber = serialNumber
    self.uniqueID = uniqueID
    self.discriminator = discriminator
    self.passcode = passcode
    self.attestation = attestation
    self.port = port
    self.hostName = hostName
  }
}
