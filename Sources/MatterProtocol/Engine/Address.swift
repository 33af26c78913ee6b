public import MatterModel

/// The version of the internet protocol that an address belongs to.
public enum IPFamily: String, Hashable, CaseIterable, Sendable { case v4 = "IPv4", v6 = "IPv6" }

/// An IPv4 or IPv6 address.
public enum IPAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address in host byte order.
  case v4(UInt32)
  /// The address in host byte order; `scope` is the interface index of a link-local address, otherwise 0.
  case v6(high: UInt64, low: UInt64, scope: UInt32)

  /// 127.0.0.1
  public static let loopback4 = IPAddress.v4(0x7F00_0001)
  /// ::1
  public static let loopback6 = IPAddress.v6(high: 0, low: 1, scope: 0)

  /// Whether this is an IPv6 address. IPv4-mapped addresses count as IPv6.
  public var isIPv6: Bool { if case .v6 = self { true } else { false } }
  public var family: IPFamily { isIPv6 ? .v6 : .v4 }
  /// 127.0.0.0/8, ::1
  public var isLoopback: Bool {
    switch self {
    case .v4(let value): value >> 24 == 127
    case .v6(let high, let low, _): high == 0 && low == 1
    }
  }
  /// fe80::/10
  public var isLinkLocal: Bool {
    switch self {
    case .v4(let value): value >> 16 == 0xA9FE
    case .v6(let high, _, _): high >> 54 == 0xFE80 >> 6
    }
  }

  /// 224.0.0.0/4, ff00::/8
  public var isMulticast: Bool {
    switch self {
    case .v4(let value): value >> 28 == 0xE
    case .v6(let high, _, _): high >> 56 == 0xFF
    }
  }

  /// The bytes in network order, 4 or 16.
  public var bytes: [UInt8] {
    switch self {
    case .v4(let value): (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * $0)) }
    case .v6(let high, let low, _):
      (0..<8).map { UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * $0)) }
        + (0..<8).map { UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * $0)) }
    }
  }

  /// Creates an address from 4 or 16 bytes in network order; nil for any other number of bytes.
  public init?(bytes: some Collection<UInt8>, scope: UInt32 = 0) {
    switch bytes.count {
    case 4: self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
    case 16:
      self = .v6(
        high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
        low: bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) },
        scope: scope)
    default: return nil
    }
  }

  /// Parses dotted decimal, or RFC 4291 text with an optional numeric `%scope`.
  public init?(_ text: String) {
    // The initializers of integers accept a sign.
    guard !text.contains(where: { "+-".contains($0) }) else { return nil }
    if text.contains(":") {
      guard let value = Self.parse6(text) else { return nil }
      self = value
    } else {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
      guard parts.count == 4 else { return nil }
      var value: UInt32 = 0
      for part in parts {
        guard let part else { return nil }
        value = value << 8 | UInt32(part)
      }
      self = .v4(value)
    }
  }

  private static func parse6(_ text: String) -> IPAddress? {
    let halves = text.split(separator: "%", maxSplits: 1)
    var scope: UInt32 = 0
    if halves.count == 2 {
      guard let number = UInt32(halves[1]) else { return nil }
      scope = number
    }
    guard let body = halves.first else { return nil }
    func groups(_ part: Substring) -> [UInt16]? {
      if part.isEmpty { return [] }
      var result: [UInt16] = []
      for group in part.split(separator: ":", omittingEmptySubsequences: false) {
        guard group.count <= 4, let value = UInt16(group, radix: 16) else { return nil }
        result.append(value)
      }
      return result
    }
    var all: [UInt16]
    if let gap = body.firstRange(of: "::") {
      guard let front = groups(body[..<gap.lowerBound]), let back = groups(body[gap.upperBound...]),
        front.count + back.count < 8
      else { return nil }
      all = front + [UInt16](repeating: 0, count: 8 - front.count - back.count) + back
    } else {
      guard let whole = groups(body), whole.count == 8 else { return nil }
      all = whole
    }
    let high = all[..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
    let low = all[4...].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
    return .v6(high: high, low: low, scope: scope)
  }

  public var description: String {
    switch self {
    case .v4: return bytes.map(String.init).joined(separator: ".")
    case .v6(let high, let low, let scope):
      let groups = [high, low].flatMap { half in
        (0..<4).map { UInt16(truncatingIfNeeded: half >> UInt64(48 - 16 * $0)) }
      }
      // The longest run of zeros, at least two, becomes "::" (RFC 5952).
      var best = 0..<0
      var start = 0
      while start < 8 {
        var end = start
        while end < 8 && groups[end] == 0 { end += 1 }
        if end - start > max(best.count, 1) { best = start..<end }
        start = max(end, start + 1)
      }
      func text(_ range: Range<Int>) -> String {
        range.map { String(groups[$0], radix: 16) }.joined(separator: ":")
      }
      let body = best.isEmpty ? text(0..<8) : text(0..<best.lowerBound) + "::" + text(best.upperBound..<8)
      return scope == 0 ? body : "\(body)%\(scope)"
    }
  }
}

/// The source or destination of a datagram.
public struct SocketAddress: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The IP address; a link-local one has its scope set.
  public var ip: IPAddress
  /// The UDP or TCP port; the context determines which.
  public var port: UInt16

  public init(_ ip: IPAddress, port: UInt16) { (self.ip, self.port) = (ip, port) }

  public var description: String { ip.isIPv6 ? "[\(ip)]:\(port)" : "\(ip):\(port)" }
}

// In JSON, addresses are their text.
extension IPAddress: TextCodable {}
