import MatterClusters
import MatterModel
import MatterTLV

/// The current scene of an endpoint for one fabric: an entry of FabricSceneInfo. Application Clusters § 1.4.7.3.
struct SceneState: ModelStruct {
  var group: GroupID = 0
  /// 0 before the first scene, as in the reference implementation; the standard specifies no value.
  var scene: UInt8 = 0
  var isValid = false

  static let fields: [Field<Self>] = [
    .init(0, "Group", \.group), .init(1, "Scene", \.scene), .init(2, "IsValid", \.isValid),
  ]

  /// Returns the entries of all fabrics that have used scenes on the endpoint.
  static func all(_ context: ServerContext) -> [ScenesManagement.SceneInfoStruct] {
    fabrics(context).map { fabric in
      let state = state(fabric, context) ?? SceneState()
      return ScenesManagement.SceneInfoStruct(
        sceneCount: UInt8(clamping: SceneTable.count(fabric, context)), currentScene: state.scene,
        currentGroup: state.group, sceneValid: state.isValid,
        remainingCapacity: UInt8(clamping: SceneTable.remaining(fabric, context)), fabricIndex: fabric)
    }
  }

  // MARK: State changes

  /// Makes a scene current that was stored from the endpoint's state. Scenes of other fabrics stay valid.
  static func stored(_ group: GroupID, _ scene: UInt8, _ context: inout ServerContext) {
    set(SceneState(group: group, scene: scene, isValid: true), context.subject.fabric, &context)
  }

  /// Makes the recalled scene current and invalidates those of the other fabrics.
  static func recalled(_ group: GroupID, _ scene: UInt8, _ context: inout ServerContext) {
    for other in fabrics(context) where other != context.subject.fabric { invalidate(other, &context) }
    stored(group, scene, &context)
  }

  /// Invalidates the scenes of all fabrics after a change that no scene caused.
  static func invalidateAll(_ context: inout ServerContext) {
    guard context[scratch: Recalling.self] == nil else { return }
    for fabric in fabrics(context) { invalidate(fabric, &context) }
  }

  /// Invalidates a scene that was removed or replaced, if it is the current one.
  static func sceneChanged(_ group: GroupID, _ scene: UInt8, _ context: inout ServerContext) {
    guard let state = state(context.subject.fabric, context), state.group == group, state.scene == scene else { return }
    invalidate(context.subject.fabric, &context)
  }

  /// Reports FabricSceneInfo, which contains the number of scenes.
  static func tableChanged(_ context: inout ServerContext) {
    if state(context.subject.fabric, context) == nil { set(SceneState(), context.subject.fabric, &context) }
    context.markChanged(ScenesManagement.fabricSceneInfo)
  }

  /// Present while a scene is applied, whose changes do not invalidate it.
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
