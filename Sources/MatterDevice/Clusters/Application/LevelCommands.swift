import MatterClusters
import MatterModel
import MatterProtocol

/// The commands of Level Control: each computes the target level and the duration. Application Clusters § 1.6.7.
enum LevelCommands {
  static func served(by server: ClusterServer) -> ClusterServer {
    server
      .on(LevelControl.moveToLevel) { context, request throws(StatusError) in
        try moveToLevel(request, isCoupled: false, &context)
      }
      .on(LevelControl.moveToLevelWithOnOff) { context, request throws(StatusError) in
        try moveToLevel(request, isCoupled: true, &context)
      }
      .on(LevelControl.move) { context, request throws(StatusError) in
        try move(request, isCoupled: false, &context)
      }
      .on(LevelControl.moveWithOnOff) { context, request throws(StatusError) in
        try move(request, isCoupled: true, &context)
      }
      .on(LevelControl.step) { context, request throws(StatusError) in
        try step(request, isCoupled: false, &context)
      }
      .on(LevelControl.stepWithOnOff) { context, request throws(StatusError) in
        try step(request, isCoupled: true, &context)
      }
      .on(LevelControl.stop) { context, request throws(StatusError) in
        guard mayExecute(request.optionsMask, request.optionsOverride, &context) else { return }
        LevelTransition.stop(&context)
      }
      .on(LevelControl.stopWithOnOff) { context, _ throws(StatusError) in LevelTransition.stop(&context) }
  }

  /// Returns the effective options of a command (§ 1.6.6.9).
  private static func options(
    _ mask: LevelControl.Options, _ override: LevelControl.Options, _ context: inout ServerContext
  ) -> LevelControl.Options {
    context[LevelControl.options].subtracting(mask).union(override.intersection(mask))
  }

  /// Returns whether a command without On/Off coupling takes effect: the device is on, or ExecuteIfOff is set. This
  /// doesn't depend on the feature On/Off. § 1.6.6.9.
  private static func mayExecute(
    _ mask: LevelControl.Options, _ override: LevelControl.Options, _ context: inout ServerContext
  ) -> Bool {
    guard context.serves(OnOff.self), !context[OnOff.onOff] else { return true }
    return options(mask, override, &context).contains(.executeIfOff)
  }

  private static func moveToLevel(
    _ request: LevelControl.MoveToLevelRequest, isCoupled: Bool, _ context: inout ServerContext
  ) throws(StatusError) {
    guard request.level <= 254 else { throw StatusError(.constraintError) }
    guard isCoupled || mayExecute(request.optionsMask, request.optionsOverride, &context) else { return }
    let time = request.transitionTime.wrapped ?? context[LevelControl.onOffTransitionTime]
    LevelTransition.start(
      to: LevelTransition.clamp(request.level, &context), over: .milliseconds(Int64(time) * 100),
      .command(isCoupled: isCoupled, options(request.optionsMask, request.optionsOverride, &context)), &context)
  }

  private static func move(
    _ request: LevelControl.MoveRequest, isCoupled: Bool, _ context: inout ServerContext
  ) throws(StatusError) {
    guard request.moveMode.isKnown, request.rate != .value(0) else { throw StatusError(.invalidCommand) }
    guard isCoupled || mayExecute(request.optionsMask, request.optionsOverride, &context) else { return }
    let target = request.moveMode == .up ? context[LevelControl.maxLevel] : context[LevelControl.minLevel]
    let distance = abs(Int64(target) - Int64(LevelTransition.level(&context)))
    // Without a rate or a default rate the level moves as fast as possible: at once. A stored default may be 0.
    let rate = Int64(request.rate.wrapped ?? context[LevelControl.defaultMoveRate].wrapped ?? 0)
    LevelTransition.start(
      to: target, over: rate > 0 ? .milliseconds(distance * 1000 / rate) : .zero,
      .command(isCoupled: isCoupled, options(request.optionsMask, request.optionsOverride, &context)),
      &context)
  }

  private static func step(
    _ request: LevelControl.StepRequest, isCoupled: Bool, _ context: inout ServerContext
  ) throws(StatusError) {
    guard request.stepMode.isKnown, request.stepSize > 0 else { throw StatusError(.invalidCommand) }
    guard isCoupled || mayExecute(request.optionsMask, request.optionsOverride, &context) else { return }
    let current = Int(LevelTransition.level(&context))
    let wanted = current + (request.stepMode == .up ? 1 : -1) * Int(request.stepSize)
    let target = LevelTransition.clamp(UInt8(clamping: wanted), &context)
    // A step that the range cuts short takes a proportional share of the time (§ 1.6.7.3.4).
    let share = Int64(abs(Int(target) - current))
    let time = Int64(request.transitionTime.wrapped ?? 0) * 100
    LevelTransition.start(
      to: target, over: .milliseconds(time * share / Int64(request.stepSize)),
      .command(isCoupled: isCoupled, options(request.optionsMask, request.optionsOverride, &context)),
      &context)
  }
}
