import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import Runtime

@Suite struct ReadinessWatchTests {
  @Test func notifiesOnceWithoutReading() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (reader, writer) = (ends[0], ends[1])
    defer {
      close(reader)
      close(writer)
    }
    let calls = Collector<Int>()
    let watch = try await loop.submit {
      let watch = ReadinessWatch(on: loop) { calls.add(1) }
      watch.watch(reader, for: Int16(POLLIN))
      return NIOLoopBound(watch, eventLoop: loop)
    }.get()
    // Without AIO in the kernel the descriptor is polled, which this test does not cover.
    let isTicking = try await loop.submit { watch.value.isTicking }.get()
    if !isTicking {
      try await turn(loop)
      #expect(calls.all.isEmpty)
    }
    var byte: UInt8 = 7
    #expect(write(writer, &byte, 1) == 1)
    #expect(await calls.wait { !$0.isEmpty })
    if !isTicking {
      try await turn(loop)
      #expect(calls.all.count == 1)
      // Armed again with the byte still unread.
      try await loop.submit { watch.value.arm() }.get()
      #expect(await calls.wait { $0.count == 2 })
      // No notification after `forget`.
      try await loop.submit {
        watch.value.forget(reader)
        watch.value.arm()
      }.get()
      try await turn(loop)
      #expect(calls.all.count == 2)
    }
    var read: UInt8 = 0
    #expect(Glibc.read(reader, &read, 1) == 1 && read == 7)
    try await loop.submit { watch.value.close() }.get()
  }

  /// Lets the loop handle all descriptors that are ready.
  private func turn(_ loop: any EventLoop) async throws {
    for _ in 0..<5 { try await loop.scheduleTask(in: .milliseconds(1)) {}.futureResult.get() }
  }
}
