import Foundation
import GRDB
import Glibc
import HearthHome
import HomeModel
import HomeStore
import MatterCrypto
import MatterModel
import MatterProtocol
import Synchronization
import Testing

/// A temporary directory with a database, removed at deinitialization.
final class TestDatabase: Sendable {
  let directory: String
  var path: String { directory + "/home.sqlite" }

  init() throws {
    directory = FileManager.default.temporaryDirectory.path + "/hearth-db-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  func open() throws(HomeError) -> HomeDatabase { try HomeDatabase.open(path) }
}

/// A thread that exists until its end, so that it can get signals.
private final class SignaledThread: Sendable {
  private let thread = Mutex<pthread_t?>(nil)
  private let isOver = DispatchSemaphore(value: 0)

  func start(_ body: @escaping @Sendable () -> Void) {
    Thread.detachNewThread { [self] in
      thread.withLock { $0 = pthread_self() }
      body()
      isOver.wait()
    }
  }

  func signal(_ number: Int32) { thread.withLock { if let thread = $0 { _ = pthread_kill(thread, number) } } }

  func end() { isOver.signal() }
}

@Suite("Home database") struct DatabaseTests {
  @Test func newHomeIsEmptyAndPrivate() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let home = try database.load()
    #expect(home.state == HomeState())
    #expect(home.contacts.isEmpty && home.versions.isEmpty)
    #expect(home.anchor.sequence == 0)
    _ = try database.commit([HomeUpdate([.structureAdded(Structure(id: "home", name: "Home"))], at: 1)])
    for name in try FileManager.default.contentsOfDirectory(atPath: scratch.directory) {
      let attributes = try FileManager.default.attributesOfItem(atPath: scratch.directory + "/" + name)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
  }

  @Test func openingWaitsForCheckpointOfOtherConnection() async throws {
    let scratch = try TestDatabase()
    let first = try scratch.open()
    var isReading = Configuration()
    isReading.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(path: scratch.path, configuration: isReading)
    try await reader.writeWithoutTransaction { database in
      try database.execute(sql: "BEGIN; SELECT count(*) FROM device")
      _ = try first.commit([HomeUpdate([.structureAdded(Structure(id: "home", name: "Home"))], at: 1)])
    }
    // Holds SQLite's lock for checkpoints until the reader ends or the timeout expires.
    async let checkpoint: Void = Task.detached {
      var configuration = Configuration()
      configuration.busyMode = .timeout(2)
      let queue = try DatabaseQueue(path: scratch.path, configuration: configuration)
      _ = try await queue.writeWithoutTransaction { try $0.checkpoint(.full) }
    }.value
    try await Task.sleep(for: .milliseconds(100))
    async let second = Task.detached { try scratch.open() }.value
    try await Task.sleep(for: .milliseconds(100))
    try await reader.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    try await checkpoint
    #expect(try await second.load().state.structures.count == 1)
  }

  /// A handler without `SA_RESTART` interrupts the wait for the lock of the directory.
  @Test func openingWaitsForLockDespiteSignals() async throws {
    let scratch = try TestDatabase()
    var handler = sigaction()
    handler.__sigaction_handler.sa_handler = { _ in }
    #expect(sigaction(SIGUSR2, &handler, nil) == 0)
    let lock = open(scratch.directory, O_RDONLY | O_DIRECTORY)
    defer { close(lock) }
    #expect(flock(lock, LOCK_EX) == 0)
    let opener = SignaledThread()
    async let opened: Result<HomeDatabase, any Error> = withCheckedContinuation { continuation in
      opener.start { continuation.resume(returning: Result { try scratch.open() }) }
    }
    for _ in 0..<100 {
      opener.signal(SIGUSR2)
      try await Task.sleep(for: .milliseconds(1))
    }
    opener.end()
    #expect(flock(lock, LOCK_UN) == 0)
    #expect(try await opened.get().load().state == HomeState())
  }

