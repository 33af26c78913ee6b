public import MatterProtocol

/// Where a node's durable state is kept. Confined to whoever drives the node.
public protocol NodeStore: AnyObject {
  /// The state as of the last commit.
  func load() throws(StoreError) -> StoredState
  /// Applies all changes or none. Once this has returned they survive a kill at any moment, and with a durable one among them
  /// (`StoreChange.isDurable`) also a loss of power.
  func commit(_ changes: [StoreChange]) throws(StoreError)
  /// Lets go of the files; nothing can be committed any more.
  func close()
  /// Lets go of the files as they are, as a loss of power does.
  func abandon()
}

extension NodeStore {
  public func abandon() { close() }
}

/// A store that forgets, for tests and for nodes that start afresh each time.
public final class MemoryStore: NodeStore {
  private var state: StoredState

  public init(_ state: StoredState = [:]) { self.state = state }

  public func load() throws(StoreError) -> StoredState { state }

  public func commit(_ changes: [StoreChange]) throws(StoreError) {
    for change in changes { state[change.key] = change.value }
  }

  public func close() {}
}

/// What can go wrong with a store, with the file or directory that it is about.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong.
  public enum Code: Hashable, Sendable {
    /// Another process, or another store of this one, has the directory.
    case inUse
    /// The file is not a journal of ours, or of a later version.
    case notAJournal
    /// The journal is damaged elsewhere than at its end: at this byte, nil where it was found earlier. It is kept as
    /// `journal.damaged`, and everything readable as `journal.recovered`.
    case damaged(at: Int?)
    /// Other users can change what the directory holds.
    case insecure(String)
    /// More than 4 GiB in one commit.
    case tooLarge
    /// The store was closed, or an earlier failure left it in an unknown state.
    case closed
    /// A system call failed.
    case system(operation: String, code: Int32)
  }

  public var code: Code
  /// Of the file or directory.
  public var path: String

  public init(_ code: Code, path: String) {
    self.code = code
    self.path = path
  }

  public var description: String {
    switch code {
    case .inUse: "\(path) is in use by another process; stop that first, or choose another state directory"
    case .notAJournal: "\(path) is not a journal that this version can read; move it away to start afresh"
    case .damaged(let byte):
      """
      \(path) is damaged\(byte.map { " at byte \($0)" } ?? "") and was renamed to journal.damaged; restore a copy of it, or \
      rename journal.recovered (everything that could be read) to journal, or move journal.damaged away to start afresh
      """
    case .insecure(let reason): "\(path) is not safe: \(reason), or choose another state directory"
    case .tooLarge: "\(path): too much state for one commit"
    case .closed: "\(path): the store is closed"
    case .system(let operation, let code): "\(path): \(operation): \(systemMessage(code))"
    }
  }
}
