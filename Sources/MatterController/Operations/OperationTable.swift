internal import MatterModel
internal import MatterProtocol

/// The operations in progress, including operations that wait for an exchange with their node.
///
/// Each change of an operation updates the index by node and the deadlines.
struct OperationTable: Sendable {
  private var operations: [OperationID: Operation] = [:]
  private var idsByNode = SortedGroups<NodeID, OperationID>()
  private var discoveries: Set<OperationID> = []
  private var deadlines = Deadlines<OperationID>()
  /// Operations that wait for the end of others with the same node, in order.
  private(set) var backlog: [NodeID: [OperationID]] = [:]
  private var lastNumber: UInt64 = 0

  /// The earliest deadline of an operation.
  var nextDeadline: Instant? { deadlines.first }

  subscript(_ id: OperationID) -> Operation? {
    get { operations[id] }
    _modify {
      let node = operations[id]?.node
      defer {
        idsByNode.move(id, from: node, to: operations[id]?.node)
        deadlines[id] = operations[id]?.wakeUp
      }
      yield &operations[id]
    }
  }

  /// Returns the operations whose deadlines have passed, in the order of the calls.
  func due(at now: Instant) -> [OperationID] { deadlines.due(at: now) }

  /// Returns the id of a new operation.
  mutating func makeID() -> OperationID {
    lastNumber += 1
    return OperationID(lastNumber)
  }

  mutating func add(_ task: Operation.Task, _ node: NodeID? = nil, deadline: Instant? = nil) -> OperationID {
    let id = makeID()
    operations[id] = Operation(id: id, task: task, node: node, deadline: deadline)
    idsByNode.move(id, from: nil, to: node)
    deadlines[id] = deadline
    if case .discover = task { discoveries.insert(id) }
    return id
  }

  mutating func remove(_ id: OperationID) -> Operation? {
    dequeue(id)
    guard let operation = operations.removeValue(forKey: id) else { return nil }
    idsByNode.move(id, from: operation.node, to: nil)
    deadlines[id] = nil
    if case .discover = operation.task { discoveries.remove(id) }
    return operation
  }

  /// Returns the operations with a node, in order.
  func ids(with node: NodeID) -> [OperationID] { idsByNode[node] }

  /// Returns the discoveries that match a service, in order.
  func discoveries(of service: MatterService) -> [OperationID] {
    discoveries.filter {
      if case .discover(let query)? = operations[$0]?.task { query.matches(service) } else { false }
    }.sorted()
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
    // By position, since a change through the key allocates.
    guard let position = backlog.index(forKey: node), let index = backlog.values[position].firstIndex(of: id) else {
      return
    }
    backlog.values[position].remove(at: index)
    if backlog.values[position].isEmpty { backlog.remove(at: position) }
  }

  // MARK: Group and access changes

  /// Returns the first change of a node's groups. Changes are serialized because each depends on the lists that the
  /// previous one left.
  func firstGroupChange(of node: NodeID) -> (id: OperationID, change: GroupChange)? {
    groupChanges(of: node).first { _ in true }
  }

  /// Whether an earlier change of the node's groups, or of its access entries, is in progress.
  func mustWait(_ operation: Operation) -> Bool {
    switch operation.task {
    case .changeGroup(let change): groupChanges(of: change.node).contains { $0.id < operation.id }
    case .changeAccess(let change): accessChanges(of: change.node).contains { $0 < operation.id }
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
  func firstAccessChange(of node: NodeID) -> OperationID? { accessChanges(of: node).first { _ in true } }

  /// Returns the changes of a node's access entries, in order.
  private func accessChanges(of node: NodeID) -> some Sequence<OperationID> {
    idsByNode[node].lazy.filter { if case .changeAccess? = operations[$0]?.task { true } else { false } }
  }

  /// Returns the changes of a node's groups, in order.
  private func groupChanges(of node: NodeID) -> some Sequence<(id: OperationID, change: GroupChange)> {
    idsByNode[node].lazy.compactMap {
      if case .changeGroup(let change)? = operations[$0]?.task { ($0, change) } else { nil }
    }
  }
}
