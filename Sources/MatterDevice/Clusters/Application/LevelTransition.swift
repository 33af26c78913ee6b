import MatterClusters
import MatterModel
import MatterProtocol

/// The level transition of an endpoint. Application Clusters § 1.6.4 and § 1.6.6.
struct LevelTransition: Sendable {
  /// The cause of the transition, which determines what happens at its end.
  enum Purpose: Sendable {
    /// A command of this cluster with its effective options. If it is coupled, On/Off is on above the lowest level and
    /// off at it.
    case command(isCoupled: Bool, LevelControl.Options)
    /// On/Off was switched on.
    case fadeOn
    /// On/Off was switched off. At the end the light turns off, and then the level is set to `restores`.
    case fadeOff(restores: UInt8?)
    /// A scene was recalled. The transition does not invalidate it.
    case scene
  }

  private let from: UInt8
  private let to: UInt8
  private let start: Instant
  private let end: Instant
  private var lastReport: Instant
  private let purpose: Purpose

  private static let interval: Duration = .milliseconds(100)
  /// The report interval of CurrentLevel during a transition (§ 1.6.6.2).
  private static let reportInterval: Duration = .seconds(1)

  // MARK: Levels

  static func level(_ context: inout ServerContext) -> UInt8 {
    context[LevelControl.currentLevel].wrapped ?? context[LevelControl.minLevel]
  }

  /// The level of the light when it is on and at rest, as opposed to the current level of a fade.
  static func restLevel(_ context: inout ServerContext) -> UInt8 {
    let transition = context[scratch: LevelTransition.self]
    switch transition?.purpose {
    case .fadeOn: return transition?.to ?? level(&context)
    case .fadeOff(let restores): return restores ?? level(&context)
    default: return level(&context)
    }
  }

  static func isInRange(_ level: UInt8, _ context: inout ServerContext) -> Bool { clamp(level, &context) == level }

  static func clamp(_ level: UInt8, _ context: inout ServerContext) -> UInt8 {
    min(max(level, context[LevelControl.minLevel]), context[LevelControl.maxLevel])
  }

  static func isFadingOff(_ context: ServerContext) -> Bool {
    if case .fadeOff = context[scratch: LevelTransition.self]?.purpose { true } else { false }
  }

  static func isScene(_ context: ServerContext) -> Bool {
    if case .scene = context[scratch: LevelTransition.self]?.purpose { true } else { false }
  }

  /// Returns whether the color temperature follows the level (§ 3.2.5.1): by the options of the running command, or
  /// else by the Options attribute.
  static func couplesColor(_ context: inout ServerContext) -> Bool {
    var options = context[LevelControl.options]
    if case .command(_, let ofCommand) = context[scratch: LevelTransition.self]?.purpose { options = ofCommand }
    return options.contains(.coupleColorTempToLevel)
  }

  // MARK: Transitions

  /// Starts a transition, which replaces a running one.
  static func start(to target: UInt8, over duration: Duration, _ purpose: Purpose, _ context: inout ServerContext) {
    if case .command(isCoupled: true, _) = purpose, target > context[LevelControl.minLevel] {
      context.call(OnOffServer.switchedByLevel, true)
    }
    let now = context.now
    let previous = context[scratch: LevelTransition.self]
    let transition = LevelTransition(
      from: level(&context), to: target, start: now, end: now + max(duration, .zero),
      lastReport: previous?.lastReport ?? now, purpose: purpose)
    context[scratch: LevelTransition.self] = transition
    if transition.from != target && !isScene(context) { context.call(ScenesManagementServer.attributeChanged, ()) }
    if transition.end <= now || (transition.from == target && !isFadingOff(context)) {
      finish(transition, &context)
    } else {
      setRemainingTime(until: transition.end, isCommand: true, &context)
      context.schedule(.tick, at: min(now + interval, transition.end))
    }
  }

  /// Stops at the current level.
  static func stop(_ context: inout ServerContext) {
    guard context[scratch: LevelTransition.self] != nil else { return }
    forget(&context)
    set(level(&context), isReported: true, &context)
  }

  static func advance(_ context: inout ServerContext) {
    guard var transition = context[scratch: LevelTransition.self] else { return }
    guard context.now < transition.end else { return finish(transition, &context) }
    let isDue = context.now - transition.lastReport >= reportInterval
    if isDue { transition.lastReport = context.now }
    context[scratch: LevelTransition.self] = transition
    set(transition.level(at: context.now), isReported: isDue, &context)
    setRemainingTime(until: transition.end, isCommand: false, &context)
    context.schedule(.tick, at: min(context.now + interval, transition.end))
  }

  private func level(at now: Instant) -> UInt8 {
    let (elapsed, total) = ((now - start).milliseconds, max((end - start).milliseconds, 1))
    return UInt8(clamping: Int64(from) + (Int64(to) - Int64(from)) * elapsed / total)
  }

  private static func finish(_ transition: LevelTransition, _ context: inout ServerContext) {
    switch transition.purpose {
    case .fadeOff(let restores?):
      // Off before the level is restored, so that the light does not flash.
      context.call(OnOffServer.switchedByLevel, false)
      set(restores, isReported: true, &context)
    case .fadeOff(nil):
      set(transition.to, isReported: true, &context)
      context.call(OnOffServer.switchedByLevel, false)
    case .command(let isCoupled, _):
      set(transition.to, isReported: true, &context)
      if isCoupled && transition.to == context[LevelControl.minLevel] {
        context.call(OnOffServer.switchedByLevel, false)
      }
    case .fadeOn, .scene:
      set(transition.to, isReported: true, &context)
    }
    forget(&context)
  }

  private static func forget(_ context: inout ServerContext) {
    context[scratch: LevelTransition.self] = nil
    context.cancel(.tick)
    if context.has(LevelControl.lighting) { context[LevelControl.remainingTime] = 0 }
  }

  // MARK: Attributes

  /// Present while the current level has not been reported.
  private struct Unreported: Sendable {}

  /// Sets the level. A report that is due also includes earlier unreported changes.
  static func set(_ level: UInt8, isReported: Bool, _ context: inout ServerContext) {
    let isSame = LevelTransition.level(&context) == level
    if isReported {
      if isSame && context[scratch: Unreported.self] != nil { context.markChanged(LevelControl.currentLevel) }
      context[scratch: Unreported.self] = nil
    } else if !isSame {
      context[scratch: Unreported.self] = Unreported()
    }
    context.set(LevelControl.currentLevel, .value(level), reporting: isReported ? .now : .quiet)
  }

  /// Sets RemainingTime in tenths of a second, rounded up. It is reported when a command changes it by more than a
  /// second, and when it becomes zero (§ 1.6.6.3).
  private static func setRemainingTime(until end: Instant, isCommand: Bool, _ context: inout ServerContext) {
    guard context.has(LevelControl.lighting) else { return }
    let rest = UInt16(clamping: ((end - context.now).milliseconds + 99) / 100)
    let change = abs(Int(rest) - Int(context[LevelControl.remainingTime]))
    context.set(LevelControl.remainingTime, rest, reporting: isCommand && change > 10 ? .now : .quiet)
  }
}
