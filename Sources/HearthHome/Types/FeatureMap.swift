/// The supported features of a cluster: `trait.attributes.featureMap?.contains(.lighting)`.
///
/// All features that the cluster declares are available by name. Unknown bits are kept.
public struct FeatureMap<C: Cluster>: OptionSet, Hashable, Sendable {
  /// The bits of the attribute FeatureMap. Matter Core § 7.13.
  public var rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Creates a set with one feature: `FeatureMap(OnOff.lighting)`.
  public init(_ feature: Feature) { rawValue = feature.mask }
}
