internal import Runtime

extension ObserverCenter {
  /// Takes over what the database has: deliveries of earlier runs, and what other processes added, removed or resumed.
  func restoreDeliveries() throws(HomeError) {
    let stored = try database.backgroundDeliveries()
    let known = Set(stored.map(\.id))
    for case .delivery(let id) in entries.keys where !known.contains(id) {
      entries.removeValue(forKey: .delivery(id))?.task?.cancel()
    }
    for delivery in stored {
      let observer = Observer.delivery(delivery.id)
      guard let entry = entries[observer] else {
        try restore(delivery, observer)
        continue
      }
      if entry.schedule.isSuspended, !delivery.isSuspended {
        entries[observer]?.kind = .delivery(delivery)
        with(observer) { $0.resume(at: $1) }
      }
    }
    arm()
  }

  private func restore(_ delivery: BackgroundDelivery, _ observer: Observer) throws(HomeError) {
    var own = limits
    own.period = delivery.frequency.period
    entries[observer] = Entry(
      kind: .delivery(delivery), filter: delivery.filter,
      schedule: DeliverySchedule(own, strikes: delivery.strikes, isSuspended: delivery.isSuspended))
    if try database.hasSamples(after: delivery.anchor, delivery.filter) { with(observer) { $0.change(at: $1) } }
  }

  /// Wakes a target.
  func begin(_ delivery: BackgroundDelivery, _ observer: Observer, run: Int) {
    let until: Anchor
    do {
      until = try database.anchor()
    } catch {
      return ended(observer, run: run, failure: error.message)
    }
    let notice = DeliveryNotice(
      observer: delivery.id, type: delivery.filter.type, after: delivery.anchor, until: until,
      attempt: delivery.strikes + 1)
    entries[observer]?.until = until
    entries[observer]?.task = machine.task {
      let failure = await DeliveryRun.deliver(notice, to: delivery.target)
      await self.ended(observer, run: run, failure: failure)
    }
  }

  private func ended(_ observer: Observer, run: Int, failure: String?) {
    guard let entry = entries[observer], case .delivery(var delivery) = entry.kind, entry.schedule.isRunning(run) else {
      return
    }
    entries[observer]?.task = nil
    if failure == nil, let until = entry.until {
      delivery.anchor = until
      delivery.delivered = machine.unixMicroseconds()
      delivery.strikes = 0
      delivery.failure = nil
      entries[observer]?.kind = .delivery(delivery)
      // Before the next one begins: what was delivered is not delivered again, also after a kill at this point's end.
      store(delivery)
      with(observer) { $0.finish(run: run, at: $1) }
    } else {
      with(observer) { $0.fail(run: run, at: $1) }
      note(delivery, observer, failure: failure)
    }
    arm()
  }

  /// Keeps what went wrong, for people and the next start.
  func note(_ delivery: BackgroundDelivery, _ observer: Observer, failure: String?) {
    guard let entry = entries[observer] else { return }
    var delivery = delivery
    delivery.strikes = entry.schedule.strikes
    delivery.isSuspended = entry.schedule.isSuspended
    delivery.failure = failure
    entries[observer]?.kind = .delivery(delivery)
    store(delivery)
  }

  private func store(_ delivery: BackgroundDelivery) {
    // Where it can't be written, a delivery is repeated after a restart, and none is lost.
    try? database.record(delivery)
  }
}
