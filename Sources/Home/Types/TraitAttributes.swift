public import MatterModel

/// The last known attributes of a trait by the names of the standard: `trait.attributes.currentLevel`.
///
/// Every attribute that the cluster declares is here. All are optional: nil is what nobody knows yet, what the device lacks,
/// and what is not of its type. For one that may be null, null is nil too; `attributes[LevelControl.currentLevel]` tells the
/// two apart.
@dynamicMemberLookup public struct TraitAttributes<C: Cluster>: Sendable {
  let trait: AnyTrait

  /// The attribute with this name in the cluster's declaration; nil where it is not known.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Value>>) -> Value? {
    self[C.self[keyPath: key]]
  }

  /// An attribute that may be null, which is nil here as what is not known is.
  public subscript<Value: ModelValue>(dynamicMember key: KeyPath<C.Type, Attribute<C, Nullable<Value>>>) -> Value? {
    self[C.self[keyPath: key]]?.wrapped
  }

  /// An attribute by its declaration; nil where it is not known or not of its type.
  public subscript<Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? { trait.value(attribute.id) }

  // MARK: Those that every cluster has. Matter Core § 7.13.

  /// The bits of the features that the device has.
  public var featureMap: UInt32? { trait.featureMap }
  /// Of the cluster, as the device has it. Matter Core § 7.13.
  public var clusterRevision: UInt16? { trait.clusterRevision }
  /// The attributes that the device has. Matter Core § 7.13.
  public var attributeList: [AttributeID]? { trait.attributeList }
  /// The commands that the device takes. Matter Core § 7.13.
  public var acceptedCommandList: [CommandID]? { trait.acceptedCommandList }
  /// The commands that the device answers with. Matter Core § 7.13.
  public var generatedCommandList: [CommandID]? { trait.generatedCommandList }
}
