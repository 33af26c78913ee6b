internal import HomeModel
internal import HomeStore
internal import Logging
internal import MatterController
internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// Stores the changes of a home in its database: updates in batches on a worker thread, and durable changes of the
/// controller on the event loop. Confined to the event loop.
///
/// Updates that can't be written are kept and retried with a back-off, until too many are waiting.
final class HomeWriter {
  typealias Work<R> = @Sendable (HomeDatabase) throws -> R

  enum Event {
    /// Writes fail and are retried.
    case failed(HomeError)
    /// Everything is stored, and nothing was lost.
    case recovered
    /// The updates since the failure are lost, because too many were waiting. The next write stores the whole home.
    case lost(HomeError)
  }

  let database: HomeDatabase
  private let eventLoop: any EventLoop
  /// Executes its work in the order of submission.
  let worker: any Worker
  private let queue = WriteQueue()
  /// The times of last contact in the database.
  private var stored: [NodeID: Contact]
  /// The current write on the worker.
  private var writing: EventLoopFuture<Void>?
  private var isFlushScheduled = false
  /// The error of the last write; nil if it succeeded.
  private(set) var failure: HomeError?
  private var failures = 0
  /// Whether the database is closed.
  private var isOver = false
  /// Whether updates were lost: the next write stores the whole home and starts a new log.
  private var hasLost = false
  /// Whether the current write stores the whole home.
  private var isRestarting = false

  /// The home, and the time in microseconds since 1970.
  struct Current: Sendable {
    var home: HomeReducer
    var time: Int64
  }

  /// Returns the current home, to be stored after a loss.
  var current: (() -> Current)?
  var onEvent: ((Event) -> Void)?
  /// Called after each write of updates, or of the whole home.
  var onCommit: ((LogCommit) -> Void)?
  /// The delay of a write: the maximum time whose updates a kill loses.
  private static let pause = TimeAmount.milliseconds(20)
  /// The number of waiting updates that are written without delay.
  private static let batch = 512
  /// The delay before the first retry; doubled for each further one, up to the maximum.
  private let firstRetry: TimeAmount
  private static let longestRetry = TimeAmount.seconds(30)
  /// The maximum number of updates that wait while writes fail.
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

  /// Stores an update soon.
  func add(_ update: HomeUpdate, _ known: [NodeID: Contact]) {
    guard !isOver, !hasLost, !update.isLogged else { return }
    if update.changes.isEmpty && update.versions.isEmpty && update.trials.isEmpty { return }
    var contacts: [NodeID: Contact] = [:]
    for change in update.changes { if let node = change.node { contacts[node] = known[node] } }
    let count = queue.add([update], contacts: contacts)
    if failure != nil {
      if count > mostWaiting { lose() }
    } else if count >= Self.batch {
      if writing == nil { write() }
    } else {
      flush(in: Self.pause)
    }
  }

  /// Stores the changed times of contact soon.
  func add(_ known: [NodeID: Contact]) {
    guard !isOver, !hasLost else { return }
    note(known)
    if !queue.isEmpty, failure == nil { flush(in: Self.pause) }
  }

  private func note(_ known: [NodeID: Contact]) { queue.add(contacts: known.filter { stored[$0.key] != $0.value }) }

  /// Stores changes of the controller: before the call returns if one of them is durable or is the record of a node, with
  /// its address, else soon.
  /// - Parameter update: stored in the same transaction, before the call returns.
  func commit(_ changes: [StoreChange], with update: HomeUpdate?) throws(StoreError) {
    guard update != nil || changes.contains(where: { $0.isDurable || $0.key.hasPrefix(PeerRecord.prefix) }) else {
      queue.add(entries: changes)
      if failure == nil { flush(in: Self.pause) }
      return
    }
    do throws(HomeError) {
      let written = try worker.run { () throws(HomeError) in
        try database.commit(queue, changes, with: update)
      }
      guard let written else { return }
      note(written)
    } catch {
      throw StoreError(.database(error.message), path: database.path)
    }
    guard update != nil, isRestarting else { return }
    // The home that is being stored does not include the update.
    hasLost = true
    queue.dropUpdates()
  }

