import Foundation
import GRDB
import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import HomeStore
import Logging
import MatterModel
import MatterProtocol
import Runtime
import Testing

/// Values of an unexpected type or range in the database cause an error, never a crash.
@Suite("Damaged databases") struct DamagedDatabaseTests {
  /// Fills a home with a row in every table.
  private func fill(_ database: HomeDatabase) throws {
    var update = HomeUpdate(HomeSamples.lamp(5), at: 1_000)
    update.changes.append(.roomAdded(Room(id: "den", name: "Den", structureID: "home")))
    update.changes.append(.event(5, event(3)))
    update.versions = [5: [ClusterPath(1, 6): 7]]
    update.trials = ["5": DebounceTrial(settled: SourceConnectivity(.online, .peer), since: 900)]
    try database.commit([update], contacts: [5: Contact(last: 1, nextReport: 2)])
    _ = try database.invite("Ada", .member, at: 1)
    _ = try database.addCloudAccount("Maker", address: "https://example.org/", token: "t")
    try database.add(BackgroundDelivery(.all, .immediate, to: .command(["true"]), after: try database.anchor()))
    try database.change(HomeSettings.Changes(graceTime: .milliseconds(250)))
    _ = try database.commit(WriteQueue(), [StoreChange("fabric/1", [1, 2, 3])])
    try database.write { database in
      try database.execute(sql: "INSERT OR IGNORE INTO meta (key, value) VALUES ('compacted', 0)")
      try database.execute(
        sql:
          "INSERT INTO cloud_device (account, device, node, endpoint, description) VALUES ('Maker', 'd', 9, 1, x'00')")
    }
  }

  private static let tables = [
    "structure", "room", "device", "source", "cluster", "event", "contact", "log", "observer", "client", "trial",
    "cloud_account", "cloud_device", "setting", "controller", "opening",
  ]
  /// Tables that are read when a home is opened.
  private static let tablesOfStart = ["meta", "identity", "sqlite_sequence"]
  private static let values = ["'x'", "x'00'", "70000", "\(Int64.max)", "\(Int64.min)", "1.5"]

  private func event(_ number: UInt64) -> EventData {
    EventData(
      ConcreteEventPath(0, 0x28, 0), number: number, priority: .critical, timestamp: .epoch(1), payload: [0x15, 0x18])
  }

  /// Runs every operation that reads the database and returns its errors.
  private func readAll(_ database: HomeDatabase) -> [HomeError] {
    var errors: [HomeError] = []
    func attempt(_ body: () throws(HomeError) -> Void) { if let error = failure(body) { errors.append(error) } }
    attempt { () throws(HomeError) in _ = try database.load() }
    attempt { () throws(HomeError) in _ = try database.samples(after: nil) }
    attempt { () throws(HomeError) in _ = try database.clients() }
    attempt { () throws(HomeError) in _ = try database.cloudAccounts() }
    attempt { () throws(HomeError) in _ = try database.cloudNodes() }
    attempt { () throws(HomeError) in _ = try database.backgroundDeliveries() }
    attempt { () throws(HomeError) in _ = try database.settings() }
    attempt { () throws(HomeError) in _ = try database.controllerState() }
    attempt { () throws(HomeError) in _ = try database.compact(keeping: 1) }
    attempt { () throws(HomeError) in
      _ = try database.commit([HomeUpdate([.event(5, event(4)), .deviceRemoved(id: "5")], at: 2_000)])
    }
    return errors
  }

  private func columns(_ tables: [String], _ database: HomeDatabase) throws -> [(table: String, column: String)] {
    try database.read { file in
      try tables.flatMap { table in try file.columns(in: table).map { (table, $0.name) } }
    }
  }

  /// Sets a column in all rows; constraints of keys refuse some values.
  private func damage(_ database: HomeDatabase, _ table: String, _ column: String, _ value: String) {
    _ = try? database.write { try $0.execute(sql: "UPDATE \(table) SET \(column) = \(value)") }
  }

