internal import MatterProtocol

/// The exchanges that the controller initiated, within the message counter window of each node. Matter Core
/// § 4.10.5.2.
struct TransactionTable: Sendable {
  private(set) var transactions: [ExchangeID: Transaction] = [:]
  /// Sessions to close when the last exchange on them ends.
  private(set) var retiring: Set<SessionID> = []

  /// Maximum number of concurrent exchanges per session. With more, a retransmission could fall behind the node's
  /// counter window and be acknowledged as a duplicate without an answer; and small nodes support few exchanges.
  static let maximumPerSession = 5

  mutating func add(_ transaction: consuming Transaction) { transactions[transaction.exchange] = transaction }

  mutating func remove(_ exchange: ExchangeID) -> Transaction? { transactions.removeValue(forKey: exchange) }

  /// Removes the exchanges of an operation.
  /// - Returns: the exchanges to close, in order.
  mutating func removeAll(of operation: OperationID) -> [ExchangeID] {
    guard transactions.values.contains(where: { $0.operation == operation }) else { return [] }
    let exchanges = transactions.values.lazy.filter { $0.operation == operation }.map(\.exchange).sorted()
    for exchange in exchanges { transactions[exchange] = nil }
    return exchanges
  }

  /// Removes and returns the exchanges on a session, in order.
  mutating func removeAll(on session: SessionID) -> [Transaction] {
    transactions.keys.filter { $0.session == session }.sorted().compactMap { transactions.removeValue(forKey: $0) }
  }

  // MARK: Sessions

  func isUsed(_ session: SessionID) -> Bool { transactions.keys.contains { $0.session == session } }

  /// Whether another exchange may be opened on the session.
  func hasCapacity(on session: SessionID) -> Bool {
    transactions.count < Self.maximumPerSession
      || transactions.keys.count { $0.session == session } < Self.maximumPerSession
  }

  /// Marks a session to be closed when the last exchange on it ends: a request whose session closes may or may not
  /// have been carried out.
  /// - Returns: whether the session has no exchanges and is to be closed at once.
  mutating func retire(_ session: SessionID) -> Bool {
    guard isUsed(session) else { return true }
    retiring.insert(session)
    return false
  }

  /// Keeps a session that was to be closed.
  mutating func keep(_ session: SessionID) { retiring.remove(session) }

  /// Returns the retired sessions without exchanges, in order. They are no longer marked.
  mutating func takeRetired() -> [SessionID] {
    let done = retiring.filter { !isUsed($0) }
    retiring.subtract(done)
    return done.sorted()
  }
}
