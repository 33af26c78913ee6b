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
}
