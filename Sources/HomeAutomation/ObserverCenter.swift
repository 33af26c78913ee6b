package import HomeModel
package import HomeStore
package import MatterProtocol
package import NIOCore
package import Runtime

/// Notifies the observers of a home: queries and background deliveries. Also compacts the log.
package actor ObserverCenter {
  /// The limits of the log.
  package struct Retention: Hashable, Sendable {
    /// The maximum number of changes.
    package var count: Int
    /// The maximum age of a change.
    package var age: Duration
    /// The maximum size of the file in bytes.
    package var size: Int64

    package init(count: Int = 1_000_000, age: Duration = .seconds(30 * 86_400), size: Int64 = 512 << 20) {
      (self.count, self.age, self.size) = (count, age, size)
    }
  }

  /// A background delivery and its state.
  package struct Entry {
    package var delivery: BackgroundDelivery
    package var schedule: DeliverySchedule
    /// The first and the last published batch with a matching change that can't be read from the log yet.
    var uncommitted: ClosedRange<UInt64>?
    /// The delivery that runs.
    package var task: Task<Void, Never>?
  }

  package nonisolated let eventLoop: any EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  package let database: HomeDatabase
  /// Runs the calls of the database, which may block.
  package let worker: any Worker
  package private(set) var queries: ObserverQueries
  /// The background deliveries, by their ids.
  package var entries: [Int64: Entry] = [:]
  private var lastNumber = 0
  /// All running deliveries, including abandoned and removed ones.
  package var runs: [Int: Task<Void, Never>] = [:]
  /// The deliveries in the order of their registration, so that a simulation is repeatable.
  private var inOrder: [(key: Int64, value: Entry)] { entries.sorted { $0.key < $1.key } }
  package var limits: DeliverySchedule.Limits
  /// The time between SIGTERM and SIGKILL of a canceled command.
  package var gracePeriod = RunningCommand.defaultGracePeriod
  /// Whether background deliveries are made.
  var deliversInBackground = false
  package let machine: any Machine
  /// Whether the deliveries of earlier runs were restored.
  private var isRestored = false
  private let retention: Retention?
  private var isMaintaining = false
  /// The error of the last maintenance; nil if it succeeded.
  private var maintenanceFailure: HomeError?
  /// Receives an error of the maintenance, which is repeated periodically; not again while its text is the same.
  private let onFailure: @Sendable (HomeError) -> Void
  /// The last published batch, and the last one that can be read from the log.
  package private(set) var published: UInt64
  private var committed: UInt64
  private var maintenance: RepeatedTask?
  private var timer: Scheduled<Void>?
  private var timerDeadline: Instant?

  /// - Parameters:
  ///   - published: the number of the last published batch.
  ///   - worker: runs database calls; not closed with this object.
  ///   - limits: the limits of queries, and those of deliveries except the period.
  ///   - retention: the limits of the log; nil: unlimited.
  package init(
    _ database: HomeDatabase, published: UInt64 = 0, on eventLoop: any EventLoop, _ worker: any Worker,
    limits: DeliverySchedule.Limits = .init(), retention: Retention? = nil, machine: any Machine = HostMachine(),
    onFailure: @escaping @Sendable (HomeError) -> Void = { _ in }
  ) {
    self.database = database
    self.eventLoop = eventLoop
    self.worker = worker
    self.limits = limits
    self.machine = machine
    self.retention = retention
    self.onFailure = onFailure
    queries = ObserverQueries(limits, on: eventLoop, machine)
    (self.published, committed) = (published, 0)
  }

  /// Starts. Deliveries of earlier runs are restored before the first notification.
  /// - Parameter inBackground: whether to make background deliveries.
  package func start(inBackground: Bool = false) async throws(HomeError) {
    guard maintenance == nil else { return }
    let period: TimeAmount = machine.sharesFiles ? .seconds(60) : .seconds(300)
    maintenance = eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(100), delay: period) {
      [weak self] _ in
      guard let self else { return }
      machine.task { await self.maintain() }
    }
    guard inBackground else { return }
    deliversInBackground = true
    do throws(HomeError) {
      try await restoreDeliveries()
    } catch {
      deliversInBackground = false
      throw error
    }
    isRestored = true
  }

  /// Reads the stored deliveries again, after a change by this process.
  package func reloadDeliveries() async {
    // Repeated by the next maintenance if it fails now.
    isRestored = (try? await restoreDeliveries()) != nil
  }

  /// Calls the body with the database, after all previous calls.
  package func work<R: Sendable>(_ body: @escaping @Sendable (HomeDatabase) throws -> R) async throws(HomeError) -> R {
    do {
      return try await worker.submit(on: eventLoop) { [database] in try body(database) }.get()
    } catch {
      throw HomeError(error)
    }
  }

  /// Stops all notifications. Running deliveries are abandoned, and repeated at the next start.
  /// - Parameter recording: whether to store that they were abandoned; else they count as failed.
  package func stop(recording: Bool = true) {
    (deliversInBackground, isRestored) = (false, false)
    maintenance?.cancel()
    maintenance = nil
    timer?.cancel()
    timer = nil
    for entry in entries.values { abandon(entry, recording: recording) }
    queries.stopAll()
    entries = [:]
  }

  /// Stops, and waits until the abandoned deliveries have ended.
  package func end() async {
    let running = runs.values
    stop()
    for task in running { await task.value }
  }

  // MARK: Queries

  /// Executes a query. Its handler is first called once, for all earlier changes; only with an error if the query was
  /// already executed.
  package func execute(_ query: ObserverQuery) { queries.execute(query) }

  package func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Stops a query, whose handler is not called again.
  package func stop(_ query: ObserverQuery) { queries.stop(query) }

  // MARK: Changes

  /// Notifies the matching queries of a published batch: reading the log writes it first. Deliveries are notified when
  /// the log contains it.
  /// - Parameter state: the state that includes the batch.
  package func note(_ update: HomeUpdate, _ state: HomeState) {
    guard maintenance != nil, !update.changes.isEmpty else { return }
    queries.note(update, state)
    if update.isLogged {
      return notify(inOrder.filter { !$0.value.schedule.isPending && update.matches($0.value.delivery.filter, state) })
    }
    published = max(published, update.sequence)
    for observer in entries.compactMap({ update.matches($1.delivery.filter, state) ? $0 : nil }) {
      let first = entries[observer]?.uncommitted?.lowerBound ?? published
      entries[observer]?.uncommitted = first...published
    }
  }

  /// Notifies the deliveries of batches that can be read from the log now.
  package func note(_ commit: LogCommit) {
    guard case .batches(let last) = commit else { return notifyAll() }
    guard maintenance != nil else { return }
    committed = last
    let deliveries = inOrder.filter { $0.value.uncommitted.map { $0.lowerBound <= last } == true }
    for (observer, entry) in deliveries {
      entries[observer]?.uncommitted = Self.batches(entry.uncommitted, after: last)
    }
    notify(deliveries)
  }

  private static func batches(_ batches: ClosedRange<UInt64>?, after last: UInt64) -> ClosedRange<UInt64>? {
    batches.flatMap { $0.upperBound > last ? (last + 1)...$0.upperBound : nil }
  }

  /// The batches that can't be read from the log yet.
  var uncommitted: ClosedRange<UInt64>? { committed < published ? (committed + 1)...published : nil }

  private func notify(_ deliveries: [(key: Int64, value: Entry)]) {
    for (observer, entry) in deliveries where !entry.schedule.isPending { with(observer) { $0.change(at: $1) } }
    if !deliveries.isEmpty { arm() }
  }

  private func notifyAll() {
    guard maintenance != nil else { return }
    queries.signalAll()
    for (observer, _) in inOrder {
      entries[observer]?.uncommitted = nil
      with(observer) { $0.change(at: $1) }
    }
    arm()
  }

  /// Retries a failed load of the deliveries, and compacts the log.
  private func maintain() async {
    guard maintenance != nil, !isMaintaining else { return }
    isMaintaining = true
    defer { isMaintaining = false }
    do throws(HomeError) {
      if deliversInBackground, !isRestored {
        try await restoreDeliveries()
        isRestored = true
      }
      try await compact()
      maintenanceFailure = nil
    } catch {
      // The disk may be full; the next maintenance retries.
      guard maintenance != nil, error.message != maintenanceFailure?.message else { return }
      maintenanceFailure = error
      onFailure(error)
    }
  }

  /// Removes changes beyond the limits, and then pages from the file. Each slice is a call of its own, so that other
  /// calls of the database are not delayed by more than one slice.
  private func compact() async throws(HomeError) {
    guard let retention else { return }
    let age = retention.age.components.seconds.multipliedReportingOverflow(by: 1_000_000)
    let time = machine.unixMicroseconds().saturatingSubtract(age.overflow ? 0 : age.partialValue)
    while maintenance != nil,
      try await work({ try $0.compact(keeping: retention.count, since: time, within: retention.size) }) > 0
    {}
    while maintenance != nil, try await work({ try $0.shrink(to: retention.size) }) {}
    try await work { try $0.cutJournal() }
  }

  // MARK: Schedules

  package var now: Instant { Instant(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds)) }

  package func with(_ observer: Int64, _ body: (inout DeliverySchedule, Instant) -> [DeliverySchedule.Action]) {
    guard var entry = entries[observer] else { return }
    let actions = body(&entry.schedule, now)
    entries[observer] = entry
    for action in actions { perform(action, for: observer) }
  }

  private func perform(_ action: DeliverySchedule.Action, for observer: Int64) {
    guard let entry = entries[observer] else { return }
    switch action {
    case .deliver(let run): begin(entry.delivery, observer, run: run)
    case .abandon:
      entry.task?.cancel()
      note(entry.delivery, observer, failure: "it took longer than \(entry.schedule.limits.timeout)")
    }
  }

  // MARK: The timer

  /// Sets the timer to the earliest deadline of all deliveries.
  package func arm() {
    let deadline = entries.values.compactMap(\.schedule.deadline).min()
    guard deadline != timerDeadline || timer == nil else { return }
    timer?.cancel()
    timer = nil
    timerDeadline = deadline
    guard let deadline else { return }
    timer = eventLoop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(clamping: deadline.nanoseconds))) {
      [weak self] in
      guard let self else { return }
      machine.task { await self.advance() }
    }
  }

  private func advance() {
    timer = nil
    for (observer, _) in inOrder { with(observer) { $0.advance(to: $1) } }
    arm()
  }
}
