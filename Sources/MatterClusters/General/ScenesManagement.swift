public import MatterModel

/// Scenes Management (0x0062). Stores and recalls the state of an endpoint's clusters as scenes.
/// Application Clusters § 1.4.
public enum ScenesManagement: Cluster {
  public static let id: ClusterID = 0x0062, revision: UInt16 = 1, name = "ScenesManagement"

  public static let sceneNames = Feature(0, "SN", "SceneNames")
  public static let features: [Feature] = [sceneNames]

  // MARK: Attributes

  public static let sceneTableSize = Attribute<Self, UInt16>(0x0001, "SceneTableSize", initial: 16, quality: .fixed)
  public static let fabricSceneInfo = Attribute<Self, [SceneInfoStruct]>(
    0x0002, "FabricSceneInfo", initial: [], quality: [.fabricScoped, .fabricSensitive])

  // MARK: Commands

  public static let addScene = Command<Self, AddSceneRequest, AddSceneResponse>(
    0x00, "AddScene", response: 0x00, privilege: .manage, quality: .fabricScoped)
  public static let viewScene = Command<Self, ViewSceneRequest, ViewSceneResponse>(
    0x01, "ViewScene", response: 0x01, quality: .fabricScoped)
  public static let removeScene = Command<Self, RemoveSceneRequest, RemoveSceneResponse>(
    0x02, "RemoveScene", response: 0x02, privilege: .manage, quality: .fabricScoped)
  public static let removeAllScenes = Command<Self, RemoveAllScenesRequest, RemoveAllScenesResponse>(
    0x03, "RemoveAllScenes", response: 0x03, privilege: .manage, quality: .fabricScoped)
  public static let storeScene = Command<Self, StoreSceneRequest, StoreSceneResponse>(
    0x04, "StoreScene", response: 0x04, privilege: .manage, quality: .fabricScoped)
  public static let recallScene = Command<Self, RecallSceneRequest, NoFields>(
    0x05, "RecallScene", quality: .fabricScoped)
  public static let getSceneMembership = Command<Self, GetSceneMembershipRequest, GetSceneMembershipResponse>(
    0x06, "GetSceneMembership", response: 0x06, quality: .fabricScoped)
  public static let copyScene = Command<Self, CopySceneRequest, CopySceneResponse>(
    0x40, "CopyScene", response: 0x40, privilege: .manage, quality: .fabricScoped, conformance: .optional)

  public static let elements: [any ClusterElement] = [
    sceneTableSize, fabricSceneInfo, addScene, viewScene, removeScene, removeAllScenes, storeScene, recallScene,
    getSceneMembership, copyScene,
  ]
}
