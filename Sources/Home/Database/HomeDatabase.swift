internal import Foundation
internal import GRDB
internal import Glibc
public import MatterCrypto
internal import MatterModel
internal import Runtime
internal import Synchronization

/// The database of a home: its structures, rooms, devices and last known values, and the log of all changes.
///
/// One SQLite file in write-ahead mode, which several processes may have open. Each change is one transaction, atomic
/// even if the process is killed. Every call may wait for the disk, or at most five seconds for another process that
/// writes.
public final class HomeDatabase: Sendable {
  let pool: any DatabaseWriter
  /// The path of the file, for messages.
  public let path: String
  /// Tells the log from all others.
  let logID: UInt32
  /// Tells us from all other writers of the file.
  let writer: Int64
  /// Told of each commit of ours.
  let bell = Bell()
  /// Whether it is one of `PassingHomes`, which has one connection, and outlives this object.
  let isPassing: Bool
  private let isClosed = Atomic(false)
  /// Whether it was looked, since the file was opened, for what belongs to nobody.
  let isSwept = Atomic(false)

  /// How large the file of what was written last stays, in bytes, once all of it is in the home's own file: what SQLite lets come
  /// together before it takes it over, 1000 pages, so that in quiet times the file is neither made longer nor cut off.
  static let journalSize: Int64 = 1000 * 4096

