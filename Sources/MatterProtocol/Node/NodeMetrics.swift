/// The counters of a node since its start, and its present sessions and subscriptions.
public struct NodeMetrics: Hashable, Sendable {
  /// The number of received and of sent datagrams, retransmissions included.
  public var received: UInt64 = 0, sent: UInt64 = 0
  /// The number of invoked commands.
  public var invokes: UInt64 = 0
  /// The number of secure sessions.
  public var sessions = 0
  /// The number of subscriptions.
  public var subscriptions = 0
  /// The dropped messages by reason.
  public var drops: [String: Int] = [:]

  public init() {}

  /// Creates metrics with the dropped messages only.
  public init(_ counts: DropCounts) {
    for (reason, count) in counts.all { drops[reason.rawValue] = count }
  }

  /// Returns the sums of two nodes.
  public static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.received = left.received.saturatingAdd(right.received)
    sum.sent = left.sent.saturatingAdd(right.sent)
    sum.invokes = left.invokes.saturatingAdd(right.invokes)
    sum.sessions = left.sessions.saturatingAdd(right.sessions)
    sum.subscriptions = left.subscriptions.saturatingAdd(right.subscriptions)
    sum.drops.merge(right.drops) { $0.saturatingAdd($1) }
    return sum
  }
}
