/// The last known attributes of a trait by their names in the standard: `trait.attributes.currentLevel`.
///
/// All attributes that the cluster declares are available, and optional: nil if the value is unknown, unsupported or of
/// another type. For nullable attributes, null is also nil; `attributes[LevelControl.currentLevel]` distinguishes the
/// two.
@dynamicMemberLookup public struct TraitAttributes<C: Cluster>: Sendable {
  package let trait: AnyTrait

  /// The attribute with this name; nil if it is unknown.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Value>>) -> Value? {
    self[C.self[keyPath: key]]
  }

  /// A nullable attribute; nil if it is null or unknown.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Nullable<Value>>>) -> Value? {
    self[C.self[keyPath: key]]?.wrapped
  }

  /// An attribute by its declaration; nil if it is unknown or of another type.
  public subscript<Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? { trait.value(attribute.id) }

  // MARK: Global attributes. Matter Core § 7.13.

  /// FeatureMap: the supported features. Matter Core § 7.13.
  public var featureMap: FeatureMap<C>? { trait.value(GlobalAttribute.featureMap).map { FeatureMap(rawValue: $0) } }
  /// ClusterRevision. Matter Core § 7.13.
  public var clusterRevision: UInt16? { trait.value(GlobalAttribute.clusterRevision) }
  /// AttributeList: the supported attributes. Matter Core § 7.13.
  public var attributeList: [AttributeID]? { trait.value(GlobalAttribute.attributeList) }
  /// AcceptedCommandList: the accepted commands. Matter Core § 7.13.
  public var acceptedCommandList: [CommandID]? { trait.value(GlobalAttribute.acceptedCommandList) }
  /// GeneratedCommandList: the response commands. Matter Core § 7.13.
  public var generatedCommandList: [CommandID]? { trait.value(GlobalAttribute.generatedCommandList) }
}
