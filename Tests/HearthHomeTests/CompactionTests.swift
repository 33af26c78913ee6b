import Foundation
import GRDB
import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import Logging
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Testing

@testable import HomeStore

/// Compaction of the log by the process that follows the home.
@Suite("Compaction", .timeLimit(.minutes(10))) struct CompactionTests {
  private func change(_ number: Int, at time: Int64) -> HomeUpdate {
    HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x05, UInt8(number % 256), 0])], at: time)
  }

  @Test func compactsByAge() async throws {
    let directory = ScratchDirectory()
    let now = HostClock.unixMicroseconds()
    let before = try HomeDatabase.open(directory.state.database, isInMemory: true)
    try before.commit((0..<20).map { change($0, at: now - 31 * 86_400_000_000) })
    let old = try before.anchor()
    try before.commit((20..<30).map { change($0, at: now) })
    try before.close()
    var options = HomeController.Options(state: directory.state, logger: Logger(label: "test"))
    options.discovery = .off
    options.machine = ChangedMachine(sharesFiles: false)
    let home = try await Home(options)
    @Sendable func isWhole() async throws -> Bool {
      if case .samples = try await home.results(of: AnchoredQuery(.all, after: nil)) { true } else { false }
    }
    #expect(try await home.controller.center == nil, "the home is not followed yet")
    #expect(try await isWhole())
    try await home.follow()
    #expect(await eventually { (try? await isWhole()) == false })
    #expect(try await home.results(of: AnchoredQuery(.all, after: old)).added.count == 10)
    await home.close()
  }

  @Test func compactsByCount() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit((0..<20).map { change($0, at: HostClock.unixMicroseconds()) })
    let center = ObserverCenter(
      database, on: HostMachine().nextEventLoop(), QueueWorker(),
      retention: .init(count: 7), machine: ChangedMachine(sharesFiles: false))
    try await center.start(inBackground: true)
    @Sendable func count() throws -> Int? {
      try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") }
    }
    #expect(await eventually { (try? count()) == 7 })
    await center.stop()
  }

  /// Compaction keeps the generation of the last removed change, so that an anchor at this position in a log restored from a
  /// copy is detected.
  @Test func keepsGenerationOfLastRemovedChange() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit((0..<20).map { change($0, at: 0) })
    let edge = try database.anchor()
    try database.commit((20..<30).map { change($0, at: 1) })
    let other = Anchor(log: edge.log, sequence: edge.sequence, generation: edge.generation.map { $0 &+ 1 })
    func isReset(_ anchor: Anchor) throws -> Bool {
      if case .reset = try database.samples(after: anchor) { true } else { false }
    }
    #expect(try !isReset(edge) && isReset(other))
    #expect(try database.compact(keeping: 10) == 20)
    #expect(try !isReset(edge) && isReset(other))
    // Also if the log is empty: the end anchor then has the generation.
    let end = try database.anchor()
    #expect(try database.compact(keeping: 0) == 10)
    #expect(try database.anchor() == end && end.generation != nil && isReset(edge))
  }

  /// A burst of commits during a read leaves a long write-ahead log, which the next commits or the periodic check
  /// truncate.
  @Test(arguments: [true, false]) func truncatesWriteAheadLog(_ isQuiet: Bool) async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    @Sendable func size() throws -> Int64 {
      let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path + "-wal")
      return (attributes[.size] as? NSNumber)?.int64Value ?? 0
    }
    @Sendable func burst() throws {
      for _ in 0..<8 {
        try database.commit(
          (0..<500).map { number in
            let value = [UInt8](repeating: UInt8(number % 200), count: 4000)
            return HomeUpdate([.attribute(5, .init(1, 6, 0), value: value)], at: HostClock.unixMicroseconds())
          })
      }
    }
    try await database.pool.read { reader in
      _ = try Int.fetchOne(reader, sql: "SELECT count(*) FROM log")
      try burst()
    }
    #expect(try size() > 2 * HomeDatabase.journalSize)
    guard isQuiet else {
      // The first commit checkpoints the file, the next one restarts it.
      try burst()
      for number in 0..<2 { try database.commit([change(number, at: HostClock.unixMicroseconds())]) }
      return #expect(try size() <= HomeDatabase.journalSize)
    }
    let center = ObserverCenter(
      database, on: HostMachine().nextEventLoop(), QueueWorker(),
      retention: .init(), machine: ChangedMachine(sharesFiles: false))
    try await center.start(inBackground: true)
    #expect(await eventually { (try? size()).map { $0 <= HomeDatabase.journalSize } ?? false })
    await center.stop()
  }

  @Test func boundsFileSize() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
    let first = try database.anchor()
    for _ in 0..<20 {
      try database.commit(
        (0..<500).map { number in
          HomeUpdate(
            [.attribute(5, .init(1, 6, 0), value: [0x0C, 200] + [UInt8](repeating: UInt8(number % 200), count: 200))],
            at: 1)
        })
    }
    let bound: Int64 = 1 << 20
    func size() throws -> (all: Int64, used: Int64, page: Int64) { try database.read { try database.fileSize($0) } }
    #expect(try size().all > 2 * bound)
    // Neither the count nor the age requires compaction.
    #expect(try database.compact(keeping: 1_000_000) == 0)
    while try database.compact(keeping: 1_000_000, within: bound) > 0 {}
    // Compaction only frees pages, and `shrink` removes them from the file.
    #expect(try size().all > 2 * bound && size().used <= bound / 4 * 3)
    while try database.shrink(to: bound) {}
    #expect(try size().all <= bound)
    guard case .reset = try database.samples(after: first) else {
      Issue.record("the log was not shortened")
      return
    }
    // The newer part of the log and the state of the home are kept.
    #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") ?? 0 } > 500)
    #expect(try database.load().state.devices["5"] != nil)
    #expect(try database.compact(keeping: 1_000_000, within: bound) == 0)
  }

  /// The file shrinks to the limit and not further, whatever its page size is.
  @Test(arguments: [1024, 4096, 16_384]) func shrinksToTheLimit(_ page: Int64) throws {
    let scratch = try TestDatabase()
    try scratch.open().close()
    let file = try DatabaseQueue(path: scratch.path)
    try file.writeWithoutTransaction { database in
      for statement in ["PRAGMA journal_mode = DELETE", "PRAGMA page_size = \(page)", "VACUUM"] {
        try database.execute(sql: statement)
      }
    }
    try file.close()
    let database = try scratch.open()
    let value = [0x0C, 200] + [UInt8](repeating: 7, count: 200)
    try database.commit((0..<8000).map { HomeUpdate([.attribute(5, .init(1, 6, 0), value: value)], at: Int64($0)) })
    while try database.compact(keeping: 0) > 0 {}
    func size() throws -> Int64 { try database.read { try database.fileSize($0).all } }
    #expect(try database.read { try database.fileSize($0).page } == page)
    let bound = try size() / 8 * 7
    while try database.shrink(to: bound) {}
    // Pages that describe removed pages are removed with them.
    #expect(try (bound - 4 * page...bound).contains(size()))
  }

  /// A restart removes the log in slices as well.
  @Test func restartRemovesSlices() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
    try database.commit((0..<2 * Int(HomeDatabase.changesOfSlice)).map { change($0, at: 1) })
    let first = try database.anchor()
    let commits = Tally()
    try database.write {
      $0.trace { if case .statement(let statement) = $0, statement.sql == "COMMIT" { commits.add() } }
    }
    try database.restart(with: HomeReducer(try database.load().state), at: 2)
    #expect(commits.count > 3)
    #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") ?? 0 } < 10)
    guard case .reset = try database.samples(after: first) else {
      Issue.record("an anchor of the removed log is valid")
      return
    }
  }

  @Test func logsFailedMaintenance() async throws {
    let log = LogCounter()
    let directory = ScratchDirectory()
    var options = HomeController.Options(state: directory.state, logger: log.logger)
    options.discovery = .off
    let controller = try await HomeController.open(options)
    try await controller.withDatabase { database in try database.write { try $0.execute(sql: "DROP TABLE log") } }
    try await controller.follow()
    let message = "maintenance of the log: \(options.state.database): no such table: log"
    #expect(await eventually { log[message] == 1 })
    await controller.close()
  }

  /// Each slice consists of whole updates, and is a transaction of its own.
  @Test func removesSlicesOfWholeUpdates() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let slice = Int(HomeDatabase.changesOfSlice)
    let long = HomeUpdate((0..<2 * slice).map { .attribute(5, .init(1, 6, 0), value: [0x04, UInt8($0 % 256)]) }, at: 1)
    try database.commit([change(1, at: 1), long] + (0..<slice + 10).map { change($0, at: 1) })
    #expect(try database.compact(keeping: 4 * slice, since: 1) == 0)
    #expect(try database.compact(keeping: 20) == 2 * slice + 1)
    #expect(try database.compact(keeping: 20) == slice - 10)
    #expect(try database.compact(keeping: 20) == 0)
    #expect(try database.compact(keeping: 20, since: 2) == 20)
  }

  /// Other work of the same thread is done between the slices.
  @Test func interleavesSlicesWithOtherWork() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let count = 20 * Int(HomeDatabase.changesOfSlice)
    try database.commit((0..<count).map { change($0, at: 0) })
    let center = ObserverCenter(
      database, on: HostMachine().nextEventLoop(), QueueWorker(),
      retention: .init(count: 0), machine: ChangedMachine(sharesFiles: false))
    try await center.start()
    var seen: Set<Int> = []
    while !seen.contains(0) {
      seen.insert(
        try await center.work { try $0.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") ?? 0 } })
    }
    #expect(!seen.subtracting([0, count]).isEmpty)
    await center.stop()
  }

  /// Durable changes wait for the same connection on the event loop.
  @Test func truncationDoesNotWaitForReaders() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let value = [UInt8](repeating: 1, count: 8000)
    let start = HostClock.now()
    try database.read { reader in
      _ = try Int.fetchOne(reader, sql: "SELECT count(*) FROM log")
      try database.commit((0..<2000).map { HomeUpdate([.attribute(5, .init(1, 6, 0), value: value)], at: Int64($0)) })
      #expect(failure { () throws(HomeError) in try database.cutJournal() }?.message.contains("locked") == true)
    }
    #expect(HostClock.now() - start < .seconds(HomeDatabase.busyTimeout))
    try database.cutJournal()
  }

  /// An update is kept or removed as a whole, so that compaction does not loop on an update above the limit.
  @Test func removesOversizedUpdateAsAWhole() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let at = HostClock.unixMicroseconds()
    let update = HomeUpdate((0..<50).map { .attribute(5, .init(1, 6, 0), value: [0x04, $0]) }, at: at)
    try database.commit([change(1, at: at), update, change(2, at: at)])
    #expect(try database.compact(keeping: 40) == 1)
    #expect(try database.compact(keeping: 1000, within: 1) == 51)
  }

  /// At once: a short-lived process ends before the periodic check.
  @Test func compactsWhenFollowingBegins() async throws {
    let directory = ScratchDirectory()
    try FileManager.default.createDirectory(atPath: directory.state.home, withIntermediateDirectories: true)
    let database = try HomeDatabase.open(directory.state.database)
    try database.commit((0..<9).map { change($0, at: 1) })
    @Sendable func count() throws -> Int {
      try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") ?? 0 }
    }
    #expect(try count() == 9)
    let open = try await OpenHome(directory)
    try await open.home.follow()
    #expect(await eventually { (try? count()) == 0 })
    await open.home.close()
  }
}
