import Dispatch
import Foundation
import MatterModel
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Home

/// A slow observer never stalls another, even one that blocks its thread.
@Suite("Handlers of queries", .timeLimit(.minutes(10))) struct HandlerTests {
  private let loop = MultiThreadedEventLoopGroup.singleton.next()

  private func change(_ number: Int) -> HomeUpdate {
    HomeUpdate([.attribute(5, .init(1, 6, 0), value: [0x05, UInt8(number)])], at: Int64(number))
  }

  @Test func oneThatBlocksStallsNobody() async throws {
    let place = try TestDatabase()
    let database = try place.open()
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker())
    try await center.start()
    let gate = DispatchSemaphore(value: 0)
    let stuck = Mutex(0), inside = Mutex(0)
    let rings = Mutex(0)
    // More of them than there are processors.
    for _ in 0..<8 {
      try await center.execute(
        ObserverQuery(.all) { _, complete, _ in
          stuck.withLock { $0 += 1 }
          inside.withLock { $0 += 1 }
          // Not for ever, or a fault would hang here.
          _ = gate.wait(timeout: .now() + 600)
          inside.withLock { $0 -= 1 }
          complete()
        })
    }
    try await center.execute(
      ObserverQuery(.all) { _, complete, _ in
        rings.withLock { $0 += 1 }
        complete()
      })
    #expect(await eventually { inside.withLock { $0 } == 8 && rings.withLock { $0 } == 1 })
    for number in 2...4 {
      try database.commit([change(number)])
      #expect(await eventually { rings.withLock { $0 } == number })
    }
    // The loop that the home lives on is free.
    #expect(try await loop.submit { true }.get())
    #expect(stuck.withLock { $0 } == 8 && inside.withLock { $0 } == 8)
    for _ in 0..<100 { gate.signal() }
    #expect(await eventually { stuck.withLock { $0 } >= 16 })
    await center.stop()
  }

  @Test func devicesReportWhileOneBlocks() async throws {
    let open = try await OpenHome(.lamp(5))
    try await open.home.follow()
    let gate = DispatchSemaphore(value: 0)
    let inside = Mutex(0)
    let rings = Mutex(0)
    let wasCalled = Mutex(false)
    let stuck = ObserverQuery(.all) { _, complete, _ in
      let isFirst = wasCalled.withLock { called in
        defer { called = true }
        return !called
      }
      guard isFirst else { return complete() }
      inside.withLock { $0 += 1 }
      // Not for ever, or a fault would hang here.
      _ = gate.wait(timeout: .now() + 30)
      inside.withLock { $0 -= 1 }
      complete()
    }
    try await open.home.execute(stuck)
    #expect(await eventually { inside.withLock { $0 } == 1 })
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
    #expect(inside.withLock { $0 } == 1)
    await open.home.stop(stuck)
    gate.signal()
    await open.home.close()
  }

  @Test func callsComeOneAtATimeAndNoneBehindTheStop() async throws {
    let place = try TestDatabase()
    let database = try place.open()
    let limits = DeliverySchedule.Limits(timeout: .milliseconds(20), firstRetry: .milliseconds(5))
    let center = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: limits)
    try await center.start()
    let inside = Mutex(0)
    let calls = Mutex<[Bool]>([])
    try await center.execute(
      ObserverQuery(.all) { _, _, error in
        let others = inside.withLock { number in
          defer { number += 1 }
          return number
        }
        if others > 0 { Issue.record("two calls at a time") }
        // Longer than it has, so that it is called again and given up meanwhile.
        Thread.sleep(forTimeInterval: 0.1)
        inside.withLock { $0 -= 1 }
        calls.withLock { $0.append(error != nil) }
      })
    #expect(await eventually { calls.withLock { $0 } == [false, false, false, true] })

    await center.stop()

    var patient = limits
    patient.strikes = 1000
    let other = ObserverCenter(database, after: try database.anchor(), on: loop, QueueWorker(), limits: patient)
    try await other.start()
    let gate = DispatchSemaphore(value: 0)
    let later = Mutex(0)
    let query = ObserverQuery(.all) { _, _, _ in
      later.withLock { $0 += 1 }
      _ = gate.wait(timeout: .now() + 600)
    }
    try await other.execute(query)
    #expect(await eventually { later.withLock { $0 } == 1 })
    // The next call waits behind the first by now.
    try await Task.sleep(for: .milliseconds(60))
    await other.stop(query)
    for _ in 0..<100 { gate.signal() }
    try await Task.sleep(for: .milliseconds(50))
    #expect(later.withLock { $0 } == 1)
    await other.stop()
  }
}
