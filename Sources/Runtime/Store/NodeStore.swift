internal import Glibc
public import MatterProtocol

/// The storage of a node's durable state. Confined to the driver of the node.
public protocol NodeStore: AnyObject {
  /// Returns the state as of the last commit.
  func load() throws(StoreError) -> StoredState
  /// Applies all changes or none. After the call returns they survive a loss of power if one of them is durable
  /// (`StoreChange.isDurable`). Others survive a kill of the process, at once or, depending on the store, after a moment.
  func commit(_ changes: [StoreChange]) throws(StoreError)
  /// Closes the files; later commits fail.
  func close()
  /// Closes the files without further writes, as a loss of power would.
  func abandon()
}

extension NodeStore {
  public func abandon() { close() }
}

/// A store in memory, for tests and for nodes without persistence.
public final class MemoryStore: NodeStore {
  private var state: StoredState

  public init(_ state: StoredState = [:]) { self.state = state }

  public func load() throws(StoreError) -> StoredState { state }

  public func commit(_ changes: [StoreChange]) throws(StoreError) {
    for change in changes { state[change.key] = change.value }
  }

  public func close() {}
}

/// An error of a store, with the path of the file or directory.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of error.
  public enum Code: Hashable, Sendable {
    /// The directory is in use by another process, or by another store of this one.
    case inUse
    /// The file is not a journal, or is one of another version.
    case notAJournal
    /// The journal is damaged before its end, at this byte; nil if the damage was found earlier. The file is kept as
    /// `journal.damaged`, and everything readable as `journal.recovered`.
    case damaged(at: Int?)
    /// Other users can change the contents of the directory.
    case insecure(String)
    /// More than 4 GiB in one commit.
    case tooLarge
    /// The store was closed, or an earlier failure left it in an unknown state.
    case closed
    /// The database of the store failed; the message names the file.
    case database(String)
    /// A system call failed.
    case system(operation: String, code: Int32)
  }

  public var code: Code
  /// The path of the file or directory.
  public var path: String

  public init(_ code: Code, path: String) {
    self.code = code
    self.path = path
  }

  /// Whether the process or the host may have no more files open.
  var isLackOfDescriptors: Bool {
    if case .system(_, let code) = code { code == EMFILE || code == ENFILE } else { false }
  }

  public var description: String {
    switch code {
    case .inUse: "\(path) is in use by another process; stop that first, or choose another state directory"
    case .notAJournal: "\(path) is not a journal that this version can read; move it away to start afresh"
    case .damaged(at: let byte):
      """
      \(path) is damaged\(Self.position(byte)) and was renamed to journal.damaged; restore a copy of it, or \
      rename journal.recovered (everything that could be read) to journal, or move journal.damaged away to start afresh
      """
    case .insecure(let reason): "\(path) is not safe: \(reason), or choose another state directory"
    case .tooLarge: "\(path): too much state for one commit"
    case .closed: "\(path): the store is closed"
    case .database(let message): message
    case .system(let operation, let code): "\(path): \(operation): \(systemMessage(code))"
    }
  }

  private static func position(_ byte: Int?) -> String { byte.map { " at byte \($0)" } ?? "" }
}
