internal import MatterModel
internal import MatterProtocol

enum SubscriptionLimits {
  /// How many one fabric may have.
  static let perFabric = 16
  /// How many one fabric is promised: what the standard asks for. Matter Core § 8.5.1.
  static let promisedPerFabric: UInt16 = 3
  /// The longest maximum interval that the device chooses by itself, in seconds. Matter Core § 8.5.3.2.
  static let longestInterval: UInt16 = 3600
  /// The shortest: a ceiling of 0 would make each confirmed report bring forth the next at once.
  static let shortestInterval: UInt16 = 1
}

/// Somebody who wants to hear of changes. Matter Core § 8.5.
struct Subscription: Sendable {
  let id: UInt32
  let session: SessionID
  let subject: Subject
  let attributePaths: [AttributePath]
  let eventPaths: [EventPath]
  let isFabricFiltered: Bool
  let minimum: Duration
  let maximumSeconds: UInt16
  /// Whether the first report was confirmed, so that others may follow.
  var isActive = false
  var lastReport: Instant
  /// What changed since the last report.
  var dirty: Set<ConcreteAttributePath> = []
  /// The first event that was not reported.
  var nextEvent: UInt64 = 0
  var isUrgent = false
  /// The report that is on its way.
  var exchange: ExchangeID?
  /// What the store has of it that changes; nil: it is not stored.
  var stored: StoredState?

  /// The parts of a stored subscription that change while it stands.
  struct StoredState: Equatable, Sendable {
    var nextEvent: UInt64
    var address: SocketAddress
  }

  /// When the next report is due; nil while one is on its way.
  var deadline: Instant? {
    guard isActive, exchange == nil else { return nil }
    return lastReport + (dirty.isEmpty && !isUrgent ? .seconds(Int64(maximumSeconds)) : minimum)
  }

  mutating func note(_ path: ConcreteAttributePath) {
    if attributePaths.contains(where: { $0.matches(path) }) { dirty.insert(path) }
  }

  mutating func note(_ event: EventRecord) {
    // Not even by its time may a fabric learn of what is another's.
    guard event.fabric == nil || event.fabric == subject.fabric else { return }
    if eventPaths.contains(where: { $0.isUrgent && $0.matches(event.path) }) { isUrgent = true }
  }
}
