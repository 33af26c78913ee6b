/// Detects duplicate messages by their counters. Matter Core § 4.6.5.
package struct ReceptionWindow: Hashable, Sendable {
  /// The treatment of counters that wrap and of counters behind the window.
  package enum Mode: Sendable {
    /// Secured unicast: counters never wrap, and a counter behind the window is rejected.
    case secured
    /// Group: counters wrap, and a counter behind the window is rejected.
    case group
    /// Unsecured: a counter behind the window means that the peer restarted, and resets the window.
    case unsecured
  }

  /// The number of counters below the maximum that the window covers.
  static let size: UInt32 = 32

  package let mode: Mode
  /// The largest counter accepted so far; nil before the first message.
  private(set) var maximum: UInt32?
  /// Bit i: `maximum - 1 - i` was accepted.
  private var seen: UInt32 = 0

  init(mode: Mode) { self.mode = mode }

  /// Records a counter.
  /// - Returns: false if the counter was seen before, or lies behind the window.
  package mutating func accept(_ counter: UInt32) -> Bool {
    guard let maximum else {
      self.maximum = counter
      // Lower counters stay acceptable: the messages before this one may arrive out of order.
      return true
    }
    if counter == maximum { return false }
    let ahead = mode == .secured ? (counter > maximum ? counter - maximum : nil) : Self.ahead(counter, of: maximum)
    if let ahead {
      seen = ahead > Self.size ? 0 : ahead == Self.size ? 1 << (Self.size - 1) : (seen << ahead) | (1 << (ahead - 1))
      self.maximum = counter
      return true
    }
    let behind = maximum &- counter
    if behind <= Self.size {
      let bit: UInt32 = 1 << (behind - 1)
      guard seen & bit == 0 else { return false }
      seen |= bit
      return true
    }
    guard mode == .unsecured else { return false }
    self.maximum = counter
    seen = 0
    return true
  }

  /// Returns how far `counter` is ahead of `maximum` in wrapping arithmetic, or nil if it is behind.
  private static func ahead(_ counter: UInt32, of maximum: UInt32) -> UInt32? {
    let distance = counter &- maximum
    return distance < 1 << 31 ? distance : nil
  }
}
