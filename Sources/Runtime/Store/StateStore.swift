internal import Glibc
public import MatterProtocol

/// A node's durable state in its own directory: a journal to which each commit appends one transaction.
///
/// The store keeps no file open: its `DirectoryLock` needs none, and the journal is open while it is used often, see
/// `RecentJournals`.
///
/// A commit has reached the kernel when it returns, so it survives a kill of the process. Durable changes also survive
/// a loss of power, see ``Synchronization``. Opening the store truncates a transaction at the journal's end that a
/// kill, a full disk or a loss of power left incomplete. Any other damage is never repaired silently: the journal is
/// renamed to `journal.damaged`, everything readable is written to `journal.recovered`, and the store does not open
/// until one of them is moved. When the journal has grown to several times the size of its live entries, it is
/// compacted: written to a new file that is renamed over it, which blocks for as long as the disk takes.
public final class StateStore: NodeStore {
  /// When a commit waits for the disk.
  public enum Synchronization: Hashable, Sendable {
    /// After a commit with a durable change (`StoreChange.isDurable`), at the cost of milliseconds. A loss of power may
    /// lose the commits after the last of these; the rest stays intact.
    case durableChanges
    /// Never: the system writes on its own schedule, usually within half a minute.
    case never
  }

  /// Options for synchronization and compaction.
  public struct Options: Hashable, Sendable {
    public var synchronization = Synchronization.durableChanges
    /// The journal is compacted when it exceeds the live entries by this factor…
    public var compactionFactor = 4
    /// …and is longer than this number of bytes.
    public var compactionMinimum = 64 << 10
    public init() {}
  }

  /// The directory of the journal, used by one store at a time.
  public let directory: String
  public let options: Options
  /// The number of bytes of an incomplete transaction that were dropped on opening.
  let droppedBytes: Int
  /// The state that was read on opening, until it is loaded or changed. Later it is read from the journal, since the node
  /// has its state in memory already.
  private var opened: StoredState?
  /// The size of the live entries when the journal was last read.
  private var live: Int
  private var length: Int
  /// Identifies the store among those of the process.
  private let number = RecentJournals.newNumber()
  /// Nil if the store is closed.
  private var lock: DirectoryLock?
  /// Whether the end of the journal is not known, after a transaction that could be neither completed nor removed.
  private var isTorn = false
  /// Directories whose new entries may not be on the disk yet; synchronized before the first durable commit returns.
  private var unsynchronized: [String]

  private var path: String { directory + "/journal" }

  /// Opens the store and creates the directory if needed.
  /// - Throws: `inUse` if another process has it open, `notAJournal`, `damaged`, or the system's error.
  public init(directory: String, options: Options = Options()) throws(StoreError) {
    self.directory = directory
    self.options = options
    let path = directory + "/journal"
    unsynchronized = [directory] + (try OpenFile.makeDirectories(directory))
    try DirectoryCheck.check(directory)
    lock = try DirectoryLock(directory)
    // Left by a kill during compaction.
    unlink(path + ".new")
    if access(path, F_OK) != 0, access(path + Self.damagedSuffix, F_OK) == 0 {
      throw StoreError(.damaged(at: nil), path: path)
    }
    let journal = try OpenFile(path, O_RDWR | O_CREAT | O_APPEND)
    let bytes = try journal.readAll()
    guard let replayed = Journal.replay(bytes) else { throw StoreError(.notAJournal, path: path) }
    if let damage = replayed.damage {
      var recovered = replayed.state
      // The lost bytes may have held newer reservations of counters, in transactions of at least 20 bytes.
      GroupCounterReservation.advance(&recovered, past: bytes.count / 20)
      try Self.setAside(path, recovering: recovered)
      try OpenFile.synchronizeDirectory(directory)
      throw StoreError(.damaged(at: damage), path: path)
    }
    if replayed.length < bytes.count { try journal.truncate(to: replayed.length) }
    droppedBytes = bytes.count - replayed.length
    length = replayed.length
    if length == 0 {
      try journal.append(Journal.magic)
      length = Journal.magic.count
    }
    opened = replayed.state
    live = Self.size(of: replayed.state)
    RecentJournals.keep(journal, of: number)
  }

