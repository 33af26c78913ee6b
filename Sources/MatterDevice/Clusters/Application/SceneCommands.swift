import MatterClusters
import MatterModel

/// The commands of Scenes Management. Application Clusters § 1.4.9.
enum SceneCommands {
  private static let maximumTransitionTime: UInt32 = 60_000_000
  private static let maximumNameLength = 16
  private static let reservedScene: UInt8 = 0xFF

  /// Group 0 stands for the endpoint itself.
  private static func isMember(_ group: GroupID, _ context: ServerContext) -> Bool {
    group == 0 || context.groupTable.contains(group, fabric: context.subject.fabric, endpoint: context.endpoint)
  }

  /// Returns the error status for a scene's address; nil if it is valid.
  private static func fault(_ group: GroupID, _ scene: UInt8, _ context: ServerContext) -> StatusCode? {
    guard scene != reservedScene else { return .constraintError }
    return isMember(group, context) ? nil : .invalidCommand
  }

  // MARK: The table

  static func add(
    _ context: inout ServerContext, _ request: ScenesManagement.AddSceneRequest
  ) -> ScenesManagement.AddSceneResponse {
    .init(status: add(request, &context), groupID: request.groupID, sceneID: request.sceneID)
  }

  private static func add(_ request: ScenesManagement.AddSceneRequest, _ context: inout ServerContext) -> StatusCode {
    guard request.transitionTime <= maximumTransitionTime, request.sceneName.utf8.count <= maximumNameLength else {
      return .constraintError
    }
    if let fault = fault(request.groupID, request.sceneID, context) { return fault }
    guard let fields = SceneFields.normalized(request.extensionFieldSetStructs, &context) else {
      return .invalidCommand
    }
    let scene = Scene(name: request.sceneName, transitionTime: request.transitionTime, extensions: fields)
    return insert(scene, request.groupID, request.sceneID, &context)
  }

  /// Adds or replaces a scene, unless the table is full.
  private static func insert(
    _ scene: Scene, _ group: GroupID, _ id: UInt8, _ context: inout ServerContext
  ) -> StatusCode {
    let fabric = context.subject.fabric
    let old = SceneTable.scene(fabric, group, id, context)
    guard old != nil || SceneTable.remaining(fabric, context) > 0 else { return .resourceExhausted }
    SceneTable.set(scene, fabric, group, id, &context)
    if let old, old.extensions.tlv != scene.extensions.tlv { SceneState.sceneChanged(group, id, &context) }
    SceneState.tableChanged(&context)
    return .success
  }

  static func view(
    _ context: inout ServerContext, _ request: ScenesManagement.ViewSceneRequest
  ) -> ScenesManagement.ViewSceneResponse {
    let (group, id) = (request.groupID, request.sceneID)
    if let fault = fault(group, id, context) { return .init(status: fault, groupID: group, sceneID: id) }
    guard let scene = SceneTable.scene(context.subject.fabric, group, id, context) else {
      return .init(status: .notFound, groupID: group, sceneID: id)
    }
    return .init(
      status: .success, groupID: group, sceneID: id, transitionTime: scene.transitionTime, sceneName: scene.name,
      extensionFieldSetStructs: scene.extensions)
  }

  static func remove(
    _ context: inout ServerContext, _ request: ScenesManagement.RemoveSceneRequest
  ) -> ScenesManagement.RemoveSceneResponse {
    let (group, id) = (request.groupID, request.sceneID)
    if let fault = fault(group, id, context) { return .init(status: fault, groupID: group, sceneID: id) }
    guard SceneTable.scene(context.subject.fabric, group, id, context) != nil else {
      return .init(status: .notFound, groupID: group, sceneID: id)
    }
    SceneTable.set(nil, context.subject.fabric, group, id, &context)
    SceneState.sceneChanged(group, id, &context)
    SceneState.tableChanged(&context)
    return .init(status: .success, groupID: group, sceneID: id)
  }

  static func removeAll(
    _ context: inout ServerContext, _ request: ScenesManagement.RemoveAllScenesRequest
  ) -> ScenesManagement.RemoveAllScenesResponse {
    guard isMember(request.groupID, context) else { return .init(status: .invalidCommand, groupID: request.groupID) }
    removeScenes(of: request.groupID, &context)
    return .init(status: .success, groupID: request.groupID)
  }

