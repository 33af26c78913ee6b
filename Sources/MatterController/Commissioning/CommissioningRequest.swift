public import MatterCertificates
public import MatterClusters
public import MatterModel
public import MatterProtocol

/// The device to commission, and the parameters of the commissioning.
public struct CommissioningRequest: Sendable, Codable {
  /// How the device is found.
  public enum Target: Hashable, Sendable, Codable {
    /// The addresses, tried in turn, without discovery.
    case addresses([SocketAddress])
    /// Devices found over DNS-SD with this discriminator.
    case discriminator(SetupDiscriminator)
    /// Any device in commissioning mode.
    case any
    /// The DNS-SD instance with this name.
    case instance(UInt64)
  }

  /// Vendor and product that a setup code is for.
  public struct Product: Hashable, Sendable, Codable, CustomStringConvertible {
    public var vendorID: VendorID
    /// Assigned by the vendor.
    public var productID: UInt16

    public init(vendorID: VendorID, productID: UInt16) { (self.vendorID, self.productID) = (vendorID, productID) }

    public var description: String { "vendor \(vendorID), product 0x\(productID.hexadecimal(4))" }
  }

  /// Treatment of a device that fails attestation or is not the product in the setup code.
  public enum AttestationPolicy: Hashable, Sendable, Codable {
    case requireTrusted
    /// Continue, and state the failure in the result.
    case proceedAnyway
  }

  public var target: Target
  /// 1 to 99999998, except the trivial ones. Matter Core § 5.1.7.
  public var passcode: UInt32
  /// The product in the setup code, or nil if the code has none.
  public var product: Product?
  /// The commissioning flow in the setup code.
  public var flow = CommissioningFlow.standard
  /// The node id to assign, or nil for the next free one.
  public var nodeID: NodeID?
  /// CASE authenticated tags for the device's certificate, at most three.
  public var tags: [CASEAuthenticatedTag] = []
  public var attestationPolicy = AttestationPolicy.requireTrusted
  /// The device's fail-safe: it reverts all changes when this time passes without the next step.
  public var failSafe: Duration = .seconds(60)
  /// Nil: the device's location capability.
  public var regulatoryLocation: GeneralCommissioning.RegulatoryLocationType?
  /// ISO 3166-1 alpha-2 country code, or `XX`.
  public var countryCode = "XX"
  /// Timeout of discovery.
  public var discoveryTime: Duration = .seconds(15)
  /// Timeout of the whole commissioning.
  public var timeout: Duration = .seconds(120)

  /// Verifies the attestation instead of the controller's verifier, if set. Not part of the encoding.
  public var attestation: AttestationVerifier?

  private enum CodingKeys: String, CodingKey {
    case target, passcode, product, flow, nodeID, tags, attestationPolicy, failSafe, regulatoryLocation, countryCode
    case discoveryTime, timeout
  }

  public init(passcode: UInt32, target: Target) {
    self.passcode = passcode
    self.target = target
  }

  /// Creates a request from a setup code.
  public init(_ code: SetupPayload) {
    self.init(passcode: code.passcode, target: .discriminator(code.discriminator))
    if code.vendorID != 0 { product = Product(vendorID: VendorID(code.vendorID), productID: code.productID) }
    flow = code.flow
  }
}

/// The steps of commissioning, in order. Matter Core § 5.5.
public enum CommissioningStep: String, CaseIterable, Hashable, Sendable, Codable {
  /// Find the device with DNS-SD.
  case discover
  /// Establish a PASE session.
  case connectByPasscode
  case readInformation
  case armFailSafe
  case setRegulatoryConfig
  /// Ask for the PAI, the DAC and the attestation elements.
  case requestAttestation
  case verifyAttestation
  /// Ask for the signing request of the device's new key.
  case requestSigning
  case issueCertificate
  case addTrustedRoot
  case addCertificate
  /// Find the device on the fabric and establish a CASE session.
  case connectOperationally
  case complete
}

/// A commissioned device.
public struct CommissioningResult: Hashable, Sendable, Codable {
  public var nodeID: NodeID
  /// The index that the device assigned to the fabric.
  public var fabricIndex: FabricIndex?
  public var information: DeviceInformation
  /// Why attestation failed under ``CommissioningRequest/AttestationPolicy/proceedAnyway``, or nil if it succeeded.
  public var attestationFailure: ControllerError.Attestation?
  public var attestation: DeviceAttestation
  public var address: SocketAddress
  public var duration: Duration
}

/// Result of a device's attestation at commissioning. Matter Core § 6.2.3.
public enum DeviceAttestation: String, Hashable, Sendable, Codable {
  /// The certificate chain ends in a trusted root.
  case production
  /// The certificate chain ends in public test keys, which prove nothing.
  case test
  /// Attestation failed, and the device was commissioned nevertheless.
  case unverified
}

/// Basic information and Descriptor contents read from a device before it is commissioned.
public struct DeviceInformation: Hashable, Sendable, Codable {
  /// An endpoint as described by its Descriptor cluster. Matter Core § 9.5.
  public struct Endpoint: Hashable, Sendable, Codable {
    public var id: EndpointID
    public var deviceTypes: [DeviceTypeID]
    /// Endpoints composed by this one (PartsList).
    public var parts: [EndpointID]
  }

  public var vendorID: VendorID = 0
  /// Assigned by the vendor; 0 if unknown.
  public var productID: UInt16 = 0
  /// Empty if unknown.
  public var vendorName = ""
  /// Empty if unknown.
  public var productName = ""
  /// Empty if unknown.
  public var serialNumber = ""
  /// Ordered by id.
  public var endpoints: [Endpoint] = []
  /// FeatureMap of Network Commissioning by endpoint, which gives the network types of the device.
  public var networkFeatures: [EndpointID: UInt32] = [:]

  public init() {}
}
