import MatterClusters
import MatterModel
import MatterProtocol

/// A level on its way. Application Clusters § 1.6.4 and § 1.6.6.
struct LevelTransition: Sendable {
  /// What the level moves for, and so what hangs from its arrival.
  enum Purpose: Sendable {
    /// A command of this cluster, with the options it works with. If it is coupled, On/Off is on above the lowest level,
    /// and off at it.
    case command(isCoupled: Bool, LevelControl.Options)
    /// On/Off was switched on.
    case fadeOn
    /// On/Off was switched off: off at the end, and then, out of sight, back to the level to come on with.
    case fadeOff(restores: UInt8?)
    /// A scene was recalled, which the movement does not make invalid.
    case scene
  }

  private let from: UInt8
  private let to: UInt8
  private let start: Instant
  private let end: Instant
  private var lastReport: Instant
  private let purpose: Purpose

  static let tick = "transition"
  private static let interval: Duration = .milliseconds(100)
  /// How often subscribers hear of the level on its way (§ 1.6.6.2).
  private static let reportInterval: Duration = .seconds(1)

  // MARK: Levels

  static func level(_ context: inout ServerContext) -> UInt8 {
    context[LevelControl.currentLevel].wrapped ?? context[LevelControl.minLevel]
  }

  /// The level that the light has when it is on and at rest: not that of the moment, if it just comes on or goes off.
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

  /// Whether the colour temperature goes with the level (§ 3.2.5.1): as the command says that moves it, or else the attribute.
  static func couplesColor(_ context: inout ServerContext) -> Bool {
    var options = context[LevelControl.options]
    if case .command(_, let ofCommand) = context[scratch: LevelTransition.self]?.purpose { options = ofCommand }
    return options.contains(.coupleColorTempToLevel)
  }

  // MARK: Moving

  /// Moves to a level, instead of whatever movement there was.
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
      context.schedule(tick, at: min(now + interval, transition.end))
    }
  }

  /// Stays where it is.
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
    context.schedule(tick, at: min(context.now + interval, transition.end))
  }

  private func level(at now: Instant) -> UInt8 {
    let (elapsed, total) = ((now - start).milliseconds, max((end - start).milliseconds, 1))
    return UInt8(clamping: Int64(from) + (Int64(to) - Int64(from)) * elapsed / total)
  }

  private static func finish(_ transition: LevelTransition, _ context: inout ServerContext) {
    switch transition.purpose {
    case .fadeOff(let restores?):
      // Off first: the light must not flash.
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
    context.cancel(tick)
    if context.has(LevelControl.lighting) { context[LevelControl.remainingTime] = 0 }
  }

  // MARK: Attributes

  /// Set while subscribers were last told of another level.
  private struct Unreported: Sendable {}

  /// Sets the level. What was set quietly before is reported, too, when a report is due.
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

  /// In tenths of a second, rounded up. Subscribers hear of it when a command changes it by more than a second, and
  /// when it becomes zero (§ 1.6.6.3).
  private static func setRemainingTime(until end: Instant, isCommand: Bool, _ context: inout ServerContext) {
    guard context.has(LevelControl.lighting) else { return }
    let rest = UInt16(clamping: ((end - context.now).milliseconds + 99) / 100)
    let change = abs(Int(rest) - Int(context[LevelControl.remainingTime]))
    context.set(LevelControl.remainingTime, rest, reporting: isCommand && change > 10 ? .now : .quiet)
  }
}
