public import MatterModel

/// Paths and parameters of a subscription.
public struct SubscriptionRequest: Hashable, Sendable, Codable {
  public var paths: [AttributePath]
  /// Event paths; empty for no events.
  public var events: [EventPath]
  /// The first event number to report; nil: all that the device has stored.
  public var eventMin: UInt64?
  /// Minimum time between reports, whole seconds.
  public var minInterval: Duration
  /// Maximum time between reports, whole seconds; the device may choose a longer one.
  public var maxInterval: Duration
  /// Whether other subscriptions of this controller on the device are kept.
  public var keepsOthers: Bool
  /// Whether lists contain only the entries of our fabric.
  public var isFabricFiltered = true
  /// Data versions of clusters that are known completely: they are not reported again unless they changed. Matter Core
  /// § 8.4.3.1.
  public var knownVersions: [ClusterPath: UInt32] = [:]
  /// Whether the controller caches the values. False saves half of the memory if the caller stores them.
  public var isCached = true
  /// Whether to retry if the first attempt fails. An established subscription is always renewed.
  public var retriesFirstAttempt = false

  public init(
    paths: [AttributePath] = [], events: [EventPath] = [], minInterval: Duration = .zero,
    maxInterval: Duration = .seconds(60), keepsOthers: Bool = true
  ) {
    self.paths = paths
    self.events = events
    self.minInterval = minInterval
    self.maxInterval = maxInterval
    self.keepsOthers = keepsOthers
  }
}
