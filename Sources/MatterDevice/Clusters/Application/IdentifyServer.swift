public import MatterClusters
import MatterModel
import MatterProtocol

/// The Identify server: counts IdentifyTime down and emits ``DeviceEvent/identify(_:isIdentifying:)``.
/// Application Clusters § 1.2.
public enum IdentifyServer {

  /// Returns the server.
  /// - Parameter type: How the device identifies itself.
  public static func make(_ type: Identify.IdentifyType) -> ClusterServer {
    ClusterServer.shared(Identify.self, complete).initial(Identify.identifyType, type)
  }

  private static func complete(_ server: ClusterServer) -> ClusterServer {
    server
      .on(Identify.identify) { context, request throws(StatusError) in
        context[Identify.identifyTime] = request.identifyTime
        // Setting the same time again is not a change of the attribute, but restarts the countdown.
        begin(at: context.now, &context)
      }
      .on(Identify.triggerEffect) { context, request throws(StatusError) in
        guard request.effectIdentifier.isKnown else { throw StatusError(.constraintError) }
        context.report(.note("identify effect \(request.effectIdentifier) on endpoint \(context.endpoint)"))
      }
      .onChange(Identify.identifyTime) { context in
        if context[scratch: Counting.self] == nil { begin(at: context.now, &context) }
      }
      .onTimer(.tick) { context in count(&context) }
  }

  private struct Running: Sendable {
    var nextSecond: Instant
  }
  /// Present while the countdown itself changes IdentifyTime.
  private struct Counting: Sendable {}

  /// Starts or stops the countdown, and emits an event if identifying begins or ends.
  private static func begin(at now: Instant, _ context: inout ServerContext) {
    let wasIdentifying = context[scratch: Running.self] != nil
    let isIdentifying = context[Identify.identifyTime] > 0
    if isIdentifying {
      context[scratch: Running.self] = Running(nextSecond: now + .seconds(1))
      context.schedule(.tick, at: now + .seconds(1))
    } else {
      context[scratch: Running.self] = nil
      context.cancel(.tick)
    }
    if isIdentifying != wasIdentifying {
      context.report(.identify(context.endpoint, isIdentifying: isIdentifying))
    }
  }

  private static func count(_ context: inout ServerContext) {
    let rest = context[Identify.identifyTime]
    guard rest > 0, let running = context[scratch: Running.self] else { return }
    context[scratch: Counting.self] = Counting()
    // Quieter reporting (§ 1.2.5.1): the start and the end are reported, the seconds between are not.
    let late = max(0, (context.now - running.nextSecond).components.seconds)
    let left = rest - 1 - UInt16(clamping: min(late, Int64(rest) - 1))
    context.set(Identify.identifyTime, left, reporting: left == 0 ? .now : .quiet)
    context[scratch: Counting.self] = nil
    // Relative to the due time, so that late timers do not add up.
    begin(at: running.nextSecond + .seconds(late), &context)
  }
}
