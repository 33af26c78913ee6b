import Foundation
import GRDB
import Logging
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Testing

@testable import Home

/// Who follows a home shortens its log without being asked.
@Suite("Compaction", .timeLimit(.minutes(10))) struct CompactionTests {
  private func change(_ number: Int, at time: Int64) -> HomeUpdate {
    HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x05, UInt8(number)])], at: time)
  }

  @Test func whatIsTooOldGoesByItself() async throws {
    let directory = ScratchDirectory()
    let now = HostClock.unixMicroseconds()
    let before = try HomeDatabase.open(directory.state.database, isPassing: true)
    try before.commit((0..<20).map { change($0, at: now - 31 * 86_400_000_000) })
    let old = try before.anchor()
    try before.commit((20..<30).map { change($0, at: now) })
    try before.close()
    var options = HomeController.Options(state: directory.state, logger: Logger(label: "test"))
    options.discovery = .off
    options.machine = ChangedMachine(sharesFiles: false)
    let home = try await Home(options)
    @Sendable func isWhole() async throws -> Bool {
      if case .samples = try await home.samples(after: nil) { true } else { false }
    }
    try await Task.sleep(for: .milliseconds(300))
    #expect(try await isWhole(), "nobody follows it yet")
    try await home.follow()
    #expect(await eventually { (try? await isWhole()) == false })
    #expect(try await home.samples(after: old).added.count == 10)
    await home.close()
  }

  @Test func whatIsTooMuchGoesByItself() async throws {
    let place = try TestDatabase()
    let database = try place.open()
    try database.commit((0..<20).map { change($0, at: HostClock.unixMicroseconds()) })
    let center = ObserverCenter(
      database, after: try database.anchor(), on: HostMachine().nextEventLoop(), QueueWorker(),
      retention: .init(count: 7), machine: ChangedMachine(sharesFiles: false))
    try await center.start(inBackground: true)
    @Sendable func count() throws -> Int? {
      try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") }
    }
    #expect(await eventually { (try? count()) == 7 })
    await center.stop()
  }

  /// The last change that is gone is known by who wrote it: an anchor behind it may be of a log that was put back from a copy.
  @Test func anAnchorAtTheEdgeIsKnownByItsMark() throws {
    let place = try TestDatabase()
    let database = try place.open()
    try database.commit((0..<20).map { change($0, at: 0) })
    let edge = try database.anchor()
    try database.commit((20..<30).map { change($0, at: 1) })
    let other = Anchor(log: edge.log, sequence: edge.sequence, mark: edge.mark.map { $0 &+ 1 })
    func isReset(_ anchor: Anchor) throws -> Bool {
      if case .reset = try database.samples(after: anchor) { true } else { false }
    }
    #expect(try !isReset(edge) && isReset(other))
    #expect(try database.compact(keeping: 10) == 20)
    #expect(try !isReset(edge) && isReset(other))
    // Also where nothing is left: the anchor that is handed out then has it.
    let end = try database.anchor()
    #expect(try database.compact(keeping: 0) == 10)
    #expect(try database.anchor() == end && end.mark != nil && isReset(edge))
  }

  /// A burst while somebody reads leaves a long file of what was written last; the next commits cut it off, or the regular look.
  @Test(arguments: [true, false]) func whatWasWrittenLastTakesLittleOfTheDisk(_ isQuiet: Bool) async throws {
    let place = try TestDatabase()
    let database = try place.open()
    @Sendable func size() throws -> Int64 {
      let attributes = try FileManager.default.attributesOfItem(atPath: place.path + "-wal")
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
      // One takes everything over, and the next begins the file anew.
      try burst()
      for number in 0..<2 { try database.commit([change(number, at: HostClock.unixMicroseconds())]) }
      return #expect(try size() <= HomeDatabase.journalSize)
    }
    let center = ObserverCenter(
      database, after: try database.anchor(), on: HostMachine().nextEventLoop(), QueueWorker(),
      retention: .init(), machine: ChangedMachine(sharesFiles: false))
    try await center.start(inBackground: true)
    #expect(await eventually { (try? size()).map { $0 <= HomeDatabase.journalSize } ?? false })
    await center.stop()
  }

  @Test func theFileIsBounded() throws {
    let place = try TestDatabase()
    let database = try place.open()
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
    #expect(try database.fileSize().all > 2 * bound)
    // Not because of its number or its age.
    #expect(try database.compact(keeping: 1_000_000) == 0)
    try database.compact(keeping: 1_000_000, since: .min, within: bound)
    // Emptied at first, and given back where there is time for that.
    #expect(try database.fileSize().all > bound && database.fileSize().used <= bound)
    try database.giveBack(beyond: bound)
    #expect(try database.fileSize().all <= bound)
    guard case .reset = try database.samples(after: first) else {
      Issue.record("the log was not shortened")
      return
    }
    // The younger part is there, and the home is what it was.
    #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM log") ?? 0 } > 500)
    #expect(try database.load().state.devices["5"] != nil)
    #expect(try database.compact(keeping: 1_000_000, since: .min, within: bound) == 0)
  }

  /// What happened at once is one update, which stays whole or goes: nobody tries for ever to halve it.
  @Test func oneUpdateThatIsTooLargeGoesAsAWhole() async throws {
    let place = try TestDatabase()
    let database = try place.open()
    let at = HostClock.unixMicroseconds()
    let update = HomeUpdate((0..<50).map { .attribute(5, .init(1, 6, 0), value: [0x04, $0]) }, at: at)
    try database.commit([change(1, at: at), update, change(2, at: at)])
    #expect(try database.compact(keeping: 40) == 1)
    #expect(try database.compact(keeping: 1000, since: .min, within: 1) == 51)
  }

  /// At once: it may not last until its turn comes.
  @Test func whoTakesOverShortensTheLog() async throws {
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

/// Who wakes observers that last.
@Suite("Wakers", .timeLimit(.minutes(10))) struct WakerTests {
  @Test func whoEndsSoonWakesNobodyAndKeepsNobodyFromIt() async throws {
    let directory = ScratchDirectory()
    let short = try await OpenHome(directory, wakesObservers: false)
    try await short.home.follow()
    #expect(await short.controller.isFollower)
    #expect(await short.controller.waker == nil)
    let long = try await OpenHome(directory)
    try await long.home.follow()
    #expect(await long.controller.waker != nil)
    #expect(await !long.controller.isFollower)
    // What the one hears wakes what the other one runs.
    let file = directory.state.root + "/told"
    try StoredNames(directory.state).withDatabase { database throws(HomeError) in
      _ = try database.add(
        BackgroundDelivery(
          .all, .immediate, to: .command(["sh", "-c", "echo x >> \(file)"]), after: try database.anchor()))
    }
    await short.meet(.lamp(5))
    #expect(await eventually { FileManager.default.fileExists(atPath: file) })
    // The right is free again with its end.
    await long.home.close()
    let next = try await OpenHome(directory)
    try await next.home.follow()
    #expect(await next.controller.waker != nil)
    await next.home.close()
    await short.home.close()
  }
}
