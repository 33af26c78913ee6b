public import MatterClusters
public import MatterModel
public import MatterProtocol

/// What to commission, and how.
public struct CommissioningRequest: Sendable {
  /// Where the device is looked for.
  public enum Target: Hashable, Sendable {
    /// At these addresses, in turn, without discovery.
    case addresses([SocketAddress])
    /// Among the devices that DNS-SD finds, those with this discriminator.
    case discriminator(SetupDiscriminator)
    /// Any device in commissioning mode.
    case any
    /// The instance with this name.
    case instance(UInt64)
  }

  /// Which product a code is for.
  public struct Product: Hashable, Sendable, CustomStringConvertible {
    public var vendorID: VendorID
    /// Given by the vendor.
    public var productID: UInt16

    public init(vendorID: VendorID, productID: UInt16) { (self.vendorID, self.productID) = (vendorID, productID) }

    public var description: String { "vendor \(Self.hex(vendorID.rawValue)), product \(Self.hex(productID))" }

    private static func hex(_ number: UInt16) -> String {
      let digits = String(number, radix: 16, uppercase: true)
      return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }

  /// What to do with a device that can't prove what it is, or is not what the code says.
  public enum AttestationPolicy: Hashable, Sendable {
    case requireTrusted
    /// Go on, and say so in the result.
    case proceedAnyway
  }

  public var target: Target
  /// 1 to 99999998, without those that everybody guesses. Matter Core § 5.1.7.
  public var passcode: UInt32
  /// What the code is for; nil: it does not say.
  public var product: Product?
  /// What the code wants done before.
  public var flow = CommissioningFlow.standard
  /// Nil: the next one that is free.
  public var nodeID: NodeID?
  /// Tags for the device's certificate, three at most.
  public var tags: [CASEAuthenticatedTag] = []
  public var attestationPolicy = AttestationPolicy.requireTrusted
  /// How long the device waits for the next step before it undoes everything.
  public var failSafe: Duration = .seconds(60)
  /// Nil: whatever the device is capable of.
  public var regulatoryLocation: GeneralCommissioning.RegulatoryLocationType?
  /// Two letters, ISO 3166-1, or XX.
  public var countryCode = "XX"
  /// How long to look for the device.
  public var discoveryTime: Duration = .seconds(15)
  /// For all of it.
  public var timeout: Duration = .seconds(120)

  public init(passcode: UInt32, target: Target) {
    self.passcode = passcode
    self.target = target
  }

  /// By setup code.
  public init(_ code: SetupPayload) {
    self.init(passcode: code.passcode, target: .discriminator(code.discriminator))
    if code.vendorID != 0 { product = Product(vendorID: VendorID(code.vendorID), productID: code.productID) }
    flow = code.flow
  }
}

/// The steps of commissioning, in order. Matter Core § 5.5.
public enum CommissioningStep: String, CaseIterable, Hashable, Sendable {
  /// Find the device with DNS-SD.
  case discover
  /// A session by passcode.
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
  /// Find the device on the fabric, and open a session with certificates.
  case connectOperationally
  case complete
}

/// What is known of a device that was commissioned.
public struct CommissioningResult: Hashable, Sendable {
  public var nodeID: NodeID
  /// The number that the device gave the fabric.
  public var fabricIndex: FabricIndex?
  public var information: DeviceInformation
  /// Nil: attestation was verified; else why it was not, and the policy was to proceed.
  public var attestationFailure: ControllerError.Attestation?
  public var attestation: DeviceAttestation
  public var address: SocketAddress
  public var duration: Duration
}

/// What the attestation of a device proved when it was commissioned. Matter Core § 6.2.3.
public enum DeviceAttestation: String, Hashable, Sendable {
  /// Its certificates come from a trusted root.
  case production
  /// Its certificates depend on public test keys, which prove nothing.
  case test
  /// It was not accepted, and the device was commissioned nevertheless.
  case unverified
}

/// What a device says of itself before it is commissioned.
public struct DeviceInformation: Hashable, Sendable {
  /// An endpoint as its Descriptor tells it. Matter Core § 9.5.
  public struct Endpoint: Hashable, Sendable {
    public var id: EndpointID
    public var deviceTypes: [DeviceTypeID]
    /// The endpoints that belong to it.
    public var parts: [EndpointID]
  }

  public var vendorID: VendorID = 0
  /// Given by the vendor; 0: not told.
  public var productID: UInt16 = 0
  /// Empty: not told.
  public var vendorName = ""
  /// Empty: not told.
  public var productName = ""
  /// Empty: not told.
  public var serialNumber = ""
  /// By id.
  public var endpoints: [Endpoint] = []
  /// The feature map of Network Commissioning by endpoint: which kinds of network the device has.
  public var networkFeatures: [EndpointID: UInt32] = [:]

  public init() {}
}

/// A window in which another administrator may commission a device.
public struct CommissioningWindow: Hashable, Sendable {
  /// By which passcode the device can be commissioned while it is open.
  public enum Kind: Hashable, Sendable {
    /// With the passcode on the device's label.
    case basic
    /// With a passcode made for this window.
    case enhanced(passcode: UInt32, discriminator: UInt16)
  }

  public var kind: Kind
  public var duration: Duration
  /// What to show to the other administrator; nil for a basic window.
  public var code: SetupPayload?
}

/// How to open a commissioning window. Matter Core § 11.19.8.
public struct CommissioningWindowRequest: Hashable, Sendable {
  /// 3 to 15 minutes.
  public var duration: Duration
  /// Whether the window gets a passcode of its own, and not the one on the device's label.
  public var isEnhanced: Bool
  /// Nil: drawn at random.
  public var passcode: UInt32?
  /// Nil: drawn at random.
  public var discriminator: UInt16?
  /// Of PBKDF2: 1,000 to 100,000. Matter Core § 3.9.
  public var iterations: UInt32 = 1000
  /// 16 to 32 bytes; nil: drawn at random.
  public var salt: [UInt8]?

  public init(duration: Duration = .seconds(180), isEnhanced: Bool = true) {
    (self.duration, self.isEnhanced) = (duration, isEnhanced)
  }
}
