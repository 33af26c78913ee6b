public import MatterModel

/// Group Key Management (0x003F). The key sets of groups, and their mapping to groups. Matter Core § 11.2.
public enum GroupKeyManagement: Cluster {
  public static let id: ClusterID = 0x003F, revision: UInt16 = 2, name = "GroupKeyManagement"

  public static let cacheAndSync = Feature(0, "CS", "CacheAndSync", provisional: true)
  public static let features: [Feature] = [cacheAndSync]

  // MARK: Attributes

  public static let groupKeyMap = Attribute<Self, [GroupKeyMapStruct]>(
    0x0000, "GroupKeyMap", initial: [], quality: [.nonVolatile, .fabricScoped], write: .manage)
  public static let groupTable = Attribute<Self, [GroupInfoMapStruct]>(
    0x0001, "GroupTable", initial: [], quality: .fabricScoped)
  public static let maxGroupsPerFabric = Attribute<Self, UInt16>(
    0x0002, "MaxGroupsPerFabric", initial: 0, quality: .fixed)
  public static let maxGroupKeysPerFabric = Attribute<Self, UInt16>(
    0x0003, "MaxGroupKeysPerFabric", initial: 1, quality: .fixed, constraint: .range(1...65535))

  // MARK: Commands

  public static let keySetWrite = Command<Self, KeySetWriteRequest, NoFields>(
    0x00, "KeySetWrite", privilege: .administer, quality: .fabricScoped)
  public static let keySetRead = Command<Self, KeySetReadRequest, KeySetReadResponse>(
    0x01, "KeySetRead", response: 0x02, privilege: .administer, quality: .fabricScoped)
  public static let keySetRemove = Command<Self, KeySetRemoveRequest, NoFields>(
    0x03, "KeySetRemove", privilege: .administer, quality: .fabricScoped)
  public static let keySetReadAllIndices = Command<Self, NoFields, KeySetReadAllIndicesResponse>(
    0x04, "KeySetReadAllIndices", response: 0x05, privilege: .administer, quality: .fabricScoped)

  public static let elements: [any ClusterElement] = [
    groupKeyMap, groupTable, maxGroupsPerFabric, maxGroupKeysPerFabric, keySetWrite, keySetRead, keySetRemove,
    keySetReadAllIndices,
  ]

  // MARK: Types

