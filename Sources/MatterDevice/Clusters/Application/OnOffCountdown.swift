import MatterClusters
import MatterModel
import MatterProtocol

/// Counts OnTime and OffWaitTime down in tenths of a second. Application Clusters § 1.5.7.6.
///
/// OnTime counts while the light is on, OffWaitTime while it is off. OnWithTimedOff or turning the light off starts the
/// countdown; writing one of the attributes does not.
enum OnOffCountdown {
  private static let interval: Duration = .milliseconds(100)
  /// The value of an unlimited time. If either attribute has this value, neither is counted down.
  private static let forever: UInt16 = 0xFFFF

  private struct Running: Sendable {
    var next: Instant
  }

  /// Starts the countdown unless it runs or has nothing to count.
  static func start(_ context: inout ServerContext) {
    guard context[scratch: Running.self] == nil, counts(&context) else { return }
    schedule(at: context.now + interval, &context)
  }

  /// Ends the countdown if it has nothing left to count.
  static func stopIfFinished(_ context: inout ServerContext) {
    guard context[scratch: Running.self] != nil, !counts(&context) else { return }
    context[scratch: Running.self] = nil
    context.cancel(.tick)
  }

  static func advance(_ context: inout ServerContext) {
    guard let running = context[scratch: Running.self] else { return }
    context[scratch: Running.self] = nil
    guard counts(&context) else { return }
    let late = max(0, (context.now - running.next).nanoseconds / interval.nanoseconds)
    let steps = UInt16(clamping: late.saturatingAdd(1))
    if !context[OnOff.onOff] {
      context[OnOff.offWaitTime] -= min(steps, context[OnOff.offWaitTime])
    } else if context[OnOff.onTime] > steps {
      context[OnOff.onTime] -= steps
    } else {
      context[OnOff.offWaitTime] = 0
      OnOffServer.turnOff(&context)
    }
    // Relative to the due time, so that late timers do not prolong the countdown.
    guard context[scratch: Running.self] == nil, counts(&context) else { return }
    schedule(at: running.next + .nanoseconds(late * interval.nanoseconds) + interval, &context)
  }

  private static func counts(_ context: inout ServerContext) -> Bool {
    let (onTime, offWaitTime) = (context[OnOff.onTime], context[OnOff.offWaitTime])
    guard onTime != forever, offWaitTime != forever else { return false }
    return (context[OnOff.onOff] ? onTime : offWaitTime) > 0
  }

  private static func schedule(at next: Instant, _ context: inout ServerContext) {
    context[scratch: Running.self] = Running(next: next)
    context.schedule(.tick, at: next)
  }
}
