import MatterClusters
import MatterModel
import MatterTLV

/// Which scene is in force on an endpoint, fabric by fabric: the attribute FabricSceneInfo.
/// Application Clusters § 1.4.7.3.
struct SceneState: ModelStruct {
  var group: GroupID = 0
  /// 0 as long as there was none, as the reference implementation has it; the standard names no value.
  var scene: UInt8 = 0
  var isValid = false

  static let fields: [Field<Self>] = [
    .init(0, "Group", \.group), .init(1, "Scene", \.scene), .init(2, "IsValid", \.isValid),
  ]

  /// The entries of all fabrics that have used scenes here.
  static func all(_ context: ServerContext) -> [ScenesManagement.SceneInfoStruct] {
    fabrics(context).map { fabric in
      let state = state(fabric, context) ?? SceneState()
      return ScenesManagement.SceneInfoStruct(
        sceneCount: UInt8(clamping: SceneTable.count(fabric, context)), currentScene: state.scene,
        currentGroup: state.group, sceneValid: state.isValid,
        remainingCapacity: UInt8(clamping: SceneTable.remaining(fabric, context)), fabricIndex: fabric)
    }
  }

  // MARK: What happens to it

  /// A scene was made from what the endpoint is like, and so is in force. Scenes of other fabrics may be, too.
  static func stored(_ group: GroupID, _ scene: UInt8, _ context: inout ServerContext) {
    set(SceneState(group: group, scene: scene, isValid: true), context.subject.fabric, &context)
  }

  /// The endpoint was made like a scene: that one is in force now, and no other fabric's is.
  static func recalled(_ group: GroupID, _ scene: UInt8, _ context: inout ServerContext) {
    for other in fabrics(context) where other != context.subject.fabric { invalidate(other, &context) }
    stored(group, scene, &context)
  }

  /// The endpoint changed otherwise: no scene is in force any more.
  static func invalidateAll(_ context: inout ServerContext) {
    guard context[scratch: Recalling.self] == nil else { return }
    for fabric in fabrics(context) { invalidate(fabric, &context) }
  }

  /// A scene was removed, or describes something else now.
  static func sceneChanged(_ group: GroupID, _ scene: UInt8, _ context: inout ServerContext) {
    guard let state = state(context.subject.fabric, context), state.group == group, state.scene == scene else { return }
    invalidate(context.subject.fabric, &context)
  }

  /// The number of scenes is part of the attribute.
  static func tableChanged(_ context: inout ServerContext) {
    if state(context.subject.fabric, context) == nil { set(SceneState(), context.subject.fabric, &context) }
    context.markChanged(ScenesManagement.fabricSceneInfo)
  }

  /// Set while a scene is being applied, when changes are the scene's own.
  struct Recalling: Sendable {}

  static func forget(_ fabric: FabricIndex, _ context: inout ServerContext) { set(nil, fabric, &context) }

  // MARK: The store

  private static let prefix = "current/"
  private static func key(_ fabric: FabricIndex) -> String { prefix + "\(fabric.rawValue)" }

  private static func fabrics(_ context: ServerContext) -> [FabricIndex] {
    context.storedKeys(prefix: prefix).compactMap { UInt8($0.dropFirst(prefix.count)) }.map { FabricIndex($0) }.sorted()
  }

  private static func state(_ fabric: FabricIndex, _ context: ServerContext) -> SceneState? {
    context[stored: key(fabric)].flatMap { try? SceneState(tlv: $0) }
  }

  private static func set(_ state: SceneState?, _ fabric: FabricIndex, _ context: inout ServerContext) {
    let bytes = state?.tlv
    guard context[stored: key(fabric)] != bytes else { return }
    context[stored: key(fabric)] = bytes
    context.markChanged(ScenesManagement.fabricSceneInfo)
  }

  private static func invalidate(_ fabric: FabricIndex, _ context: inout ServerContext) {
    guard var state = state(fabric, context), state.isValid else { return }
    state.isValid = false
    set(state, fabric, &context)
  }
}
