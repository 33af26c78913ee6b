public import MatterModel

/// Administrator Commissioning (0x003C).
/// Opens and closes the window in which another administrator may commission the node.
/// Matter Core § 11.19.
public enum AdministratorCommissioning: Cluster {
  public static let id: ClusterID = 0x003C, revision: UInt16 = 1, name = "AdministratorCommissioning"

  public static let basic = Feature(0, "BC", "Basic")
  public static let features: [Feature] = [basic]

  // MARK: Attributes

  public static let windowStatus = Attribute<Self, CommissioningWindowStatus>(0x0000, "WindowStatus")
  public static let adminFabricIndex = Attribute<Self, Nullable<FabricIndex>>(
    0x0001, "AdminFabricIndex", initial: .null)
  public static let adminVendorId = Attribute<Self, Nullable<VendorID>>(0x0002, "AdminVendorId", initial: .null)

  // MARK: Commands

  public static let openCommissioningWindow = Command<Self, OpenCommissioningWindowRequest, NoFields>(
    0x00, "OpenCommissioningWindow", privilege: .administer, quality: .timed)
  public static let openBasicCommissioningWindow = Command<Self, OpenBasicCommissioningWindowRequest, NoFields>(
    0x01, "OpenBasicCommissioningWindow", privilege: .administer, quality: .timed, conformance: .features(basic.mask))
  public static let revokeCommissioning = Command<Self, NoFields, NoFields>(
    0x02, "RevokeCommissioning", privilege: .administer, quality: .timed)

  public static let elements: [any ClusterElement] = [
    windowStatus, adminFabricIndex, adminVendorId, openCommissioningWindow, openBasicCommissioningWindow,
    revokeCommissioning,
  ]

  // MARK: Types

  /// Matter Core § 11.19.5.1.
  public struct CommissioningWindowStatus: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let windowNotOpen = Self(0), enhancedWindowOpen = Self(1), basicWindowOpen = Self(2)
    public static let names: [UInt64: String] = [0: "WindowNotOpen", 1: "EnhancedWindowOpen", 2: "BasicWindowOpen"]
  }

  /// Matter Core § 11.19.6.1.
  public struct StatusCodeEnum: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let busy = Self(2), pakeParameterError = Self(3), windowNotOpen = Self(4)
    public static let names: [UInt64: String] = [2: "Busy", 3: "PakeParameterError", 4: "WindowNotOpen"]
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.19.8.1.
  public struct OpenCommissioningWindowRequest: ModelStruct {
    public var commissioningTimeout: UInt16 = 0
    public var pakePasscodeVerifier: OctetString = []
    public var discriminator: UInt16 = 0
    public var iterations: UInt32 = 0
    public var salt: OctetString = []
    public static let fields: [Field<Self>] = [
      .init(0, "CommissioningTimeout", \.commissioningTimeout),
      .init(1, "PAKEPasscodeVerifier", \.pakePasscodeVerifier), .init(2, "Discriminator", \.discriminator),
      .init(3, "Iterations", \.iterations), .init(4, "Salt", \.salt),
    ]

    public init() {}

    public init(
      commissioningTimeout: UInt16, pakePasscodeVerifier: OctetString, discriminator: UInt16, iterations: UInt32,
      salt: OctetString
    ) {
      self.commissioningTimeout = commissioningTimeout
      self.pakePasscodeVerifier = pakePasscodeVerifier
      self.discriminator = discriminator
      self.iterations = iterations
      self.salt = salt
    }
  }

  /// Matter Core § 11.19.8.2.
  public struct OpenBasicCommissioningWindowRequest: ModelStruct {
    public var commissioningTimeout: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "CommissioningTimeout", \.commissioningTimeout)]

    public init() {}

    public init(commissioningTimeout: UInt16) { self.commissioningTimeout = commissioningTimeout }
  }
}
