package import MatterProtocol

/// An input of the home reducer.
package enum HomeInput: Sendable {
  /// A node was commissioned: it becomes a device with the requested name and room. The report is its description.
  case commissioned(NodeReport, DevicePlacement)
  /// A node was removed from this home's fabric.
  case nodeRemoved(NodeID)
  /// The nodes are followed from now on: their connectivity is unknown.
  case started
  /// A node reported, or answered a read.
  case report(NodeReport)
  /// A subscription to a node was established; the next report is due by `deadline`.
  case established(NodeID, deadline: Int64)
  /// A message of a node was received; the next report is due by `deadline`, if any.
  case heard(NodeID, deadline: Int64?)
  /// A node with a long idle time is most likely asleep; it must be active again by `deadline`.
  case asleep(NodeID, deadline: Int64)
  /// A node answered a request of a process that does not follow it.
  case answered(NodeID)
  /// A node became unreachable, with the reason.
  case lost(NodeID, OfflineReason)
  /// An edit of the home, which is stored already.
  case update(HomeUpdate)
  /// An input of a client that uses the home through routes.
  case route(RouteInput)

  /// The node of the input; nil if it has none.
  package var node: NodeID? {
    switch self {
    case .commissioned(let report, _), .report(let report): report.node
    case .nodeRemoved(let node), .established(let node, _), .heard(let node, _), .asleep(let node, _),
      .answered(let node), .lost(let node, _):
      node
    case .started, .update, .route: nil
    }
  }
}

/// The contents of one report of a node.
package struct NodeReport: Sendable {
  package var node: NodeID
  /// The attributes, in the order of the report.
  package var attributes: [AttributeData]
  /// The events, in the order of their numbers.
  package var events: [EventData]
  /// Whether the report is of a subscription to everything, so that it lacks only unchanged values.
  package var isWhole: Bool
  /// The latest time of the next report, in microseconds since 1970.
  package var deadline: Int64?
  /// Whether the report is of an established subscription, so that the node is reachable regardless of earlier
  /// announcements.
  package var isOfEstablished = false

  package init(_ node: NodeID, _ attributes: [AttributeData], events: [EventData] = [], isWhole: Bool) {
    self.node = node
    self.attributes = attributes
    self.events = events
    self.isWhole = isWhole
  }

  /// Creates the report of a node from the messages of a subscription or a read; statuses are left out.
  package init(_ node: NodeID, _ report: ReassembledReport, isWhole: Bool) {
    let events = report.events.compactMap { if case .data(let data) = $0 { data } else { nil } }
    self.init(node, report.attributes, events: events, isWhole: isWhole)
  }

  /// Whether it has neither attributes nor events.
  package var isEmpty: Bool { attributes.isEmpty && events.isEmpty }
}
