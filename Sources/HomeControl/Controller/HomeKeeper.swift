internal import HomeModel
internal import HomeStore
internal import Logging
internal import MatterModel
internal import NIOCore
internal import Runtime

/// Write-behind queue of a home: stores updates in batches, in order, on a worker thread. Confined to the event loop.
///
/// A failed write is retried with a growing back-off. If too many updates are queued meanwhile, all of them are
/// dropped, and the next write stores the whole home.
final class HomeKeeper {
  typealias Work<R> = @Sendable (HomeDatabase) throws -> R

  enum Event {
    /// Writes fail and are retried.
    case failed(HomeError)
    /// Writes succeed again.
    case recovered
    /// The queued updates were dropped, because there were too many. The next write stores the whole home.
    case lost(HomeError)
  }

  let database: HomeDatabase
  private let eventLoop: any EventLoop
  /// Runs the work on the database, in order.
  let worker: any Worker
  /// The queued updates, in order, without those being written.
  private var waiting: [HomeUpdate] = []
  /// The queued times of contact.
  private var contacts: [NodeID: Contact] = [:]
  /// The times of contact in the database.
  private var stored: [NodeID: Contact]
  /// The write in progress.
  private var writing: EventLoopFuture<Void>?
  private var isFlushScheduled = false
  /// The error of the last write; nil if it succeeded.
  private(set) var failure: HomeError?
  /// The number of consecutive failures.
  private var failures = 0
  /// Whether the database is closed.
  private var isClosed = false
  /// Whether updates were dropped: the next write stores the whole home and begins a new log.
  private var hasLost = false
  /// The whole home, for a write after updates were dropped.
  struct Current: Sendable {
    var home: HomeReducer
    /// In microseconds since 1970.
    var time: Int64
  }

  /// Returns the current home.
  var current: (() -> Current)?
  var onEvent: ((Event) -> Void)?
  /// Called after each write of updates, or of the whole home.
  var onCommit: ((LogCommit) -> Void)?
  /// The delay of a write, to collect updates. A killed process loses at most the updates of this time.
  private static let flushDelay = TimeAmount.milliseconds(20)
  /// The number of queued updates that are written without delay.
  private static let batchSize = 512
  /// The delay of the first retry, doubled for each further one, up to ``longestRetry``.
  private let firstRetry: TimeAmount
  private static let longestRetry = TimeAmount.seconds(30)
  /// The maximum number of queued updates after a failed write.
  private let mostWaiting: Int

  init(
    _ database: HomeDatabase, contacts: [NodeID: Contact] = [:], on eventLoop: any EventLoop,
    _ worker: any Worker, firstRetry: TimeAmount = .seconds(1), mostWaiting: Int = 20_000
  ) {
    self.database = database
    stored = contacts
    self.eventLoop = eventLoop
    self.worker = worker
    self.firstRetry = firstRetry
    self.mostWaiting = mostWaiting
  }

  /// Queues an update, with the times of contact of the nodes that it changes.
  func keep(_ update: HomeUpdate, _ known: [NodeID: Contact]) {
    guard !isClosed, !hasLost, !update.isLogged else { return }
    if update.changes.isEmpty && update.versions.isEmpty && update.trials.isEmpty { return }
    for change in update.changes { if let node = change.node { contacts[node] = known[node] } }
    waiting.append(update)
    if failure != nil {
      if waiting.count > mostWaiting { lose() }
    } else if waiting.count >= Self.batchSize {
      if writing == nil { write() }
    } else {
      flush(in: Self.flushDelay)
    }
  }

  /// Queues the times of contact that differ from the stored ones.
  func keep(_ known: [NodeID: Contact]) {
    guard !isClosed, !hasLost else { return }
    note(known)
    if !contacts.isEmpty, failure == nil { flush(in: Self.flushDelay) }
  }

  private func note(_ known: [NodeID: Contact]) {
    for (node, contact) in known where stored[node] != contact { contacts[node] = contact }
  }

  /// Runs `body` on the database after all previous updates are stored.
  /// - Returns: the result; fails if the previous updates can't be stored.
  func perform<R: Sendable>(_ body: @escaping Work<R>) -> EventLoopFuture<R> {
    guard writing != nil || !waiting.isEmpty || isClosed || hasLost else { return submit(body) }
    return store().flatMap { [database, worker, eventLoop] in
      worker.submit(on: eventLoop) { try body(database) }
    }
  }

  private func submit<R: Sendable>(_ body: @escaping Work<R>) -> EventLoopFuture<R> {
    worker.submit(on: eventLoop) { [database] in try body(database) }
  }

