public import MatterModel

/// The last known attributes of a trait by the names of the standard: `trait.attributes.currentLevel`.
///
/// Every attribute that the cluster declares is here. All are optional: nil is what nobody knows yet, what the device lacks,
/// and what is not of its type. For one that may be null, null is nil too; `attributes[LevelControl.currentLevel]` tells the
/// two apart.
@dynamicMemberLookup public struct TraitAttributes<C: Cluster>: Sendable {
  let trait: AnyTrait

  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Value>>) -> Value? {
    self[C.self[keyPath: key]]
  }

  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Nullable<Value>>>) -> Value? {
    self[C.self[keyPath: key]]?.wrapped
  }

  /// An attribute by its declaration; nil where it is not known or not of its type.
  public subscript<Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? { trait.value(attribute.id) }

  // MARK: Those that every cluster has. Matter Core § 7.13.

  /// The bits of the features that the device has.
  public var featureMap: UInt32? { trait.featureMap }
  public var clusterRevision: UInt16? { trait.clusterRevision }
  public var attributeList: [AttributeID]? { trait.attributeList }
  public var acceptedCommandList: [CommandID]? { trait.acceptedCommandList }
  public var generatedCommandList: [CommandID]? { trait.generatedCommandList }
}
