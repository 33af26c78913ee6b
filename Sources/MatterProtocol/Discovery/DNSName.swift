/// A domain name. Comparison ignores the case of ASCII letters. RFC 1035 § 3.1, RFC 6762 § 16.
public struct DNSName: Hashable, Sendable {
  /// The encoded labels, each preceded by its length, without the final empty label.
  let wire: [UInt8]
  /// `wire` with ASCII letters in lower case, for comparing and hashing. Shares storage with `wire` if they are equal.
  let key: [UInt8]

  /// The maximum encoded length in bytes, including the final empty label.
  static let maximumLength = 255

  /// Creates a name from labels. Never fails: labels are truncated to 63 bytes, and empty labels and labels beyond the
  /// limit of 255 bytes are dropped.
  init(_ labels: [String]) {
    var wire: [UInt8] = []
    for label in labels {
      let bytes = Array(label.utf8.prefix(63))
      guard !bytes.isEmpty, wire.count + bytes.count + 2 <= Self.maximumLength else { continue }
      wire.append(UInt8(bytes.count))
      wire += bytes
    }
    self.init(wire: wire)
  }

  /// Creates a name from text with dots between the labels. A label can't contain a dot.
  init(_ text: String) {
    self.init(text.split(separator: ".").map(String.init))
  }

  /// Creates a name from its encoding, which must be well formed.
  init(wire: [UInt8]) {
    self.wire = wire
    // Length bytes are at most 63, so they are never mistaken for letters.
    if wire.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) {
      key = wire.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
    } else {
      key = wire
    }
  }

  /// Creates a name by prepending a label to `parent`.
  init(_ label: String, _ parent: DNSName) {
    let bytes = Array(label.utf8.prefix(63))
    if bytes.isEmpty || bytes.count + 2 + parent.wire.count > Self.maximumLength {
      self = parent
    } else {
      var wire: [UInt8] = []
      wire.reserveCapacity(1 + bytes.count + parent.wire.count)
      wire.append(UInt8(bytes.count))
      wire += bytes
      wire += parent.wire
      self.init(wire: wire)
    }
  }

  public static func == (left: DNSName, right: DNSName) -> Bool { left.key == right.key }
  public func hash(into hasher: inout Hasher) {
    // Hashes all bytes at once; the array's own implementation hashes each byte.
    key.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  /// The labels in order, with invalid UTF-8 replaced.
  public var labels: [String] {
    var labels: [String] = []
    var position = 0
    while position < wire.count {
      let end = min(position + 1 + Int(wire[position]), wire.count)
      labels.append(String(decoding: wire[(position + 1)..<end], as: UTF8.self))
      position = end
    }
    return labels
  }

  /// The name without its first label.
  var parent: DNSName {
    guard let first = wire.first else { return self }
    return DNSName(wire: Array(wire.dropFirst(1 + Int(first))))
  }
}

extension DNSName: CustomStringConvertible {
  /// The labels joined with dots, for display: not every name can be parsed back.
  public var description: String { labels.joined(separator: ".") }
}

extension DNSName: Comparable {
  /// A deterministic order, for loops that produce effects.
  public static func < (left: DNSName, right: DNSName) -> Bool { left.key.lexicographicallyPrecedes(right.key) }
}
