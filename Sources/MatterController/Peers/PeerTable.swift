internal import MatterModel
internal import MatterProtocol

/// The nodes of a controller.
///
/// The peers are stored in an array, so that a property of one can be read or changed in place for each request: a
/// dictionary would copy the peer, or allocate.
struct PeerTable: Sendable {
  private var positions: [NodeID: Int] = [:]
  /// In no particular order; nil at the positions of removed peers, which `free` lists.
  private var row: [Peer?] = []
  private var free: [Int] = []

  /// Returns or changes a peer; nil removes it.
  subscript(node: NodeID) -> Peer? {
    get { positions[node].flatMap { row[$0] } }
    _modify {
      let position = positions[node] ?? free.popLast() ?? row.count
      if position == row.count { row.append(nil) }
      defer { positions[node] = row[position] == nil ? nil : position }
      defer { if row[position] == nil { free.append(position) } }
      yield &row[position]
    }
  }

  var ids: some Collection<NodeID> { positions.keys }
  var all: some Sequence<Peer> { row.lazy.compactMap { $0 } }

  // MARK: Properties that each request needs

  /// Whether the node is in the store.
  func isStored(_ node: NodeID) -> Bool { positions[node].map { row[$0]?.isStored == true } ?? false }

  /// Returns the session of a node; nil if none is established.
  func session(of node: NodeID) -> SessionID? { positions[node].flatMap { row[$0]?.session } }

  /// Returns the stored address of a node.
  func address(of node: NodeID) -> SocketAddress? { positions[node].flatMap { row[$0]?.record.address } }

  /// Whether a search for a session is in progress that no operation waits for.
  func hasIdleSearch(_ node: NodeID) -> Bool {
    positions[node].map { row[$0]?.connecting != nil && row[$0]?.waiting.isEmpty == true } ?? false
  }

  /// Removes an operation that waits for a session with the node, or until the node is active.
  mutating func removeWaiting(_ operation: OperationID, of node: NodeID) {
    guard let position = positions[node], isWaiting(operation, at: position) else { return }
    row[position]?.waiting.removeAll { $0 == operation }
    row[position]?.held.removeAll { $0 == operation }
  }

  private func isWaiting(_ operation: OperationID, at position: Int) -> Bool {
    row[position]?.waiting.contains(operation) == true || row[position]?.held.contains(operation) == true
  }
}
