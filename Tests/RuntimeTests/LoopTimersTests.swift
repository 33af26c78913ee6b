import MatterProtocol
import NIOCore
import NIOEmbedded
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
    // A loop without timers of other tests.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let count = try await loop.submit {
      let timers = LoopTimers.of(loop)
      let timer = LazyTimer(on: loop) {}
      for number in 0..<10_000 { timer.arm(Self.now(loop) + .seconds(10_000 - number)) }
      defer { timer.cancel() }
      return timers.entryCount
    }.get()
    #expect(count < 1000)
    try await group.shutdownGracefully()
  }

  @Test("timers with distant deadlines fire together, up to 50 ms late") func groupsDistantTimers() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    try await loop.submit {
      let (timers, begin) = (LoopTimers.of(loop), Self.now(loop) + .seconds(20))
      let distant = (0..<100).map { number in
        let timer = LazyTimer(on: loop) {}
        timer.arm(begin + .microseconds(number * 100))
        return timer
      }
      #expect(Set(distant.map(\.entry)).count <= 2)
      for timer in distant {
        let (entry, deadline) = (try #require(timer.entry), try #require(timer.deadline))
        #expect((Duration.zero..<Duration.milliseconds(50)).contains(entry - deadline))
      }
      let count = timers.entryCount
      for timer in distant { timer.arm(timer.deadline) }
      #expect(timers.entryCount == count)
      let near = LazyTimer(on: loop) {}
      near.arm(Self.now(loop) + .seconds(9))
      #expect(near.entry == near.deadline)
      for timer in distant + [near] { timer.cancel() }
    }.get()
  }

  @Test("in virtual time, timers fire at their deadlines") func isExactInVirtualTime() {
    let loop = EmbeddedEventLoop()
    let timer = LazyTimer(on: loop) {}
    timer.arm(Self.now(loop) + .seconds(20) + .microseconds(1))
    #expect(timer.entry == timer.deadline)
    timer.cancel()
  }
}
