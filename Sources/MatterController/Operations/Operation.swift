internal import MatterModel
internal import MatterProtocol

/// What an operation wants of a node over one exchange.
enum NodeRequest: Sendable {
  case read(ReadRequest)
  /// The messages go out one after the other.
  case write(WriteRequestChunks, timed: Duration?)
  case invoke([CommandData], timed: Duration?)
  case subscribe(SubscribeRequest)

  var timed: Duration? {
    switch self {
    case .read, .subscribe: nil
    case .write(_, let timed), .invoke(_, let timed): timed
    }
  }

  /// Whether it does no harm to make it twice.
  var isIdempotent: Bool {
    switch self {
    case .read, .subscribe: true
    case .write, .invoke: false
    }
  }
}

/// A command of the controller's user, until it is completed.
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
  /// Nil for what is not about a node of the fabric.
  var node: NodeID?
  /// When it fails at the latest.
  var deadline: Instant?
  /// Whether it was made a second time because the first session was dead.
  var wasRepeated = false
  var busyRetries = 0
  /// When to try again because the peer was busy.
  var retryAt: Instant?

  var wakeUp: Instant? { .earlier(deadline, retryAt) }
  func isDue(at now: Instant) -> Bool { wakeUp.map { $0 <= now } ?? false }
}

/// One exchange that we began, and what is known of the answer.
struct Transaction: Sendable {
  enum Phase: Sendable {
    /// PendingWork for the answer to the timed request.
    case timed
    case main
    /// The subscription's first reports are in.
    case primed
  }

  let operation: OperationID
  let request: NodeRequest
  let exchange: ExchangeID
  var phase = Phase.main
  let sentAt: Instant
  /// Whether the session was there before the operation needed one.
  let isOnOldSession: Bool
  var report: ReassembledReport?
  var statuses: [AttributeStatus] = []
  /// Messages of a write, or commands of an invoke, that went out.
  var sent = 0
  /// Answers in this batch of commands.
  var batch: [CommandResult] = []
  var results: [CommandResult] = []
}

/// What came back.
enum Reply: Sendable {
  case report(ReassembledReport)
  case written([AttributeStatus])
  case invoked([CommandResult])
  case subscribed(SubscribeResponse)
}
