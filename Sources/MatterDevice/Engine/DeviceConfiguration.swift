public import MatterClusters
public import MatterCrypto
public import MatterModel
public import MatterProtocol

/// What makes a device this one: who made it, how it is let in, and how it proves where it comes from.
public struct DeviceConfiguration: Sendable {
  // Basic Information. Matter Core § 11.1.5.
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
  /// As the maker counts them; StartUp events name it.
  public var softwareVersion: UInt32 = 1
  /// The same for people, at most 64 bytes.
  public var softwareVersionString = "1.0"

  // Letting in. Matter Core § 5.1.
  /// 12 bits.
  public var discriminator: UInt16
  /// Verifies the passcode of the label.
  public var passcode: PASEParameters
  /// Whether the device can be commissioned by the passcode of its label as long as it has no fabric.
  public var isCommissionable = true

  /// What it proves its make with.
  public var attestation: AttestationCredentials

  // Network.
  /// The UDP port, which it announces.
  public var port: UInt16
  /// 12 hex digits, made of the MAC address; the host's name in DNS-SD, unless somebody else on the network has it.
  public var hostName: String
  /// Its timing and abilities, which it announces.
  public var parameters = SessionParameters.own
  /// What General Diagnostics tells of the interfaces.
  public var networkInterfaces: [GeneralDiagnostics.NetworkInterface] = []
  /// Name of the interface in Network Commissioning, at most 32 bytes.
  public var networkName = "eth0"
  /// Milliseconds from 1970-01-01 UTC to the zero of the engine's clock, if the host knows it.
  public var epoch: Int64?
  /// Where nodes are that its endpoints may be bound to; others, and those that are not there, are looked for by DNS-SD.
  public var peers: [NodeID: SocketAddress] = [:]
  /// The key that test event triggers need, 16 bytes; nil: there are none to be triggered. Matter Core § 11.12.7.1.
  public var enableKey: [UInt8]?
  /// Labels that it was given before anybody commissioned it, as Fixed Label tells; both parts at most 16 bytes.
  public var fixedLabels: [FixedLabel.LabelStruct] = []
  /// Whether the root serves what the standard calls provisional: ConfigurationVersion, SupportedTemperatureUnits.
  public var servesProvisional = false
  /// Whether subscriptions outlive a restart: the device opens a session to each subscriber and reports at once.
  public var resumesSubscriptions = true
  /// How many sessions and exchanges it takes at once.
  public var limits = NodeConfiguration()

  public init(
    vendorName: String, vendorID: VendorID, productName: String, productID: UInt16, nodeLabel: String = "",
    serialNumber: String, uniqueID: String, discriminator: UInt16, passcode: PASEParameters,
    attestation: AttestationCredentials, port: UInt16, hostName: String
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

/// What a device proves its make with. Matter Core § 6.2.
public struct AttestationCredentials: Sendable {
  /// Of the device attestation certificate.
  public var dacKey: P256PrivateKey
  /// X.509, DER.
  public var deviceCertificate: [UInt8]
  /// X.509, DER.
  public var intermediateCertificate: [UInt8]
  /// CMS, DER.
  public var certificationDeclaration: [UInt8]

  public init(
    dacKey: P256PrivateKey, deviceCertificate: [UInt8], intermediateCertificate: [UInt8],
    certificationDeclaration: [UInt8]
  ) {
    self.dacKey = dacKey
    self.deviceCertificate = deviceCertificate
    self.intermediateCertificate = intermediateCertificate
    self.certificationDeclaration = certificationDeclaration
  }
}
