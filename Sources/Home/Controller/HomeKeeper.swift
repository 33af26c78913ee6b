package import MatterModel
internal import NIOCore
internal import Runtime

/// Carries what happens in a home to its database, off the event loop: several updates at a time, in their order. Confined
/// to the event loop.
final class HomeKeeper {
  typealias Work<R> = @Sendable (HomeDatabase) throws -> R

  let database: HomeDatabase
  private let eventLoop: any EventLoop
  /// One thread: what is given to it first is done first.
  private let thread: any Worker
  private var waiting: [HomeUpdate] = []
  private var contacts: [NodeID: Contact] = [:]
  private var isFlushScheduled = false
  private var isWriting = false
  /// Why nothing is stored any more, if so.
  private(set) var failure: HomeError?
  var onFailure: ((HomeError) -> Void)?
  /// The place in the log that the home was loaded at.
  let anchor: Anchor

  /// What a kill can take at most.
  private static let pause = TimeAmount.milliseconds(20)
  /// So many updates are written at once.
  private static let batch = 512

  init(_ database: HomeDatabase, anchor: Anchor, on eventLoop: any EventLoop, _ thread: any Worker) {
    self.database = database
    self.anchor = anchor
    self.eventLoop = eventLoop
    self.thread = thread
  }

  /// Takes an update to be stored soon.
  func keep(_ update: HomeUpdate, _ known: [NodeID: Contact]) {
    // What can't be stored is not piled up.
    guard failure == nil, !update.isLogged, !(update.changes.isEmpty && update.versions.isEmpty) else { return }
    for change in update.changes { if let node = change.node { contacts[node] = known[node] } }
    waiting.append(update)
    if waiting.count >= Self.batch {
      flush()
    } else if !isFlushScheduled {
      isFlushScheduled = true
      eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [weak self] in
        self?.isFlushScheduled = false
        self?.flush()
      }
    }
  }

  /// Gives everything that waits to the thread.
  func flush() {
    guard !waiting.isEmpty, !isWriting, failure == nil else { return }
    let (updates, contacts) = (waiting, contacts)
    waiting = []
    self.contacts = [:]
    isWriting = true
    submit { _ = try $0.commit(updates, contacts: contacts) }.assumeIsolated().whenComplete { [weak self] result in
      guard let self else { return }
      isWriting = false
      switch result {
      case .success:
        flush()
      case .failure(let error):
        let error = HomeError(error)
        failure = error
        onFailure?(error)
      }
    }
  }

  /// Does something with the database when everything that happened before is in it.
  func perform<R: Sendable>(_ body: @escaping Work<R>) -> EventLoopFuture<R> {
    guard isWriting || !waiting.isEmpty else { return submit(body) }
    let (updates, contacts) = (waiting, contacts)
    waiting = []
    self.contacts = [:]
    // Behind the write that is under way, since there is one thread.
    return submit { database in
      if !updates.isEmpty { try database.commit(updates, contacts: contacts) }
      return try body(database)
    }
  }

  private func submit<R: Sendable>(_ body: @escaping Work<R>) -> EventLoopFuture<R> {
    thread.submit(on: eventLoop) { [database] in try body(database) }
  }

  /// Forgets what waits, and lets go of the database.
  func abandon() {
    waiting = []
    contacts = [:]
    thread.close { [database] in try? database.close() }
  }

  /// Stores what waits, and ends the thread.
  func close(_ known: [NodeID: Contact]) -> EventLoopFuture<Void> {
    let (updates, database) = (waiting, database)
    waiting = []
    let stored = submit { _ in
      if !updates.isEmpty || !known.isEmpty { try database.commit(updates, contacts: known) }
    }
    return stored.flatMapError { [eventLoop] _ in eventLoop.makeSucceededVoidFuture() }
      .flatMap { [thread, eventLoop] in
        let promise = eventLoop.makePromise(of: Void.self)
        thread.close {
          try? database.close()
          promise.succeed()
        }
        return promise.futureResult
      }
  }
}

extension HomeChange {
  /// The node it is about, if it is about one.
  package var node: NodeID? {
    switch self {
    case .sourceAdded(let source, _), .sourceRemoved(let source), .topology(let source, _, _),
      .connectivity(let source, _):
      source.node
    case .attribute(let node, _, _), .event(let node, _): node
    default: nil
    }
  }
}
