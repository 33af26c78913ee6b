import Dispatch
import GRDB
import HearthHome
import HomeModel
import MatterModel
import MatterProtocol
import NIOCore
import NIOPosix
import Runtime
import Synchronization
import Testing

@testable import HomeControl
@testable import HomeStore

/// `HomeWriter` while its database can't be written, temporarily or permanently.
@Suite("Home writer", .timeLimit(.minutes(10))) struct HomeWriterTests {
  /// A writer on its event loop that records its notifications.
  private final class WriterFixture: Sendable {
    let scratch: TestDatabase
    let database: HomeDatabase
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let writer: NIOLoopBound<HomeWriter>
    let events = Mutex<[String]>([])
    /// Number of the last update.
    private let last = Counter()

    /// A thread-safe shared number.
    private final class Counter: Sendable {
      private let number = Mutex(0)
      func withLock<R>(_ body: (inout Int) -> sending R) -> sending R { number.withLock { body(&$0) } }
    }

    private static func value(_ number: Int) -> [UInt8] {
      [0x05, UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]
    }

    init(mostWaiting: Int = 1000, worker: some Worker = QueueWorker()) async throws {
      let scratch = try TestDatabase()
      let database = try scratch.open()
      try database.commit([HomeUpdate(HomeSamples.lamp(5), at: 0)])
      (self.scratch, self.database) = (scratch, database)
      let loop = loop
      writer = try await loop.submit {
        NIOLoopBound(
          HomeWriter(
            database, on: loop, worker, firstRetry: .milliseconds(50), mostWaiting: mostWaiting),
          eventLoop: loop)
      }.get()
      loop.execute { [self] in
        writer.value.current = { [last] in
          var state = HomeState()
          for change in HomeSamples.lamp(5) { state.apply(change) }
          let number = last.withLock { $0 }
          state.apply(.attribute(5, .init(1, 6, 0), value: Self.value(number)))
          return .init(home: HomeReducer(state, contacts: [5: Contact(last: Int64(number))]), time: 1000)
        }
        writer.value.onEvent = { event in
          let text =
            switch event {
            case .failed(let error): "failed: \(error.message.contains("disk is full") ? "full" : "can't")"
            case .recovered: "recovered"
            case .lost: "lost"
            }
          self.events.withLock { $0.append(text) }
        }
      }
    }

    /// Stores one update for each number, with the number as its time.
    func add(_ numbers: some Sequence<Int> & Sendable) {
      loop.execute { [self] in
        for number in numbers {
          last.withLock { $0 = number }
          let change = HomeChange.attribute(5, .init(1, 6, 0), value: Self.value(number))
          writer.value.add(HomeUpdate([change], at: Int64(number)), [5: Contact(last: Int64(number))])
        }
      }
    }

    func perform<R: Sendable>(_ body: @escaping @Sendable (HomeDatabase) throws -> R) async throws -> R {
      try await loop.flatSubmit { [self] in writer.value.perform(body) }.get()
    }

    /// Stores changes of the controller on the event loop, with the update of this number.
    func commit(_ changes: [StoreChange], with number: Int?) async throws {
      try await loop.submit { [self] in
        let update = number.map { HomeUpdate([.attribute(5, .init(1, 6, 0), value: Self.value($0))], at: Int64($0)) }
        if let number { last.withLock { $0 = number } }
        try writer.value.commit(changes, with: update)
      }.get()
    }

    func close() async throws {
      try await loop.flatSubmit { [self] in writer.value.close([:]) }.get()
    }

    func pragma(_ text: String) throws {
      try database.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA \(text)") }
    }

    /// The numbers of the updates in the log.
    var stored: [Int] {
      get throws {
        guard case .samples(let samples, _, _) = try scratch.open().samples(after: nil, SampleFilter(.attribute)) else {
          return []
        }
        return samples.map { Int($0.time) }
      }
    }
  }

  @Test func retriesFailedWrites() async throws {
    let fixture = try await WriterFixture()
    try fixture.pragma("query_only = 1")
    fixture.add(1...3)
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't"] })
    fixture.add(4...5)
    // A read of the log throws while it is incomplete.
    await #expect(throws: (any Error).self) { try await fixture.perform { try $0.anchor() } }
    #expect(try fixture.stored.isEmpty)
    try fixture.pragma("query_only = 0")
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't", "recovered"] })
    fixture.add(6...6)
    #expect(try await fixture.perform { try $0.load().contacts[5] } == Contact(last: 6))
    #expect(try fixture.stored == Array(1...6))
    try await fixture.close()
    #expect(fixture.events.withLock { $0.count } == 2)
  }

  @Test func writesQueuedUpdatesAtClose() async throws {
    let fixture = try await WriterFixture(mostWaiting: 10_000)
    let pages = try await fixture.database.pool.read { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0
    try fixture.pragma("max_page_count = \(pages)")
    fixture.add(1...2000)
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: full"] })
    #expect(try fixture.stored.count < 2000)
    try fixture.pragma("max_page_count = 100000")
    // Before the next retry.
    try await fixture.close()
    #expect(try fixture.stored == Array(1...2000))
    #expect(fixture.events.withLock { $0 } == ["failed: full", "recovered"])
  }

  @Test func reportsLossAtClose() async throws {
    let fixture = try await WriterFixture()
    try fixture.pragma("query_only = 1")
    fixture.add(1...3)
    try await fixture.close()
    #expect(fixture.events.withLock { $0 } == ["failed: can't", "lost"])
    #expect(try fixture.stored.isEmpty)
  }

  /// The disk is full until the queue overflows. Once writes succeed again the current home is stored, and anchors from
  /// before the loss get a reset.
  @Test func restartsLogAfterQueueOverflow() async throws {
    let fixture = try await WriterFixture(mostWaiting: 20)
    let before = try fixture.database.anchor()
    try fixture.pragma("query_only = 1")
    fixture.add(1...10)
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't"] })
    fixture.add(11...30)
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't", "lost"] })
    fixture.add(31...32)
    await #expect(throws: (any Error).self) { try await fixture.perform { try $0.anchor() } }
    try fixture.pragma("query_only = 0")
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't", "lost", "recovered"] })
    fixture.add(33...34)
    try await fixture.close()
    let database = try fixture.scratch.open()
    // The state at the time of the recovery, and the updates after it.
    let times = try await database.pool.read { try Int.fetchAll($0, sql: "SELECT time FROM log ORDER BY sequence") }
    #expect(times == [1000, 33, 34])
    guard case .reset(let home) = try database.samples(after: before) else {
      return #expect(Bool(false), "a gap without a reset")
    }
    #expect(home.state.values[5]?[.init(1, 6, 0)] == [0x05, 34, 0])
    #expect(home.contacts[5] == Contact(last: 34))
  }

  /// The queue overflows during a write attempt, which then succeeds or fails.
  @Test(arguments: [false, true]) func dropsUpdatesLostDuringWriteAttempt(succeeds: Bool) async throws {
    let worker = HeldWorker()
    let fixture = try await WriterFixture(mostWaiting: 20, worker: worker)
    try fixture.pragma("query_only = 1")
    fixture.add(1...3)
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't"] })
    worker.hold()
    // The second attempt is in progress: retries follow each other after 50 ms or more.
    #expect(await eventually { worker.isHolding })
    fixture.add(4...40)
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't", "lost"] })
    if succeeds { try fixture.pragma("query_only = 0") }
    worker.release()
    if !succeeds {
      #expect(await eventually { !worker.isHolding })
      try fixture.pragma("query_only = 0")
    }
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't", "lost", "recovered"] })
    try await fixture.close()
    let times = try await fixture.scratch.open().pool.read {
      try Int.fetchAll($0, sql: "SELECT time FROM log ORDER BY sequence")
    }
    #expect(times == [1000])
  }

  /// The current trials are stored with the home, and earlier ones are removed.
  @Test func restartStoresTrials() throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
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
    try database.restart(with: home, at: 8)
    let stored = try database.load()
    #expect(stored.trials == trials)
    // A process that loads the home continues the trials.
    let reducer = HomeReducer(stored.state, grace: .seconds(60), trials: stored.trials, at: 9)
    #expect(reducer.debouncer.trials.keys.sorted() == ["5"])
  }

  // MARK: The controller

  private static let peer = StoreChange("peer/5", [5], isDurable: true)
  private static let session = StoreChange("resumption/5", [7])

  @Test func storesUpdateWithDurableChanges() async throws {
    let fixture = try await WriterFixture()
    fixture.add(1...3)
    try await fixture.commit([Self.peer], with: 4)
    // Stored before the call returned, after the updates that waited.
    #expect(try fixture.stored == [1, 2, 3, 4])
    #expect(try fixture.scratch.open().controllerState() == ["peer/5": [5]])
    fixture.add(5...5)
    try await fixture.close()
    #expect(try fixture.stored == [1, 2, 3, 4, 5])
  }

  /// The worker has begun a write when the event loop stores a durable change.
  @Test func keepsOrderAcrossThreads() async throws {
    let worker = HeldWorker()
    let fixture = try await WriterFixture(worker: worker)
    worker.hold()
    fixture.add(1...3)
    try await fixture.commit([Self.session], with: nil)
    #expect(await eventually { worker.isHolding })
    try await fixture.commit([StoreChange(Self.session.key, nil), Self.peer], with: 4)
    worker.release()
    fixture.add(5...5)
    try await fixture.close()
    #expect(try fixture.stored == [1, 2, 3, 4, 5])
    #expect(try fixture.scratch.open().controllerState() == ["peer/5": [5]])
  }

  @Test func storesOtherChangesOfControllerSoon() async throws {
    let fixture = try await WriterFixture()
    try await fixture.commit([Self.session], with: nil)
    #expect(await eventually { (try? fixture.database.controllerState()) == ["resumption/5": [7]] })
    try await fixture.commit([StoreChange(Self.session.key, nil)], with: nil)
    try await fixture.close()
    #expect(try fixture.scratch.open().controllerState().isEmpty)
  }

  /// A durable change is stored without the updates that wait, because no order is required between them.
  @Test func durableChangeDoesNotWaitForUpdates() async throws {
    let worker = HeldWorker()
    let fixture = try await WriterFixture(worker: worker)
    worker.hold()
    fixture.add(1...3)
    #expect(await eventually { worker.isHolding })
    try await fixture.commit([Self.peer], with: nil)
    #expect(try fixture.database.controllerState() == ["peer/5": [5]])
    #expect(try fixture.stored.isEmpty)
    worker.release()
    try await fixture.close()
    #expect(try fixture.stored == [1, 2, 3])
  }

  @Test func fullDiskStoresNeitherUpdateNorChanges() async throws {
    let fixture = try await WriterFixture()
    let pages = try await fixture.database.pool.read { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0
    try fixture.pragma("max_page_count = \(pages)")
    let large = StoreChange("peer/5", [UInt8](repeating: 5, count: 100_000), isDurable: true)
    do {
      try await fixture.commit([large], with: 4)
      Issue.record("the disk is not full")
    } catch let error as StoreError {
      #expect(error.description == "\(fixture.scratch.path) can't be written: the disk is full")
    }
    #expect(try fixture.stored.isEmpty)
    #expect(try fixture.database.controllerState().isEmpty)
    // Updates that wait are kept, and the one of the failed transaction is not.
    fixture.add(1...2)
    await #expect(throws: StoreError.self) { try await fixture.commit([large], with: 4) }
    try fixture.pragma("max_page_count = 100000")
    fixture.add(5...5)
    try await fixture.close()
    #expect(try fixture.stored == [1, 2, 5])
    #expect(try fixture.scratch.open().controllerState().isEmpty)
  }

  /// The whole home is being stored after a loss when an update is committed: it is stored once more.
  @Test func restartIncludesUpdateOfController() async throws {
    let worker = HeldWorker()
    let fixture = try await WriterFixture(mostWaiting: 20, worker: worker)
    try fixture.pragma("query_only = 1")
    fixture.add(1...10)
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't"] })
    fixture.add(11...30)
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't", "lost"] })
    worker.hold()
    #expect(await eventually { worker.isHolding })
    try fixture.pragma("query_only = 0")
    try await fixture.commit([Self.peer], with: 31)
    worker.release()
    #expect(await eventually { fixture.events.withLock { $0 } == ["failed: can't", "lost", "recovered"] })
    try await fixture.close()
    #expect(try fixture.scratch.open().load().state.values[5]?[.init(1, 6, 0)] == [0x05, 31, 0])
    #expect(try fixture.scratch.open().controllerState() == ["peer/5": [5]])
  }

  // MARK: Reads

  @Test func readsSeeAllPrecedingUpdates() async throws {
    let fixture = try await WriterFixture()
    for round in 0..<20 {
      fixture.add(round * 50..<round * 50 + 50)
      let last = try await fixture.perform { database -> Int? in
        guard case .samples(let samples, _, _) = try database.samples(after: nil) else { return nil }
        return samples.last.map { Int($0.time) }
      }
      #expect(last == round * 50 + 49)
    }
    try await fixture.close()
    #expect(try fixture.stored == Array(0..<1000))
  }
}

/// A worker that can be paused before its next job.
private final class HeldWorker: Worker {
  private let queue = QueueWorker()
  private let state = Mutex((isHeld: false, isHolding: false))
  private let gate = DispatchSemaphore(value: 0)

  func hold() { state.withLock { $0.isHeld = true } }
  /// Whether a job waits or is performed after it was released.
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
      guard isHeld else { return try body() }
      gate.wait()
      defer { state.withLock { $0.isHolding = false } }
      return try body()
    }
  }

  func close(_ done: @escaping @Sendable () -> Void) { queue.close(done) }
}
