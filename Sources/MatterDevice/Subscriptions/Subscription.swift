internal import MatterModel
internal import MatterProtocol

enum SubscriptionLimits {
  /// The maximum number per fabric. Certification tests of a fan open 20 (TC_FAN_3_1).
  static let perFabric = 32
  /// The advertised minimum number per fabric, as required by the standard. Matter Core § 8.5.1.
  static let promisedPerFabric: UInt16 = 3
  /// The longest maximum interval that the device selects, in seconds. Matter Core § 8.5.3.2.
  static let longestInterval: UInt16 = 3600
  /// The shortest maximum interval, in seconds. With 0, each confirmed report would immediately cause the next.
  static let shortestInterval: UInt16 = 1
}

/// A subscription of a client. Matter Core § 8.5.
struct Subscription: Sendable {
  let id: UInt32
  let session: SessionID
  let subject: Subject
  let attributePaths: [AttributePath]
  let eventPaths: [EventPath]
  let isFabricFiltered: Bool
  let minimum: Duration
  let maximumSeconds: UInt16
  /// Whether the first report was confirmed, so that further reports may follow.
  var isActive = false
  var lastReport: Instant
  /// The attributes that changed since the last report.
  var dirty: Set<ConcreteAttributePath> = []
  /// The number of the first unreported event.
  var nextEvent: UInt64 = 0
  var isUrgent = false
  /// The exchange of the report in progress.
  var exchange: ExchangeID?
  /// The variable part of the stored subscription; nil if it is not stored.
  var stored: StoredState?

  /// The part of a stored subscription that changes while it is active.
  struct StoredState: Equatable, Sendable {
    var nextEvent: UInt64
    var address: SocketAddress
  }

  /// When the next report is due; nil while one is in progress.
  var deadline: Instant? {
    guard isActive, exchange == nil else { return nil }
    return lastReport + (dirty.isEmpty && !isUrgent ? .seconds(Int64(maximumSeconds)) : minimum)
  }

  /// Whether the minimum interval has passed and no report is in progress.
  func mayReport(at now: Instant) -> Bool { isActive && exchange == nil && lastReport + minimum <= now }

  mutating func note(_ path: ConcreteAttributePath) {
    if attributePaths.contains(where: { $0.matches(path) }) { dirty.insert(path) }
  }

  mutating func note(_ event: EventRecord) {
    // Not even the time of a report may reveal events of another fabric.
    guard event.fabric == nil || event.fabric == subject.fabric else { return }
    if eventPaths.contains(where: { $0.isUrgent && $0.matches(event.path) }) { isUrgent = true }
  }
}
