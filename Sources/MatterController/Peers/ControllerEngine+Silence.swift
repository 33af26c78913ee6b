public import MatterModel
public import MatterProtocol

// Nodes that do not answer.
extension ControllerEngine {
  /// The longest idle interval of a node whose acknowledgment is expected soon. Other nodes answer when they wake up.
  private static let longestIdleInterval: Duration = .seconds(1)

  /// The nodes that have not acknowledged a message, and the time since which they have sent nothing.
  public var silentNodes: [NodeID: Instant] {
    var result: [NodeID: Instant] = [:]
    for session in core.sessions
    where session.kind == .case && session.parameters.idleInterval <= Self.longestIdleInterval {
      if let since = core.silentSince(session.id) { result[session.peerNodeID] = since }
    }
    return result
  }

  /// The time of the last message of any node; nil if there is no session.
  public var lastContact: Instant? { core.sessions.lazy.filter { $0.kind == .case }.map(\.lastHeard).max() }
}
