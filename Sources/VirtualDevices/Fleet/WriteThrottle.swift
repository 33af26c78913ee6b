internal import NIOCore

/// Limits how often a file that takes a while to write is written. The first change is written at once; changes during
/// or soon after a write are coalesced. The caller measures the time.
struct WriteThrottle {
  /// Whether a write or the pause after it is in progress.
  private var isBusy = false
  /// Whether there were changes since.
  private var isStale = false
  /// The pause after a write as a multiple of its duration: at most a fiftieth of the time is spent on writing.
  private static let pauseFactor: Int64 = 49

  /// Reports a change.
  /// - Returns: whether to write now.
  mutating func requestWrite() -> Bool {
    guard isBusy else {
      isBusy = true
      return true
    }
    isStale = true
    return false
  }

  /// Returns the pause after a write of this duration.
  func pause(after time: TimeAmount) -> TimeAmount { time * Self.pauseFactor }

  /// Ends the pause.
  /// - Returns: whether to write again now.
  mutating func pauseEnded() -> Bool {
    isBusy = isStale
    isStale = false
    return isBusy
  }
}
