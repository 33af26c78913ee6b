import HearthHome
import HomeAutomation
import MatterProtocol

extension ObserverCenter {
  /// Stores and publishes an update, as a home does.
  func commit(_ update: HomeUpdate, to database: HomeDatabase) throws {
    var update = update
    update.sequence = published + 1
    try database.commit([update])
    note(update, try database.load().state)
    note(.batches(upTo: update.sequence))
  }

  func set(gracePeriod: Duration) { self.gracePeriod = gracePeriod }

  /// Advances the schedule of a delivery, as after a period of time.
  func advance(delivery id: Int64, by time: Duration) {
    with(id) { $0.advance(to: $1 + time) }
    arm()
  }

  /// Whether no call of a query is running or due; nil if it was stopped.
  func isIdle(_ query: ObserverQuery) -> Bool? { queries.signals.first { $0.query === query }?.isIdle }

  /// The schedule of a delivery; nil if it was not restored or was removed.
  func schedule(ofDelivery id: Int64) -> DeliverySchedule? { entries[id]?.schedule }

  /// The time until the next delivery may begin; nil if it may begin at once.
  func pause(ofDelivery id: Int64) -> Duration? { schedule(ofDelivery: id)?.notBefore.map { $0 - now } }
}
