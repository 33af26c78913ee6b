import MatterClusters
import MatterModel
import MatterProtocol

/// The commands of hue and saturation, for both resolutions of the hue. Application Clusters § 3.2.8.4 to § 3.2.8.18.
enum HueCommands {
  static func served(by server: ClusterServer) -> ClusterServer {
    server
      .on(ColorControl.moveToHue) { context, request throws(StatusError) in
        guard request.hue <= ColorValues.maximumHue else { throw StatusError(.constraintError) }
        try ColorCommands.check(transitionTime: request.transitionTime)
        guard request.direction.isKnown else { throw StatusError(.invalidCommand) }
        guard ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
        enter(.hue, &context)
        ColorTransition.start(
          [track(.hue, to: Double(request.hue), request.direction, over: request.transitionTime, &context)], &context)
      }
      .on(ColorControl.moveHue) { context, request throws(StatusError) in
        try move(.hue, request.moveMode, rate: UInt16(request.rate), &context) { context in
          ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context)
        }
      }
      .on(ColorControl.stepHue) { context, request throws(StatusError) in
        guard request.stepMode.isKnown, request.stepSize > 0 else { throw StatusError(.invalidCommand) }
        guard ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
        step(.hue, request.stepMode, UInt16(request.stepSize), over: UInt16(request.transitionTime), &context)
      }
      .on(ColorControl.moveToSaturation, moveToSaturation)
      .on(ColorControl.moveSaturation, moveSaturation)
      .on(ColorControl.stepSaturation, stepSaturation)
      .on(ColorControl.moveToHueAndSaturation) { context, request throws(StatusError) in
        guard request.hue <= ColorValues.maximumHue, request.saturation <= ColorValues.maximumSaturation else {
          throw StatusError(.constraintError)
        }
        try ColorCommands.check(transitionTime: request.transitionTime)
        guard ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
        move(.hue, to: Double(request.hue), saturation: request.saturation, over: request.transitionTime, &context)
      }
  }

  static func enhanced(_ server: ClusterServer) -> ClusterServer {
    server
      .on(ColorControl.enhancedMoveToHue) { context, request throws(StatusError) in
        try ColorCommands.check(transitionTime: request.transitionTime)
        guard request.direction.isKnown else { throw StatusError(.invalidCommand) }
        guard ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
        enter(.enhancedHue, &context)
        let (hue, time) = (Double(request.enhancedHue), request.transitionTime)
        ColorTransition.start([track(.enhancedHue, to: hue, request.direction, over: time, &context)], &context)
      }
      .on(ColorControl.enhancedMoveHue) { context, request throws(StatusError) in
        try move(.enhancedHue, request.moveMode, rate: request.rate, &context) { context in
          ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context)
        }
      }
      .on(ColorControl.enhancedStepHue) { context, request throws(StatusError) in
        try ColorCommands.check(transitionTime: request.transitionTime)
        guard request.stepMode.isKnown, request.stepSize > 0 else { throw StatusError(.invalidCommand) }
        guard ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
        step(.enhancedHue, request.stepMode, request.stepSize, over: request.transitionTime, &context)
      }
      .on(ColorControl.enhancedMoveToHueAndSaturation) { context, request throws(StatusError) in
        guard request.saturation <= ColorValues.maximumSaturation else { throw StatusError(.constraintError) }
        try ColorCommands.check(transitionTime: request.transitionTime)
        guard ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
        let (hue, time) = (Double(request.enhancedHue), request.transitionTime)
        move(.enhancedHue, to: hue, saturation: request.saturation, over: time, &context)
      }
  }

  // MARK: Hue

  private static func enter(_ axis: ColorAxis, _ context: inout ServerContext) {
    ColorModes.enter(
      axis == .enhancedHue ? .enhancedCurrentHueAndCurrentSaturation : .currentHueAndCurrentSaturation, &context)
  }

  /// Returns the track to a hue in the given direction.
  static func track(
    _ axis: ColorAxis, to target: Double, _ direction: ColorControl.Direction, over tenths: UInt16,
    _ context: inout ServerContext
  ) -> ColorTrack {
    let circle = axis.circle ?? 1
    let from = ColorValues.value(axis, &context)
    // In 0..<circle. If it is 0, the hue is already reached and the direction does not matter.
    let up = (target - from + circle).truncatingRemainder(dividingBy: circle)
    let isShortUp = up <= circle / 2
    let goesUp =
      switch direction {
      case .up: true
      case .down: false
      case .longest: !isShortUp
      default: isShortUp
      }
    return ColorTrack(
      axis: axis, from: from, distance: goesUp || up == 0 ? up : up - circle,
      duration: .milliseconds(Int64(tenths) * 100))
  }

  private static func move(
    _ axis: ColorAxis, _ mode: ColorControl.MoveMode, rate: UInt16, _ context: inout ServerContext,
    if mayExecute: (inout ServerContext) -> Bool
  ) throws(StatusError) {
    guard mode.isKnown, rate > 0 || mode == .stop else { throw StatusError(.invalidCommand) }
    guard mayExecute(&context) else { return }
    guard mode != .stop else { return ColorCommands.stop(&context) }
    start(axis, by: mode == .up ? Double(rate) : -Double(rate), over: .seconds(1), isEndless: true, &context)
  }

  private static func step(
    _ axis: ColorAxis, _ mode: ColorControl.StepMode, _ size: UInt16, over tenths: UInt16,
    _ context: inout ServerContext
  ) {
    start(axis, by: mode == .up ? Double(size) : -Double(size), over: .milliseconds(Int64(tenths) * 100), &context)
  }

  private static func start(
    _ axis: ColorAxis, by distance: Double, over duration: Duration, isEndless: Bool = false,
    _ context: inout ServerContext
  ) {
    enter(axis, &context)
    let from = ColorValues.value(axis, &context)
    let track = ColorTrack(axis: axis, from: from, distance: distance, duration: duration, isEndless: isEndless)
    ColorTransition.start([track], &context)
  }

  private static func move(
    _ axis: ColorAxis, to hue: Double, saturation: UInt8, over tenths: UInt16, _ context: inout ServerContext
  ) {
    enter(axis, &context)
    ColorTransition.start(
      [
        track(axis, to: hue, .shortest, over: tenths, &context),
        ColorCommands.track(.saturation, to: Double(saturation), over: tenths, &context),
      ], &context)
  }

  // MARK: Saturation

  /// Sets the color mode for a command that changes only the saturation. An active color loop keeps its mode.
  private static func enterForSaturation(_ context: inout ServerContext) {
    if !ColorLoop.isActive(&context) { ColorModes.enter(.currentHueAndCurrentSaturation, &context) }
  }

  private static func moveToSaturation(
    _ context: inout ServerContext, _ request: ColorControl.MoveToSaturationRequest
  ) throws(StatusError) {
    guard request.saturation <= ColorValues.maximumSaturation else { throw StatusError(.constraintError) }
    try ColorCommands.check(transitionTime: request.transitionTime)
    guard ColorCommands.mayExecute(request.optionsMask, request.optionsOverride, &context) else { return }
    enterForSaturation(&context)
    let (target, time) = (Double(request.saturation), request.transitionTime)
    ColorTransition.start([ColorCommands.track(.saturation, to: target, over: time, &context)], &context)
  }

  private static func moveSaturation(
    _ context: inout ServerContext, _ request: ColorControl.MoveSaturationRequest
  ) throws(StatusError) {
    guard request.moveMode.isKnown, request.rate > 0 || request.moveMode == .stop else {
      throw StatusError(.invalidCommand)
    }
    guard ColorCommands.mayExecute(request.optionsMask, request.optionsOverride, &context) else { return }
    guard request.moveMode != .stop else { return ColorCommands.stop(&context) }
    enterForSaturation(&context)
    let target = request.moveMode == .up ? Double(ColorValues.maximumSaturation) : 0
    let track = ColorCommands.track(.saturation, to: target, rate: Int(request.rate), &context)
    ColorTransition.start([track], &context)
  }

  private static func stepSaturation(
    _ context: inout ServerContext, _ request: ColorControl.StepSaturationRequest
  ) throws(StatusError) {
    guard request.stepMode.isKnown, request.stepSize > 0 else { throw StatusError(.invalidCommand) }
    guard ColorCommands.mayExecute(request.optionsMask, request.optionsOverride, &context) else { return }
    enterForSaturation(&context)
    let step = request.stepMode == .up ? Int(request.stepSize) : -Int(request.stepSize)
    let track = ColorCommands.track(
      .saturation, by: step, over: UInt16(request.transitionTime),
      within: 0...Double(ColorValues.maximumSaturation), &context)
    ColorTransition.start([track], &context)
  }
}
