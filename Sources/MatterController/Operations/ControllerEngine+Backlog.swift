internal import MatterModel
internal import MatterProtocol

// Limits concurrent exchanges to the message counter window of a node. Matter Core § 4.10.5.2.
extension ControllerEngine {
  /// Maximum number of concurrent exchanges per session. With more, a retransmission could fall behind the node's
  /// counter window and be acknowledged as a duplicate without an answer; and small nodes support few exchanges.
  static let maximumExchanges = 5

  func mayOpenExchange(on session: SessionID) -> Bool {
    transactions.count < Self.maximumExchanges
      || transactions.keys.count { $0.session == session } < Self.maximumExchanges
  }

  /// Queues the operation until another one with the node ends.
  mutating func enqueue(_ id: OperationID) {
    guard let node = operations[id]?.node else { return }
    backlog[node, default: []].append(id)
  }

  /// Starts queued operations in order, as far as the limit allows.
  /// - Returns: whether any was started.
  mutating func runBacklog(at now: Instant) -> Bool {
    var isAny = false
    for node in backlog.keys.sorted() {
      while let id = backlog[node]?.first, peers[node]?.session.map({ mayOpenExchange(on: $0) }) ?? true {
        removeFromBacklog(id, of: node)
        run(id, at: now)
        isAny = true
      }
    }
    return isAny
  }

  mutating func removeFromBacklog(_ id: OperationID, of node: NodeID) {
    guard let place = backlog[node]?.firstIndex(of: id) else { return }
    backlog[node]?.remove(at: place)
    if backlog[node]?.isEmpty == true { backlog[node] = nil }
  }
}
