internal import Foundation
package import GRDB
internal import Glibc
package import HomeModel
package import MatterCrypto
internal import MatterProtocol
internal import MatterTLV
internal import Runtime
internal import Synchronization

/// The database of a home: its structures, rooms, devices and last known values, the log of all changes, and the state of
/// the controller.
///
/// One SQLite file in write-ahead mode. Only the owner of the home changes it; other processes may read names from it
/// with short-lived connections. Each change is one transaction, atomic even if the process is killed. Every call may
/// block on the disk, and up to five seconds on a lock of another process that opens or closes the file.
package final class HomeDatabase: Sendable {
  let pool: any DatabaseWriter
  /// The path of the file, for messages.
  package let path: String
  package let logID: UInt32
  /// The identity of the home: 32 hexadecimal digits, which never change. Two hubs with the same one serve the same home.
  package let identity: String
  /// The generation of the changes that this instance logs, see ``Anchor``.
  let generation: UInt32
  /// Whether it is one of `InMemoryHomes`, which has a single connection and outlives this object.
  package let isInMemory: Bool
  private let isClosed = Atomic(false)
  /// Whether orphaned rows were removed since the last compaction.
  let isSwept = Atomic(false)

  /// The size limit of the write-ahead log after a checkpoint, in bytes. SQLite checkpoints at 1000 pages, so in normal
  /// operation the file is neither extended nor truncated.
  static let journalSize: Int64 = 1000 * 4096
  /// The time to wait for locks of other processes, in seconds.
  static let busyTimeout = 5

  /// Opens a home, and creates it if it does not exist.
  /// - Parameters:
  ///   - path: the path of the file. It and the files beside it are accessible only by the user (0600).
  ///   - isInMemory: whether the home is private to this process and not persistent, as in a simulation: then it has no
  ///     file, see `InMemoryHomes`.
  ///   - random: the source for the id of a new log, which identifies its anchors.
  ///   - identity: the identity of a new home, 32 hexadecimal digits; nil: a random one.
  /// - Throws: ``HomeError`` `internalError` if the file can't be opened, is damaged, belongs to another program, or has
  ///   another version of the schema; then it remains unchanged.
  package static func open(
    _ path: String, isInMemory: Bool = false, random: any RandomSource = SystemRandomSource(), identity: String? = nil
  ) throws(HomeError) -> HomeDatabase {
    var random = random
    if isInMemory {
      do {
        return try HomeDatabase(InMemoryHomes.open(path), path, isInMemory: true, &random, identity)
      } catch {
        throw failure(error, path)
      }
    }
    let directory = (path as NSString).deletingLastPathComponent
    try Files.makeDirectory(directory)
    try HomeSchema.checkLogHasDatabase(path)
    let lock: OpenFile
    do throws(StoreError) {
      try DirectoryCheck.check(directory)
      // SQLite copies the permissions of this file to its other files.
      _ = try OpenFile(path, O_RDWR | O_CREAT)
      // Serializes the creation by several processes.
      lock = try OpenFile(directory, O_RDONLY | O_DIRECTORY)
      try lock.waitForLock(LOCK_EX)
    } catch {
      throw HomeError(error)
    }
    defer { lock.unlock() }
    do {
      var configuration = Configuration()
      configuration.label = "home"
      configuration.busyMode = .timeout(TimeInterval(Self.busyTimeout))
      configuration.maximumReaderCount = 2
      let isNew = try HomeSchema.isNew(path)
      configuration.prepareDatabase { database in
        // A commit doesn't wait for the disk: the last commits survive a kill, but not a power failure. See Anchor.
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
        try database.execute(sql: "PRAGMA journal_size_limit = \(Self.journalSize)")
        // Only has an effect before the first page is written. Makes `shrink` possible without a copy of the file.
        if isNew, !database.configuration.readonly { try database.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL") }
      }
      let pool = try DatabasePool(path: path, configuration: configuration)
      if isNew { try HomeSchema.create(in: pool) }
      try startLog(pool)
      return try HomeDatabase(pool, path, isInMemory: false, &random, identity)
    } catch {
      throw failure(error, path)
    }
  }

  /// Starts a new write-ahead log. See ``WriteAheadLog``.
  private static func startLog(_ pool: DatabasePool) throws {
    let end = HostClock.now() + .seconds(busyTimeout)
    while true {
      do {
        return try pool.writeWithoutTransaction { database in _ = try database.checkpoint(.truncate) }
      } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY && HostClock.now() < end {
        // SQLite's busy timeout doesn't apply while another connection executes a checkpoint.
        usleep(1000)
      }
    }
  }

  /// Checks that a home can be opened, and its log of any size, without changing its files.
  /// - Returns: whether the file exists.
  /// - Throws: ``HomeError`` `internalError` as for `open`, and if a large log is damaged.
  @discardableResult package static func check(_ path: String) throws(HomeError) -> Bool {
    try HomeSchema.checkLogHasDatabase(path)
    guard access(path, F_OK) == 0 else { return false }
    do { _ = try HomeSchema.isNew(path, checksLargeLog: true) } catch { throw failure(error, path) }
    return true
  }

  private init(
    _ pool: any DatabaseWriter, _ path: String, isInMemory: Bool, _ random: inout some RandomSource,
    _ identity: String?
  ) throws {
    (self.pool, self.path, self.isInMemory) = (pool, path, isInMemory)
    logID = try HomeSchema.logID(pool, drawing: UInt32.random(in: 1...UInt32.max, using: &random))
    self.identity = try HomeSchema.identity(pool, new: identity)
    generation = UInt32.random(in: 1...UInt32.max, using: &random)
  }

  /// Checks the structure of a large log, which opening does not check because it takes long. Ends early if the database
  /// is closed.
  /// - Throws: ``HomeError`` `internalError` if the log is damaged.
  package func checkLargeLog() throws(HomeError) {
    do throws(HomeError) {
      try read { if try HomeSchema.hasLargeLog($0) { try HomeSchema.check("log", $0) } }
    } catch {
      if !isClosed.load(ordering: .relaxed) { throw error }
    }
  }

  /// Closes the file. Later calls throw.
  package func close() throws(HomeError) {
    isClosed.store(true, ordering: .relaxed)
    guard !isInMemory else { return }
    // Ends `checkLargeLog`.
    pool.interrupt()
    do { try pool.close() } catch { throw Self.failure(error, path) }
  }

  private func checkOpen() throws(HomeError) {
    if isClosed.load(ordering: .relaxed) { throw HomeError(.internalError, "\(path) is closed") }
  }

  // MARK: Transactions

  /// Executes reads on one snapshot of the database.
  package func read<R>(_ body: (Database) throws -> R) throws(HomeError) -> R {
    try checkOpen()
    // A single connection has no concurrent writer, so the costs of a read transaction are avoided.
    do { return try isInMemory ? pool.writeWithoutTransaction(body) : pool.read(body) } catch {
      throw Self.failure(error, path)
    }
  }

  /// Executes writes in one immediate transaction, which is rolled back if the body throws.
  /// - Parameters:
  ///   - isDurable: whether the commit waits for the disk, so that it survives a power failure.
  ///   - onRollback: called after a rollback, before the next transaction.
  package func write<R>(
    isDurable: Bool = false, onRollback: () -> Void = {}, _ body: (Database) throws -> R
  ) throws(HomeError) -> R {
    try checkOpen()
    do {
      return try pool.writeWithoutTransaction { database in
        if isDurable { try database.execute(sql: "PRAGMA synchronous = FULL") }
        defer { if isDurable { try? database.execute(sql: "PRAGMA synchronous = NORMAL") } }
        // Cached, because preparing them takes about as long as the commit of a single change.
        try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
        do {
          let result = try body(database)
          try database.cachedStatement(sql: "COMMIT").execute()
          return result
        } catch {
          // SQLite rolls back by itself after some errors.
          if database.isInsideTransaction { try? database.cachedStatement(sql: "ROLLBACK").execute() }
          onRollback()
          throw error
        }
      }
    } catch {
      throw Self.failure(error, path)
    }
  }

  /// Converts an error of the database at the path.
  package static func failure(_ error: any Error, _ path: String) -> HomeError {
    if let known = error as? HomeError { return known }
    if error is DamagedBlob || error is TLVError || error is DecodingError {
      return HomeError(
        .internalError, "\(path) is damaged; \(HomeSchema.remedy(path)) to create a new home", cause: error)
    }
    if let damage = error as? DamagedColumn {
      return HomeError(
        .internalError,
        "\(path) is damaged: \(damage); restore a copy, or \(HomeSchema.remedy(path)) to create a new home",
        cause: error)
    }
    guard let error = error as? DatabaseError else {
      return HomeError(.internalError, "\(path): \(error)", cause: error)
    }
    let message =
      switch error.resultCode {
      case .SQLITE_NOTADB: "\(path) is not a home; \(HomeSchema.remedy(path)), or choose another --state"
      case .SQLITE_CORRUPT: "\(path) is damaged; \(HomeSchema.remedy(path)) to create a new home"
      case .SQLITE_BUSY, .SQLITE_LOCKED: "\(path) is locked by another process; wait for it to end"
      case .SQLITE_FULL: "\(path) can't be written: the disk is full"
      case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN, .SQLITE_IOERR:
        "\(path) can't be written: \(error.message ?? "\(error.resultCode)")"
      default: "\(path): \(error.message ?? "\(error.resultCode)")"
      }
    return HomeError(.internalError, message, cause: error)
  }

  // MARK: Numbers

  /// Returns a node id, which is unsigned, as a signed integer of SQLite.
  package static func stored(_ node: NodeID) -> Int64 { Int64(bitPattern: node.rawValue) }
  /// Returns the node id of a stored integer.
  package static func node(_ stored: Int64) -> NodeID { NodeID(UInt64(bitPattern: stored)) }
}
