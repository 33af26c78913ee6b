import MatterProtocol
import NIOCore
import NIOPosix
import Testing

@testable import Runtime

@Suite("Timers of an event loop") struct LoopTimersTests {
  /// Counts calls. Confined to a loop.
  private final class Calls: @unchecked Sendable {
    var count = 0
    var timers: [LazyTimer] = []
  }

  private static func now(_ loop: any EventLoop) -> Instant {
    Instant(nanoseconds: Int64(clamping: loop.now.uptimeNanoseconds))
  }

  @Test("a thousand timers of one loop fire once each, also if they are postponed") func fireOnce() async throws {
    let (loop, calls) = (MultiThreadedEventLoopGroup.singleton.next(), Calls())
    try await loop.submit {
      for number in 0..<1000 {
        let timer = LazyTimer(on: loop) { calls.count += 1 }
        timer.arm(Self.now(loop) + .milliseconds(number % 7))
        if number.isMultiple(of: 2) { timer.arm(Self.now(loop) + .milliseconds(20)) }
        calls.timers.append(timer)
      }
    }.get()
    #expect(await eventually { (try? await loop.submit { calls.count }.get()) == 1000 })
    // Nothing is left to fire.
    try await Task.sleep(for: .milliseconds(50))
    #expect(try await loop.submit { calls.count }.get() == 1000)
  }

  @Test("a canceled timer does not fire, and can be armed again") func cancels() async throws {
    let (loop, calls) = (MultiThreadedEventLoopGroup.singleton.next(), Calls())
    try await loop.submit {
      let timer = LazyTimer(on: loop) { calls.count += 1 }
      calls.timers = [timer]
      timer.arm(Self.now(loop) + .milliseconds(1))
      timer.cancel()
    }.get()
    try await Task.sleep(for: .milliseconds(30))
    #expect(try await loop.submit { calls.count }.get() == 0)
    try await loop.submit { calls.timers.first?.arm(Self.now(loop)) }.get()
    #expect(await eventually { (try? await loop.submit { calls.count }.get()) == 1 })
  }

  @Test("timers that move back and forth keep few entries") func forgetsStaleEntries() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let count = try await loop.submit {
      let timers = LoopTimers.of(loop)
      let timer = LazyTimer(on: loop) {}
      for number in 0..<10_000 { timer.arm(Self.now(loop) + .seconds(10_000 - number)) }
      defer { timer.cancel() }
      return timers.entryCount
    }.get()
    #expect(count < 1000)
  }
}