  @Test func inMemoryHomeMatchesStoredHome() throws {
    let scratch = try TestDatabase()
    let inMemory = try HomeDatabase.open(scratch.directory + "/inMemory.sqlite", isInMemory: true)
    let stored = try scratch.open()
    func form(_ database: HomeDatabase) throws -> [String] {
      try database.read { file in
        try String.fetchAll(file, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
          + ["application_id", "user_version"].map { "\($0) \(try Int32.fetchOne(file, sql: "PRAGMA \($0)") ?? 0)" }
      }
    }
    #expect(try form(inMemory) == form(stored))
    #expect(inMemory.logID != stored.logID)
    #expect(inMemory.identity != stored.identity)
    try inMemory.commit([HomeUpdate(HomeSamples.lamp(5), at: 1_000)])
    let state = try inMemory.load().state
    #expect(!state.devices.isEmpty)
    try inMemory.close()
    // A simulated machine reopens the same database after a power loss.
    let again = try HomeDatabase.open(inMemory.path, isInMemory: true)
    #expect(try again.load().state == state)
    #expect(again.logID == inMemory.logID)
    #expect(again.identity == inMemory.identity)
    #expect(throws: HomeError.self) { try inMemory.load() }
    // After the removal a new database is opened, even if an old connection exists.
    InMemoryHomes.remove(below: scratch.directory)
    let new = try HomeDatabase.open(inMemory.path, isInMemory: true)
    #expect(try new.load().state == HomeState())
    #expect(try new.anchor().sequence == 0)
    #expect(new.logID != inMemory.logID)
    #expect(try form(new) == form(stored))
    InMemoryHomes.remove(below: scratch.directory)
  }

  @Test("waits for the disk in durable writes only") func durableWrites() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    func synchronization(_ database: Database) throws -> Int32? {
      try Int32.fetchOne(database, sql: "PRAGMA synchronous")
    }
    let (normal, full): (Int32, Int32) = (1, 2)
    #expect(try database.write { try synchronization($0) } == normal)
    #expect(try database.write(isDurable: true) { try synchronization($0) } == full)
    #expect(try database.write { try synchronization($0) } == normal)
    // Also after a failure.
    #expect(throws: HomeError.self) {
      try database.write(isDurable: true) { (_: Database) -> Void in throw HomeError(.badArguments, "no") }
    }
    #expect(try database.write { try synchronization($0) } == normal)
  }

  @Test func persistsCommits() throws {
    let scratch = try TestDatabase()
    var state = HomeState()
    let updates = [
      HomeUpdate(HomeSamples.lamp(5), at: 1_000),
      HomeUpdate(
        [.attribute(5, .init(1, 6, 0), value: [0x09])], at: 2_000, origin: "phone", versions: [5: [.init(1, 6): 77]]),
    ]
    for change in updates.flatMap(\.changes) { state.apply(change) }
    let contact = Contact(last: 2_000, nextReport: 60_000_000)
    let first = try scratch.open()
    try first.commit(updates, contacts: [5: contact])
    let anchor = try first.anchor()
    try first.close()

    let home = try scratch.open().load()
    #expect(home.state == state)
    #expect(home.contacts == [5: contact])
    #expect(home.versions == [5: [ClusterPath(1, 6): 77]])
    #expect(home.anchor == anchor)
    #expect(home.state.value(5, .init(1, 6, 0)) == [0x09])
  }

  /// `HomeState` and the tables implement the same changes.
  @Test(arguments: 0..<20) func memoryDatabaseAndLogAgree(_ seed: UInt64) throws {
    var random = SeededRandomSource(seed: seed)
    let scratch = try TestDatabase()
    var database = try scratch.open()
    var state = HomeState()
    var generator = ChangeGenerator()
    var open: [HomeUpdate] = []
    for round in 0..<60 {
      let changes = generator.next(&random)
      for change in changes { state.apply(change) }
      open.append(HomeUpdate(changes, at: Int64(round), origin: round % 3 == 0 ? "client \(round)" : nil))
      guard Int.random(in: 0..<4, using: &random) == 0 || round == 59 else { continue }
      try database.commit(open)
      open = []
      if Int.random(in: 0..<5, using: &random) == 0 {
        try database.close()
        database = try scratch.open()
      }
      #expect(try database.load().state == state, "after \(round)")
    }
    guard case .samples(let samples, _, true) = try database.samples(after: nil, limit: 100_000) else {
      Issue.record("the log is not whole")
      return
    }
    var replayed = HomeState()
    for sample in samples { replayed.apply(sample.change) }
    #expect(replayed == state)
  }

  @Test func changeIsAtomicAndSeesOtherConnections() throws {
    let scratch = try TestDatabase()
    let (one, other) = (try scratch.open(), try scratch.open())
    let kitchen = Room(id: "r1", name: "Kitchen", structureID: "home")
    let (update, result) = try one.change(origin: "cli", at: 5) { _, home in
      ([.structureAdded(Structure(id: "home", name: "Home")), .roomAdded(kitchen)], home.rooms.count)
    }
    #expect(result == 0 && update.changes.count == 2 && update.origin == "cli")
    let seen = try other.change(origin: nil, at: 6) { _, home in
      ([.roomRenamed(id: "r1", name: "Cook")], home.rooms)
    }
    #expect(seen.result == [kitchen])
    let error = failure { () throws(HomeError) in
      _ = try one.change(origin: nil, at: 7) { _, _ -> (changes: [HomeChange], result: Int) in
        throw HomeError(.badArguments, "no")
      }
    }
    #expect(error?.code == .badArguments)
    #expect(try one.load().state.rooms.map(\.name) == ["Cook"])
  }

  @Test func storesSettings() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    #expect(try database.setting("one") == nil)
    try database.set("5", for: "one")
    try database.set("7", for: "one")
    try database.set("x", for: "other")
    let other = try scratch.open()
    #expect(try other.setting("one") == "7" && other.setting("other") == "x")
    // Durations are milliseconds.
    try database.change(HomeSettings.Changes(graceTime: .milliseconds(1500)))
    #expect(try other.settings() == HomeSettings(graceTime: .milliseconds(1500)))
    #expect(try other.setting("home")?.contains(#""graceTime":1500"#) == true)
  }
}
