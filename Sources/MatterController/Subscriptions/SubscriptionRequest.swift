public import MatterModel

/// What to be kept informed of.
public struct SubscriptionRequest: Hashable, Sendable {
  public var paths: [AttributePath]
  /// Which events; none: no events.
  public var events: [EventPath]
  /// The first event number of interest; nil: all that the device has kept.
  public var eventMin: UInt64?
  /// The least time between reports, whole seconds.
  public var minInterval: Duration
  /// The most time without a report, whole seconds; the device may choose a longer one of its own.
  public var maxInterval: Duration
  /// Whether the other subscriptions of this controller on the device stay.
  public var keepsOthers: Bool
  /// Whether only our fabric's entries of lists are told.
  public var isFabricFiltered = true
  /// The versions of clusters of which everything that is asked for is known already: they are not reported again unless
  /// they changed. Matter Core § 8.4.3.1.
  public var knownVersions: [ClusterPath: UInt32] = [:]
  /// Whether the controller keeps the values; whoever keeps them himself saves half of the memory.
  public var isCached = true
  /// Whether to go on trying when the device can't be reached the first time. Once established, a subscription is
  /// always renewed.
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
