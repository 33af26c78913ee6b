public import MatterProtocol

/// What happened in a run, in its order. Two runs were the same if their digests are.
public struct Trace: Sendable {
  /// One thing that happened.
  public struct Entry: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Sendable {
      case sent, lost, received, stored, published, withdrawn, browsing, stoppedBrowsing, found, disappeared, event
      case joined, left, powerOn, powerOff, note
    }

    public var at: Instant
    public var host: HostID?
    public var kind: Kind
    /// The number of the packet, for datagrams.
    public var packet: Int?
    public var bytes: [UInt8]
    public var text: String

    /// One line: time in milliseconds, host, what, packet, size.
    public var description: String {
      let microseconds = at.nanoseconds / 1000
      let fraction = String(microseconds % 1000 + 1000).dropFirst()
      let host = host.map { "\($0)" } ?? "-"
      let packet = packet.map { " #\($0)" } ?? ""
      let size = bytes.isEmpty ? "" : " \(bytes.count) B"
      return "\(microseconds / 1000).\(fraction) \(host) \(kind)\(packet)\(size)\(text.isEmpty ? "" : " " + text)"
    }
  }

  /// The entries, unless only the digest is wanted.
  public private(set) var entries: [Entry] = []
  public var keepsEntries = true
  public private(set) var count = 0
  /// FNV-1a over every entry with all its bytes: stable across processes, machines and versions of Swift.
  public private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325

  public init() {}

  mutating func add(
    _ kind: Entry.Kind, _ host: HostID?, at now: Instant, packet: Int? = nil, bytes: [UInt8] = [], _ text: String = ""
  ) {
    count += 1
    mix(UInt64(bitPattern: now.nanoseconds))
    mix(UInt64(bitPattern: Int64(host?.rawValue ?? -1)))
    mix(UInt64(bitPattern: Int64(packet ?? -1)))
    mix(kind.rawValue.utf8)
    mix(bytes)
    mix(text.utf8)
    guard keepsEntries else { return }
    entries.append(Entry(at: now, host: host, kind: kind, packet: packet, bytes: bytes, text: text))
  }

  private mutating func mix(_ bytes: some Collection<UInt8>) {
    // The length first, so that no two sequences of fields look alike.
    mix(UInt64(bytes.count))
    for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  private mutating func mix(_ number: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      digest = (digest ^ (number >> shift & 0xFF)) &* 0x100_0000_01B3
    }
  }
}
