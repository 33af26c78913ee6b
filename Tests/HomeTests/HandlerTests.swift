import Dispatch
import Foundation
import MatterModel
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Home
@testable import HomeAutomation
@testable import HomeControl
@testable import HomeModel

/// A slow observer never stalls another, even one that blocks its thread.
@Suite("Query handlers", .timeLimit(.minutes(10))) struct HandlerTests {
  private let loop = MultiThreadedEventLoopGroup.singleton.next()

  private func change(_ number: Int) -> HomeUpdate {
    HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x05, UInt8(number)])], at: Int64(number))
  }

  @Test func blockedHandlerDelaysNoOtherQuery() async throws {
    let scratch = try TestDatabase()
    let database = try scratch.open()
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker())
    try await center.start()
    let gate = DispatchSemaphore(value: 0)
    let stuck = Mutex(0), running = Mutex(0)
    let rings = Mutex(0)
    // More queries than processors.
    for _ in 0..<8 {
      try await center.execute(
        ObserverQuery(.all) { _, complete, _ in
          stuck.withLock { $0 += 1 }
          running.withLock { $0 += 1 }
          // Limited, so that a failure does not hang the test.
          _ = gate.wait(timeout: .now() + 600)
          running.withLock { $0 -= 1 }
          complete()
        })
    }
    try await center.execute(
      ObserverQuery(.all) { _, complete, _ in
        rings.withLock { $0 += 1 }
        complete()
      })
    #expect(await eventually { running.withLock { $0 } == 8 && rings.withLock { $0 } == 1 })
    for number in 2...4 {
      try database.commit([change(number)])
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
    try await open.home.execute(stuck)
    #expect(await eventually { running.withLock { $0 } == 1 })
    try await open.home.execute(
      ObserverQuery(.attribute) { _, complete, _ in
        rings.withLock { $0 += 1 }
        complete()
      })
    #expect(await eventually { rings.withLock { $0 } >= 1 })
    let path = ConcreteAttributePath(1, 6, 0)
    for isOn in [false, true, false] {
      let before = rings.withLock { $0 }
      await open.take(NodeModel.report(5, path, [isOn ? 0x09 : 0x08]))
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
    let limits = DeliverySchedule.Limits(timeout: .milliseconds(20), firstRetry: .milliseconds(5))
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: limits)
    try await center.start()
    let running = Mutex(0)
    let calls = Mutex<[Bool]>([])
    let first = DispatchSemaphore(value: 0)
    try await center.execute(
      ObserverQuery(.all) { _, _, error in
        let others = running.withLock { number in
          defer { number += 1 }
          return number
        }
        if others > 0 { Issue.record("two calls at a time") }
        // Limited, so that a failure does not hang the test.
        if calls.withLock(\.isEmpty) { _ = first.wait(timeout: .now() + 600) }
        running.withLock { $0 -= 1 }
        calls.withLock { $0.append(error != nil) }
      })
    // The query is retried and stopped during the first call.
    #expect(await eventually { await center.entries.isEmpty })
    first.signal()
    #expect(await eventually { calls.withLock { $0 } == [false, false, false, true] })
    await center.stop()

    var manyStrikes = limits
    manyStrikes.strikes = 1000
    let other = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: manyStrikes)
    try await other.start()
    let gate = DispatchSemaphore(value: 0)
    let later = Mutex(0)
    var query: ObserverQuery? = ObserverQuery(.all) { _, _, _ in
      later.withLock { $0 += 1 }
      _ = gate.wait(timeout: .now() + 600)
    }
    weak let stopped = query
    try await other.execute(try #require(query))
    #expect(await eventually { later.withLock { $0 } == 1 })
    // The next call is queued behind the first one.
    #expect(
      await eventually {
        guard let query, let schedule = await other.schedule(of: query) else { return false }
        return schedule.strikes > 0 && schedule.isRunning
      })
    await other.stop(try #require(query))
    query = nil
    for _ in 0..<1000 { gate.signal() }
    // All queued calls retain the query.
    #expect(await eventually { stopped == nil })
    #expect(later.withLock { $0 } == 1)
    await other.stop()
  }
}
