/// A domain name. Two names that differ only in the case of ASCII letters are equal. RFC 1035 § 3.1, RFC 6762 § 16.
public struct DNSName: Hashable, Sendable {
  /// The labels as they go on the wire, each behind its length, without the final empty label.
  let wire: [UInt8]
  /// `wire` with ASCII letters in lower case: what comparing and hashing use. Shares storage with `wire` where it can.
  let key: [UInt8]

  /// Longest name on the wire, in bytes, the final empty label included.
  static let maximumLength = 255

  /// A name from its labels, first to last. Total: a label is cut at 63 bytes, an empty one is left out, and labels that
  /// would make the name longer than 255 bytes are dropped.
  public init(_ labels: [String]) {
    var wire: [UInt8] = []
    for label in labels {
      let bytes = Array(label.utf8.prefix(63))
      guard !bytes.isEmpty, wire.count + bytes.count + 2 <= Self.maximumLength else { continue }
      wire.append(UInt8(bytes.count))
      wire += bytes
    }
    self.init(wire: wire)
  }

  /// A name from text with dots between the labels; there is no way to write a dot inside a label.
  public init(_ text: String) {
    self.init(text.split(separator: ".").map(String.init))
  }

  /// `wire` must be well formed: the reader and the other initializers see to that.
  init(wire: [UInt8]) {
    self.wire = wire
    // Lengths are at most 63 and so never look like letters.
    if wire.contains(where: { $0 >= 0x41 && $0 <= 0x5A }) {
      key = wire.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
    } else {
      key = wire
    }
  }

  /// `label` in front of `parent`.
  init(_ label: String, _ parent: DNSName) {
    let bytes = Array(label.utf8.prefix(63))
    if bytes.isEmpty || bytes.count + 2 + parent.wire.count > Self.maximumLength {
      self = parent
    } else {
      self.init(wire: [UInt8(bytes.count)] + bytes + parent.wire)
    }
  }

  public static func == (left: DNSName, right: DNSName) -> Bool { left.key == right.key }
  public func hash(into hasher: inout Hasher) {
    // All at once: an array hashes each byte by itself.
    key.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  /// The labels, first to last; bytes that are not UTF-8 are replaced.
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
  /// The labels with dots between them, for people: not every name can be read back from this.
  public var description: String { labels.joined(separator: ".") }
}

extension DNSName: Comparable {
  /// An order that is the same in every process, for loops that produce effects.
  public static func < (left: DNSName, right: DNSName) -> Bool { left.key.lexicographicallyPrecedes(right.key) }
}
