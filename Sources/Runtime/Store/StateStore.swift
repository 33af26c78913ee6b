internal import Glibc
public import MatterProtocol

/// A node's durable state in a directory of its own: a journal that each commit appends one transaction to.
///
/// A commit is in the kernel's hands when it returns, so it survives a kill of the process at any moment. A loss of power is
/// another matter: see ``Synchronization``. What a kill or a full disk left half-written at the journal's end is cut off when
/// the store is opened. When the journal has grown to several times what is alive in it, it is written anew beside the old one
/// and renamed over it; that blocks for as long as the disk takes.
public final class StateStore: NodeStore {
  /// When a commit waits for the disk.
  public enum Synchronization: Hashable, Sendable {
    /// After each one: it survives a loss of power too, at the cost of milliseconds.
    case onCommit
    /// Never: the system writes when it sees fit, usually within half a minute. A loss of power may take the last commits;
    /// what is left is whole.
    case never
  }

  /// When it is written through to the disk, and when written anew.
  public struct Options: Hashable, Sendable {
    public var synchronization = Synchronization.never
    /// The journal is written anew when it is longer than this many times what is alive…
    public var compactionFactor = 4
    /// …and than this many bytes.
    public var compactionMinimum = 64 << 10
    public init() {}
  }

  /// Where the journal is. One store at a time may have it.
  public let directory: String
  public let options: Options
  /// How many bytes at the journal's end were not whole when it was opened.
  public let droppedBytes: Int
  private var state: StoredState
  private var live: Int
  private var length: Int
  private var journal: OpenFile?
  /// Open as long as the store is, for its lock.
  private var lock: OpenFile?

  private var path: String { directory + "/journal" }

  /// Opens the store, making the directory where there is none.
  /// - Throws: `inUse` when somebody else has it, `notAJournal`, or what the system says.
  public init(directory: String, options: Options = Options()) throws(StoreError) {
    self.directory = directory
    self.options = options
    let path = directory + "/journal"
    try OpenFile.makeDirectories(directory)
    let lock = try OpenFile(directory, O_RDONLY | O_DIRECTORY)
    guard try lock.lock() else { throw StoreError(.inUse, path: directory) }
    self.lock = lock
    // Left by a kill in the middle of writing the journal anew.
    unlink(path + ".new")
    let journal = try OpenFile(path, O_RDWR | O_CREAT | O_APPEND)
    let bytes = try journal.readAll()
    guard let replayed = Journal.replay(bytes) else { throw StoreError(.notAJournal, path: path) }
    if replayed.length < bytes.count { try journal.truncate(to: replayed.length) }
    droppedBytes = bytes.count - replayed.length
    length = replayed.length
    if length == 0 {
      try journal.append(Journal.magic)
      length = Journal.magic.count
    }
    state = replayed.state
    live = state.reduce(0) { $0 + Journal.entrySize($1.key, $1.value) }
    self.journal = journal
  }

  public func load() throws(StoreError) -> StoredState { state }

  public func commit(_ changes: [StoreChange]) throws(StoreError) {
    guard let journal else { throw StoreError(.closed, path: directory) }
    if changes.isEmpty { return }
    guard let transaction = Journal.transaction(changes) else { throw StoreError(.tooLarge, path: path) }
    do throws(StoreError) {
      try journal.append(transaction)
      if options.synchronization == .onCommit { try journal.synchronize() }
    } catch {
      // Take back what was written of it, lest what comes next stands behind a torn transaction.
      do throws(StoreError) { try journal.truncate(to: length) } catch { self.journal = nil }
      throw error
    }
    length += transaction.count
    for change in changes {
      let old: [UInt8]?
      if let new = change.value {
        live += Journal.entrySize(change.key, new)
        old = state.updateValue(new, forKey: change.key)
      } else {
        old = state.removeValue(forKey: change.key)
      }
      if let old { live -= Journal.entrySize(change.key, old) }
    }
    if length > options.compactionMinimum && length > options.compactionFactor * (live + Journal.magic.count) {
      try compact()
    }
  }

  public func close() {
    journal = nil
    lock = nil
  }

  /// Writes the journal anew with what is alive, and puts it in the old one's place.
  func compact() throws(StoreError) {
    let new = try OpenFile(path + ".new", O_RDWR | O_CREAT | O_TRUNC | O_APPEND)
    try new.append(Journal.magic)
    var length = Journal.magic.count
    var batch: [StoreChange] = []
    var size = 0
    for (key, value) in state.sorted(by: { $0.key < $1.key }) {
      batch.append(StoreChange(key, value))
      size += Journal.entrySize(key, value)
      if size >= 1 << 20 { length += try write(&batch, &size, to: new) }
    }
    length += try write(&batch, &size, to: new)
    try new.synchronize()
    guard rename(path + ".new", path) == 0 else { throw new.failure("rename") }
    journal = new
    self.length = length
    try lock?.synchronize()
  }

  private func write(_ batch: inout [StoreChange], _ size: inout Int, to file: OpenFile) throws(StoreError) -> Int {
    if batch.isEmpty { return 0 }
    guard let transaction = Journal.transaction(batch) else { throw StoreError(.tooLarge, path: path) }
    try file.append(transaction)
    batch = []
    size = 0
    return transaction.count
  }
}
