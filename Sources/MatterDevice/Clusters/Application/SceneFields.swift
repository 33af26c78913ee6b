import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV

/// How the attributes of an endpoint go into scenes and come out again. Application Clusters § 1.4.7.
enum SceneFields {
  typealias FieldSet = ScenesManagement.ExtensionFieldSetStruct
  typealias Pair = ScenesManagement.AttributeValuePairStruct

  /// Stands for the null of an attribute of one byte.
  private static let null: UInt8 = 0xFF

  /// The attributes with quality Scene that the endpoint serves; all of them are of one byte.
  private static func attributes(_ context: ServerContext) -> [(cluster: ClusterID, attribute: AttributeID)] {
    [(OnOff.id, OnOff.onOff.id), (LevelControl.id, LevelControl.currentLevel.id)].filter {
      context.info(ConcreteAttributePath(context.endpoint, $0.0, $0.1)) != nil
    }
  }

  /// What the endpoint is like now.
  static func current(_ context: inout ServerContext) -> [FieldSet] {
    var sets: [FieldSet] = []
    if context.serves(OnOff.onOff) {
      sets.append(FieldSet(OnOff.id, [Pair(OnOff.onOff.id, context[OnOff.onOff] ? 1 : 0)]))
    }
    if context.serves(LevelControl.currentLevel) {
      let level = context[LevelControl.currentLevel].wrapped ?? null
      sets.append(FieldSet(LevelControl.id, [Pair(LevelControl.currentLevel.id, level)]))
    }
    return sets
  }

  /// Checks the fields of an AddScene and brings the values into their attributes' ranges (§ 1.4.9.2).
  ///
  /// Clusters that the endpoint does not have are left out. Of what is there twice the last counts.
  /// - Returns: nil if an attribute has no place in a scene here, or a value is of the wrong type.
  static func normalized(_ sets: [FieldSet], _ context: inout ServerContext) -> [FieldSet]? {
    let (known, clusters) = (attributes(context), context.clusters(on: context.endpoint))
    var result: [FieldSet] = []
    for set in sets where clusters.contains(set.clusterID) {
      var pairs: [Pair] = []
      for pair in set.attributeValueList {
        guard known.contains(where: { $0.cluster == set.clusterID && $0.attribute == pair.attributeID }),
          let value = pair.valueUnsigned8, pair.hasOneValue
        else { return nil }
        pairs.removeAll { $0.attributeID == pair.attributeID }
        pairs.append(Pair(pair.attributeID, inRange(value, of: set.clusterID, &context)))
      }
      result.removeAll { $0.clusterID == set.clusterID }
      if !pairs.isEmpty { result.append(FieldSet(set.clusterID, pairs)) }
    }
    return result
  }

  /// What is no value of the attribute becomes its null, or false where there is none (§ 1.4.7.4).
  private static func inRange(_ value: UInt8, of cluster: ClusterID, _ context: inout ServerContext) -> UInt8 {
    if cluster == OnOff.id { return value == 1 ? 1 : 0 }
    return LevelTransition.isInRange(value, &context) ? value : null
  }

  /// Makes the endpoint like the scene.
  static func apply(_ sets: [FieldSet], over duration: Duration, _ context: inout ServerContext) {
    context[scratch: SceneState.Recalling.self] = .init()
    defer { context[scratch: SceneState.Recalling.self] = nil }
    for set in sets {
      for pair in set.attributeValueList {
        guard let value = pair.valueUnsigned8 else { continue }
        if set.clusterID == OnOff.id {
          context.call(OnOffServer.recalled, .init(isOn: value != 0, duration: duration))
        } else if set.clusterID == LevelControl.id, value != null {
          context.call(LevelControlServer.recalled, .init(level: value, duration: duration))
        }
      }
    }
  }
}

extension ScenesManagement.ExtensionFieldSetStruct {
  fileprivate init(_ cluster: ClusterID, _ pairs: [ScenesManagement.AttributeValuePairStruct]) {
    self.init(clusterID: cluster, attributeValueList: pairs)
  }
}

extension ScenesManagement.AttributeValuePairStruct {
  fileprivate init(_ attribute: AttributeID, _ value: UInt8) {
    self.init(attributeID: attribute, valueUnsigned8: value)
  }

  /// Exactly one of the typed values must be there.
  fileprivate var hasOneValue: Bool {
    let present = [
      valueUnsigned8 != nil, valueSigned8 != nil, valueUnsigned16 != nil, valueSigned16 != nil,
      valueUnsigned32 != nil, valueSigned32 != nil, valueUnsigned64 != nil, valueSigned64 != nil,
    ]
    return present.count(where: { $0 }) == 1
  }
}
