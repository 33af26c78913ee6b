public import MatterClusters
import MatterModel
import MatterProtocol

/// Behaviour of Identify: a countdown in seconds, told to whoever drives the device. Application Clusters § 1.2.
public enum IdentifyServer {
  private static let tick = "second"

  /// - Parameter type: what the device does to show which one it is.
  public static func make(_ type: Identify.IdentifyType) -> ClusterServer {
    ClusterServer(Identify.self)
      .initial(Identify.identifyType, type)
      .on(Identify.identify) { context, request throws(StatusError) in
        context[Identify.identifyTime] = request.identifyTime
        // The same time again is no change, but begins anew.
        begin(at: context.now, &context)
      }
      .on(Identify.triggerEffect) { context, request throws(StatusError) in
        guard request.effectIdentifier.isKnown else { throw StatusError(.constraintError) }
        context.report(.note("identify effect \(request.effectIdentifier) on endpoint \(context.endpoint)"))
      }
      .onChange(Identify.identifyTime) { context in
        if context[scratch: Counting.self] == nil { begin(at: context.now, &context) }
      }
      .onTimer(tick) { context in count(&context) }
  }

  private struct Running: Sendable {
    var nextSecond: Instant
  }
  /// Set while the countdown itself changes the time.
  private struct Counting: Sendable {}

  /// Counts down from the time that is set, and tells if the device begins or stops to identify itself.
  private static func begin(at now: Instant, _ context: inout ServerContext) {
    let wasIdentifying = context[scratch: Running.self] != nil
    let isIdentifying = context[Identify.identifyTime] > 0
    if isIdentifying {
      context[scratch: Running.self] = Running(nextSecond: now + .seconds(1))
      context.schedule(tick, at: now + .seconds(1))
    } else {
      context[scratch: Running.self] = nil
      context.cancel(tick)
    }
    if isIdentifying != wasIdentifying {
      context.report(.identify(context.endpoint, isIdentifying: isIdentifying))
    }
  }

  private static func count(_ context: inout ServerContext) {
    let rest = context[Identify.identifyTime]
    guard rest > 0, let running = context[scratch: Running.self] else { return }
    context[scratch: Counting.self] = Counting()
    // Quieter reporting (§ 1.2.5.1): subscribers hear of the start and of the end, not of the seconds between.
    context.set(Identify.identifyTime, rest - 1, reporting: rest == 1 ? .now : .quiet)
    context[scratch: Counting.self] = nil
    // From the due time: late timers must not add up.
    begin(at: running.nextSecond, &context)
  }
}
