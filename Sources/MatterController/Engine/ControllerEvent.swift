public import MatterModel
public import MatterProtocol

/// Names an operation of a controller, from the call that began it to its one `completed` event.
public struct OperationID: Hashable, Comparable, Sendable, CustomStringConvertible {
  public let rawValue: UInt64
  init(_ rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  public var description: String { "op\(rawValue)" }
}

/// A subscription is an operation that lasts: the handle stays the same when it is renewed.
public typealias SubscriptionHandle = OperationID

/// What a controller tells whoever drives it.
public enum ControllerEvent: Sendable {
  /// The operation is over. Comes once for each, and nothing comes for it afterwards.
  case completed(OperationID, Result<OperationOutcome, ControllerError>)
  /// A step of commissioning begins, or has ended.
  case commissioningStep(OperationID, CommissioningStep, StepProgress)

  /// The device keeps us informed from now on, at least every `maxInterval`. Comes behind the first reports, and again
  /// when the subscription was renewed.
  case subscriptionEstablished(SubscriptionHandle, maxInterval: Duration)
  /// An attribute's whole value, one element with an anonymous tag.
  case attributeReport(SubscriptionHandle, ConcreteAttributePath, value: [UInt8], dataVersion: UInt32)
  /// A path of the subscription that the device can't report.
  case attributeStatus(SubscriptionHandle, AttributePath, Status)
  /// An event of a subscription, in the order of the numbers.
  case eventReport(SubscriptionHandle, EventData)
  /// All that the device had to report at one time has been told.
  case reportEnd(SubscriptionHandle)
  /// The device does not keep us informed any more; the next attempt begins after `retryingIn`.
  case subscriptionLost(SubscriptionHandle, ControllerError, retryingIn: Duration)

  /// A session with a node of the fabric begins or ends.
  case sessionOpened(NodeID, SocketAddress)
  /// It ended for this reason; the node may have others.
  case sessionClosed(NodeID, SessionCloseReason)

  /// For ``ControllerEngine/discover(_:timeout:at:)``: found, or found to have changed.
  case serviceFound(OperationID, MatterService)
  /// It said goodbye, or was not heard of for as long as it had said.
  case serviceLost(OperationID, MatterService)
}

/// What came of an operation that succeeded.
public enum OperationOutcome: Sendable {
  /// The device is on our fabric now.
  case commissioned(CommissioningResult)
  /// Attributes and events in the device's order, and the statuses of paths that could not be read.
  case report(ReassembledReport)
  /// One for each write, or for each part of it.
  case written([AttributeStatus])
  /// One for each command, in the order of the commands.
  case invoked([CommandResult])
  /// There is a session with the node, which is at this address.
  case connected(SocketAddress)
  /// The subscription was ended by ``ControllerEngine/unsubscribe(_:at:)``.
  case unsubscribed
  /// Whether the device itself was told; false only if removal was forced.
  case removed(NodeID, Removal)
  /// With the codes of the window, if it has codes of its own.
  case windowOpened(CommissioningWindow)
  /// As it is now, with the member or without it.
  case groupChanged(GroupRecord)
  /// The time for discovery is over.
  case discovered
}

/// How far a step has come.
public enum StepProgress: Hashable, Sendable {
  case started
  /// In this time.
  case finished(Duration)
}
