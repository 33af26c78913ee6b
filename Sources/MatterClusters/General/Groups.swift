public import MatterModel

/// Groups (0x0004). The groups that an endpoint belongs to. Application Clusters § 1.3.
public enum Groups: Cluster {
  public static let id: ClusterID = 0x0004, revision: UInt16 = 4, name = "Groups"

  public static let groupNames = Feature(0, "GN", "GroupNames")
  public static let features: [Feature] = [groupNames]

  // MARK: Attributes

  public static let nameSupport = Attribute<Self, NameSupport>(0x0000, "NameSupport", initial: [], quality: .fixed)

  // MARK: Commands

  public static let addGroup = Command<Self, AddGroupRequest, AddGroupResponse>(
    0x00, "AddGroup", response: 0x00, privilege: .manage, quality: .fabricScoped)
  public static let viewGroup = Command<Self, ViewGroupRequest, ViewGroupResponse>(
    0x01, "ViewGroup", response: 0x01, quality: .fabricScoped)
  public static let getGroupMembership = Command<Self, GetGroupMembershipRequest, GetGroupMembershipResponse>(
    0x02, "GetGroupMembership", response: 0x02, quality: .fabricScoped)
  public static let removeGroup = Command<Self, RemoveGroupRequest, RemoveGroupResponse>(
    0x03, "RemoveGroup", response: 0x03, privilege: .manage, quality: .fabricScoped)
  public static let removeAllGroups = Command<Self, NoFields, NoFields>(
    0x04, "RemoveAllGroups", privilege: .manage, quality: .fabricScoped)
  public static let addGroupIfIdentifying = Command<Self, AddGroupIfIdentifyingRequest, NoFields>(
    0x05, "AddGroupIfIdentifying", privilege: .manage, quality: .fabricScoped)

  public static let elements: [any ClusterElement] = [
    nameSupport, addGroup, viewGroup, getGroupMembership, removeGroup, removeAllGroups, addGroupIfIdentifying,
  ]

  // MARK: Types

  /// Application Clusters § 1.3.5.1.
  public struct NameSupport: WireBitmap {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let groupNames = Self(rawValue: 1 << 7)
    public static let names: [Int: String] = [7: "GroupNames"]
  }

  // MARK: Fields of commands and events

  /// Application Clusters § 1.3.7.1.
  public struct AddGroupRequest: ModelStruct {
    public var groupID: GroupID = 0
    public var groupName: String = ""
    public static let fields: [Field<Self>] = [.init(0, "GroupID", \.groupID), .init(1, "GroupName", \.groupName)]

    public init() {}

    public init(groupID: GroupID, groupName: String) {
      self.groupID = groupID
      self.groupName = groupName
    }
  }

  /// Application Clusters § 1.3.7.7.
  public struct AddGroupResponse: ModelStruct {
    public var status: StatusCode = .success
    public var groupID: GroupID = 0
    public static let fields: [Field<Self>] = [.init(0, "Status", \.status), .init(1, "GroupID", \.groupID)]

    public init() {}

    public init(status: StatusCode, groupID: GroupID) {
      self.status = status
      self.groupID = groupID
    }
  }

  /// Application Clusters § 1.3.7.2.
  public struct ViewGroupRequest: ModelStruct {
    public var groupID: GroupID = 0
    public static let fields: [Field<Self>] = [.init(0, "GroupID", \.groupID)]

    public init() {}

    public init(groupID: GroupID) { self.groupID = groupID }
  }

  /// Application Clusters § 1.3.7.8.
  public struct ViewGroupResponse: ModelStruct {
    public var status: StatusCode = .success
    public var groupID: GroupID = 0
    public var groupName: String = ""
    public static let fields: [Field<Self>] = [
      .init(0, "Status", \.status), .init(1, "GroupID", \.groupID), .init(2, "GroupName", \.groupName),
    ]

    public init() {}

    public init(status: StatusCode, groupID: GroupID, groupName: String) {
      self.status = status
      self.groupID = groupID
      self.groupName = groupName
    }
  }

  /// Application Clusters § 1.3.7.3.
  public struct GetGroupMembershipRequest: ModelStruct {
    public var groupList: [GroupID] = []
    public static let fields: [Field<Self>] = [.init(0, "GroupList", \.groupList)]

    public init() {}

    public init(groupList: [GroupID]) { self.groupList = groupList }
  }

  /// Application Clusters § 1.3.7.9.
  public struct GetGroupMembershipResponse: ModelStruct {
    public var capacity: Nullable<UInt8> = .null
    public var groupList: [GroupID] = []
    public static let fields: [Field<Self>] = [.init(0, "Capacity", \.capacity), .init(1, "GroupList", \.groupList)]

    public init() {}

    public init(capacity: Nullable<UInt8>, groupList: [GroupID]) {
      self.capacity = capacity
      self.groupList = groupList
    }
  }

  /// Application Clusters § 1.3.7.4.
  public struct RemoveGroupRequest: ModelStruct {
    public var groupID: GroupID = 0
    public static let fields: [Field<Self>] = [.init(0, "GroupID", \.groupID)]

    public init() {}

    public init(groupID: GroupID) { self.groupID = groupID }
  }

  /// Application Clusters § 1.3.7.10.
  public struct RemoveGroupResponse: ModelStruct {
    public var status: StatusCode = .success
    public var groupID: GroupID = 0
    public static let fields: [Field<Self>] = [.init(0, "Status", \.status), .init(1, "GroupID", \.groupID)]

    public init() {}

    public init(status: StatusCode, groupID: GroupID) {
      self.status = status
      self.groupID = groupID
    }
  }

  /// Application Clusters § 1.3.7.6.
  public struct AddGroupIfIdentifyingRequest: ModelStruct {
    public var groupID: GroupID = 0
    public var groupName: String = ""
    public static let fields: [Field<Self>] = [.init(0, "GroupID", \.groupID), .init(1, "GroupName", \.groupName)]

    public init() {}

    public init(groupID: GroupID, groupName: String) {
      self.groupID = groupID
      self.groupName = groupName
    }
  }
}