  /// Drops the queued updates and closes the database.
  func abandon() {
    isClosed = true
    waiting = []
    contacts = [:]
    worker.close { [database] in try? database.close() }
  }

  /// Stores the queued updates and the given times of contact, ends the worker, and closes the database. Updates that
  /// can't be stored are dropped.
  func close(_ known: [NodeID: Contact]) -> EventLoopFuture<Void> {
    note(known)
    return store().assumeIsolated().flatMapErrorThrowing { [self] _ in lose() }
      .flatMap { [self] in
        isClosed = true
        let promise = eventLoop.makePromise(of: Void.self)
        worker.close { [database] in
          try? database.close()
          promise.succeed()
        }
        return promise.futureResult
      }.nonisolated()
  }

  // MARK: Writing

  private func flush(in time: TimeAmount) {
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
      guard let self else { return }
      isFlushScheduled = false
      if writing == nil { write() }
    }
  }

  /// Stores everything queued, after the write in progress, if any.
  private func store() -> EventLoopFuture<Void> {
    if isClosed, let failure { return eventLoop.makeFailedFuture(failure) }
    guard let writing else { return write() }
    if waiting.isEmpty && contacts.isEmpty { return writing }
    // The next write, which may have begun by itself, includes everything that is queued now.
    return writing.assumeIsolated().flatMap { [self] in self.writing ?? write() }.nonisolated()
  }

  /// Writes everything queued. Must not be called during a write.
  @discardableResult
  private func write() -> EventLoopFuture<Void> {
    if hasLost { return restart() }
    guard !isClosed, !waiting.isEmpty || !contacts.isEmpty else { return eventLoop.makeSucceededVoidFuture() }
    let (updates, contacts) = (waiting, contacts)
    waiting = []
    self.contacts = [:]
    return write({ try $0.commit(updates, contacts: contacts) }) { [self] written in
      if written != nil {
        stored.merge(contacts) { $1 }
        if let last = updates.last { onCommit?(.batches(upTo: last.sequence)) }
      } else if !hasLost {
        // Queued again, unless the queue overflowed during the write.
        waiting = updates + waiting
        self.contacts = contacts.merging(self.contacts) { $1 }
      }
    }
  }

  /// Writes the whole home in place of the dropped updates.
  private func restart() -> EventLoopFuture<Void> {
    guard !isClosed, let current = current?() else { return eventLoop.makeSucceededVoidFuture() }
    // Further updates are queued again.
    hasLost = false
    return write({ try $0.restart(with: current.home, at: current.time) }) { [self] written in
      if written != nil {
        stored = current.home.contacts
        onCommit?(.wholeHome)
      } else {
        (hasLost, waiting, contacts) = (true, [], [:])
      }
    }
  }

  /// Runs a write, and starts the next one after it if updates are queued. Must not be called during a write.
  /// - Parameter body: receives the result of the write, or nil if it failed.
  private func write<R: Sendable>(
    _ work: @escaping Work<R>, then body: @escaping (R?) -> Void
  ) -> EventLoopFuture<Void> {
    let written = submit(work)
    let done = written.assumeIsolated().map { body($0) }.nonisolated()
    writing = done
    done.assumeIsolated().whenComplete { [weak self] result in
      guard let self else { return }
      writing = nil
      switch result {
      case .success: succeeded()
      case .failure(let error):
        body(nil)
        failed(HomeError(error))
      }
    }
    return done
  }

  private func succeeded() {
    failures = 0
    if failure != nil, !hasLost {
      failure = nil
      onEvent?(.recovered)
    }
    if !waiting.isEmpty || hasLost { write() }
  }

  private func failed(_ error: HomeError) {
    let isFirst = failure == nil
    failure = error
    if isFirst { onEvent?(.failed(error)) }
    if waiting.count > mostWaiting { return lose() }
    failures += 1
    flush(in: min(firstRetry * (1 << min(failures - 1, 10)), Self.longestRetry))
  }

  /// Drops all queued updates.
  private func lose() {
    guard !isClosed, !hasLost else { return }
    hasLost = true
    waiting = []
    contacts = [:]
    if let failure { onEvent?(.lost(failure)) }
  }
}

extension HomeKeeper.Event {
  package func log(to logger: Logger) {
    switch self {
    case .failed(let error): logger.critical("changes of the home can't be stored and will be retried: \(error)")
    case .recovered: logger.notice("changes of the home are stored again")
    case .lost(let error): logger.critical("changes of the home are lost, because too many can't be stored: \(error)")
    }
  }
}
