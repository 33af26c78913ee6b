public import MatterModel

// The fields of the commands and events of Scenes Management. Application Clusters § 1.4.

extension ScenesManagement {
  /// Application Clusters § 1.4.9.2.
  public struct AddSceneRequest: ModelStruct {
    public var groupID: GroupID = 0
    public var sceneID: UInt8 = 0
    public var transitionTime: UInt32 = 0
    public var sceneName: String = ""
    public var extensionFieldSetStructs: [ExtensionFieldSetStruct] = []
    public static let fields: [Field<Self>] = [
      .init(0, "GroupID", \.groupID), .init(1, "SceneID", \.sceneID), .init(2, "TransitionTime", \.transitionTime),
      .init(3, "SceneName", \.sceneName), .init(4, "ExtensionFieldSetStructs", \.extensionFieldSetStructs),
    ]

    public init() {}

    public init(
      groupID: GroupID, sceneID: UInt8, transitionTime: UInt32, sceneName: String,
      extensionFieldSetStructs: [ExtensionFieldSetStruct]
    ) {
      self.groupID = groupID
      self.sceneID = sceneID
      self.transitionTime = transitionTime
      self.sceneName = sceneName
      self.extensionFieldSetStructs = extensionFieldSetStructs
    }
  }

  /// Application Clusters § 1.4.9.3.
  public struct AddSceneResponse: ModelStruct {
    public var status: StatusCode = .success
    public var groupID: GroupID = 0
    public var sceneID: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "Status", \.status), .init(1, "GroupID", \.groupID), .init(2, "SceneID", \.sceneID),
    ]

    public init() {}

    public init(status: StatusCode, groupID: GroupID, sceneID: UInt8) {
      self.status = status
      self.groupID = groupID
      self.sceneID = sceneID
    }
  }

  /// Application Clusters § 1.4.9.4.
  public struct ViewSceneRequest: ModelStruct {
    public var groupID: GroupID = 0
    public var sceneID: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "GroupID", \.groupID), .init(1, "SceneID", \.sceneID)]

    public init() {}

    public init(groupID: GroupID, sceneID: UInt8) {
      self.groupID = groupID
      self.sceneID = sceneID
    }
  }

  /// Application Clusters § 1.4.9.5.
  public struct ViewSceneResponse: ModelStruct {
    public var status: StatusCode = .success
    public var groupID: GroupID = 0
    public var sceneID: UInt8 = 0
    public var transitionTime: UInt32?
    public var sceneName: String?
    public var extensionFieldSetStructs: [ExtensionFieldSetStruct]?
    public static let fields: [Field<Self>] = [
      .init(0, "Status", \.status), .init(1, "GroupID", \.groupID), .init(2, "SceneID", \.sceneID),
      .init(3, "TransitionTime", \.transitionTime), .init(4, "SceneName", \.sceneName),
      .init(5, "ExtensionFieldSetStructs", \.extensionFieldSetStructs),
    ]

    public init() {}

    public init(
      status: StatusCode, groupID: GroupID, sceneID: UInt8, transitionTime: UInt32? = nil, sceneName: String? = nil,
      extensionFieldSetStructs: [ExtensionFieldSetStruct]? = nil
    ) {
      self.status = status
      self.groupID = groupID
      self.sceneID = sceneID
      self.transitionTime = transitionTime
      self.sceneName = sceneName
      self.extensionFieldSetStructs = extensionFieldSetStructs
    }
  }

  /// Application Clusters § 1.4.9.6.
  public struct RemoveSceneRequest: ModelStruct {
    public var groupID: GroupID = 0
    public var sceneID: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "GroupID", \.groupID), .init(1, "SceneID", \.sceneID)]

    public init() {}

    public init(groupID: GroupID, sceneID: UInt8) {
      self.groupID = groupID
      self.sceneID = sceneID
    }
  }

  /// Application Clusters § 1.4.9.7.
  public struct RemoveSceneResponse: ModelStruct {
    public var status: StatusCode = .success
    public var groupID: GroupID = 0
    public var sceneID: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "Status", \.status), .init(1, "GroupID", \.groupID), .init(2, "SceneID", \.sceneID),
    ]

    public init() {}

    public init(status: StatusCode, groupID: GroupID, sceneID: UInt8) {
      self.status = status
      self.groupID = groupID
      self.sceneID = sceneID
    }
  }

  /// Application Clusters § 1.4.9.8.
  public struct RemoveAllScenesRequest: ModelStruct {
    public var groupID: GroupID = 0
    public static let fields: [Field<Self>] = [.init(0, "GroupID", \.groupID)]

    public init() {}

    public init(groupID: GroupID) { self.groupID = groupID }
  }

  /// Application Clusters § 1.4.9.9.
  public struct RemoveAllScenesResponse: ModelStruct {
    public var status: StatusCode = .success
    public var groupID: GroupID = 0
    public static let fields: [Field<Self>] = [.init(0, "Status", \.status), .init(1, "GroupID", \.groupID)]

    public init() {}

    public init(status: StatusCode, groupID: GroupID) {
      self.status = status
      self.groupID = groupID
    }
  }

  /// Application Clusters § 1.4.9.10.
  public struct StoreSceneRequest: ModelStruct {
    public var groupID: GroupID = 0
    public var sceneID: UInt8 = 0
    public static let fields: [Field<Self>] = [.init(0, "GroupID", \.groupID), .init(1, "SceneID", \.sceneID)]

    public init() {}

    public init(groupID: GroupID, sceneID: UInt8) {
      self.groupID = groupID
      self.sceneID = sceneID
    }
  }

  /// Application Clusters § 1.4.9.11.
  public struct StoreSceneResponse: ModelStruct {
    public var status: StatusCode = .success
    public var groupID: GroupID = 0
    public var sceneID: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "Status", \.status), .init(1, "GroupID", \.groupID), .init(2, "SceneID", \.sceneID),
    ]

    public init() {}

    public init(status: StatusCode, groupID: GroupID, sceneID: UInt8) {
      self.status = status
      self.groupID = groupID
      self.sceneID = sceneID
    }
  }

  /// Application Clusters § 1.4.9.12.
  public struct RecallSceneRequest: ModelStruct {
    public var groupID: GroupID = 0
    public var sceneID: UInt8 = 0
    public var transitionTime: Nullable<UInt32>?
    public static let fields: [Field<Self>] = [
      .init(0, "GroupID", \.groupID), .init(1, "SceneID", \.sceneID), .init(2, "TransitionTime", \.transitionTime),
    ]

    public init() {}

    public init(groupID: GroupID, sceneID: UInt8, transitionTime: Nullable<UInt32>? = nil) {
      self.groupID = groupID
      self.sceneID = sceneID
      self.transitionTime = transitionTime
    }
  }

  /// Application Clusters § 1.4.9.13.
  public struct GetSceneMembershipRequest: ModelStruct {
    public var groupID: GroupID = 0
    public static let fields: [Field<Self>] = [.init(0, "GroupID", \.groupID)]

    public init() {}

    public init(groupID: GroupID) { self.groupID = groupID }
  }

  /// Application Clusters § 1.4.9.14.
  public struct GetSceneMembershipResponse: ModelStruct {
    public var status: StatusCode = .success
    public var capacity: Nullable<UInt8> = .null
    public var groupID: GroupID = 0
    public var sceneList: [UInt8]?
    public static let fields: [Field<Self>] = [
      .init(0, "Status", \.status), .init(1, "Capacity", \.capacity), .init(2, "GroupID", \.groupID),
      .init(3, "SceneList", \.sceneList),
    ]

    public init() {}

    public init(status: StatusCode, capacity: Nullable<UInt8>, groupID: GroupID, sceneList: [UInt8]? = nil) {
      self.status = status
      self.capacity = capacity
      self.groupID = groupID
      self.sceneList = sceneList
    }
  }

  /// Application Clusters § 1.4.9.15.
  public struct CopySceneRequest: ModelStruct {
    public var mode: CopyMode = []
    public var groupIdentifierFrom: GroupID = 0
    public var sceneIdentifierFrom: UInt8 = 0
    public var groupIdentifierTo: GroupID = 0
    public var sceneIdentifierTo: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "Mode", \.mode), .init(1, "GroupIdentifierFrom", \.groupIdentifierFrom),
      .init(2, "SceneIdentifierFrom", \.sceneIdentifierFrom), .init(3, "GroupIdentifierTo", \.groupIdentifierTo),
      .init(4, "SceneIdentifierTo", \.sceneIdentifierTo),
    ]

    public init() {}

    public init(
      mode: CopyMode, groupIdentifierFrom: GroupID, sceneIdentifierFrom: UInt8, groupIdentifierTo: GroupID,
      sceneIdentifierTo: UInt8
    ) {
      self.mode = mode
      self.groupIdentifierFrom = groupIdentifierFrom
      self.sceneIdentifierFrom = sceneIdentifierFrom
      self.groupIdentifierTo = groupIdentifierTo
      self.sceneIdentifierTo = sceneIdentifierTo
    }
  }

  /// Application Clusters § 1.4.9.16.
  public struct CopySceneResponse: ModelStruct {
    public var status: StatusCode = .success
    public var groupIdentifierFrom: GroupID = 0
    public var sceneIdentifierFrom: UInt8 = 0
    public static let fields: [Field<Self>] = [
      .init(0, "Status", \.status), .init(1, "GroupIdentifierFrom", \.groupIdentifierFrom),
      .init(2, "SceneIdentifierFrom", \.sceneIdentifierFrom),
    ]

    public init() {}

    public init(status: StatusCode, groupIdentifierFrom: GroupID, sceneIdentifierFrom: UInt8) {
      self.status = status
      self.groupIdentifierFrom = groupIdentifierFrom
      self.sceneIdentifierFrom = sceneIdentifierFrom
    }
  }
}
