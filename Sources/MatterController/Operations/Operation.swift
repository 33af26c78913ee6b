internal import MatterModel
internal import MatterProtocol

/// A request to a node over one exchange.
enum NodeRequest: Sendable {
  case read(ReadRequest)
  /// The messages are sent one after the other.
  case write(WriteRequestChunks, timed: Duration?)
  case invoke([CommandData], timed: Duration?)
  case subscribe(SubscribeRequest)

  var timed: Duration? {
    switch self {
    case .read, .subscribe: nil
    case .write(_, let timed), .invoke(_, let timed): timed
    }
  }

  /// Whether repeating the request is safe.
  var isIdempotent: Bool {
    switch self {
    case .read, .subscribe: true
    case .write, .invoke: false
    }
  }
}

/// An operation in progress.
struct Operation: Sendable {
  enum Task: Sendable {
    case request(NodeRequest)
    case connect
    case subscribe
    case remove(isForced: Bool, index: FabricIndex?)
    case openWindow(CommissioningWindow, CommandData)
    case commission
    case discover(DiscoveryQuery)
    case changeGroup(GroupChange)
  }

  let id: OperationID
  var task: Task
  /// The node of the fabric, if the operation has one.
  var node: NodeID?
  var deadline: Instant?
  /// Whether it was repeated because its first session was dead.
  var wasRepeated = false
  var busyRetries = 0
  /// Time of the next retry after a busy answer.
  var retryAt: Instant?

  var wakeUp: Instant? { .earlier(deadline, retryAt) }
  func isDue(at now: Instant) -> Bool { wakeUp.map { $0 <= now } ?? false }
}

/// An exchange that the controller initiated, with the answer so far.
struct Transaction: Sendable {
  enum Phase: Sendable {
    /// Waits for the answer to the timed request.
    case timed
    case main
    /// The first reports of the subscription have been received.
    case primed
  }

  let operation: OperationID
  let request: NodeRequest
  let exchange: ExchangeID
  var phase = Phase.main
  let sentAt: Instant
  /// Whether the session was established before the operation needed one.
  let isOnOldSession: Bool
  var report: ReassembledReport?
  var statuses: [AttributeStatus] = []
  /// Number of messages of a write, or of commands of an invoke, that were sent.
  var sent = 0
  /// Results of the current batch of commands.
  var batch: [CommandResult] = []
  var results: [CommandResult] = []
}

enum Reply: Sendable {
  case report(ReassembledReport)
  case written([AttributeStatus])
  case invoked([CommandResult])
  case subscribed(SubscribeResponse)
}
