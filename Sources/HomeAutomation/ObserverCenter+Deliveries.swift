internal import HomeModel
internal import HomeStore
internal import MatterProtocol
internal import Runtime

extension ObserverCenter {
  /// Loads the stored deliveries: starts new ones, stops removed ones, and resumes suspended ones whose failures were
  /// cleared.
  func restoreDeliveries() async throws(HomeError) {
    let stored = try await work { try $0.backgroundDeliveries() }
    guard deliversInBackground else { return }
    let known = Set(stored.map(\.id))
    for id in entries.keys where !known.contains(id) { entries.removeValue(forKey: id)?.task?.cancel() }
    for delivery in stored {
      let observer = delivery.id
      guard let entry = entries[observer] else {
        restore(delivery, observer)
        continue
      }
      // The values in memory are newer than the stored ones, except the number of resumptions.
      var known = entry.delivery
      guard delivery.resumes > known.resumes else { continue }
      (known.resumes, known.strikes, known.isSuspended) = (delivery.resumes, 0, false)
      (known.failure, known.earliest) = (nil, nil)
      entries[observer]?.delivery = known
      with(observer) { $0.resume(at: $1) }
    }
    arm()
  }

  private func restore(_ stored: BackgroundDelivery, _ observer: Int64) {
    var own = limits
    own.period = stored.frequency.period
    var delivery = stored
    if let begun = delivery.begun {
      // The process that made the attempt has ended, so the attempt counts as a failure.
      delivery.begun = nil
      delivery.strikes = delivery.strikes.saturatingAdd(1)
      delivery.isSuspended = delivery.isSuspended || delivery.strikes >= own.strikes
      delivery.failure = "the process ended before the delivery was completed"
      let pause = DeliverySchedule(own, strikes: delivery.strikes).longestWait
      delivery.earliest = max(delivery.earliest ?? .min, begun.saturatingAdd(pause.nanoseconds / 1000))
      store(delivery)
    }
    var schedule = DeliverySchedule(own, strikes: delivery.strikes, isSuspended: delivery.isSuspended)
    if let earliest = delivery.earliest {
      // The wait is limited, because the clock may have been set back since the time was stored.
      let wait = min(
        .microseconds(max(0, earliest.saturatingSubtract(machine.unixMicroseconds()))), schedule.longestWait)
      schedule = DeliverySchedule(
        own, strikes: delivery.strikes, isSuspended: delivery.isSuspended, notBefore: now + wait)
    }
    entries[observer] = Entry(delivery: delivery, schedule: schedule, uncommitted: uncommitted)
    // A delivery checks the log when it begins.
    with(observer) { $0.change(at: $1) }
  }

  /// Starts a delivery, which ends without a call of the target if there are no new samples.
  func begin(_ delivery: BackgroundDelivery, _ observer: Int64, run: Int) {
    let number = nextNumber()
    let task = machine.task {
      await self.run(delivery, observer, run: run)
      await self.removeRun(number)
    }
    entries[observer]?.task = task
    runs[number] = task
  }

  private func removeRun(_ number: Int) { runs[number] = nil }

  private func run(_ delivery: BackgroundDelivery, _ observer: Int64, run: Int) async {
    // The begin of a delivery that was abandoned before this task ran is not stored, because its end would not be
    // either.
    guard entries[observer]?.schedule.isRunning(run) == true else { return }
    do throws(HomeError) {
      let next = delivery.frequency.period > .zero ? earliest(observer) : nil
      let begun = machine.unixMicroseconds()
      let until: Anchor? = try await work { database in
        let until = try database.anchor()
        guard try database.hasSamples(after: delivery.anchor, delivery.filter) else { return nil }
        // If this fails, the target may be called too early after a restart, but no change is lost.
        try? database.record(begun: begun, earliest: next, of: delivery.id)
        return until
      }
      guard entries[observer]?.schedule.isRunning(run) == true else { return }
      guard let until else { return withdraw(observer, run: run) }
      let notice = DeliveryNotice(
        observer: delivery.id, type: delivery.filter.type, after: delivery.anchor, until: until,
        attempt: delivery.strikes.saturatingAdd(1))
      let failure = await DeliveryRun.deliver(
        notice, to: delivery.target, of: StateDirectory.root(ofDatabase: database.path), gracePeriod: gracePeriod,
        on: eventLoop)
      ended(observer, run: run, until, failure: failure)
    } catch {
      ended(observer, run: run, delivery.anchor, failure: error.message)
    }
  }

