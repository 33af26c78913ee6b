import Dispatch
import Foundation
import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import MatterModel
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// A slow observer never stalls another, even one that blocks its thread.
@Suite("Query handlers", .timeLimit(.minutes(10))) struct HandlerTests {
  private let loop = MultiThreadedEventLoopGroup.singleton.next()

  private func change(_ number: Int) -> HomeUpdate {
    HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x05, UInt8(number)])], at: Int64(number))
  }

  @Test func blockedHandlerDelaysNoOtherQuery() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let center = ObserverCenter(database, on: loop, QueueWorker())
    try await center.start()
    let gate = DispatchSemaphore(value: 0)
    let stuck = Mutex(0), running = Mutex(0)
    let rings = Mutex(0)
    // More queries than processors.
    for _ in 0..<8 {
      await center.execute(
        ObserverQuery(.all) { _, complete, _ in
          stuck.withLock { $0 += 1 }
          running.withLock { $0 += 1 }
          // Limited, so that a failure does not hang the test.
          _ = gate.wait(timeout: .now() + 600)
          running.withLock { $0 -= 1 }
          complete()
        })
    }
    await center.execute(
      ObserverQuery(.all) { _, complete, _ in
        rings.withLock { $0 += 1 }
        complete()
      })
    #expect(await eventually { running.withLock { $0 } == 8 && rings.withLock { $0 } == 1 })
    for number in 2...4 {
      try await center.commit(change(number), to: database)
      #expect(await eventually { rings.withLock { $0 } == number })
    }
    // The event loop of the home is not blocked.
    #expect(try await loop.submit { true }.get())
    #expect(stuck.withLock { $0 } == 8 && running.withLock { $0 } == 8)
    for _ in 0..<100 { gate.signal() }
    #expect(await eventually { stuck.withLock { $0 } >= 16 })
    await center.stop()
  }

  @Test func processesReportsWhileHandlerBlocks() async throws {
    let open = try await OpenHome(.lamp(5))
    try await open.home.follow()
    let gate = DispatchSemaphore(value: 0)
    let running = Mutex(0)
    let rings = Mutex(0)
    let wasCalled = Mutex(false)
    let stuck = ObserverQuery(.all) { _, complete, _ in
      let isFirst = wasCalled.withLock { called in
        defer { called = true }
        return !called
      }
      guard isFirst else { return complete() }
      running.withLock { $0 += 1 }
      // Limited, so that a failure does not hang the test.
      _ = gate.wait(timeout: .now() + 600)
      running.withLock { $0 -= 1 }
      complete()
    }
    await open.home.execute(stuck)
    #expect(await eventually { running.withLock { $0 } == 1 })
    await open.home.execute(
      ObserverQuery(.attribute) { _, complete, _ in
        rings.withLock { $0 += 1 }
        complete()
      })
    #expect(await eventually { rings.withLock { $0 } >= 1 })
    let path = ConcreteAttributePath(1, 6, 0)
    for isOn in [false, true, false] {
      let before = rings.withLock { $0 }
      await open.process(NodeModel.report(5, path, [isOn ? 0x09 : 0x08]))
      #expect(await open.home.state.value(5, path) == [isOn ? 0x09 : 0x08])
      #expect(await eventually { rings.withLock { $0 } > before })
    }
    _ = try await open.home.anchor()
    #expect(running.withLock { $0 } == 1)
    await open.home.stop(stuck)
    gate.signal()
    await open.home.close()
  }

  @Test func callsHandlerSeriallyAndNotAfterStop() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let center = ObserverCenter(database, on: loop, QueueWorker())
    try await center.start()
    let running = Mutex(0), calls = Mutex(0)
    let gate = DispatchSemaphore(value: 0)
    var query: ObserverQuery? = ObserverQuery(.all) { _, complete, _ in
      let others = running.withLock { number in
        defer { number += 1 }
        return number
      }
      if others > 0 { Issue.record("two calls at a time") }
      calls.withLock { $0 += 1 }
      // The next call may begin, but waits for the return.
      complete()
      // Limited, so that a failure does not hang the test.
      _ = gate.wait(timeout: .now() + 600)
      running.withLock { $0 -= 1 }
    }
    weak let stopped = query
    await center.execute(try #require(query))
    #expect(await eventually { calls.withLock { $0 } == 1 })
    try await center.commit(change(2), to: database)
    gate.signal()
    #expect(await eventually { calls.withLock { $0 } == 2 })
    // The third call is queued behind the second one when the query is stopped.
    try await center.commit(change(3), to: database)
    #expect(await eventually { (try? await loop.submit { true }.get()) == true })
    await center.stop(try #require(query))
    query = nil
    for _ in 0..<100 { gate.signal() }
    // All queued calls retain the query.
    #expect(await eventually { stopped == nil })
    #expect(calls.withLock { $0 } == 2)
    await center.stop()
  }

  /// The completion is needed for background deliveries only.
  @Test(arguments: [false, true]) func callsQueryThatNeverCompletes(_ retainsCompletions: Bool) async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let timeout: Duration = retainsCompletions ? .milliseconds(30) : .seconds(3600)
    let center = ObserverCenter(
      database, on: loop, QueueWorker(),
      limits: .init(timeout: timeout, firstRetry: .seconds(3600)))
    try await center.start()
    let calls = Mutex<[ObserverCompletion?]>([])
    await center.execute(
      ObserverQuery(.all) { _, completion, _ in
        calls.withLock { $0.append(retainsCompletions ? completion : nil) }
      })
    for number in 1...5 {
      #expect(await eventually { calls.withLock { $0.count } == number })
      try await center.commit(change(number), to: database)
    }
    await center.stop()
  }

  @Test func completionDelaysNextCall() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let center = ObserverCenter(
      database, on: loop, QueueWorker(),
      limits: .init(timeout: .seconds(3600), firstRetry: .milliseconds(10)))
    try await center.start()
    let completions = Mutex<[ObserverCompletion]>([])
    let query = ObserverQuery(.all) { _, completion, _ in completions.withLock { $0.append(completion) } }
    await center.execute(query)
    #expect(await eventually { completions.withLock { $0.count } == 1 })
    for number in 1...3 { try await center.commit(change(number), to: database) }
    #expect(await center.isIdle(query) == false && completions.withLock { $0.count } == 1)
    // One call for all changes, and one for the failure.
    completions.withLock { $0[0] }()
    #expect(await eventually { completions.withLock { $0.count } == 2 })
    completions.withLock { $0[1] }(false)
    #expect(await eventually { completions.withLock { $0.count } == 3 })
    completions.withLock { $0[2] }()
    #expect(await eventually { await center.isIdle(query) == true })
    #expect(completions.withLock { $0.count } == 3)
    await center.stop()
  }

  @Test func handlerReceivesErrorOfSecondExecution() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let center = ObserverCenter(database, on: loop, QueueWorker())
    try await center.start()
    let codes = Mutex<[HomeError.Code?]>([])
    let query = ObserverQuery(.all) { _, _, error in codes.withLock { $0.append(error?.code) } }
    await center.execute(query)
    #expect(await eventually { codes.withLock { $0 } == [nil] })
    await center.execute(query)
    #expect(await eventually { codes.withLock { $0 } == [nil, .badArguments] })
    await center.stop()
  }

  @Test func handlerReceivesErrorOfUnfollowedHome() async throws {
    let open = try await OpenHome(.lamp(5))
    let codes = Mutex<[HomeError.Code?]>([])
    await open.home.execute(ObserverQuery(.all) { _, _, error in codes.withLock { $0.append(error?.code) } })
    #expect(await eventually { codes.withLock { $0 } == [.badArguments] })
    await open.home.close()
  }
}
