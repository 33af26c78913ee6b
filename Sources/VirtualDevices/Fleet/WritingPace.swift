internal import NIOCore

/// When a file is made anew that takes a while to make. For the first change at once; those that come while it is being made, or
/// soon after it, wait and are one. Has no clock of its own.
struct WritingPace {
  /// It is being made, or was a short while ago.
  private var isBusy = false
  /// Something changed meanwhile.
  private var isStale = false
  /// So much longer than making it took, it is left alone afterwards: a twentieth of the time at most goes into it.
  private static let rest: Int64 = 19

  /// Something is not as the file says.
  /// - Returns: whether it is to be made now.
  mutating func change() -> Bool {
    guard isBusy else {
      isBusy = true
      return true
    }
    isStale = true
    return false
  }

  /// How long the file is left alone that took so long to make.
  func rest(after time: TimeAmount) -> TimeAmount { time * Self.rest }

  /// It was left alone for as long as it was to be.
  /// - Returns: whether it is to be made again now.
  mutating func rested() -> Bool {
    isBusy = isStale
    isStale = false
    return isBusy
  }
}
