public import MatterModel
public import MatterProtocol

/// What reaches the home from outside.
public enum HomeInput: Sendable {
  /// A node of our fabric: new, or known from an earlier start. A new one becomes a device when it has told what it is. What was
  /// asked for when it was paired is for that device.
  case node(NodeID, wish: PairingWish? = nil)
  /// A node is not in our fabric any more.
  case nodeRemoved(NodeID)
  /// Nothing is known of how the nodes are: the process that follows them has just begun.
  case started
  /// A node reported, or answered a read.
  case report(NodeReport)
  /// A node keeps us informed from now on; the next report is due at `deadline` at the latest.
  case established(NodeID, deadline: Int64)
  /// A node was heard; the next report is due at `deadline` at the latest, if any is.
  case heard(NodeID, deadline: Int64?)
  /// A node answered a request of somebody who does not follow it.
  case answered(NodeID)
  /// A node can't be reached any more, and why.
  case lost(NodeID, OfflineReason)
  /// What somebody else did to the home: a command's changes, or another process's.
  case update(HomeUpdate)
  /// What is told of a home that others keep.
  case route(RouteInput)
}

/// All that a node had to say at one time.
public struct NodeReport: Sendable {
  public var node: NodeID
  /// In the order of the report.
  public var attributes: [AttributeData]
  /// In the order of their numbers.
  public var events: [EventData]
  /// Whether it comes of a subscription to everything, so that nothing is missing but what did not change.
  public var isWhole: Bool
  /// When the next one is due at the latest, in microseconds since 1970.
  public var deadline: Int64?
  /// Whether it comes of a subscription that stands: the node is there, whatever it said before.
  public var isOfEstablished = false

  public init(_ node: NodeID, _ attributes: [AttributeData], events: [EventData] = [], isWhole: Bool) {
    self.node = node
    self.attributes = attributes
    self.events = events
    self.isWhole = isWhole
  }
}
