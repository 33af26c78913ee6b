import NIOCore
import Testing

@testable import VirtualDevices

/// How often the status file is written.
@Suite("Write throttle") struct WriteThrottleTests {
  /// - Parameters:
  ///   - changes: the times of changes, in milliseconds.
  ///   - cost: the duration of a write, in milliseconds.
  /// - Returns: the times of the writes.
  private func writes(_ changes: [Int64], each cost: Int64, until end: Int64) -> [Int64] {
    let changes = Set(changes)
    var throttle = WriteThrottle()
    var starts: [Int64] = []
    var pauseEnd: Int64?
    func start(_ now: Int64) {
      starts.append(now)
      pauseEnd = now + cost + throttle.pause(after: .milliseconds(cost)).nanoseconds / 1_000_000
    }
    for now in 0...end {
      if pauseEnd == now {
        pauseEnd = nil
        if throttle.pauseEnded() { start(now) }
      }
      if changes.contains(now), throttle.requestWrite() { start(now) }
    }
    return starts
  }

  @Test func writesFirstChangeAtOnceAndCoalescesOthers() {
    #expect(writes([7], each: 2, until: 200) == [7])
    // During the write and the pause after it: one more write.
    #expect(writes([7, 8, 9, 30, 106], each: 2, until: 300) == [7, 107])
    // After the pause: at once again.
    #expect(writes([7, 108, 220], each: 2, until: 400) == [7, 108, 220])
  }

  @Test func writesAtMostAFiftiethOfTheTime() {
    let starts = writes(Array(0..<10_000), each: 10, until: 20_000)
    #expect(starts.count == 21 && starts.first == 0)
    // The last change is written.
    #expect(starts.last == 10_000)
  }
}
