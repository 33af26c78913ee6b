/// The properties of a trait besides its attributes: the connectivity of their source.
public struct TraitMetadata: Hashable, Sendable {
  /// The connectivity of the subscription that updates the trait, and of the bridged device.
  public var sourceConnectivity: SourceConnectivity
  /// The reason why the trait is offline: that of its device, or that the bridge can't reach this part; nil if it is
  /// not.
  public var offlineReason: OfflineReason?

  public init(sourceConnectivity: SourceConnectivity, offlineReason: OfflineReason? = nil) {
    (self.sourceConnectivity, self.offlineReason) = (sourceConnectivity, offlineReason)
  }
}
