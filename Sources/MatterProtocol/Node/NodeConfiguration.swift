public import MatterModel

/// The limits of a node, and the parameters that it declares in handshakes.
public struct NodeConfiguration: Hashable, Sendable {
  /// The maximum number of secured sessions; the least recently used one is evicted.
  public var maximumSessions = 64
  /// The maximum number of unsecured sessions, the contexts of handshakes.
  public var maximumUnsecuredSessions = 40
  /// The maximum number of open exchanges that peers initiated.
  public var maximumInboundExchanges = 128
  /// The maximum number of handshake starts per second from one address, at most 65,535.
  public var maximumStartsPerSecond = 32
  /// The maximum number of concurrent inbound CASE handshakes.
  public var maximumInboundHandshakes = 8
  /// The number of additional CASE handshakes for peers that prove an earlier session with their first message.
  public var maximumInboundResumptions = 4
  /// The maximum number of concurrent inbound PASE handshakes. More than one, so that peers that abandon their
  /// handshake don't block others; each failed handshake counts as an attempt nevertheless.
  public var maximumInboundPASEHandshakes = 16
  /// The maximum number of stored resumption records.
  public var maximumResumptionRecords = 64
  public var parameters = SessionParameters.own
  /// Replaced decisions, for tests and fault injection.
  package var hooks = NodeHooks()

  public init() {}
}

extension NodeConfiguration: DefaultValued {
  /// The usual configuration.
  public static let defaultValue = NodeConfiguration()
}

/// Decisions of a node that a test or a simulated fault replaces.
package struct NodeHooks: Hashable, Sendable {
  package var maximumTransmissions = Retransmission.maximumTransmissions
  /// Whether the eviction of sessions respects the shares of the fabrics.
  package var hasFairShares = true
  /// Whether peers can resume earlier sessions; otherwise they need a full CASE handshake.
  package var acceptsResumption = true
  /// The wait that new handshakes are answered with instead of being admitted; nil to admit them.
  package var busyWait: Duration?

  package init() {}
}
