internal import HomeModel
internal import HomeStore
internal import Logging
internal import MatterModel
internal import NIOCore
internal import Runtime

/// Carries what happens in a home to its database, off the event loop: several updates at a time, in their order. Confined
/// to the event loop.
///
/// What can't be written is kept and tried again, later and later, until it is too much to be kept.
final class HomeKeeper {
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
  /// What is given to it first is done first.
  let worker: any Worker
  /// What happened and is not stored, the first that happened first; without what is being written.
  private var waiting: [HomeUpdate] = []
  private var contacts: [NodeID: Contact] = [:]
  /// When nodes were heard as the database has it.
  private var stored: [NodeID: Contact]
  /// The write that is under way.
  private var writing: EventLoopFuture<Void>?
  private var isFlushScheduled = false
  /// Why the last write failed; nil after one that did not.
  private(set) var failure: HomeError?
  private var failures = 0
  /// Whether nothing is stored any more.
  private var isOver = false
  /// Whether some of what happened was lost: the home as a whole is stored next, and the log begins anew.
  private var hasLost = false
  /// The home as it is now.
  struct Current: Sendable {
    var home: HomeReducer
    /// In microseconds since 1970.
    var time: Int64
  }

  /// Asked for what is to be stored where something was lost.
  var current: (() -> Current)?
  var onEvent: ((Event) -> Void)?
  /// Called after each write of updates, or of the whole home.
  var onCommit: ((LogCommit) -> Void)?
  /// What a kill can take at most.
  private static let pause = TimeAmount.milliseconds(20)
  /// So many updates are written at once.
  private static let batch = 512
  /// Before a write that failed is tried again; doubled for each further one, up to the longest.
  private let firstRetry: TimeAmount
  private static let longestRetry = TimeAmount.seconds(30)
  /// So many updates are kept while they can't be written.
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

  /// Takes an update to be stored soon.
  func keep(_ update: HomeUpdate, _ known: [NodeID: Contact]) {
    guard !isOver, !hasLost, !update.isLogged else { return }
    if update.changes.isEmpty && update.versions.isEmpty && update.trials.isEmpty { return }
    for change in update.changes { if let node = change.node { contacts[node] = known[node] } }
    waiting.append(update)
    if failure != nil {
      if waiting.count > mostWaiting { lose() }
    } else if waiting.count >= Self.batch {
      if writing == nil { write() }
    } else {
      flush(in: Self.pause)
    }
  }

  /// Takes when nodes were heard, to be stored soon where that is news.
  func keep(_ known: [NodeID: Contact]) {
    guard !isOver, !hasLost else { return }
    note(known)
    if !contacts.isEmpty, failure == nil { flush(in: Self.pause) }
  }

  private func note(_ known: [NodeID: Contact]) {
    for (node, contact) in known where stored[node] != contact { contacts[node] = contact }
  }

  /// Does something with the database when everything that happened before is in it.
  /// - Returns: fails where that can't be.
  func perform<R: Sendable>(_ body: @escaping Work<R>) -> EventLoopFuture<R> {
    guard writing != nil || !waiting.isEmpty || isOver || hasLost else { return submit(body) }
    return store().flatMap { [database, worker, eventLoop] in
      worker.submit(on: eventLoop) { try body(database) }
    }
  }

  private func submit<R: Sendable>(_ body: @escaping Work<R>) -> EventLoopFuture<R> {
    worker.submit(on: eventLoop) { [database] in try body(database) }
  }

  /// Forgets what waits, and lets go of the database.
  func abandon() {
    isOver = true
    waiting = []
    contacts = [:]
    worker.close { [database] in try? database.close() }
  }

  /// Stores what waits, ends the thread and closes the database.
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

  /// Stores all that waits now, also behind a write that is under way.
  private func store() -> EventLoopFuture<Void> {
    if isOver, let failure { return eventLoop.makeFailedFuture(failure) }
    guard let writing else { return write() }
    if waiting.isEmpty && contacts.isEmpty { return writing }
    // What waits now is in the next write, and what comes meanwhile in a later one.
    return writing.assumeIsolated().flatMap { [self] in self.writing ?? write() }.nonisolated()
  }

  /// Gives everything that waits to the database; only while no write is under way.
  @discardableResult
  private func write() -> EventLoopFuture<Void> {
    if hasLost { return restart() }
    guard !isOver, !waiting.isEmpty || !contacts.isEmpty else { return eventLoop.makeSucceededVoidFuture() }
    let (updates, contacts) = (waiting, contacts)
    waiting = []
    self.contacts = [:]
    return write({ try $0.commit(updates, contacts: contacts) }) { [self] written in
      if written != nil {
        stored.merge(contacts) { $1 }
        if let last = updates.last { onCommit?(.batches(upTo: last.sequence)) }
      } else if !hasLost {
        // It may have become too much meanwhile: then all of it is lost, this as well.
        waiting = updates + waiting
        self.contacts = contacts.merging(self.contacts) { $1 }
      }
    }
  }

  /// Stores the home as it is, in place of what was lost.
  private func restart() -> EventLoopFuture<Void> {
    guard !isOver, let current = current?() else { return eventLoop.makeSucceededVoidFuture() }
    // What happens from now on is kept again.
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

  /// Writes, while nobody else does, and goes on with what waits then.
  /// - Parameter body: does what follows of its having been written, or, nil, not.
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

  private func lose() {
    guard !isOver, !hasLost else { return }
    hasLost = true
    waiting = []
    contacts = [:]
    if let failure { onEvent?(.lost(failure)) }
  }
}

extension HomeKeeper.Event {
  package func log(to logger: Logger) {
    switch self {
    case .failed(let error): logger.critical("changes of the home can't be stored now: \(error)")
    case .recovered: logger.notice("changes of the home are stored again")
    case .lost(let error): logger.critical("changes of the home are lost, because they can't be stored: \(error)")
    }
  }
}