  deinit { RecentJournals.forget(number) }

  private func openJournal() throws(StoreError) -> OpenFile {
    guard lock != nil, !isTorn else { throw StoreError(.closed, path: directory) }
    return try RecentJournals.open(path, of: number)
  }

  public func load() throws(StoreError) -> StoredState {
    if let state = opened.take() { return state }
    guard let replayed = try replay() else { throw StoreError(.notAJournal, path: path) }
    guard replayed.damage == nil, replayed.length == length else {
      throw StoreError(.damaged(at: replayed.damage ?? replayed.length), path: path)
    }
    return replayed.state
  }

  private func replay() throws(StoreError) -> Journal.Replay? {
    Journal.replay(try openJournal().readAll())
  }

  private static func size(of state: StoredState) -> Int {
    state.reduce(0) { $0 + Journal.entrySize($1.key, $1.value) }
  }

  public func commit(_ changes: [StoreChange]) throws(StoreError) {
    let journal = try openJournal()
    if changes.isEmpty { return }
    guard let transaction = Journal.transaction(changes) else { throw StoreError(.tooLarge, path: path) }
    do throws(StoreError) {
      try journal.append(transaction)
      if options.synchronization == .durableChanges, changes.contains(where: \.isDurable) {
        try journal.synchronizeData()
        try synchronizeDirectories()
      }
    } catch {
      // Roll back, so that no later transaction follows a torn one.
      do throws(StoreError) { try journal.truncate(to: length) } catch { isTorn = true }
      throw error
    }
    length += transaction.count
    opened = nil
    // The changes are stored even if the journal can't be compacted now; it is tried again when it has grown further.
    if isGrown { do throws(StoreError) { try compact() } catch { live = length } }
  }

  /// Whether the journal exceeds the live entries by the factor.
  private var isGrown: Bool {
    length > options.compactionMinimum && length > options.compactionFactor * (live + Journal.magic.count)
  }

  public func close() {
    RecentJournals.forget(number)
    lock = nil
  }

  /// Synchronizes directories: their entries are not written along with the contents of the files.
  private func synchronizeDirectories() throws(StoreError) {
    while let path = unsynchronized.last {
      try OpenFile.synchronizeDirectory(path)
      unsynchronized.removeLast()
    }
  }

  /// Compacts the journal, unless its live entries have grown as well: writes them to a new file and renames it over the
  /// old one. A damaged journal is not compacted; the next opening reports the damage.
  /// - Parameter isForced: whether to compact regardless of the size.
  func compact(isForced: Bool = false) throws(StoreError) {
    guard let replayed = try replay(), replayed.damage == nil, replayed.length == length
    else {
      live = length
      return
    }
    live = Self.size(of: replayed.state)
    guard isForced || isGrown else { return }
    let length = try Self.write(replayed.state, to: path + ".new")
    RecentJournals.forget(number)
    try OpenFile.move(path + ".new", to: path)
    self.length = length
    try OpenFile.synchronizeDirectory(directory)
  }

  static let damagedSuffix = ".damaged", recoveredSuffix = ".recovered"

  /// Renames a damaged journal, and writes the readable entries beside it.
  private static func setAside(_ path: String, recovering state: StoredState) throws(StoreError) {
    _ = try write(state, to: path + recoveredSuffix)
    try OpenFile.move(path, to: path + damagedSuffix)
  }

  /// Writes a journal with a state.
  /// - Returns: its length.
  private static func write(_ state: StoredState, to path: String) throws(StoreError) -> Int {
    let new = try OpenFile(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND)
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
    return length
  }

  private static func write(
    _ batch: inout [StoreChange], _ size: inout Int, to file: OpenFile
  ) throws(StoreError) -> Int {
    if batch.isEmpty { return 0 }
    guard let transaction = Journal.transaction(batch) else { throw StoreError(.tooLarge, path: file.path) }
    try file.append(transaction)
    batch = []
    size = 0
    return transaction.count
  }
}
