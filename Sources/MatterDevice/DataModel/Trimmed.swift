extension [UInt8] {
  /// The same bytes without the spare capacity that is left from encoding, for values that are kept.
  var trimmed: [UInt8] {
    guard capacity - count > 64 else { return self }
    var copy: [UInt8] = []
    copy.reserveCapacity(count)
    copy += self
    return copy
  }
}