  /// Opens a home, creates it if it does not exist, and migrates it to the current version.
  /// - Parameters:
  ///   - path: the path of the file. It and the files beside it are accessible only by the user (0600).
  ///   - isPassing: whether the home is private to this process and not persistent, as in a simulation: then it has no
  ///     file, see `PassingHomes`.
  ///   - random: the source for the id of a new log, which identifies its anchors.
  ///   - boot: identifies the boot of the machine, because the last changes may be lost in a power failure; nil: as
  ///     reported by the system.
  /// - Throws: ``HomeError`` `internalError` if the file can't be opened, belongs to another program, or was written by
  ///   a later version.
  public static func open(
    _ path: String, isPassing: Bool = false, random: any RandomSource = SystemRandomSource(), boot: Int64? = nil
  ) throws(HomeError) -> HomeDatabase {
    let boot = boot ?? LogGaps.boot
    var random = random
    if isPassing {
      do { return try HomeDatabase(PassingHomes.open(path), path, isPassing: true, &random, boot: boot) } catch {
        throw failure(error, path)
      }
    }
    try Files.makeDirectory((path as NSString).deletingLastPathComponent)
    do throws(StoreError) {
      try DirectoryCheck.check((path as NSString).deletingLastPathComponent)
    } catch {
      throw HomeError(opening: error)
    }
    // SQLite gives its other files the permissions of this one.
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw HomeError(.internalError, "\(path) can't be opened: \(systemError())") }
    _ = Glibc.close(descriptor)
    // Of several processes that make or migrate the file at the same time, one does it and the others wait.
    let lock = Glibc.open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
      throw HomeError(.internalError, "\(path) can't be locked: \(systemError())")
    }
    defer {
      flock(lock, LOCK_UN)
      _ = Glibc.close(lock)
    }
    do {
      var configuration = Configuration()
      configuration.label = "home"
      configuration.busyMode = .timeout(5)
      configuration.maximumReaderCount = 2
      configuration.prepareDatabase { database in
        // A commit waits for no disk: after a kill nothing is lost, after a power cut the last moments may be. See LogGaps.
        try database.execute(sql: "PRAGMA synchronous = NORMAL")
        try database.execute(sql: "PRAGMA journal_size_limit = \(Self.journalSize)")
      }
      try HomeSchema.check(path)
      let pool = try DatabasePool(path: path, configuration: configuration)
      try HomeSchema.migrate(pool)
      let database = try HomeDatabase(pool, path, isPassing: false, &random, boot: boot)
      try LogGaps.note(boot, in: pool)
      return database
    } catch {
      throw failure(error, path)
    }
  }

  private init(
    _ pool: any DatabaseWriter, _ path: String, isPassing: Bool, _ random: inout some RandomSource, boot: Int64
  ) throws {
    (self.pool, self.path, self.isPassing) = (pool, path, isPassing)
    logID = try HomeSchema.logID(pool, drawing: UInt32.random(in: 1...UInt32.max, using: &random), boot: boot)
    writer = Int64.random(in: 1...Int64.max, using: &random)
  }

  /// Closes the file. Later calls throw.
  public func close() throws(HomeError) {
    isClosed.store(true, ordering: .relaxed)
    guard !isPassing else { return }
    do { try pool.close() } catch { throw Self.failure(error, path) }
  }

  private func checkOpen() throws(HomeError) {
    if isClosed.load(ordering: .relaxed) { throw HomeError(.internalError, "\(path) is closed") }
  }

  // MARK: Transactions

  /// One moment of the file.
  func read<R>(_ body: (Database) throws -> R) throws(HomeError) -> R {
    try checkOpen()
    // With one connection nobody writes meanwhile, and it need not be said that nothing will be written.
    do { return try isPassing ? pool.writeWithoutTransaction(body) : pool.read(body) } catch {
      throw Self.failure(error, path)
    }
  }

  /// All or nothing, and nobody else in between.
  /// - Parameter isDurable: whether it must survive a loss of power: it waits for the disk.
  func write<R>(isDurable: Bool = false, _ body: (Database) throws -> R) throws(HomeError) -> R {
    try checkOpen()
    do {
      return try pool.writeWithoutTransaction { database in
        if isDurable { try database.execute(sql: "PRAGMA synchronous = FULL") }
        defer { if isDurable { try? database.execute(sql: "PRAGMA synchronous = NORMAL") } }
        // These are prepared once for a connection: a commit of one change takes hardly longer than to read their text.
        try database.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
        do {
          let result = try body(database)
          try database.cachedStatement(sql: "COMMIT").execute()
          return result
        } catch {
          // SQLite may have done so itself.
          if database.isInsideTransaction { try? database.cachedStatement(sql: "ROLLBACK").execute() }
          throw error
        }
      }
    } catch {
      throw Self.failure(error, path)
    }
  }

  static func failure(_ error: any Error, _ path: String) -> HomeError {
    if let known = error as? HomeError { return known }
    if error is DamagedBlob {
      return HomeError(.internalError, "\(path) is damaged; move it away to start anew", cause: error)
    }
    if let damage = error as? DamagedColumn {
      return HomeError(
        .internalError, "\(path) is damaged: \(damage); restore a copy, or move it away to start anew", cause: error)
    }
    guard let error = error as? DatabaseError else {
      return HomeError(.internalError, "\(path): \(error)", cause: error)
    }
    let message =
      switch error.resultCode {
      case .SQLITE_NOTADB: "\(path) is not a home; move it away, or choose another --state"
      case .SQLITE_CORRUPT: "\(path) is damaged; move it away to start anew"
      case .SQLITE_BUSY, .SQLITE_LOCKED: "\(path) is locked by another process; wait for it to end"
      case .SQLITE_FULL: "\(path) can't be written: the disk is full"
      case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_CANTOPEN, .SQLITE_IOERR:
        "\(path) can't be written: \(error.message ?? "\(error.resultCode)")"
      default: "\(path): \(error.message ?? "\(error.resultCode)")"
      }
    return HomeError(.internalError, message, cause: error)
  }

  // MARK: Settings

  /// Returns a setting of the user, such as the grace time; nil if it is not set.
  public func setting(_ key: String) throws(HomeError) -> String? {
    try read {
      try $0.cachedStatement(sql: "SELECT value FROM setting WHERE key = ?").text([key])
    }
  }

  /// Returns all settings of the user.
  public func settings() throws(HomeError) -> [String: String] {
    try read { database in
      var settings: [String: String] = [:]
      let rows = try Row.fetchCursor(database.cachedStatement(sql: "SELECT key, value FROM setting"))
      while let row = try rows.next() { settings[try row.text(0)] = try row.text(1) }
      return settings
    }
  }

  /// Stores a setting; nil removes it.
  public func set(_ value: String?, for key: String) throws(HomeError) {
    try write { database in
      if let value {
        try database.execute(
          sql: "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
          arguments: [key, value])
      } else {
        try database.execute(sql: "DELETE FROM setting WHERE key = ?", arguments: [key])
      }
    }
  }

  // MARK: Numbers

  /// Node ids use all bits of 64, SQLite's numbers have a sign.
  static func stored(_ node: NodeID) -> Int64 { Int64(bitPattern: node.rawValue) }
  static func node(_ stored: Int64) -> NodeID { NodeID(UInt64(bitPattern: stored)) }
}
