internal import MatterModel
internal import MatterProtocol

// No more exchanges at a time than a node's window of message counters bears. Matter Core § 4.10.5.2.
extension ControllerEngine {
  /// Exchanges of ours over one session at a time. With more, a message that gets lost could be behind the node's window when
  /// it is sent again, and be acknowledged as a repetition that nobody answers; and small nodes have room for few.
  static let maximumExchanges = 5

  func mayBegin(on session: SessionID) -> Bool {
    transactions.count < Self.maximumExchanges
      || transactions.keys.count { $0.session == session } < Self.maximumExchanges
  }

  /// Makes the operation wait until another one with the node is over.
  mutating func putBack(_ id: OperationID) {
    guard let node = operations[id]?.node else { return }
    backlog[node, default: []].append(id)
  }

  /// Goes on with what waited, in its order.
  /// - Returns: whether there was something that could.
  mutating func runBacklog(at now: Instant) -> Bool {
    var isAny = false
    for node in backlog.keys.sorted() {
      while let id = backlog[node]?.first, peers[node]?.session.map({ mayBegin(on: $0) }) ?? true {
        leaveBacklog(id, of: node)
        run(id, at: now)
        isAny = true
      }
    }
    return isAny
  }

  mutating func leaveBacklog(_ id: OperationID, of node: NodeID) {
    guard let place = backlog[node]?.firstIndex(of: id) else { return }
    backlog[node]?.remove(at: place)
    if backlog[node]?.isEmpty == true { backlog[node] = nil }
  }
}
