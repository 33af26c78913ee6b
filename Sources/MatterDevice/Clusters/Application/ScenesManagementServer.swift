import MatterClusters
import MatterModel

/// Behaviour of Scenes Management. Application Clusters § 1.4.
public enum ScenesManagementServer {
  /// An attribute that is part of scenes changed, and not because of a scene.
  static let attributeChanged = ServerHook<ScenesManagement, Void>("attributeChanged")
  /// The endpoint left a group.
  static let groupRemoved = ServerHook<ScenesManagement, GroupID>("groupRemoved")
  /// The global scene is that of group 0 and scene 0 (§ 1.4.6.4).
  static let storeGlobalScene = ServerHook<ScenesManagement, Void>("storeGlobalScene")
  static let recallGlobalScene = ServerHook<ScenesManagement, Void>("recallGlobalScene")

  /// The server, with names of scenes. It stores what the endpoint's other servers call a part of a scene.
  public static func make() -> ClusterServer {
    ClusterServer(ScenesManagement.self, features: [ScenesManagement.sceneNames])
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
        // Whoever was on the way to a scene when the power failed did not arrive.
        SceneState.invalidateAll(&context)
      }
      .onFabricRemoved { context, fabric in
        SceneTable.removeAll(of: fabric, &context)
        SceneState.forget(fabric, &context)
      }
  }
}
