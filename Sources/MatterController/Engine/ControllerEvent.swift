public import MatterModel
public import MatterProtocol

/// Identifies an operation of a controller, from the call that starts it to its single `completed` event.
public struct OperationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: UInt64
  init(_ rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "op\(rawValue)" }
}

/// A subscription is a long-running operation; renewals keep the handle.
public typealias SubscriptionHandle = OperationID

/// Events of a controller. Large rare ones are indirect, so that the others are small.
public enum ControllerEvent: Sendable {
  /// The operation is over. Emitted once per operation, as its last event.
  case completed(OperationID, Result<OperationOutcome, ControllerError>)
  /// A commissioning step started or finished.
  case commissioningStep(OperationID, CommissioningStep, StepProgress)

  /// The device reports from now on, at least every `maxInterval`. Emitted after the first reports, and after each
  /// renewal.
  case subscriptionEstablished(SubscriptionHandle, maxInterval: Duration)
  /// A whole report of the device, with the statuses of the paths that it can't report. Empty if the device only keeps
  /// the subscription alive. For a commissioning, its description: Basic Information, and Descriptor and Bridged Device
  /// Basic Information of all endpoints.
  case report(SubscriptionHandle, ReassembledReport)
  /// The subscription was lost; the next attempt starts after `retryingIn`.
  case subscriptionLost(SubscriptionHandle, ControllerError, retryingIn: Duration)

  /// The operation commissioned a node. The next effect stores its record, so that a driver can store other changes in
  /// the same transaction.
  case nodeAdded(OperationID, NodeID)
  /// A node was removed from the fabric. The next effect removes its records from the store.
  case nodeRemoved(NodeID)

  /// The subscription to a node waits until the node is active, which happens within this time.
  case sleeping(NodeID, activeWithin: Duration)
  /// A node sent a Check-In message: it is active, and has no subscription of this controller.
  case checkedIn(NodeID)

  /// A session with a node of the fabric was established.
  case sessionOpened(NodeID, SocketAddress)
  /// A session was closed; the node may have others.
  case sessionClosed(NodeID, SessionCloseReason)

  /// Result of ``ControllerEngine/discover(_:timeout:at:)``: a service was found or has changed.
  indirect case serviceFound(OperationID, MatterService)
  /// A service was withdrawn or has expired.
  indirect case serviceLost(OperationID, MatterService)
}

/// Result of a successful operation. Large rare ones are indirect, so that the others are small.
public enum OperationOutcome: Sendable {
  /// The device is commissioned.
  indirect case commissioned(CommissioningResult)
  /// Attributes and events in the device's order, with the statuses of paths that could not be read.
  case report(ReassembledReport)
  /// One status per write, or per part of a write.
  case written([AttributeStatus])
  /// One result per command, in the order of the commands.
  case invoked([CommandResult])
  /// A session with the node is established, at this address.
  case connected(SocketAddress)
  /// The subscription was ended by ``ControllerEngine/unsubscribe(_:at:)``.
  case unsubscribed
  /// The node was removed. Other than ``Removal/confirmed`` only if the removal was forced.
  case removed(NodeID, Removal)
  /// The window, with its passcode and setup code if it has its own.
  indirect case windowOpened(CommissioningWindow)
  /// The group after a change of its members or its keys.
  indirect case groupChanged(GroupRecord)
  /// The node has the access entries of the tags, except those for which its list has no space.
  case accessChanged(NodeID, isFull: Bool)
  /// The controller receives the Check-In messages of the node.
  case registered
  /// The timeout of the discovery passed.
  case discovered
}

/// Progress of a commissioning step.
public enum StepProgress: Hashable, Sendable, Codable {
  case started
  /// The step took this time.
  case finished(Duration)
}
