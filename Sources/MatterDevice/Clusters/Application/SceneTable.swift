import MatterClusters
import MatterModel
import MatterTLV

/// A scene in its stored form. Application Clusters § 1.4.6.
struct Scene: ModelStruct {
  var name: String = ""
  /// Milliseconds.
  var transitionTime: UInt32 = 0
  var extensions: [ScenesManagement.ExtensionFieldSetStruct] = []

  static let fields: [Field<Self>] = [
    .init(0, "Name", \.name), .init(1, "TransitionTime", \.transitionTime), .init(2, "Extensions", \.extensions),
  ]
}

/// The scenes of an endpoint, one entry each in the store of the server.
enum SceneTable {
  /// The capacity for all fabrics together.
  static let size: UInt16 = 16
  /// The capacity per fabric: less than half, so that no fabric can use all of it (§ 1.4.8.2).
  static let capacityPerFabric = (Int(size) - 1) / 2

  private static func prefix(_ fabric: FabricIndex) -> String { "scene/\(fabric.rawValue)/" }
  private static func prefix(_ fabric: FabricIndex, _ group: GroupID) -> String {
    prefix(fabric) + "\(group.rawValue)/"
  }
  private static func key(_ fabric: FabricIndex, _ group: GroupID, _ scene: UInt8) -> String {
    prefix(fabric, group) + "\(scene)"
  }

  static func scene(_ fabric: FabricIndex, _ group: GroupID, _ id: UInt8, _ context: ServerContext) -> Scene? {
    context[stored: key(fabric, group, id)].flatMap { try? Scene(tlv: $0) }
  }

  static func set(
    _ scene: Scene?, _ fabric: FabricIndex, _ group: GroupID, _ id: UInt8, _ context: inout ServerContext
  ) {
    context[stored: key(fabric, group, id)] = scene?.tlv
  }

  static func scenes(of group: GroupID, _ fabric: FabricIndex, _ context: ServerContext) -> [UInt8] {
    context.storedKeys(prefix: prefix(fabric, group)).compactMap { UInt8($0.dropFirst(prefix(fabric, group).count)) }
      .sorted()
  }

  static func count(_ fabric: FabricIndex, _ context: ServerContext) -> Int {
    context.storedKeys(prefix: prefix(fabric)).count
  }

  static func remaining(_ fabric: FabricIndex, _ context: ServerContext) -> Int {
    if context.node.isFull(.scenes) { return 0 }
    let free = Int(size) - context.storedKeys(prefix: "scene/").count
    return max(0, min(capacityPerFabric - count(fabric, context), free))
  }

  static func removeAll(of fabric: FabricIndex, _ context: inout ServerContext) {
    for key in context.storedKeys(prefix: prefix(fabric)) { context[stored: key] = nil }
  }
}
