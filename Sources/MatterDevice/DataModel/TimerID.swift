public import MatterModel

/// Identifies a timer among those of one cluster server.
public enum TimerID: Hashable, Sendable {
  /// The next step of a transition or a countdown.
  case tick
  /// The end of a transition to a scene.
  case sceneEnd
  /// A report that was postponed by the Quieter Reporting quality.
  case deferredReport
  /// The delay after which a press of a button is a long press.
  case longPress
  /// The delay after which a sequence of presses is complete.
  case multiPressEnd
  /// The next physical action of a queue.
  case queuedAction
  /// The next change of the local time.
  case localTimeChange
  /// The next record of the hours of operation.
  case operationHours
  /// The end of the time for which a sensor holds its state.
  case holdEnd
  /// SelfTestComplete of a smoke alarm is due.
  case selfTestEnd
  /// The time at which a muted alarm sounds again.
  case muteEnd
  /// The next comparison of the date with the end of service.
  case serviceCheck
  /// The time at which a lock locks again.
  case relock
  /// The next start or end of a holiday of a lock.
  case holiday
  /// The end of a hold of a thermostat's set points.
  case setpointHoldEnd
  /// The next transition of a schedule.
  case scheduleTransition
  /// The timeout of an atomic write that its client neither commits nor rolls back.
  case atomicWriteEnd
  /// The end of the entry of a channel number.
  case numberEntryEnd
  /// The next change of a power that follows the daylight.
  case daylight
  /// The next change of the water that is drawn from a water heater.
  case tap
  /// The next query of a default provider of software.
  case defaultQuery
  /// The next step of a software update.
  case updateStep
  /// The time after which a step of a software update fails.
  case updateTimeout
  /// The next change of an attribute that follows a behavior.
  case behavior(AttributeID)
  /// The next value of an attribute of a manufacturer's cluster that is in a transition.
  case transition(AttributeID)
  /// A timer of a server outside of this library.
  case custom(Int)
}
