import Foundation
import HearthHome
import MatterClusters
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization

/// The times to deliver one change to 100 observers: until it is in all of their queues, and until all have received
/// it.
struct FanOut {
  static let observers = 100

  var handed = Measured(isEach: true)
  var received = Measured(isEach: true)

  /// Measures observers of one device type of one device.
  static func home(_ home: Home, _ count: Int) async throws -> FanOut {
    let node = NodeID(500)
    let controller = try home.controller
    guard let device = await controller.device("\(node.rawValue)") else { throw BenchError("no device 500") }
    let arrivals = Arrivals()
    let handles = (0..<observers).map { _ in
      device.types.subscribe(DimmableLightDeviceType.self).sink { light in
        keep(light.matterTraits.levelControlTrait?.attributes.currentLevel)
        arrivals.arrive()
      }
    }
    _ = await arrivals.all(observers)
    var result = FanOut()
    for round in 0..<count {
      let change = StoredDevices.change(node, level: UInt8(round % 100))
      let (start, end) = try await controller.eventLoop.submit {
        controller.assumeIsolated { controller in
          let start = HostClock.now()
          controller.process(change)
          return (start, HostClock.now())
        }
      }.get()
      result.add(start, end, await arrivals.all(observers))
    }
    for handle in handles { handle.cancel() }
    return result
  }

  /// Measures bare streams, as a baseline.
  static func streams(_ count: Int) async -> FanOut {
    let arrivals = Arrivals()
    let streams = (0..<observers).map { _ in AsyncStream.makeStream(of: Int.self) }
    let tasks = streams.map { stream, _ in
      Task { for await value in stream { if value >= 0 { arrivals.arrive() } } }
    }
    var result = FanOut()
    for round in 0..<count {
      let start = HostClock.now()
      for (_, continuation) in streams { continuation.yield(round) }
      let end = HostClock.now()
      result.add(start, end, await arrivals.all(observers))
    }
    for (_, continuation) in streams { continuation.finish() }
    for task in tasks { await task.value }
    return result
  }

  /// Measures bare closures, as a baseline.
  static func closures(_ batches: Int) -> Measured {
    let sum = Mutex(0)
    let closures: [@Sendable (Int) -> Void] = (0..<observers).map { number in
      { value in sum.withLock { $0 &+= value &+ number } }
    }
    return measureBatches(batches, of: 100) { for closure in closures { closure(1) } }
  }

  private mutating func add(_ start: Instant, _ handed: Instant, _ received: Instant) {
    self.handed.times.append(Double((handed - start).nanoseconds))
    self.received.times.append(Double((received - start).nanoseconds))
  }
}

/// Counts arrivals, and notes when the last of a round arrived.
private final class Arrivals: Sendable {
  private struct Round {
    var count = 0
    var last = Instant.zero
    var wanted: (count: Int, waiter: CheckedContinuation<Instant, Never>)?
  }

  private let round = Mutex(Round())

  func arrive() {
    let now = HostClock.now()
    let waiter = round.withLock { round -> CheckedContinuation<Instant, Never>? in
      round.count += 1
      round.last = now
      guard let wanted = round.wanted, wanted.count <= round.count else { return nil }
      round.wanted = nil
      round.count -= wanted.count
      return wanted.waiter
    }
    waiter?.resume(returning: now)
  }

  /// Waits until `count` values have arrived, and begins a new round.
  func all(_ count: Int) async -> Instant {
    await withCheckedContinuation { continuation in
      let last = round.withLock { round -> Instant? in
        guard round.count >= count else {
          round.wanted = (count, continuation)
          return nil
        }
        round.count -= count
        return round.last
      }
      if let last { continuation.resume(returning: last) }
    }
  }
}

/// Runs an asynchronous body and waits for its result.
func waitFor<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
  let result = Mutex<Result<R, any Error>?>(nil)
  let done = DispatchSemaphore(value: 0)
  Task {
    let value: Result<R, any Error>
    do { value = .success(try await body()) } catch { value = .failure(error) }
    result.withLock { $0 = value }
    done.signal()
  }
  done.wait()
  guard let result = result.withLock({ $0 }) else { throw BenchError("no result") }
  return try result.get()
}
