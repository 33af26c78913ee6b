internal import HomeModel
internal import HomeStore
internal import MatterProtocol
internal import Runtime

extension ObserverCenter {
  /// Takes over what the database has: deliveries of earlier runs, and what other processes added, removed or resumed.
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
      // How far it is, we know better than what was read.
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
      // Whoever woke it is not there any more, or he would be woken by him.
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
      // Of a clock that was set back since, nobody waits longer than ever.
      let wait = min(
        .microseconds(max(0, earliest.saturatingSubtract(machine.unixMicroseconds()))), schedule.longestWait)
      schedule = DeliverySchedule(
        own, strikes: delivery.strikes, isSuspended: delivery.isSuspended, notBefore: now + wait)
    }
    entries[observer] = Entry(number: nextNumber(), delivery: delivery, schedule: schedule, uncommitted: uncommitted)
    // A delivery checks the log when it begins.
    with(observer) { $0.change(at: $1) }
  }

  /// Wakes a target, where there is something that it does not know.
  func begin(_ delivery: BackgroundDelivery, _ observer: Int64, run: Int) {
    let number = nextNumber()
    let task = machine.task {
      await self.run(delivery, observer, run: run)
      await self.left(number)
    }
    entries[observer]?.task = task
    runs[number] = task
  }

  private func left(_ number: Int) { runs[number] = nil }

  private func run(_ delivery: BackgroundDelivery, _ observer: Int64, run: Int) async {
    // It may have been given up before it could begin: then nobody would take back that it has begun.
    guard entries[observer]?.schedule.isRunning(run) == true else { return }
    do throws(HomeError) {
      let next = delivery.frequency.period > .zero ? earliest(observer) : nil
      let begun = machine.unixMicroseconds()
      let until: Anchor? = try await work { database in
        let until = try database.anchor()
        guard try database.hasSamples(after: delivery.anchor, delivery.filter) else { return nil }
        // Where it can't be written, it may be woken too early after a restart, and nothing is lost.
        try? database.record(begun: begun, earliest: next, of: delivery.id)
        return until
      }
      guard entries[observer]?.schedule.isRunning(run) == true else { return }
      guard let until else { return withdraw(observer, run: run) }
      let notice = DeliveryNotice(
        observer: delivery.id, type: delivery.filter.type, after: delivery.anchor, until: until,
        attempt: delivery.strikes.saturatingAdd(1))
      let failure = await DeliveryRun.deliver(
        notice, to: delivery.target, of: StateDirectory.root(ofDatabase: database.path), gracePeriod: gracePeriod)
      ended(observer, run: run, until, failure: failure)
    } catch {
      ended(observer, run: run, delivery.anchor, failure: error.message)
    }
  }

  /// When an observer may be woken again, in microseconds since 1970; nil: it may be now.
  private func earliest(_ observer: Int64) -> Int64? {
    guard let notBefore = entries[observer]?.schedule.notBefore, notBefore > now else { return nil }
    return machine.unixMicroseconds() + (notBefore - now).nanoseconds / 1000
  }

  private func withdraw(_ observer: Int64, run: Int) {
    entries[observer]?.task = nil
    with(observer) { $0.withdraw(run: run, at: $1) }
    arm()
  }

  /// - Parameter until: how far it went.
  private func ended(_ observer: Int64, run: Int, _ until: Anchor, failure: String?) {
    guard let entry = entries[observer], entry.schedule.isOpen(run) else { return }
    var delivery = entry.delivery
    if entry.schedule.isRunning(run) { entries[observer]?.task = nil }
    if failure == nil {
      // One that was given up may be completed after the next one was.
      if until.sequence > delivery.anchor.sequence { delivery.anchor = until }
      delivery.delivered = machine.unixMicroseconds()
      delivery.strikes = 0
      delivery.isSuspended = false
      delivery.failure = nil
      // The next one begins from here.
      entries[observer]?.delivery = delivery
      // One that was given up ends beside the next: that one has not ended by it.
      let endsAttempt = entry.schedule.isRunning(run) || !entry.schedule.isRunning
      with(observer) { $0.finish(run: run, at: $1) }
      delivery.earliest = delivery.frequency.period > .zero ? earliest(observer) : nil
      entries[observer]?.delivery = delivery
      // Asked for before the next one says that it begins: what was delivered is not delivered again, also after a kill behind that.
      store(delivery, endsAttempt: endsAttempt)
    } else if entry.schedule.isRunning(run) {
      with(observer) { $0.fail(run: run, at: $1) }
      note(delivery, observer, failure: failure)
    } else {
      with(observer) { $0.fail(run: run, at: $1) }
    }
    arm()
  }

  /// Keeps what went wrong, for people and the next start.
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

  /// A delivery is given up since we end, which is no fault of the target's.
  package func giveUp(_ entry: Entry, recording: Bool) {
    guard let task = entry.task else { return }
    task.cancel()
    if recording, entry.schedule.isRunning {
      _ = worker.submit(on: eventLoop) { [database, id = entry.delivery.id] in try database.recordWithdrawal(of: id) }
    }
  }

  private func store(_ delivery: BackgroundDelivery, endsAttempt: Bool = true) {
    // Where it can't be written, a delivery is repeated after a restart, and none is lost.
    _ = worker.submit(on: eventLoop) { [database] in try database.record(delivery, endsAttempt: endsAttempt) }
  }
}
