import MatterClusters
import MatterModel

/// The Scenes Management server. Application Clusters § 1.4.
public enum ScenesManagementServer {
  /// An attribute with the Scene quality changed, but not because of a scene.
  static let attributeChanged = ServerHook<ScenesManagement, Void>("attributeChanged")
  /// The endpoint left a group.
  static let groupRemoved = ServerHook<ScenesManagement, GroupID>("groupRemoved")
  /// The global scene is that of group 0 and scene 0 (§ 1.4.6.4).
  static let storeGlobalScene = ServerHook<ScenesManagement, Void>("storeGlobalScene")
  static let recallGlobalScene = ServerHook<ScenesManagement, Void>("recallGlobalScene")

  /// Returns the server, with the SceneNames feature. Scenes contain On/Off, Level Control and Color Control.
  public static func make() -> ClusterServer {
    .shared(ScenesManagement.self, features: [ScenesManagement.sceneNames], complete)
  }

  private static func complete(_ server: ClusterServer) -> ClusterServer {
    server
      .initial(ScenesManagement.sceneTableSize, SceneTable.size)
      .onRead(ScenesManagement.fabricSceneInfo) { context in SceneState.all(context) }
      .answer(ScenesManagement.addScene, SceneCommands.add)
      .answer(ScenesManagement.viewScene, SceneCommands.view)
      .answer(ScenesManagement.removeScene, SceneCommands.remove)
      .answer(ScenesManagement.removeAllScenes, SceneCommands.removeAll)
      .answer(ScenesManagement.storeScene, SceneCommands.store)
      .on(ScenesManagement.recallScene, SceneCommands.recall)
      .answer(ScenesManagement.getSceneMembership, SceneCommands.membership)
      .answer(ScenesManagement.copyScene, SceneCommands.copy)
      .hook(attributeChanged) { context, _ in SceneState.invalidateAll(&context) }
      .hook(groupRemoved) { context, group in SceneCommands.removeScenes(of: group, &context) }
      .hook(storeGlobalScene) { context, _ in
        if context.subject.fabric != .none { _ = SceneCommands.capture(0, 0, &context) }
      }
      .hook(recallGlobalScene) { context, _ in
        if context.subject.fabric != .none { _ = SceneCommands.apply(0, 0, over: nil, &context) }
      }
      .onStart { context in
        // A transition to a scene that a loss of power interrupted did not reach it.
        SceneState.invalidateAll(&context)
      }
      .onFabricRemoved { context, fabric in
        SceneTable.removeAll(of: fabric, &context)
        SceneState.forget(fabric, &context)
      }
  }
}
