import Dispatch
import GRDB
import MatterModel
import NIOCore
import NIOPosix
import Runtime
import Synchronization
import Testing

@testable import Home

/// What becomes of a home whose database can't be written for a while, or any more.
@Suite("Keeping", .timeLimit(.minutes(10))) struct KeeperTests {
  /// A keeper on its event loop, and what it says.
  private final class Kept: Sendable {
    let place: TestDatabase
    let database: HomeDatabase
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let keeper: NIOLoopBound<HomeKeeper>
    let news = Mutex<[String]>([])
    /// What happened last.
    private let last = Counter()

    /// A number that several hold.
    private final class Counter: Sendable {
      private let number = Mutex(0)
      func withLock<R>(_ body: (inout Int) -> sending R) -> sending R { number.withLock { body(&$0) } }
    }

    private static func value(_ number: Int) -> [UInt8] {
      [0x05, UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
    }

    init(mostWaiting: Int = 1000, worker: some Worker = QueueWorker()) async throws {
      let place = try TestDatabase()
      let database = try place.open()
      try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
      (self.place, self.database) = (place, database)
      let loop = loop
      let anchor = try database.anchor()
      keeper = try await loop.submit {
        NIOLoopBound(
          HomeKeeper(
            database, anchor: anchor, on: loop, worker, firstRetry: .milliseconds(50), mostWaiting: mostWaiting),
          eventLoop: loop)
      }.get()
      loop.execute { [self] in
        keeper.value.current = { [last] in
          var state = HomeState()
          for change in HomeSamples.lamp(5) { state.apply(change) }
          let number = last.withLock { $0 }
          state.apply(.attribute(5, .init(1, 6, 0), value: Self.value(number)))
          return .init(home: HomeReducer(state, contacts: [5: Contact(last: Int64(number))]), time: 1000)
        }
        keeper.value.onNews = { news in
          let text =
            switch news {
            case .failed(let error): "failed: \(error.message.contains("disk is full") ? "full" : "can't")"
            case .recovered: "recovered"
            case .lost: "lost"
            }
          self.news.withLock { $0.append(text) }
        }
      }
    }

    /// Something happens; `number` can be found again.
    func keep(_ numbers: some Sequence<Int> & Sendable) {
      loop.execute { [self] in
        for number in numbers {
          last.withLock { $0 = number }
          let change = HomeChange.attribute(5, .init(1, 6, 0), value: Self.value(number))
          keeper.value.keep(HomeUpdate([change], at: Int64(number)), [5: Contact(last: Int64(number))])
        }
      }
    }

    func perform<R: Sendable>(_ body: @escaping @Sendable (HomeDatabase) throws -> R) async throws -> R {
      try await loop.flatSubmit { [self] in keeper.value.perform(body) }.get()
    }

    func close() async throws {
      try await loop.flatSubmit { [self] in keeper.value.close([:]) }.get()
    }

    func pragma(_ text: String) throws {
      try database.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA \(text)") }
    }

    /// The numbers that are in the log.
    var stored: [Int] {
      get throws {
        guard case .samples(let samples, _, _) = try place.open().samples(after: nil, SampleFilter(.attribute)) else {
          return []
        }
        return samples.map { Int($0.time) }
      }
    }
  }

  @Test func whatCouldNotBeWrittenIsWrittenLater() async throws {
    let kept = try await Kept()
    try kept.pragma("query_only = 1")
    kept.keep(1...3)
    #expect(await eventually { kept.news.withLock { $0 } == ["failed: can't"] })
    kept.keep(4...5)
    // Whoever wants to read the log has to have all of it, and is told that it is not to be had.
    await #expect(throws: (any Error).self) { try await kept.perform { try $0.anchor() } }
    #expect(try kept.stored.isEmpty)
    try kept.pragma("query_only = 0")
    #expect(await eventually { kept.news.withLock { $0 } == ["failed: can't", "recovered"] })
    kept.keep(6...6)
    #expect(try await kept.perform { try $0.load().contacts[5] } == Contact(last: 6))
    #expect(try kept.stored == Array(1...6))
    try await kept.close()
    #expect(kept.news.withLock { $0.count } == 2)
  }

  @Test func aFullDiskThatIsEmptiedAtTheEndLosesNothing() async throws {
    let kept = try await Kept(mostWaiting: 10_000)
    let pages = try await kept.database.pool.read { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0
    try kept.pragma("max_page_count = \(pages)")
    kept.keep(1...2000)
    #expect(await eventually { kept.news.withLock { $0 } == ["failed: full"] })
    #expect(try kept.stored.count < 2000)
    try kept.pragma("max_page_count = 100000")
    // Before it is tried again by itself.
    try await kept.close()
    #expect(try kept.stored == Array(1...2000))
    #expect(kept.news.withLock { $0 } == ["failed: full", "recovered"])
  }

  @Test func whatIsLostAtTheEndIsSaid() async throws {
    let kept = try await Kept()
    try kept.pragma("query_only = 1")
    kept.keep(1...3)
    try await kept.close()
    #expect(kept.news.withLock { $0 } == ["failed: can't", "lost"])
    #expect(try kept.stored.isEmpty)
  }

  /// The disk is full for longer than all can be kept. Once there is room the home is stored as it is, and nobody who read
  /// before is left to believe that nothing happened.
  @Test func whatIsTooMuchToBeKeptIsLostAndTheLogBeginsAnew() async throws {
    let kept = try await Kept(mostWaiting: 20)
    let before = try kept.database.anchor()
    try kept.pragma("query_only = 1")
    kept.keep(1...10)
    #expect(await eventually { kept.news.withLock { $0 } == ["failed: can't"] })
    kept.keep(11...30)
    #expect(await eventually { kept.news.withLock { $0 } == ["failed: can't", "lost"] })
    kept.keep(31...32)
    await #expect(throws: (any Error).self) { try await kept.perform { try $0.anchor() } }
    try kept.pragma("query_only = 0")
    #expect(await eventually { kept.news.withLock { $0 } == ["failed: can't", "lost", "recovered"] })
    kept.keep(33...34)
    try await kept.close()
    let database = try kept.place.open()
    // The value that stood when it could be stored again, and what came behind that.
    let times = try await database.pool.read { try Int.fetchAll($0, sql: "SELECT time FROM log ORDER BY sequence") }
    #expect(times == [1000, 33, 34])
    guard case .reset(let home) = try database.samples(after: before) else {
      return #expect(Bool(false), "a gap without a sign")
    }
    #expect(home.state.values[5]?[.init(1, 6, 0)] == [0x05, 34, 0])
    #expect(home.contacts[5] == Contact(last: 34))
  }

  /// It becomes too much while the last attempt is still under way, whatever comes of that.
  @Test(arguments: [false, true]) func whatIsLostInTheMiddleOfAnAttemptDoesNotComeBack(succeeds: Bool) async throws {
    let worker = HeldWorker()
    let kept = try await Kept(mostWaiting: 20, worker: worker)
    try kept.pragma("query_only = 1")
    kept.keep(1...3)
    #expect(await eventually { kept.news.withLock { $0 } == ["failed: can't"] })
    worker.hold()
    // The second attempt is under way for sure: they follow each other after 50 ms and more.
    #expect(await eventually { worker.isHolding })
    kept.keep(4...40)
    #expect(await eventually { kept.news.withLock { $0 } == ["failed: can't", "lost"] })
    if succeeds { try kept.pragma("query_only = 0") }
    worker.release()
    if !succeeds {
      try await Task.sleep(for: .milliseconds(20))
      try kept.pragma("query_only = 0")
    }
    #expect(await eventually { kept.news.withLock { $0 } == ["failed: can't", "lost", "recovered"] })
    try await kept.close()
    let times = try await kept.place.open().pool.read {
      try Int.fetchAll($0, sql: "SELECT time FROM log ORDER BY sequence")
    }
    #expect(times == [1000])
  }

  /// What is on trial at the moment of the loss is so for everybody, and what was before is not any more.
  @Test func aHomeThatIsStoredAnewHasItsTrials() throws {
    let place = try TestDatabase()
    let database = try place.open()
    try database.commit([HomeUpdate(HomeSamples.lamp(5) + HomeSamples.lamp(6), at: 0)])
    var state = try database.load().state
    let away = SourceStatus(SourceConnectivity(.offline, .peer), reason: .timedOut)
    state.apply(.connectivity(SourceID(5), away))
    var update = HomeUpdate([.deviceRenamed(id: "6", name: "x")], at: 1)
    let online = SourceConnectivity(.online, .peer)
    update.trials = ["6": DebounceTrial(settled: online, since: 1)]
    try database.commit([update])
    let trials = ["5": DebounceTrial(settled: online, since: 7)]
    let home = HomeReducer(state, grace: .seconds(60), trials: trials, at: 8)
    #expect(try database.restart(with: home, after: try database.anchor(), at: 8) == (try database.anchor()))
    let stored = try database.load()
    #expect(stored.trials == trials)
    // Whoever reads it goes on with them.
    let reducer = HomeReducer(stored.state, grace: .seconds(60), trials: stored.trials, at: 9)
    #expect(reducer.trials.keys.sorted() == ["5"])
  }

  /// While the disk was full for one process, another paired a device, removed one, and made a room.
  @Test func aHomeThatIsStoredAnewHasWhatOthersDid() throws {
    let place = try TestDatabase()
    let (database, other) = (try place.open(), try place.open())
    try database.commit([HomeUpdate([5, 6, 8].flatMap { HomeSamples.lamp($0) }, at: 0)])
    let anchor = try database.anchor()
    var home = HomeReducer(try database.load().state)
    func gone(_ node: NodeID) -> [HomeChange] {
      [.sourceRemoved(SourceID(node)), .deviceRemoved(id: SourceID(node).description)]
    }
    let value = HomeChange.attribute(9, .init(1, 6, 0), value: [0x09])
    try other.commit([HomeUpdate(HomeSamples.lamp(9) + [value] + gone(6), at: 1)])
    let room = Room(id: "r", name: "Hall", structureID: "home")
    _ = try other.change(origin: nil, at: 2) { (_) throws(HomeError) in
      ([.roomAdded(room), .deviceMoved(id: "9", roomID: "r"), .deviceRenamed(id: "5", name: "Desk")], 0)
    }
    // What is lost here: one came, in a room of its own, and one went.
    let den = Room(id: "d", name: "Den", structureID: "home")
    let came = HomeSamples.lamp(7) + [.roomAdded(den), .deviceMoved(id: "7", roomID: "d")]
    _ = home.reduce(.update(HomeUpdate(came + gone(8), at: 3)), at: 3)
    #expect(try database.restart(with: home, after: anchor, at: 4) == nil)
    func check(_ comment: Comment) throws {
      let state = try place.open().load().state
      #expect(state.devices.keys.sorted() == ["5", "7", "9"], comment)
      #expect(state.devices["9"]?.roomID == "r" && state.devices["5"]?.name == "Desk", comment)
      #expect(state.devices["7"]?.roomID == "d" && Set(state.rooms.map(\.name)) == ["Den", "Hall"], comment)
      #expect(state.values[9]?[.init(1, 6, 0)] == [0x09], comment)
      #expect(state.source(SourceID(9))?.endpoints.count == 2, comment)
    }
    try check("as it is in the log")
    // Once more, and the log does not have it any more: what this home has never heard of is left as it is.
    _ = home.reduce(.update(HomeUpdate(gone(6), at: 5)), at: 5)
    #expect(try database.restart(with: home, after: anchor, at: 5) == nil)
    try check("as it is in the database")
  }

  @Test func everythingBeforeIsThereWhenItIsAskedFor() async throws {
    let kept = try await Kept()
    for round in 0..<20 {
      kept.keep(round * 50..<round * 50 + 50)
      let last = try await kept.perform { database -> Int? in
        guard case .samples(let samples, _, _) = try database.samples(after: nil) else { return nil }
        return samples.last.map { Int($0.time) }
      }
      #expect(last == round * 50 + 49)
    }
    try await kept.close()
    #expect(try kept.stored == Array(0..<1000))
  }
}

/// A worker that can be stopped before its next piece of work.
private final class HeldWorker: Worker {
  private let queue = QueueWorker()
  private let state = Mutex((isHeld: false, isHolding: false))
  private let gate = DispatchSemaphore(value: 0)

  func hold() { state.withLock { $0.isHeld = true } }
  var isHolding: Bool { state.withLock { $0.isHolding } }

  func release() {
    state.withLock { $0.isHeld = false }
    gate.signal()
  }

  func submit<R: Sendable>(
    on eventLoop: any EventLoop, _ body: @escaping @Sendable () throws -> R
  ) -> EventLoopFuture<R> {
    queue.submit(on: eventLoop) { [self] in
      let isHeld = state.withLock { state in
        state.isHolding = state.isHeld
        return state.isHeld
      }
      if isHeld { gate.wait() }
      return try body()
    }
  }

  func close(_ done: @escaping @Sendable () -> Void) { queue.close(done) }
}
