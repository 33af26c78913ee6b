public import MatterModel

/// Access Control (0x001F). The access control list of the node, by fabric. Matter Core § 9.10.
public enum AccessControl: Cluster {
  public static let id: ClusterID = 0x001F, revision: UInt16 = 2, name = "AccessControl"

  public static let extensionFeature = Feature(0, "EXTS", "Extension")
  public static let managedDevice = Feature(1, "MNGD", "ManagedDevice")
  public static let features: [Feature] = [extensionFeature, managedDevice]

  // MARK: Attributes

  public static let acl = Attribute<Self, [AccessControlEntryStruct]>(
    0x0000, "ACL", initial: [], quality: [.fabricScoped, .fabricSensitive], read: .administer, write: .administer)
  public static let `extension` = Attribute<Self, [AccessControlExtensionStruct]>(
    0x0001, "Extension", initial: [], quality: [.fabricScoped, .fabricSensitive], read: .administer,
    write: .administer, conformance: .features(extensionFeature.mask))
  public static let subjectsPerAccessControlEntry = Attribute<Self, UInt16>(
    0x0002, "SubjectsPerAccessControlEntry", initial: 4, quality: .fixed, constraint: .range(4...65535))
  public static let targetsPerAccessControlEntry = Attribute<Self, UInt16>(
    0x0003, "TargetsPerAccessControlEntry", initial: 3, quality: .fixed, constraint: .range(3...65535))
  public static let accessControlEntriesPerFabric = Attribute<Self, UInt16>(
    0x0004, "AccessControlEntriesPerFabric", initial: 4, quality: .fixed, constraint: .range(4...65535))
  public static let commissioningARL = Attribute<Self, [CommissioningAccessRestrictionEntryStruct]>(
    0x0005, "CommissioningARL", initial: [], quality: .fixed, conformance: .features(managedDevice.mask))
  public static let arl = Attribute<Self, [AccessRestrictionEntryStruct]>(
    0x0006, "ARL", initial: [], quality: [.fabricScoped, .fabricSensitive], conformance: .features(managedDevice.mask))

  // MARK: Commands

  public static let reviewFabricRestrictions = Command<
    Self, ReviewFabricRestrictionsRequest, ReviewFabricRestrictionsResponse
  >(
    0x00, "ReviewFabricRestrictions", response: 0x01, privilege: .administer, quality: .fabricScoped,
    conformance: .features(managedDevice.mask))

  // MARK: Events

  public static let accessControlEntryChanged = Event<Self, AccessControlEntryChangedEvent>(
    0x00, "AccessControlEntryChanged", read: .administer, isFabricSensitive: true)
  public static let accessControlExtensionChanged = Event<Self, AccessControlExtensionChangedEvent>(
    0x01, "AccessControlExtensionChanged", read: .administer, isFabricSensitive: true,
    conformance: .features(extensionFeature.mask))
  public static let fabricRestrictionReviewUpdate = Event<Self, FabricRestrictionReviewUpdateEvent>(
    0x02, "FabricRestrictionReviewUpdate", read: .administer, isFabricSensitive: true,
    conformance: .features(managedDevice.mask))

  public static let elements: [any ClusterElement] = [
    acl, `extension`, subjectsPerAccessControlEntry, targetsPerAccessControlEntry, accessControlEntriesPerFabric,
    commissioningARL, arl, reviewFabricRestrictions, accessControlEntryChanged, accessControlExtensionChanged,
    fabricRestrictionReviewUpdate,
  ]

  // MARK: Types