  /// Executes work on the database after all previous changes are stored.
  /// - Returns: fails if they can't be stored.
  func perform<R: Sendable>(_ body: @escaping Work<R>) -> EventLoopFuture<R> {
    guard writing != nil || !queue.isEmpty || isOver || hasLost else { return submit(body) }
    return store().flatMap { [database, worker, eventLoop] in
      worker.submit(on: eventLoop) { try body(database) }
    }
  }

  private func submit<R: Sendable>(_ body: @escaping Work<R>) -> EventLoopFuture<R> {
    worker.submit(on: eventLoop) { [database] in try body(database) }
  }

  /// Drops the waiting changes and closes the database.
  func abandon() {
    isOver = true
    worker.close { [database] in try? database.close() }
  }

  /// Stores the waiting changes, ends the thread and closes the database.
  func close(_ known: [NodeID: Contact]) -> EventLoopFuture<Void> {
    note(known)
    return store().assumeIsolated().flatMapErrorThrowing { [self] _ in lose() }
      .flatMap { [self] in
        isOver = true
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

  /// Stores all waiting changes, after the current write.
  private func store() -> EventLoopFuture<Void> {
    if isOver, let failure { return eventLoop.makeFailedFuture(failure) }
    guard let writing else { return write() }
    if queue.isEmpty { return writing }
    // The next write includes the changes that wait now.
    return writing.assumeIsolated().flatMap { [self] in self.writing ?? write() }.nonisolated()
  }

  /// Writes all waiting changes. Must not be called during a write.
  @discardableResult
  private func write() -> EventLoopFuture<Void> {
    if hasLost { return restart() }
    guard !isOver, !queue.isEmpty else { return eventLoop.makeSucceededVoidFuture() }
    return write({ [queue] in try $0.commit(queue) }) { [self] in if let batch = $0 { note(batch) } }
  }

  /// Notes that changes are in the database.
  private func note(_ written: WriteQueue.Batch) {
    stored.merge(written.contacts) { $1 }
    if let last = written.updates.last { onCommit?(.batches(upTo: last.sequence)) }
  }

  /// Stores the whole home after a loss.
  private func restart() -> EventLoopFuture<Void> {
    guard !isOver, let current = current?() else { return eventLoop.makeSucceededVoidFuture() }
    // Later updates are stored after it.
    (hasLost, isRestarting) = (false, true)
    queue.resume()
    return write({ try $0.restart(with: current.home, at: current.time) }) { [self] written in
      isRestarting = false
      if written != nil {
        stored = current.home.contacts
        onCommit?(.wholeHome)
      } else {
        hasLost = true
        queue.dropUpdates()
      }
    }
  }

  /// Executes a write on the worker, and then writes the changes that were added meanwhile.
  /// - Parameter body: receives the result, or nil if the write failed.
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
    if !queue.isEmpty || hasLost { write() }
  }

  private func failed(_ error: HomeError) {
    let isFirst = failure == nil
    failure = error
    if isFirst { onEvent?(.failed(error)) }
    if queue.add() > mostWaiting { return lose() }
    failures += 1
    flush(in: min(firstRetry * (1 << min(failures - 1, 10)), Self.longestRetry))
  }

  private func lose() {
    guard !isOver, !hasLost else { return }
    hasLost = true
    queue.dropUpdates()
    if let failure { onEvent?(.lost(failure)) }
  }
}

extension HomeWriter.Event {
  package func log(to logger: Logger) {
    switch self {
    case .failed(let error): logger.critical("changes of the home can't be stored now: \(error)")
    case .recovered: logger.notice("changes of the home are stored again")
    case .lost(let error): logger.critical("changes of the home are lost, because they can't be stored: \(error)")
    }
  }
}