  private func check(_ errors: [HomeError], _ column: String) {
    for error in errors {
      #expect([.internalError, .badArguments, .notFound].contains(error.code), "\(column): \(error)")
    }
  }

  @Test func reportsUnexpectedValuesInEveryColumn() throws {
    let directory = "/damaged-\(UUID().uuidString)"
    defer { InMemoryHomes.remove(below: directory) }
    func open() throws -> HomeDatabase {
      InMemoryHomes.remove(below: directory)
      let database = try HomeDatabase.open(directory + "/home.sqlite", isInMemory: true)
      try fill(database)
      return database
    }
    for (table, column) in try columns(Self.tables + Self.tablesOfStart, try open()) {
      for value in Self.values {
        let database = try open()
        damage(database, table, column, value)
        check(readAll(database), "\(table).\(column) = \(value)")
      }
    }
  }

  @Test func reportsUnexpectedValuesWhileOpening() throws {
    for value in Self.values {
      for table in Self.tablesOfStart {
        let scratch = try TestDatabase()
        let database = try scratch.open()
        try fill(database)
        for (table, column) in try columns([table], database) { damage(database, table, column, value) }
        try database.close()
        let opened: HomeDatabase
        do throws(HomeError) {
          opened = try scratch.open()
        } catch {
          check([error], "\(table) = \(value)")
          continue
        }
        check(readAll(opened), "\(table) = \(value)")
        try opened.close()
      }
    }
  }

