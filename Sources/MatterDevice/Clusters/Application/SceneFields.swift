import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV

/// Converts between the attributes of an endpoint and the fields of a scene. Application Clusters § 1.4.7.
enum SceneFields {
  typealias FieldSet = ScenesManagement.ExtensionFieldSetStruct
  typealias Pair = ScenesManagement.AttributeValuePairStruct

  /// Represents null of a one-byte attribute.
  private static let null: UInt16 = 0xFF

  /// A served attribute with the Scene quality, one or two bytes wide.
  private struct Known {
    var cluster: ClusterID
    var attribute: AttributeID
    var isWide = false
  }

  private static func attributes(_ context: ServerContext) -> [Known] {
    let plain = [
      Known(cluster: OnOff.id, attribute: OnOff.onOff.id),
      Known(cluster: LevelControl.id, attribute: LevelControl.currentLevel.id),
    ].filter { context.info(ConcreteAttributePath(context.endpoint, $0.cluster, $0.attribute)) != nil }
    return plain
      + ColorScenes.attributes(context).map {
        Known(cluster: ColorControl.id, attribute: $0.attribute, isWide: $0.isWide)
      }
  }

  /// Returns the endpoint's state.
  static func current(_ context: inout ServerContext) -> [FieldSet] {
    var sets: [FieldSet] = []
    for known in attributes(context) {
      let value: UInt16 =
        switch known.cluster {
        case OnOff.id: context[OnOff.onOff] ? 1 : 0
        case LevelControl.id: context[LevelControl.currentLevel].wrapped.map(UInt16.init) ?? null
        default: ColorScenes.value(known.attribute, &context)
        }
      if sets.last?.clusterID != known.cluster { sets.append(FieldSet(known.cluster, [])) }
      sets[sets.count - 1].attributeValueList.append(Pair(known.attribute, value, isWide: known.isWide))
    }
    return sets
  }

  /// Checks the fields of AddScene and moves their values into the attributes' ranges (§ 1.4.9.2).
  ///
  /// Clusters that the endpoint does not serve are omitted. Of duplicates the last one is used.
  /// - Returns: nil if an attribute does not have the Scene quality, or a value has the wrong type.
  static func normalized(_ sets: [FieldSet], _ context: inout ServerContext) -> [FieldSet]? {
    let (known, clusters) = (attributes(context), context.clusters(on: context.endpoint))
    var result: [FieldSet] = []
    for set in sets where clusters.contains(set.clusterID) {
      var pairs: [Pair] = []
      for pair in set.attributeValueList {
        guard
          let attribute = known.first(where: { $0.cluster == set.clusterID && $0.attribute == pair.attributeID }),
          let value = pair.value(isWide: attribute.isWide), pair.hasOneValue
        else { return nil }
        pairs.removeAll { $0.attributeID == pair.attributeID }
        pairs.append(Pair(pair.attributeID, inRange(value, of: attribute, &context), isWide: attribute.isWide))
      }
      result.removeAll { $0.clusterID == set.clusterID }
      if !pairs.isEmpty { result.append(FieldSet(set.clusterID, pairs)) }
    }
    return result
  }

  /// Replaces an invalid value by null, false, or if the attribute has neither by the nearest valid value (§ 1.4.7.4).
  private static func inRange(_ value: UInt16, of known: Known, _ context: inout ServerContext) -> UInt16 {
    switch known.cluster {
    case OnOff.id: value == 1 ? 1 : 0
    case LevelControl.id: LevelTransition.isInRange(UInt8(clamping: value), &context) ? value : null
    default: ColorScenes.inRange(value, of: known.attribute, &context)
    }
  }

  /// Applies the fields of a scene to the endpoint.
  static func apply(_ sets: [FieldSet], over duration: Duration, _ context: inout ServerContext) {
    context[scratch: SceneState.Recalling.self] = .init()
    defer { context[scratch: SceneState.Recalling.self] = nil }
    for set in sets {
      var colors: [AttributeID: UInt16] = [:]
      for pair in set.attributeValueList {
        guard let value = pair.value(isWide: false) ?? pair.value(isWide: true) else { continue }
        switch set.clusterID {
        case OnOff.id: context.call(OnOffServer.recalled, .init(isOn: value != 0, duration: duration))
        case LevelControl.id where value != null:
          context.call(LevelControlServer.recalled, .init(level: UInt8(clamping: value), duration: duration))
        case ColorControl.id: colors[pair.attributeID] = value
        default: break
        }
      }
      if !colors.isEmpty { context.call(ColorControlServer.recalled, .init(values: colors, duration: duration)) }
    }
  }
}

extension ScenesManagement.ExtensionFieldSetStruct {
  fileprivate init(_ cluster: ClusterID, _ pairs: [ScenesManagement.AttributeValuePairStruct]) {
    self.init(clusterID: cluster, attributeValueList: pairs)
  }
}

extension ScenesManagement.AttributeValuePairStruct {
  fileprivate init(_ attribute: AttributeID, _ value: UInt16, isWide: Bool) {
    self.init(
      attributeID: attribute, valueUnsigned8: isWide ? nil : UInt8(clamping: value),
      valueUnsigned16: isWide ? value : nil)
  }

  /// The value, if it has the attribute's width.
  fileprivate func value(isWide: Bool) -> UInt16? { isWide ? valueUnsigned16 : valueUnsigned8.map(UInt16.init) }

  /// Whether exactly one of the typed values is present.
  fileprivate var hasOneValue: Bool {
    let present = [
      valueUnsigned8 != nil, valueSigned8 != nil, valueUnsigned16 != nil, valueSigned16 != nil,
      valueUnsigned32 != nil, valueSigned32 != nil, valueUnsigned64 != nil, valueSigned64 != nil,
    ]
    return present.count(where: { $0 }) == 1
  }
}
