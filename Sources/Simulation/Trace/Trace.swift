public import MatterProtocol

/// The events of a run, in order. Two runs were the same if their digests are equal.
public struct Trace: Sendable {
  /// One event.
  public struct Entry: Hashable, Sendable, CustomStringConvertible {
    /// An event of a datagram, a store, a service, a multicast address, the power or a timer.
    public enum Kind: String, Sendable {
      case sent, lost, received, stored, published, withdrawn, browsing, stoppedBrowsing, found, disappeared, event
      case joined, left, powerOn, powerOff, note, timer
      /// The number of random draws so far and their digest, after each step with draws. Not in ``Trace/count``.
      case draws
    }

    /// The virtual time.
    public var at: Instant
    public var host: HostID?
    public var kind: Kind
    /// The number of the packet, for datagrams.
    public var packet: Int?
    /// The datagram or the stored value; empty for most kinds.
    public var bytes: [UInt8]
    /// Additional text.
    public var text: String

    /// One line: time in milliseconds, host, kind, packet, size.
    public var description: String {
      let microseconds = at.nanoseconds / 1000
      let fraction = String(microseconds % 1000 + 1000).dropFirst()
      let host = host.map { "\($0)" } ?? "-"
      let packet = packet.map { " #\($0)" } ?? ""
      let size = bytes.isEmpty ? "" : " \(bytes.count) B"
      return "\(microseconds / 1000).\(fraction) \(host) \(kind)\(packet)\(size)\(text.isEmpty ? "" : " " + text)"
    }
  }

  /// The entries, unless ``keepsEntries`` is false.
  public private(set) var entries: [Entry] = []
  /// Whether entries are kept, which takes memory; the digest does not need them.
  public var keepsEntries = true
  /// The number of entries, including those not kept.
  public private(set) var count = 0
  /// A digest of every entry with all its bytes and of every random draw, stable across processes, machines and Swift
  /// versions.
  public private(set) var digest: UInt64 = 0xCBF2_9CE4_8422_2325
  /// The number of random draws.
  private(set) var drawCount: UInt64 = 0

  package init() {}

  mutating func add(
    _ kind: Entry.Kind, _ host: HostID?, at now: Instant, packet: Int? = nil, bytes: [UInt8] = [], _ text: String = ""
  ) {
    begin(kind, host, at: now)
    if let packet { mix(UInt64(packet)) }
    mix(bytes)
    var text = text
    text.withUTF8 { mix(UnsafeRawBufferPointer($0)) }
    guard keepsEntries else { return }
    entries.append(Entry(at: now, host: host, kind: kind, packet: packet, bytes: bytes, text: text))
  }

  /// Adds a datagram event.
  /// - Parameters:
  ///   - address: the destination or the source.
  ///   - loss: the reason if it is lost.
  mutating func add(
    _ kind: Entry.Kind, _ host: HostID, at now: Instant, packet: Int, bytes: [UInt8], _ address: SocketAddress?,
    _ loss: LossReason? = nil
  ) {
    begin(kind, host, at: now)
    mix(UInt64(packet))
    // The bytes of a received datagram were mixed in when it was sent.
    if kind != .received { mix(bytes) }
    switch address?.ip {
    case .v4(let value)?: mix(UInt64(value))
    case .v6(let high, let low, let scope)?:
      mix(high)
      mix(low)
      mix(UInt64(scope))
    case nil: break
    }
    mix(UInt64(address?.port ?? 0) << 8 | UInt64(loss?.number ?? 0))
    guard keepsEntries else { return }
    let parts = [address.map { "\($0)" }, loss?.rawValue].compactMap(\.self)
    entries.append(
      Entry(at: now, host: host, kind: kind, packet: packet, bytes: bytes, text: parts.joined(separator: " ")))
  }

  /// Adds the random draws since the last call.
  mutating func add(draws count: UInt64, _ tally: UInt64, at now: Instant) {
    guard count != drawCount else { return }
    drawCount = count
    mix(count)
    mix(tally)
    guard keepsEntries else { return }
    let text = "\(count) \(String(tally, radix: 16))"
    entries.append(Entry(at: now, host: nil, kind: .draws, packet: nil, bytes: [], text: text))
  }

  private mutating func begin(_ kind: Entry.Kind, _ host: HostID?, at now: Instant) {
    count += 1
    mix(UInt64(bitPattern: now.nanoseconds))
    mix(UInt64(bitPattern: Int64(host?.rawValue ?? -1)) << 8 | UInt64(kind.number))
  }

  private mutating func mix(_ bytes: [UInt8]) { bytes.withUnsafeBytes { mix($0) } }

  /// Mixes the length first, so that different sequences of fields differ, then eight bytes at a time, least
  /// significant first.
  private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
    mix(UInt64(bytes.count))
    var offset = 0
    while offset + 8 <= bytes.count {
      mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      offset += 8
    }
    guard offset < bytes.count else { return }
    var last: UInt64 = 0
    for index in offset..<bytes.count { last = last << 8 | UInt64(bytes[index]) }
    mix(last)
  }

  private mutating func mix(_ word: UInt64) { digest = Self.mixed(digest, word) }

  /// One round of a multiplicative hash: a step of FNV on words, with the high half folded back.
  static func mixed(_ digest: UInt64, _ word: UInt64) -> UInt64 {
    let product = (digest ^ word) &* 0x9E37_79B9_7F4A_7C15
    return product ^ product >> 29
  }
}

extension Trace.Entry.Kind {
  /// The code in a digest; never to be changed.
  fileprivate var number: UInt8 {
    switch self {
    case .sent: 1
    case .lost: 2
    case .received: 3
    case .stored: 4
    case .published: 5
    case .withdrawn: 6
    case .browsing: 7
    case .stoppedBrowsing: 8
    case .found: 9
    case .disappeared: 10
    case .event: 11
    case .joined: 12
    case .left: 13
    case .powerOn: 14
    case .powerOff: 15
    case .note: 16
    case .timer: 17
    case .draws: 18
    }
  }
}

extension LossReason {
  fileprivate var number: UInt8 {
    switch self {
    case .link: 1
    case .picked: 2
    case .partition: 3
    case .tooLong: 4
    case .noSuchAddress: 5
    case .powerOff: 6
    case .multicast: 7
    }
  }
}
