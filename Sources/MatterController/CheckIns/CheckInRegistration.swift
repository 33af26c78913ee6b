internal import MatterModel
internal import MatterProtocol
internal import MatterTLV

/// The registration of the controller at a node with a long idle time, whose Check-In messages it receives. Matter Core
/// § 9.16.7.1.
struct CheckInRegistration: Hashable, Sendable {
  let node: NodeID
  /// The key of the Check-In messages.
  let key: [UInt8]
  /// The counter of the node at the registration.
  let start: UInt32
  /// The difference between the counter of the latest message and ``start``.
  private(set) var offset: UInt32 = 0

  /// The difference from which the key must be replaced: half of the counters were used.
  private static let refreshOffset = UInt32(1) << 31

  init(_ node: NodeID, key: [UInt8], start: UInt32) { (self.node, self.key, self.start) = (node, key, start) }

  /// Whether the key must be replaced, because a counter must not be used twice with it.
  var needsNewKey: Bool { offset >= Self.refreshOffset }

  /// Records a message.
  /// - Returns: false if it is older than the latest one, or the same.
  mutating func accept(_ message: CheckInMessage) -> Bool {
    let new = message.counter &- start
    guard new > offset else { return false }
    offset = new
    return true
  }

  /// Whether a message has the counter of the latest one.
  func isLatest(_ message: CheckInMessage) -> Bool { message.counter &- start == offset }

  // MARK: Storage

  static let prefix = "checkin/"
  static func key(_ node: NodeID) -> String { prefix + PeerRecord.digits(node) }

  /// The change that stores the registration.
  /// - Parameter isNew: whether its key must survive a loss of power; a lost offset only accepts a message again.
  func stored(isNew: Bool) -> StoreChange {
    var writer = TLVWriter()
    writer.structure {
      $0.write(node.rawValue, .context(0))
      $0.write(octets: key, .context(1))
      $0.write(UInt64(start), .context(2))
      $0.write(UInt64(offset), .context(3))
    }
    return StoreChange(Self.key(node), writer.bytes, isDurable: isNew)
  }

  /// Returns nil if the bytes are not a valid encoding.
  init?(tlv: [UInt8]) {
    guard let element = try? TLVElement(decoding: tlv), case .octets(let key)? = element[1]?.value,
      key.count == CheckInMessage.keyByteCount
    else { return nil }
    func number(_ tag: UInt8) -> UInt64? {
      if case .unsigned(let value)? = element[tag]?.value { value } else { nil }
    }
    guard let node = number(0), let start = number(2).flatMap({ UInt32(exactly: $0) }) else { return nil }
    self.init(NodeID(node), key: key, start: start)
    offset = number(3).flatMap { UInt32(exactly: $0) } ?? 0
  }

  /// Returns the registrations in a controller's store.
  static func registrations(in state: StoredState) -> [NodeID: CheckInRegistration] {
    let all = state.lazy.filter { $0.key.hasPrefix(prefix) }.compactMap { CheckInRegistration(tlv: $0.value) }
    return Dictionary(all.map { ($0.node, $0) }) { $1 }
  }
}

/// The timing of a node that supports a long idle time. Matter Core § 9.16.6.
package struct LongIdleTiming: Hashable, Sendable {
  /// The maximum time in idle mode.
  var idleDuration: Duration
  /// The time for which the node stays active after a message.
  var activeThreshold: Duration

  init(idleDuration: Duration, activeThreshold: Duration) {
    self.idleDuration = idleDuration
    self.activeThreshold = activeThreshold
  }

  /// The time by which messages of both directions may be late.
  private static let margin = Duration.milliseconds(500)
  /// The time by which a node may be late after idle mode, with the retransmissions of its messages.
  private static let grace = Duration.seconds(60)

  /// The time after a message of the node in which it certainly receives a request.
  var reachableTime: Duration { max(.zero, activeThreshold - Self.margin) }
  /// The time after the last message in which the node must be active again.
  var longestSilence: Duration { idleDuration + activeThreshold + Self.grace }
}
