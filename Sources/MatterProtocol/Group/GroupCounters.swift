internal import MatterModel

/// Detects duplicate group messages per sender. The first message of a sender is trusted and starts its reception
/// window. Matter Core § 4.6.5.3, § 4.18.
struct GroupPeerTable: Sendable {
  enum Verdict: Sendable { case new, duplicate, exhausted }

  /// The maximum number of tracked senders per fabric. A sender is never evicted, because its messages could then be
  /// replayed.
  static let maximumPeers = 32

  private struct Peer: Hashable {
    let fabric: FabricIndex
    let node: NodeID
  }
  private var windows: [Peer: ReceptionWindow] = [:]

  /// Records the counter of an authenticated message.
  mutating func accept(_ counter: UInt32, from node: NodeID, fabric: FabricIndex) -> Verdict {
    let peer = Peer(fabric: fabric, node: node)
    guard var window = windows[peer] else {
      guard windows.keys.count(where: { $0.fabric == fabric }) < Self.maximumPeers else { return .exhausted }
      var window = ReceptionWindow(mode: .group)
      _ = window.accept(counter)
      windows[peer] = window
      return .new
    }
    guard window.accept(counter) else { return .duplicate }
    windows[peer] = window
    return .new
  }

  mutating func forget(_ fabric: FabricIndex) { windows = windows.filter { $0.key.fabric != fabric } }
}

/// The counter of outgoing group messages, shared by all groups of all fabrics. It continues across restarts, because
/// receivers would reject lower counters as replays. Matter Core § 4.6.1.2.
struct GroupDataCounter: Sendable {
  /// The number of counters reserved at a time; a restart skips the unused ones.
  static let reserve: UInt32 = 1000

  private var next: UInt32?
  /// The end of the reserved counters.
  private var limit: UInt32

  init(stored: UInt32?) { (next, limit) = (stored, stored ?? 0) }

  /// Returns the counter for the next message.
  /// - Parameter first: The initial counter of a node that has not sent a group message yet.
  /// - Returns: `reserved`, if any, must be stored before the message is sent.
  mutating func next(first: @autoclosure () -> UInt32) -> (counter: UInt32, reserved: UInt32?) {
    let counter: UInt32
    if let next {
      counter = next
    } else {
      counter = first()
      limit = counter
    }
    next = counter &+ 1
    guard counter == limit else { return (counter, nil) }
    limit = counter &+ Self.reserve
    return (counter, limit)
  }
}

/// The stored reservations of group counters.
package enum GroupCounterReservation {
  /// The store keys of a controller and of a device.
  package static let controllerKey = "group-counter", deviceKey = "groups/counter"

  /// Advances the reservations in a state that was recovered without its last changes: an older reservation would repeat
  /// nonces. A reservation that can't be read is removed, so that the counter starts at a random number.
  /// - Parameter lost: the most reservations of each counter that may have been lost.
  package static func advance(_ state: inout StoredState, past lost: Int) {
    // Receivers accept a counter that is ahead by less than 2^31.
    let distance = min(UInt32(clamping: lost), 1 << 20) * GroupDataCounter.reserve
    for key in [controllerKey, deviceKey] {
      state[key] = state[key].flatMap { try? UInt32(tlv: $0) }.map { ($0 &+ distance).tlv }
    }
  }
}
