import NIOCore
import Testing

@testable import VirtualDevices

/// How often the file is made that says what the devices are like.
@Suite("Pace of the status file") struct WritingPaceTests {
  /// - Parameter changes: when something changes, in milliseconds.
  /// - Returns: when the file is made, if that takes so many milliseconds.
  private func writes(_ changes: [Int64], each cost: Int64, until end: Int64) -> [Int64] {
    var pace = WritingPace()
    var starts: [Int64] = []
    var isRested: Int64?
    func start(_ now: Int64) {
      starts.append(now)
      isRested = now + cost + pace.rest(after: .milliseconds(cost)).nanoseconds / 1_000_000
    }
    for now in 0...end {
      if isRested == now {
        isRested = nil
        if pace.rested() { start(now) }
      }
      for change in changes where change == now && pace.change() { start(now) }
    }
    return starts
  }

  @Test func theFirstChangeIsWrittenAtOnceAndTheOthersTogether() {
    #expect(writes([7], each: 2, until: 200) == [7])
    // While it is being made, and soon after: one more, and no third.
    #expect(writes([7, 8, 9, 30, 46], each: 2, until: 200) == [7, 47])
    // When it was left alone for long enough, at once again.
    #expect(writes([7, 48, 100], each: 2, until: 200) == [7, 48, 100])
  }

  @Test func aHomeThatIsNeverStillTakesATwentiethOfTheTime() {
    let starts = writes(Array(0..<10_000), each: 10, until: 20_000)
    #expect(starts.count == 51 && starts.first == 0)
    // The last change is not forgotten.
    #expect(starts.last == 10_000)
  }
}