  /// Returns the earliest time of the next delivery, in microseconds since 1970; nil: at once.
  private func earliest(_ observer: Int64) -> Int64? {
    guard let notBefore = entries[observer]?.schedule.notBefore, notBefore > now else { return nil }
    return machine.unixMicroseconds() + (notBefore - now).nanoseconds / 1000
  }

  /// Withdraws a delivery for which there are no new samples.
  private func withdraw(_ observer: Int64, run: Int) {
    entries[observer]?.task = nil
    with(observer) { $0.withdraw(run: run, at: $1) }
    arm()
  }

  /// Handles the end of a delivery.
  /// - Parameter until: the position up to which changes were delivered.
  private func ended(_ observer: Int64, run: Int, _ until: Anchor, failure: String?) {
    guard let entry = entries[observer], entry.schedule.isOpen(run) else { return }
    var delivery = entry.delivery
    if entry.schedule.isRunning(run) { entries[observer]?.task = nil }
    if failure == nil {
      // An abandoned delivery may complete after a later one.
      if until.sequence > delivery.anchor.sequence { delivery.anchor = until }
      delivery.delivered = machine.unixMicroseconds()
      delivery.strikes = 0
      delivery.isSuspended = false
      delivery.failure = nil
      // The anchor for the next delivery, which `finish` may start.
      entries[observer]?.delivery = delivery
      // The completion of an abandoned delivery does not end the attempt in progress.
      let endsAttempt = entry.schedule.isRunning(run) || !entry.schedule.isRunning
      with(observer) { $0.finish(run: run, at: $1) }
      delivery.earliest = delivery.frequency.period > .zero ? earliest(observer) : nil
      entries[observer]?.delivery = delivery
      // Stored before the begin of the next delivery, so that a kill during it does not repeat delivered changes.
      store(delivery, endsAttempt: endsAttempt)
    } else {
      with(observer) { $0.fail(run: run, at: $1) }
      if entry.schedule.isRunning(run) { note(delivery, observer, failure: failure) }
    }
    arm()
  }

  /// Stores a failure with the resulting state of the schedule.
  func note(_ delivery: BackgroundDelivery, _ observer: Int64, failure: String?) {
    guard let entry = entries[observer] else { return }
    var delivery = delivery
    delivery.strikes = entry.schedule.strikes
    delivery.isSuspended = entry.schedule.isSuspended
    delivery.failure = failure
    delivery.earliest = earliest(observer)
    entries[observer]?.delivery = delivery
    store(delivery)
  }

  /// Abandons the running delivery of an observer that is stopped.
  /// - Parameter recording: whether to store that the attempt was withdrawn; else it counts as failed at the next
  ///   start.
  func abandon(_ entry: Entry, recording: Bool) {
    guard let task = entry.task else { return }
    task.cancel()
    if recording, entry.schedule.isRunning {
      _ = worker.submit(on: eventLoop) { [database, id = entry.delivery.id] in try database.record(begun: nil, of: id) }
    }
  }

  private func store(_ delivery: BackgroundDelivery, endsAttempt: Bool = true) {
    // If this fails, the delivery is repeated after a restart, but no change is lost.
    _ = worker.submit(on: eventLoop) { [database] in try database.record(delivery, endsAttempt: endsAttempt) }
  }
}
