public import HomeModel
public import MatterClusters
public import MatterModel

// The commands of Scenes Management that have fields, with labels. Application Clusters § 1.4.

extension Trait where C == ScenesManagement {
  /// Application Clusters § 1.4.9.2.
  /// - Parameter transitionTime: milliseconds.
  @discardableResult
  public func addScene(
    groupID: GroupID, sceneID: UInt8, transitionTime: UInt32 = 0, sceneName: String,
    extensionFieldSetStructs: [ScenesManagement.ExtensionFieldSetStruct]
  ) async throws(HomeError) -> ScenesManagement.AddSceneResponse {
    try await invoke(
      ScenesManagement.addScene,
      .init(
        groupID: groupID, sceneID: sceneID, transitionTime: transitionTime, sceneName: sceneName,
        extensionFieldSetStructs: extensionFieldSetStructs))
  }

  /// Application Clusters § 1.4.9.4.
  @discardableResult
  public func viewScene(
    groupID: GroupID, sceneID: UInt8
  ) async throws(HomeError) -> ScenesManagement.ViewSceneResponse {
    try await invoke(ScenesManagement.viewScene, .init(groupID: groupID, sceneID: sceneID))
  }

  /// Application Clusters § 1.4.9.6.
  @discardableResult
  public func removeScene(
    groupID: GroupID, sceneID: UInt8
  ) async throws(HomeError) -> ScenesManagement.RemoveSceneResponse {
    try await invoke(ScenesManagement.removeScene, .init(groupID: groupID, sceneID: sceneID))
  }

  /// Application Clusters § 1.4.9.8.
  @discardableResult
  public func removeAllScenes(
    groupID: GroupID
  ) async throws(HomeError) -> ScenesManagement.RemoveAllScenesResponse {
    try await invoke(ScenesManagement.removeAllScenes, .init(groupID: groupID))
  }

  /// Application Clusters § 1.4.9.10.
  @discardableResult
  public func storeScene(
    groupID: GroupID, sceneID: UInt8
  ) async throws(HomeError) -> ScenesManagement.StoreSceneResponse {
    try await invoke(ScenesManagement.storeScene, .init(groupID: groupID, sceneID: sceneID))
  }

  /// Application Clusters § 1.4.9.12.
  /// - Parameter transitionTime: milliseconds; nil: as the scene says.
  public func recallScene(
    groupID: GroupID, sceneID: UInt8, transitionTime: UInt32? = nil
  ) async throws(HomeError) {
    try await invoke(
      ScenesManagement.recallScene,
      .init(groupID: groupID, sceneID: sceneID, transitionTime: transitionTime.map { .value($0) }))
  }

  /// Application Clusters § 1.4.9.13.
  @discardableResult
  public func getSceneMembership(
    groupID: GroupID
  ) async throws(HomeError) -> ScenesManagement.GetSceneMembershipResponse {
    try await invoke(ScenesManagement.getSceneMembership, .init(groupID: groupID))
  }

  /// Application Clusters § 1.4.9.15.
  @discardableResult
  public func copyScene(
    mode: ScenesManagement.CopyMode, groupIdentifierFrom: GroupID, sceneIdentifierFrom: UInt8,
    groupIdentifierTo: GroupID, sceneIdentifierTo: UInt8
  ) async throws(HomeError) -> ScenesManagement.CopySceneResponse {
    try await invoke(
      ScenesManagement.copyScene,
      .init(
        mode: mode, groupIdentifierFrom: groupIdentifierFrom, sceneIdentifierFrom: sceneIdentifierFrom,
        groupIdentifierTo: groupIdentifierTo, sceneIdentifierTo: sceneIdentifierTo))
  }
}
