internal import MatterModel
internal import MatterProtocol

/// The operations in progress, including operations that wait for an exchange with their node.
struct OperationTable: Sendable {
  private var operations: [OperationID: Operation] = [:]
  /// Operations that wait for the end of others with the same node, in order.
  private(set) var backlog: [NodeID: [OperationID]] = [:]
  private var lastNumber: UInt64 = 0

  /// Ids in the order of the calls.
  var ids: [OperationID] { operations.keys.sorted() }
  /// The earliest deadline of an operation.
  var nextDeadline: Instant? { operations.values.reduce(nil) { .earlier($0, $1.wakeUp) } }

  subscript(_ id: OperationID) -> Operation? {
    get { operations[id] }
    _modify { yield &operations[id] }
  }

  /// Returns the id of a new operation.
  mutating func makeID() -> OperationID {
    lastNumber += 1
    return OperationID(lastNumber)
  }

  mutating func add(_ task: Operation.Task, _ node: NodeID? = nil, deadline: Instant? = nil) -> OperationID {
    let id = makeID()
    operations[id] = Operation(id: id, task: task, node: node, deadline: deadline)
    return id
  }

  mutating func remove(_ id: OperationID) -> Operation? {
    dequeue(id)
    return operations.removeValue(forKey: id)
  }

  /// Returns the operations with a node, in order.
  func ids(with node: NodeID) -> [OperationID] {
    operations.values.lazy.filter { $0.node == node }.map(\.id).sorted()
  }

  /// Returns the discoveries that match a service, in order.
  func discoveries(of service: MatterService) -> [OperationID] {
    operations.values.lazy.filter {
      if case .discover(let query) = $0.task { query.matches(service) } else { false }
    }.map(\.id).sorted()
  }

  // MARK: Backlog

  /// Adds the operation to the backlog of its node.
  mutating func enqueue(_ id: OperationID) {
    guard let node = operations[id]?.node else { return }
    backlog[node, default: []].append(id)
  }

  /// Removes the operation from the backlog of its node, if it is there.
  mutating func dequeue(_ id: OperationID) {
    if !backlog.isEmpty, let node = operations[id]?.node { dequeue(id, of: node) }
  }

  mutating func dequeue(_ id: OperationID, of node: NodeID) {
    guard let index = backlog[node]?.firstIndex(of: id) else { return }
    backlog[node]?.remove(at: index)
    if backlog[node]?.isEmpty == true { backlog[node] = nil }
  }

  // MARK: Group and access changes

  /// Returns the first change of a node's groups. Changes are serialized because each depends on the lists that the
  /// previous one left.
  func firstGroupChange(of node: NodeID) -> (id: OperationID, change: GroupChange)? {
    groupChanges(of: node).min { $0.id < $1.id }
  }

  /// Whether an earlier change of the node's groups, or of its access entries, is in progress.
  func mustWait(_ id: OperationID) -> Bool {
    switch operations[id]?.task {
    case .changeGroup(let change): groupChanges(of: change.node).contains { $0.id < id }
    case .changeAccess(let change): accessChanges(of: change.node).contains { $0 < id }
    default: false
    }
  }

  func isChanging(_ group: GroupID, of node: NodeID) -> Bool {
    groupChanges(of: node).contains { $0.change.group == group }
  }

  /// Whether the access entries of a node are being changed.
  func isChangingAccess(of node: NodeID) -> Bool { accessChanges(of: node).contains { _ in true } }

  /// Returns the first change of a node's access entries. Changes are serialized because a later one may have later
  /// versions of the tags.
  func firstAccessChange(of node: NodeID) -> OperationID? { accessChanges(of: node).min() }

  private func accessChanges(of node: NodeID) -> some Sequence<OperationID> {
    operations.values.lazy.compactMap {
      if case .changeAccess(let change) = $0.task, change.node == node { $0.id } else { nil }
    }
  }

  private func groupChanges(of node: NodeID) -> some Sequence<(id: OperationID, change: GroupChange)> {
    operations.values.lazy.compactMap {
      if case .changeGroup(let change) = $0.task, change.node == node { ($0.id, change) } else { nil }
    }
  }
}