  /// Matter Core § 9.10.5.1.
  public struct ChangeType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let changed = Self(0), added = Self(1), removed = Self(2)
    public static let names: [UInt64: String] = [0: "Changed", 1: "Added", 2: "Removed"]
  }

  /// Matter Core § 9.10.5.2.
  public struct AccessControlEntryPrivilege: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let view = Self(1), proxyView = Self(2), operate = Self(3), manage = Self(4), administer = Self(5)
    public static let names: [UInt64: String] = [1: "View", 2: "ProxyView", 3: "Operate", 4: "Manage", 5: "Administer"]
  }

  /// Matter Core § 9.10.5.3.
  public struct AccessRestrictionType: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let attributeAccessForbidden = Self(0), attributeWriteForbidden = Self(1), commandForbidden = Self(2)
    public static let eventForbidden = Self(3)
    public static let names: [UInt64: String] = [
      0: "AttributeAccessForbidden", 1: "AttributeWriteForbidden", 2: "CommandForbidden", 3: "EventForbidden",
    ]
  }

  /// Matter Core § 9.10.5.4.
  public struct AccessControlEntryAuthMode: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let pase = Self(1), `case` = Self(2), group = Self(3)
    public static let names: [UInt64: String] = [1: "PASE", 2: "CASE", 3: "Group"]
  }

  /// Matter Core § 9.10.5.5.
  public struct AccessControlTargetStruct: ModelStruct {
    public var cluster: Nullable<ClusterID> = .null
    public var endpoint: Nullable<EndpointID> = .null
    public var deviceType: Nullable<DeviceTypeID> = .null
    public static let fields: [Field<Self>] = [
      .init(0, "Cluster", \.cluster), .init(1, "Endpoint", \.endpoint), .init(2, "DeviceType", \.deviceType),
    ]

    public init() {}

    public init(cluster: Nullable<ClusterID>, endpoint: Nullable<EndpointID>, deviceType: Nullable<DeviceTypeID>) {
      self.cluster = cluster
      self.endpoint = endpoint
      self.deviceType = deviceType
    }
  }

  /// Matter Core § 9.10.5.6.
  public struct AccessControlEntryStruct: FabricScoped {
    public var privilege: AccessControlEntryPrivilege = .view
    public var authMode: AccessControlEntryAuthMode = .pase
    public var subjects: Nullable<[NodeID]> = .null
    public var targets: Nullable<[AccessControlTargetStruct]> = .null
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "Privilege", \.privilege), .init(2, "AuthMode", \.authMode), .init(3, "Subjects", \.subjects),
      .init(4, "Targets", \.targets), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      privilege: AccessControlEntryPrivilege, authMode: AccessControlEntryAuthMode, subjects: Nullable<[NodeID]>,
      targets: Nullable<[AccessControlTargetStruct]>, fabricIndex: FabricIndex = .none
    ) {
      self.privilege = privilege
      self.authMode = authMode
      self.subjects = subjects
      self.targets = targets
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 9.10.5.7.
  public struct AccessControlExtensionStruct: FabricScoped {
    public var data: OctetString = []
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [.init(1, "Data", \.data), .init(fabricIndex: \.fabricIndex)]

    public init() {}

    public init(data: OctetString, fabricIndex: FabricIndex = .none) {
      self.data = data
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 9.10.5.8.
  public struct AccessRestrictionStruct: ModelStruct {
    public var type: AccessRestrictionType = .attributeAccessForbidden
    public var id: Nullable<UInt32> = .null
    public static let fields: [Field<Self>] = [.init(0, "Type", \.type), .init(1, "ID", \.id)]

    public init() {}

    public init(type: AccessRestrictionType, id: Nullable<UInt32>) {
      self.type = type
      self.id = id
    }
  }

  /// Matter Core § 9.10.5.9.
  public struct AccessRestrictionEntryStruct: FabricScoped {
    public var endpoint: EndpointID = 0
    public var cluster: ClusterID = 0
    public var restrictions: [AccessRestrictionStruct] = []
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(0, "Endpoint", \.endpoint), .init(1, "Cluster", \.cluster), .init(2, "Restrictions", \.restrictions),
      .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      endpoint: EndpointID, cluster: ClusterID, restrictions: [AccessRestrictionStruct],
      fabricIndex: FabricIndex = .none
    ) {
      self.endpoint = endpoint
      self.cluster = cluster
      self.restrictions = restrictions
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 9.10.5.10.
  public struct CommissioningAccessRestrictionEntryStruct: ModelStruct {
    public var endpoint: EndpointID = 0
    public var cluster: ClusterID = 0
    public var restrictions: [AccessRestrictionStruct] = []
    public static let fields: [Field<Self>] = [
      .init(0, "Endpoint", \.endpoint), .init(1, "Cluster", \.cluster), .init(2, "Restrictions", \.restrictions),
    ]

    public init() {}

    public init(endpoint: EndpointID, cluster: ClusterID, restrictions: [AccessRestrictionStruct]) {
      self.endpoint = endpoint
      self.cluster = cluster
      self.restrictions = restrictions
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 9.10.8.1.
  public struct ReviewFabricRestrictionsRequest: ModelStruct {
    public var arl: [CommissioningAccessRestrictionEntryStruct] = []
    public static let fields: [Field<Self>] = [.init(0, "ARL", \.arl)]

    public init() {}

    public init(arl: [CommissioningAccessRestrictionEntryStruct]) { self.arl = arl }
  }

  /// Matter Core § 9.10.8.2.
  public struct ReviewFabricRestrictionsResponse: ModelStruct {
    public var token: UInt64 = 0
    public static let fields: [Field<Self>] = [.init(0, "Token", \.token)]

    public init() {}

    public init(token: UInt64) { self.token = token }
  }

  /// Matter Core § 9.10.9.1.
  public struct AccessControlEntryChangedEvent: FabricScoped {
    public var adminNodeID: Nullable<NodeID> = .null
    public var adminPasscodeID: Nullable<UInt16> = .null
    public var changeType: ChangeType = .changed
    public var latestValue: Nullable<AccessControlEntryStruct> = .null
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "AdminNodeID", \.adminNodeID), .init(2, "AdminPasscodeID", \.adminPasscodeID),
      .init(3, "ChangeType", \.changeType), .init(4, "LatestValue", \.latestValue), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      adminNodeID: Nullable<NodeID>, adminPasscodeID: Nullable<UInt16>, changeType: ChangeType,
      latestValue: Nullable<AccessControlEntryStruct>, fabricIndex: FabricIndex = .none
    ) {
      self.adminNodeID = adminNodeID
      self.adminPasscodeID = adminPasscodeID
      self.changeType = changeType
      self.latestValue = latestValue
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 9.10.9.2.
  public struct AccessControlExtensionChangedEvent: FabricScoped {
    public var adminNodeID: Nullable<NodeID> = .null
    public var adminPasscodeID: Nullable<UInt16> = .null
    public var changeType: ChangeType = .changed
    public var latestValue: Nullable<AccessControlExtensionStruct> = .null
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "AdminNodeID", \.adminNodeID), .init(2, "AdminPasscodeID", \.adminPasscodeID),
      .init(3, "ChangeType", \.changeType), .init(4, "LatestValue", \.latestValue), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      adminNodeID: Nullable<NodeID>, adminPasscodeID: Nullable<UInt16>, changeType: ChangeType,
      latestValue: Nullable<AccessControlExtensionStruct>, fabricIndex: FabricIndex = .none
    ) {
      self.adminNodeID = adminNodeID
      self.adminPasscodeID = adminPasscodeID
      self.changeType = changeType
      self.latestValue = latestValue
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 9.10.9.3.
  public struct FabricRestrictionReviewUpdateEvent: FabricScoped {
    public var token: UInt64 = 0
    public var instruction: String?
    public var arlRequestFlowUrl: String?
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(0, "Token", \.token), .init(1, "Instruction", \.instruction),
      .init(2, "ARLRequestFlowUrl", \.arlRequestFlowUrl), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(
      token: UInt64, instruction: String? = nil, arlRequestFlowUrl: String? = nil, fabricIndex: FabricIndex = .none
    ) {
      self.token = token
      self.instruction = instruction
      self.arlRequestFlowUrl = arlRequestFlowUrl
      self.fabricIndex = fabricIndex
    }
  }
}
