public import HomeModel
public import HomeStore
package import MatterProtocol
public import NIOCore
public import Runtime

/// Notifies observers of a home: queries in this process, and background deliveries in the process that owns the home.
/// Also detects writes of other processes.
public actor ObserverCenter {
  /// Handles updates of other processes, in order. Returns the position to continue from: the next one, or, if the home
  /// was reloaded because the log did not reach back, that of the home. Retried if it throws.
  public typealias Others = @Sendable (OtherUpdates) async throws -> Anchor

  /// The limits of the log.
  public struct Retention: Hashable, Sendable {
    /// The maximum number of changes.
    public var count: Int
    /// The maximum age of a change.
    public var age: Duration
    /// The maximum size of the file in bytes.
    public var size: Int64

    public init(count: Int = 1_000_000, age: Duration = .seconds(30 * 86_400), size: Int64 = 512 << 20) {
      (self.count, self.age, self.size) = (count, age, size)
    }
  }

  /// A background delivery and its state.
  package struct Entry {
    /// The later it came, the higher.
    package let number: Int
    package var delivery: BackgroundDelivery
    package var schedule: DeliverySchedule
    /// The first and the last published batch with a matching change that can't be read from the log yet.
    package var uncommitted: ClosedRange<UInt64>?
    /// The delivery that runs.
    package var task: Task<Void, Never>?
  }

  public nonisolated let eventLoop: any EventLoop
  public nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  package let database: HomeDatabase
  /// Where the database is asked: that may take long.
  package let worker: any Worker
  /// The queries, in the order of their execution.
  package private(set) var queries: [QuerySignal] = []
  /// The background deliveries, by their ids.
  package var entries: [Int64: Entry] = [:]
  private var lastNumber = 0
  /// All deliveries that run, also those that were given up or whose observer was removed.
  package var runs: [Int: Task<Void, Never>] = [:]
  /// Those who came first are told first: a simulated home does the same each time.
  private var inOrder: [(key: Int64, value: Entry)] { entries.sorted { $0.value.number < $1.value.number } }
  package var limits: DeliverySchedule.Limits
  /// The time between SIGTERM and SIGKILL of a canceled command.
  var gracePeriod = RunningCommand.defaultGracePeriod
  /// Whether targets are woken.
  var deliversInBackground = false
  /// Whether this process keeps the log short.
  private var ownsLog = false
  package let machine: any Machine
  /// Whether those of earlier runs are.
  private var isRestored = false
  private let others: Others?
  private let onForeignWrite: (@Sendable () async -> Void)?
  private let retention: Retention?
  private var foreignAnchor: Anchor
  private var foreignVersion: Int64?
  private var polls = 0
  private var nextGivingBack = Instant.zero
  private var isLooking = false
  /// What others wrote is being read: by one at a time, or it would come out of order.
  private var reading: Task<Result<Void, HomeError>, Never>?
  /// The last published batch, and the last one that can be read from the log.
  package private(set) var published: UInt64
  private var committed: UInt64
  private var poll: RepeatedTask?
  private var timer: Scheduled<Void>?
  private var timerDeadline: Instant?

  /// - Parameters:
  ///   - anchor: the position of the loaded home: later updates of other processes are reported.
  ///   - published: the number of the last published batch.
  ///   - worker: runs database calls; not closed with this object.
  ///   - limits: the limits of queries, and those of deliveries except the period.
  ///   - retention: the limits of the log, for the process that owns the home; nil: unlimited.
  ///   - onForeignWrite: is called after another process wrote to the database, also outside of the log.
  public init(
    _ database: HomeDatabase, after anchor: Anchor, published: UInt64 = 0, on eventLoop: any EventLoop,
    _ worker: any Worker, limits: DeliverySchedule.Limits = .init(), retention: Retention? = nil,
    machine: any Machine = HostMachine(),
    onForeignWrite: (@Sendable () async -> Void)? = nil, others: Others? = nil
  ) {
    self.database = database
    self.eventLoop = eventLoop
    self.worker = worker
    self.limits = limits
    self.machine = machine
    self.retention = retention
    self.others = others
    self.onForeignWrite = onForeignWrite
    foreignAnchor = anchor
    (self.published, committed) = (published, 0)
  }

  /// Starts. Deliveries of earlier runs are restored before the first notification.
  /// - Parameter inBackground: whether to make background deliveries and compact the log, which only one process of a
  ///   home may do.
  public func start(inBackground: Bool = false) async throws(HomeError) {
    guard poll == nil else { return }
    // Where nobody else writes, there is the log to be kept short, and nothing else to look for.
    let period: TimeAmount = machine.sharesFiles ? .milliseconds(200) : .seconds(300)
    poll = eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(100), delay: period) {
      [weak self] _ in
      guard let self else { return }
      machine.task { await self.look() }
    }
    guard inBackground else { return }
    try await deliverInBackground()
    await keepLogShort()
  }

  /// Also makes background deliveries from now on, after this process took them over. If they can't be restored, none
  /// is made.
  public func deliverInBackground() async throws(HomeError) {
    guard poll != nil, !deliversInBackground else { return }
    deliversInBackground = true
    do throws(HomeError) {
      try await restoreDeliveries()
    } catch {
      deliversInBackground = false
      throw error
    }
    isRestored = true
  }

  /// From now on the log is kept short here, too: this process has become the one that owns the home. At once, since a process
  /// may not last long enough for its turn to come.
  package func keepLogShort() async {
    guard poll != nil, !ownsLog else { return }
    ownsLog = true
    // Where it can't be done now, it is done later.
    try? await compact()
  }

  /// Reads the stored deliveries again, after a change by this process.
  package func reloadDeliveries() async {
    // If it fails now, the next look repeats it.
    isRestored = (try? await restoreDeliveries()) != nil
  }

  /// Reads what others have written up to now.
  package func catchUp() async throws(HomeError) { if machine.sharesFiles { try await readOthers() } }

  /// Does something with the database, behind all that was asked of it before.
  package func work<R: Sendable>(_ body: @escaping @Sendable (HomeDatabase) throws -> R) async throws(HomeError) -> R {
    do {
      return try await worker.submit(on: eventLoop) { [database] in try body(database) }.get()
    } catch {
      throw HomeError(error)
    }
  }

  /// Stops all notifications. Running deliveries are abandoned, and repeated at the next start.
  /// - Parameter recording: whether to store that they were abandoned; else they count as failed.
  public func stop(recording: Bool = true) {
    (deliversInBackground, isRestored, ownsLog) = (false, false, false)
    poll?.cancel()
    poll = nil
    timer?.cancel()
    timer = nil
    for entry in entries.values { giveUp(entry, recording: recording) }
    for query in queries { query.stop() }
    (entries, queries) = ([:], [])
  }

  /// Ends, and waits until nothing runs any more that was given up: whoever wakes next has it for himself.
  package func end() async {
    let running = runs.values
    stop()
    for task in running { await task.value }
  }

  // MARK: Queries

  /// Executes a query. Its handler is first called once, for all earlier changes; only with an error if the query was
  /// already executed.
  public func execute(_ query: ObserverQuery) {
    guard query.execute(on: machine) else { return }
    let signal = QuerySignal(query, limits, on: eventLoop, machine)
    queries.append(signal)
    signal.signal()
  }

  package func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Stops a query, whose handler is not called again.
  public func stop(_ query: ObserverQuery) {
    guard let index = queries.firstIndex(where: { $0.query === query }) else { return }
    queries.remove(at: index).stop()
  }

  // MARK: Changes

  /// Matches a published batch with the observers' filters. Observers read changes from the log, so they are notified
  /// when it contains the batch.
  /// - Parameter state: the state that includes the batch.
  package func note(_ update: HomeUpdate, _ state: HomeState) {
    guard poll != nil, !update.changes.isEmpty else { return }
    if update.isLogged {
      return notify(
        queries.filter { !$0.isPending && update.matches($0.query.predicate, state) },
        inOrder.filter { !$0.value.schedule.isPending && update.matches($0.value.delivery.filter, state) })
    }
    published = max(published, update.sequence)
    for query in queries where update.matches(query.query.predicate, state) {
      query.uncommitted = (query.uncommitted?.lowerBound ?? published)...published
    }
    for observer in entries.compactMap({ update.matches($1.delivery.filter, state) ? $0 : nil }) {
      let first = entries[observer]?.uncommitted?.lowerBound ?? published
      entries[observer]?.uncommitted = first...published
    }
  }

  /// Notifies the observers of batches that can be read from the log now.
  package func note(_ commit: LogCommit) {
    guard case .batches(let last) = commit else { return notifyAll() }
    guard poll != nil else { return }
    committed = last
    let queries = queries.filter { $0.uncommitted.map { $0.lowerBound <= last } == true }
    let deliveries = inOrder.filter { $0.value.uncommitted.map { $0.lowerBound <= last } == true }
    for query in queries { query.uncommitted = Self.batches(query.uncommitted, after: last) }
    for (observer, entry) in deliveries {
      entries[observer]?.uncommitted = Self.batches(entry.uncommitted, after: last)
    }
    notify(queries, deliveries)
  }

  private static func batches(_ batches: ClosedRange<UInt64>?, after last: UInt64) -> ClosedRange<UInt64>? {
    batches.flatMap { $0.upperBound > last ? (last + 1)...$0.upperBound : nil }
  }

  /// The batches that can't be read from the log yet.
  var uncommitted: ClosedRange<UInt64>? { committed < published ? (committed + 1)...published : nil }

  private func notify(_ queries: [QuerySignal], _ deliveries: [(key: Int64, value: Entry)]) {
    for query in queries { query.signal() }
    for (observer, entry) in deliveries where !entry.schedule.isPending { with(observer) { $0.change(at: $1) } }
    if !deliveries.isEmpty { arm() }
  }

  private func notifyAll() {
    guard poll != nil else { return }
    for query in queries {
      query.uncommitted = nil
      query.signal()
    }
    for (observer, _) in inOrder {
      entries[observer]?.uncommitted = nil
      with(observer) { $0.change(at: $1) }
    }
    arm()
  }

  /// Looks whether another process has written.
  private func look() async {
    guard poll != nil, !isLooking else { return }
    isLooking = true
    defer { isLooking = false }
    do {
      if machine.sharesFiles {
        let version = try await work { try $0.foreignVersion() }
        if version != foreignVersion {
          try await readOthers()
          await onForeignWrite?()
          isRestored = false
          foreignVersion = version
        }
      }
      if deliversInBackground, !isRestored {
        try await restoreDeliveries()
        isRestored = true
      }
      polls += 1
      if !machine.sharesFiles || polls % 300 == 0 {
        try await compact()
        try await giveBack()
        if ownsLog { try await work { try $0.cutJournal() } }
      }
    } catch {
      // The disk is full, or another process writes for long: the next look does it.
    }
  }

  /// Makes the log shorter, in the process that owns the home.
  private func compact() async throws {
    guard let retention, ownsLog else { return }
    // Behind all that others wrote: what is taken away was seen.
    try await catchUp()
    let age = retention.age.components.seconds.multipliedReportingOverflow(by: 1_000_000)
    let time = machine.unixMicroseconds().saturatingSubtract(age.overflow ? 0 : age.partialValue)
    try await work { _ = try $0.compact(keeping: retention.count, since: time, within: retention.size) }
  }

  /// Gives back to the disk what is empty. Where it can't be, much was written for nothing: it is left alone for an hour.
  private func giveBack() async throws {
    guard let retention, ownsLog, now >= nextGivingBack else { return }
    nextGivingBack = now + .seconds(3600)
    try await work { try $0.giveBack(beyond: retention.size) }
    nextGivingBack = now
  }

  private func readOthers() async throws(HomeError) {
    while let reading { _ = await reading.value }
    let task = machine.task { await self.readToEnd() }
    reading = task
    try await task.value.get()
  }

  private func readToEnd() async -> Result<Void, HomeError> {
    // Before anybody who waits for it goes on.
    defer { reading = nil }
    do { return .success(try await read()) } catch { return .failure(HomeError(error)) }
  }

  private func read() async throws {
    while poll != nil {
      let found = try await work { [foreignAnchor] in try $0.updates(after: foreignAnchor) }
      foreignAnchor = if let others { try await others(found) } else { found.next }
      // Otherwise the home publishes the updates.
      if found.mustReload { notifyAll() }
      if found.isComplete { return }
    }
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
    case .suspend: break
    }
  }

  // MARK: The timer

  /// Sets the timer to the first deadline of all.
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