  @Test func namesTheColumnAndTheRemedy() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try fill(database)
    try database.write { try $0.execute(sql: "UPDATE source SET endpoint = 70000") }
    let error = try #require(failure { () throws(HomeError) in _ = try database.load() })
    #expect(error.message.contains("the column “endpoint” holds 70000") && error.message.contains(remedy(scratch.path)))
    try database.close()
  }

  private func close(_ database: HomeDatabase) throws {
    try database.close()
    let file = try DatabaseQueue(path: database.path)
    try file.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try file.close()
  }

  /// SQLite does not detect a changed bit in a value; the keys of the fabric have a checksum.
  @Test func rejectsDamagedStateOfController() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let key = (0..<32).map { UInt8($0) &+ 0x5A }
    _ = try database.commit(WriteQueue(), [StoreChange("authority/key", key, isDurable: true)])
    try close(database)
    let file = URL(filePath: scratch.path)
    var bytes = try Data(contentsOf: file)
    let place = try #require(bytes.firstRange(of: Data(key)))
    bytes[place.lowerBound + 3] ^= 0x10
    try bytes.write(to: file)
    for _ in 0..<2 {
      let error = try #require(failure { () throws(HomeError) in _ = try scratch.open() })
      #expect(error.message.contains("\(scratch.path) is damaged") && error.message.contains("authority/key"))
      #expect(failure { () throws(HomeError) in try HomeDatabase.check(scratch.path) }?.message == error.message)
    }
    #expect(try Data(contentsOf: file) == bytes)
  }

  /// Closes a database and overwrites a page of a table.
  /// - Returns: the contents of the file.
  private func damagePage(of table: String, _ database: HomeDatabase) throws -> Data {
    let root = try database.read {
      try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [table]) ?? 0
    }
    try close(database)
    let file = URL(filePath: database.path)
    var bytes = try Data(contentsOf: file)
    let page = (root - 1) * 4096
    bytes.replaceSubrange(page..<page + 4096, with: Data(repeating: 0, count: 4096))
    try bytes.write(to: file)
    return bytes
  }

  @Test(arguments: ["controller", "device", "source_device", "observer", "log"]) func rejectsDamagedStructure(
    _ table: String
  ) throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try fill(database)
    let bytes = try damagePage(of: table, database)
    let error = try #require(failure { () throws(HomeError) in _ = try scratch.open() })
    #expect(error.message.contains("is damaged"), "\(error.message)")
    #expect(try Data(contentsOf: URL(filePath: scratch.path)) == bytes)
  }

  /// Commits 30 changes of the controller, and returns the file and its write-ahead log as after a kill of the process.
  private func killed() throws -> (file: Data, log: [UInt8]) {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    for index in 0..<30 { _ = try database.commit(WriteQueue(), [StoreChange("key/\(index)", [1, 2, 3])]) }
    defer { try? database.close() }
    return (
      try Data(contentsOf: URL(filePath: scratch.path)),
      [UInt8](try Data(contentsOf: URL(filePath: scratch.path + "-wal")))
    )
  }

  /// Opens a database with this write-ahead log.
  private func open(
    _ file: Data, _ log: [UInt8], _ scratch: TestDatabase
  ) throws -> (database: HomeDatabase?, error: HomeError?) {
    try file.write(to: URL(filePath: scratch.path))
    try Data(log).write(to: URL(filePath: scratch.path + "-wal"))
    do throws(HomeError) {
      let database = try scratch.open()
      return (database, nil)
    } catch {
      #expect([UInt8](try Data(contentsOf: URL(filePath: scratch.path + "-wal"))) == log, "the file is unchanged")
      #expect(failure { () throws(HomeError) in try HomeDatabase.check(scratch.path) }?.message == error.message)
      return (nil, error)
    }
  }

  /// SQLite drops everything after the damage without an error, even the whole home.
  @Test func rejectsDamagedWriteAheadLog() throws {
    let (file, log) = try killed()
    let frame = 24 + 4096
    let frames = (log.count - 32) / frame
    try #require(frames > 30)
    for position in [0, 3, 10, 12, 20, 25, 31] {
      var damaged = log
      damaged[position] ^= 0x04
      let error = try open(file, damaged, TestDatabase()).error
      #expect(error?.message.contains("-wal is damaged at byte 0; restore a copy") == true, "byte \(position)")
    }
    for index in stride(from: 0, to: frames, by: 7) + [frames - 1] {
      // The page number, the end of a transaction, the salt, the checksum and the page.
      for offset in [3, 7, 8, 15, 16, 23, 24, 2000, frame - 1] {
        // The salt of the last frame could also be that of an earlier log.
        if index == frames - 1, (8..<16).contains(offset) { continue }
        var damaged = log
        damaged[32 + index * frame + offset] ^= 0x04
        let error = try open(file, damaged, TestDatabase()).error
        #expect(
          error?.message.contains("-wal is damaged at byte \(32 + index * frame)") == true, "\(index) \(offset)")
      }
    }
  }

  /// The advice for a damaged file.
  private func remedy(_ path: String) -> String { "move it and \(path)-wal away" }

  /// SQLite deletes the log of an empty file, and that of a missing file would become the log of the new home.
  @Test("rejects a log without its database", arguments: [true, false]) func rejectsLogWithoutDatabase(
    isMissing: Bool
  ) throws {
    let log = try killed().log
    let scratch = try TestDatabase()
    let (file, wal) = (URL(filePath: scratch.path), URL(filePath: scratch.path + "-wal"))
    if !isMissing { try Data().write(to: file) }
    try Data(log).write(to: wal)
    let expected =
      "\(scratch.path) is missing or empty, but \(scratch.path)-wal is not; restore a copy of both, or "
      + "\(remedy(scratch.path)) to create a new home"
    for _ in 0..<2 {
      let errors = [
        failure { () throws(HomeError) in _ = try scratch.open() },
        failure { () throws(HomeError) in try HomeDatabase.check(scratch.path) },
        failure { () throws(HomeError) in _ = try HomeDatabase.names(in: scratch.path) },
      ]
      #expect(errors.map { $0?.message } == [expected, expected, expected])
    }
    #expect(try [UInt8](Data(contentsOf: wal)) == log)
    #expect(FileManager.default.fileExists(atPath: scratch.path) == !isMissing)
    // As advised.
    try FileManager.default.removeItem(at: wal)
    try scratch.open().close()
  }

  /// Commands that only read use the stored names.
  @Test("rejects a log without its database when names are read") func namesRejectLogWithoutDatabase() throws {
    let scratch = ScratchDirectory()
    let (names, path) = (StoredNames(scratch.state), scratch.state.database)
    try Files.makeDirectory(scratch.state.home)
    // An empty log has no changes that could be lost.
    try Data().write(to: URL(filePath: path + "-wal"))
    #expect(try names.registry().devices.isEmpty)
    try Data([1]).write(to: URL(filePath: path + "-wal"))
    for error in [
      failure { () throws(HomeError) in _ = try names.registry() },
      failure { () throws(HomeError) in _ = try names.state() },
      failure { () throws(HomeError) in _ = try names.interfaces() },
    ] {
      #expect(error?.message.hasPrefix("\(path) is missing or empty, but \(path)-wal is not; restore") == true)
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  /// A loss of power tears the last transaction, which was not committed.
  @Test func opensAfterTornTransaction() throws {
    let (file, log) = try killed()
    let cut = [1, 100, 512, 4096, 4097, 4119].map { Array(log.dropLast($0)) }
    // Blocks that were not written.
    let zeros = [1, 2, 8].map { blocks in
      let end = (log.count / 512 - blocks + 1) * 512
      return Array(log[..<end]) + [UInt8](repeating: 0, count: log.count - end)
    }
    for torn in cut + zeros {
      let scratch = try TestDatabase()
      let (database, error) = try open(file, torn, scratch)
      #expect(error == nil, "\(torn.count)")
      let state = try database?.controllerState()
      #expect(state?["key/28"] == [1, 2, 3] && state?["key/29"] == nil, "\(torn.count)")
      try database?.close()
      withExtendedLifetime(scratch) {}
    }
  }

  /// A transaction that exceeds the cache is written to the write-ahead log before it is rolled back.
  @Test func opensAfterRollbackAndCheckpoint() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    _ = try database.write { try $0.execute(sql: "PRAGMA cache_size = 5") }
    for isCheckpoint in [false, true, false] {
      for count in [200, 50] {
        let error = failure { () throws(HomeError) in
          try database.write { file in
            for index in 0..<count {
              try file.execute(sql: "INSERT INTO setting VALUES (?, hex(zeroblob(1000)))", arguments: ["\(index)"])
            }
            throw DamagedBlob()
          }
        }
        #expect(error != nil)
        try database.set("\(count)", for: "key")
      }
      if isCheckpoint {
        let other = try DatabaseQueue(path: scratch.path)
        _ = try other.writeWithoutTransaction { try $0.checkpoint(.restart) }
        try other.close()
      }
      try database.set("\(isCheckpoint)", for: "key")
      let log = [UInt8](try Data(contentsOf: URL(filePath: scratch.path + "-wal")))
      let copied = try TestDatabase()
      let (copy, error) = try open(try Data(contentsOf: URL(filePath: scratch.path)), log, copied)
      #expect(try error == nil && copy?.setting("key") == "\(isCheckpoint)")
      try copy?.close()
      withExtendedLifetime(copied) {}
    }
    try database.close()
  }

  /// Adds 5,000 changes to the log, closes the database, and overwrites a page in the middle of the log.
  /// - Parameter interval: the difference of the sequence numbers of two changes.
  /// - Returns: the contents of the file.
  private func damageMiddleOfLog(_ database: HomeDatabase, interval: Int) throws -> Data {
    let root = try database.write {
      try $0.execute(
        sql: """
          WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < 5000)
          INSERT INTO log (sequence, batch, time, kind)
          SELECT 100 + value * ?, 100 + value * ?, ?, 1 FROM number
          """, arguments: [interval, interval, Int64(Date().timeIntervalSince1970 * 1_000_000)])
      return try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'log'") ?? 0
    }
    try close(database)
    let file = URL(filePath: database.path)
    var bytes = try Data(contentsOf: file)
    func number(_ offset: Int, _ count: Int) -> Int { bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) } }
    // The root is an interior page: its 20th cell begins with the number of a leaf.
    let page = (root - 1) * 4096
    #expect(bytes[page] == 5 && number(page + 3, 2) > 20)
    let leaf = (number(page + number(page + 12 + 2 * 20, 2), 4) - 1) * 4096
    bytes.replaceSubrange(leaf..<leaf + 4096, with: Data(repeating: 0, count: 4096))
    try bytes.write(to: file)
    return bytes
  }

  @Test func rejectsDamagedPageOfLog() throws {
    let scratch = try TestDatabase()
    let bytes = try damageMiddleOfLog(try scratch.open(), interval: 1)
    let error = try #require(failure { () throws(HomeError) in _ = try scratch.open() })
    #expect(error.message == "\(scratch.path) is damaged; \(remedy(scratch.path)) to create a new home")
    #expect(try Data(contentsOf: URL(filePath: scratch.path)) == bytes)
  }

  /// A large log is checked after the home was opened.
  @Test func reportsDamageOfLargeLogInTheBackground() async throws {
    let directory = ScratchDirectory()
    try await OpenHome(directory).home.close()
    let database = try HomeDatabase.open(directory.state.database)
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 1)])
    _ = try damageMiddleOfLog(database, interval: 30)
    let error = failure { () throws(HomeError) in try HomeDatabase.check(directory.state.database) }
    #expect(error?.message.contains("is damaged") == true)
    let log = LogCounter()
    var options = HomeController.Options(state: directory.state, logger: log.logger)
    options.discovery = .off
    options.following.wakesObservers = false
    let controller = try await HomeController.open(options)
    try await controller.follow()
    let path = directory.state.database
    #expect(await eventually { log["\(path) is damaged; \(remedy(path)) to create a new home"] == 1 })
    await controller.close()
  }

  /// A device reported the highest event number before the home was closed.
  @Test(arguments: [UInt64.max, UInt64.max - 1, UInt64(Int64.max)]) func opensAfterTheLastEventNumber(
    _ number: UInt64
  ) async throws {
    let directory = ScratchDirectory()
    let open = try await OpenHome(directory)
    await open.meet(.lamp(5))
    await open.process(.report(NodeReport(5, [], events: [event(number)], isWhole: false)))
    await open.home.close()
    let again = try await OpenHome(directory)
    try await again.home.follow()
    #expect(await again.home.state.lastEvents[5] == number)
    await again.home.close()
  }

  @Test func reportsDamagedSettings() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    #expect(try database.settings().trustsTestDevices)
    try database.change(HomeSettings.Changes(trustsTestDevices: false))
    #expect(try !database.settings().trustsTestDevices)
    try database.set("{", for: "home")
    let error = try #require(failure { () throws(HomeError) in _ = try database.settings() })
    #expect(error.message.contains("\(scratch.path) is damaged"))
    try database.close()
  }

  @Test func saturatesTimes() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try fill(database)
    for value in [Int64.max, .min] {
      try database.write { try $0.execute(sql: "UPDATE trial SET since = ?", arguments: [value]) }
      var debouncer = ConnectivityDebouncer(grace: .seconds(86_400))
      let trial = try #require(try database.load().trials["5"])
      debouncer.restore("5", SourceConnectivity(.offline, .peer), trial, at: 1_000)
      let state = DebouncerState(grace: .seconds(86_400), trials: ["5": trial], time: value == .max ? .min : .max)
      _ = debouncer.adopt(state, ["5": SourceConnectivity(.offline, .peer)], at: 1_000)
      _ = debouncer.advance(to: 2_000)
    }
    let settings = try JSONEncoder().encode(HomeSettings(graceTime: .milliseconds(Int64.max)))
    try database.set(String(decoding: settings, as: UTF8.self), for: "home")
    #expect(try database.settings().graceTime == HomeDatabase.longestGrace)
    let endless = BackgroundDelivery(
      .all, .every(.seconds(Int64.max)), to: .command(["true"]), after: try database.anchor())
    try database.add(endless)
    #expect(try database.backgroundDeliveries().last?.frequency.period ?? .zero > .seconds(86_400 * 365))
    try database.close()
  }
}