  /// Matter Core § 11.2.5.1.
  public struct GroupKeySecurityPolicy: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let trustFirst = Self(0), cacheAndSync = Self(1)
    public static let names: [UInt64: String] = [0: "TrustFirst", 1: "CacheAndSync"]
  }

  /// Matter Core § 11.2.5.2.
  public struct GroupKeyMulticastPolicy: WireCode {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let perGroupId = Self(0), allNodes = Self(1)
    public static let names: [UInt64: String] = [0: "PerGroupId", 1: "AllNodes"]
  }

  /// Matter Core § 11.2.5.3.
  public struct GroupKeyMapStruct: FabricScoped {
    public var groupId: GroupID = 0
    public var groupKeySetID: UInt16 = 0
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "GroupId", \.groupId), .init(2, "GroupKeySetID", \.groupKeySetID), .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(groupId: GroupID, groupKeySetID: UInt16, fabricIndex: FabricIndex = .none) {
      self.groupId = groupId
      self.groupKeySetID = groupKeySetID
      self.fabricIndex = fabricIndex
    }
  }

  /// Matter Core § 11.2.5.4.
  public struct GroupKeySetStruct: ModelStruct {
    public var groupKeySetID: UInt16 = 0
    public var groupKeySecurityPolicy: GroupKeySecurityPolicy = .trustFirst
    public var epochKey0: Nullable<OctetString> = .null
    public var epochStartTime0: Nullable<UInt64> = .null
    public var epochKey1: Nullable<OctetString> = .null
    public var epochStartTime1: Nullable<UInt64> = .null
    public var epochKey2: Nullable<OctetString> = .null
    public var epochStartTime2: Nullable<UInt64> = .null
    public var groupKeyMulticastPolicy: GroupKeyMulticastPolicy?
    public static let fields: [Field<Self>] = [
      .init(0, "GroupKeySetID", \.groupKeySetID), .init(1, "GroupKeySecurityPolicy", \.groupKeySecurityPolicy),
      .init(2, "EpochKey0", \.epochKey0), .init(3, "EpochStartTime0", \.epochStartTime0),
      .init(4, "EpochKey1", \.epochKey1), .init(5, "EpochStartTime1", \.epochStartTime1),
      .init(6, "EpochKey2", \.epochKey2), .init(7, "EpochStartTime2", \.epochStartTime2),
      .init(8, "GroupKeyMulticastPolicy", \.groupKeyMulticastPolicy),
    ]

    public init() {}

    public init(
      groupKeySetID: UInt16, groupKeySecurityPolicy: GroupKeySecurityPolicy, epochKey0: Nullable<OctetString>,
      epochStartTime0: Nullable<UInt64>, epochKey1: Nullable<OctetString>, epochStartTime1: Nullable<UInt64>,
      epochKey2: Nullable<OctetString>, epochStartTime2: Nullable<UInt64>,
      groupKeyMulticastPolicy: GroupKeyMulticastPolicy? = nil
    ) {
      self.groupKeySetID = groupKeySetID
      self.groupKeySecurityPolicy = groupKeySecurityPolicy
      self.epochKey0 = epochKey0
      self.epochStartTime0 = epochStartTime0
      self.epochKey1 = epochKey1
      self.epochStartTime1 = epochStartTime1
      self.epochKey2 = epochKey2
      self.epochStartTime2 = epochStartTime2
      self.groupKeyMulticastPolicy = groupKeyMulticastPolicy
    }
  }

  /// Matter Core § 11.2.5.5.
  public struct GroupInfoMapStruct: FabricScoped {
    public var groupId: GroupID = 0
    public var endpoints: [EndpointID] = []
    public var groupName: String?
    public var fabricIndex: FabricIndex = .none
    public static let fields: [Field<Self>] = [
      .init(1, "GroupId", \.groupId), .init(2, "Endpoints", \.endpoints), .init(3, "GroupName", \.groupName),
      .init(fabricIndex: \.fabricIndex),
    ]

    public init() {}

    public init(groupId: GroupID, endpoints: [EndpointID], groupName: String? = nil, fabricIndex: FabricIndex = .none) {
      self.groupId = groupId
      self.endpoints = endpoints
      self.groupName = groupName
      self.fabricIndex = fabricIndex
    }
  }

  // MARK: Fields of commands and events

  /// Matter Core § 11.2.7.1.
  public struct KeySetWriteRequest: ModelStruct {
    public var groupKeySet: GroupKeySetStruct = .init()
    public static let fields: [Field<Self>] = [.init(0, "GroupKeySet", \.groupKeySet)]

    public init() {}

    public init(groupKeySet: GroupKeySetStruct) { self.groupKeySet = groupKeySet }
  }

  /// Matter Core § 11.2.7.2.
  public struct KeySetReadRequest: ModelStruct {
    public var groupKeySetID: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "GroupKeySetID", \.groupKeySetID)]

    public init() {}

    public init(groupKeySetID: UInt16) { self.groupKeySetID = groupKeySetID }
  }

  /// Matter Core § 11.2.7.3.
  public struct KeySetReadResponse: ModelStruct {
    public var groupKeySet: GroupKeySetStruct = .init()
    public static let fields: [Field<Self>] = [.init(0, "GroupKeySet", \.groupKeySet)]

    public init() {}

    public init(groupKeySet: GroupKeySetStruct) { self.groupKeySet = groupKeySet }
  }

  /// Matter Core § 11.2.7.4.
  public struct KeySetRemoveRequest: ModelStruct {
    public var groupKeySetID: UInt16 = 0
    public static let fields: [Field<Self>] = [.init(0, "GroupKeySetID", \.groupKeySetID)]

    public init() {}

    public init(groupKeySetID: UInt16) { self.groupKeySetID = groupKeySetID }
  }

  /// Matter Core § 11.2.7.6.
  public struct KeySetReadAllIndicesResponse: ModelStruct {
    public var groupKeySetIDs: [UInt16] = []
    public static let fields: [Field<Self>] = [.init(0, "GroupKeySetIDs", \.groupKeySetIDs)]

    public init() {}

    public init(groupKeySetIDs: [UInt16]) { self.groupKeySetIDs = groupKeySetIDs }
  }
}