  static func removeScenes(of group: GroupID, _ context: inout ServerContext) {
    for scene in SceneTable.scenes(of: group, context.subject.fabric, context) {
      SceneTable.set(nil, context.subject.fabric, group, scene, &context)
      SceneState.sceneChanged(group, scene, &context)
    }
    SceneState.tableChanged(&context)
  }

  static func membership(
    _ context: inout ServerContext, _ request: ScenesManagement.GetSceneMembershipRequest
  ) -> ScenesManagement.GetSceneMembershipResponse {
    guard isMember(request.groupID, context) else {
      return .init(status: .invalidCommand, capacity: .null, groupID: request.groupID)
    }
    let fabric = context.subject.fabric
    return .init(
      status: .success, capacity: .value(UInt8(clamping: SceneTable.remaining(fabric, context))),
      groupID: request.groupID, sceneList: SceneTable.scenes(of: request.groupID, fabric, context))
  }

  static func copy(
    _ context: inout ServerContext, _ request: ScenesManagement.CopySceneRequest
  ) -> ScenesManagement.CopySceneResponse {
    .init(
      status: copy(request, &context), groupIdentifierFrom: request.groupIdentifierFrom,
      sceneIdentifierFrom: request.sceneIdentifierFrom)
  }

  /// Copies all scenes or none: if the capacity does not suffice, the table stays unchanged.
  private static func copy(_ request: ScenesManagement.CopySceneRequest, _ context: inout ServerContext) -> StatusCode {
    let (fabric, from, to) = (context.subject.fabric, request.groupIdentifierFrom, request.groupIdentifierTo)
    let copiesAll = request.mode.contains(.copyAllScenes)
    // The scene identifiers matter only if a single scene is copied (§ 1.4.9.15).
    let (source, target) = copiesAll ? (0, 0) : (request.sceneIdentifierFrom, request.sceneIdentifierTo)
    if let fault = fault(from, source, context) ?? fault(to, target, context) { return fault }
    let pairs = copiesAll ? SceneTable.scenes(of: from, fabric, context).map { ($0, $0) } : [(source, target)]
    var scenes: [(id: UInt8, scene: Scene)] = []
    for (source, target) in pairs {
      guard let scene = SceneTable.scene(fabric, from, source, context) else { return .notFound }
      scenes.append((target, scene))
    }
    let fresh = scenes.count { SceneTable.scene(fabric, to, $0.id, context) == nil }
    guard fresh <= SceneTable.remaining(fabric, context) else { return .resourceExhausted }
    for (id, scene) in scenes { _ = insert(scene, to, id, &context) }
    return .success
  }

  // MARK: Scenes and the endpoint

  static func store(
    _ context: inout ServerContext, _ request: ScenesManagement.StoreSceneRequest
  ) -> ScenesManagement.StoreSceneResponse {
    let (group, id) = (request.groupID, request.sceneID)
    let status = fault(group, id, context) ?? capture(group, id, &context)
    if status == .success { SceneState.stored(group, id, &context) }
    return .init(status: status, groupID: group, sceneID: id)
  }

  /// Stores the endpoint's state as a scene. An existing scene keeps its name and its transition time.
  static func capture(_ group: GroupID, _ id: UInt8, _ context: inout ServerContext) -> StatusCode {
    var scene = SceneTable.scene(context.subject.fabric, group, id, context) ?? Scene()
    scene.extensions = SceneFields.current(&context)
    return insert(scene, group, id, &context)
  }

  static func recall(
    _ context: inout ServerContext, _ request: ScenesManagement.RecallSceneRequest
  ) throws(StatusError) {
    let time = request.transitionTime?.wrapped
    guard time ?? 0 <= maximumTransitionTime else { throw StatusError(.constraintError) }
    let status =
      fault(request.groupID, request.sceneID, context)
      ?? apply(request.groupID, request.sceneID, over: time, &context)
    if status != .success { throw StatusError(status) }
  }

  /// Applies a scene to the endpoint.
  /// - Parameter time: The transition time in milliseconds; nil for the scene's own.
  static func apply(
    _ group: GroupID, _ id: UInt8, over time: UInt32?, _ context: inout ServerContext
  ) -> StatusCode {
    guard let scene = SceneTable.scene(context.subject.fabric, group, id, context) else { return .notFound }
    SceneFields.apply(scene.extensions, over: .milliseconds(Int64(time ?? scene.transitionTime)), &context)
    SceneState.recalled(group, id, &context)
    return .success
  }
}
