import MatterClusters
import MatterModel
import MatterProtocol

/// OnTime and OffWaitTime on their way to zero, a tenth of a second at a time. Application Clusters § 1.5.7.6.
///
/// While the light is on its OnTime counts, while it is off its OffWaitTime. What a client writes into the two is
/// counted down only where a countdown runs already: it starts with OnWithTimedOff, or when the light goes off.
enum OnOffCountdown {
  static let tick = "tenth of a second"
  private static let interval: Duration = .milliseconds(100)
  /// A time that does not pass. One of the two is enough to hold both.
  private static let forever: UInt16 = 0xFFFF

  private struct Running: Sendable {
    var next: Instant
  }

  /// Begins to count, if there is something to count.
  static func start(_ context: inout ServerContext) {
    guard context[scratch: Running.self] == nil, counts(&context) else { return }
    schedule(at: context.now + interval, &context)
  }

  /// Ends the countdown if there is nothing to count any more.
  static func review(_ context: inout ServerContext) {
    guard context[scratch: Running.self] != nil, !counts(&context) else { return }
    context[scratch: Running.self] = nil
    context.cancel(tick)
  }

  static func advance(_ context: inout ServerContext) {
    guard let running = context[scratch: Running.self] else { return }
    context[scratch: Running.self] = nil
    guard counts(&context) else { return }
    if !context[OnOff.onOff] {
      context[OnOff.offWaitTime] -= 1
    } else if context[OnOff.onTime] > 1 {
      context[OnOff.onTime] -= 1
    } else {
      context[OnOff.offWaitTime] = 0
      OnOffServer.turnOff(&context)
    }
    // From the due time, not from now: a late timer must not make the light's time longer.
    if context[scratch: Running.self] == nil && counts(&context) { schedule(at: running.next + interval, &context) }
  }

  private static func counts(_ context: inout ServerContext) -> Bool {
    let (onTime, offWaitTime) = (context[OnOff.onTime], context[OnOff.offWaitTime])
    guard onTime != forever, offWaitTime != forever else { return false }
    return (context[OnOff.onOff] ? onTime : offWaitTime) > 0
  }

  private static func schedule(at next: Instant, _ context: inout ServerContext) {
    context[scratch: Running.self] = Running(next: next)
    context.schedule(tick, at: next)
  }
}
