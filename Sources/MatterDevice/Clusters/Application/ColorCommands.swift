import MatterClusters
import MatterModel
import MatterProtocol

/// The commands of Color Control: shared functions, and the commands of chromaticity. Application Clusters § 3.2.8.
enum ColorCommands {
  static func served(by server: ClusterServer) -> ClusterServer {
    var server = server
    let features = server.features
    if features & ColorControl.hueAndSaturation.mask != 0 { server = HueCommands.served(by: server) }
    if features & ColorControl.enhancedHue.mask != 0 { server = HueCommands.enhanced(server) }
    if features & ColorControl.colorloop.mask != 0 { server = server.on(ColorControl.colorLoopSet, ColorLoop.set) }
    if features & ColorControl.colortemperature.mask != 0 { server = ColorTemperatureCommands.served(by: server) }
    if features & ColorControl.xy.mask != 0 {
      server = server.on(ColorControl.moveToColor, moveToColor).on(ColorControl.moveColor, moveColor)
        .on(ColorControl.stepColor, stepColor)
    }
    return server.on(ColorControl.stopMoveStep) { context, request throws(StatusError) in
      guard mayExecute(request.optionsMask, request.optionsOverride, &context) else { return }
      stop(&context)
    }
  }

  // MARK: Shared functions

  /// Throws unless the transition time, in tenths of a second, is allowed.
  static func check(transitionTime: UInt16) throws(StatusError) {
    guard transitionTime <= 65534 else { throw StatusError(.constraintError) }
  }

  /// Returns whether a command takes effect: the light is on, or ExecuteIfOff is set (§ 3.2.7.11).
  static func mayExecute(
    _ mask: ColorControl.Options, _ override: ColorControl.Options, _ context: inout ServerContext
  ) -> Bool {
    guard context.serves(OnOff.self), !context[OnOff.onOff] else { return true }
    let options = context[ColorControl.options].subtracting(mask).union(override.intersection(mask))
    return options.contains(.executeIfOff)
  }

  /// Returns whether a command that changes the hue takes effect. While a color loop is active it does not: only
  /// ColorLoopSet ends the loop (§ 3.2.8.1).
  static func mayChangeHue(
    _ mask: ColorControl.Options, _ override: ColorControl.Options, _ context: inout ServerContext
  ) -> Bool {
    mayExecute(mask, override, &context) && !ColorLoop.isActive(&context)
  }

  /// Stops all transitions except a color loop (§ 3.2.8.20).
  static func stop(_ context: inout ServerContext) {
    ColorTransition.stop(ColorLoop.isActive(&context) ? [.saturation] : ColorAxis.allCases, &context)
  }

  /// Returns the track from the current value to `target`.
  /// - Parameter tenths: The duration in tenths of a second.
  static func track(
    _ axis: ColorAxis, to target: Double, over tenths: UInt16, _ context: inout ServerContext
  ) -> ColorTrack {
    let from = ColorValues.value(axis, &context)
    return ColorTrack(axis: axis, from: from, distance: target - from, duration: .milliseconds(Int64(tenths) * 100))
  }

  /// Returns the track from the current value to `target`.
  /// - Parameter rate: Units per second.
  static func track(
    _ axis: ColorAxis, to target: Double, rate: Int, _ context: inout ServerContext
  ) -> ColorTrack {
    let from = ColorValues.value(axis, &context)
    let milliseconds = abs(target - from) * 1000 / Double(max(rate, 1))
    return ColorTrack(
      axis: axis, from: from, distance: target - from, duration: .milliseconds(Int64(milliseconds.rounded(.up))))
  }

  /// Returns the track of a step from the current value. A step that the range cuts short takes a proportional share of
  /// the time.
  static func track(
    _ axis: ColorAxis, by step: Int, over tenths: UInt16, within range: ClosedRange<Double>,
    _ context: inout ServerContext
  ) -> ColorTrack {
    let from = ColorValues.value(axis, &context)
    let target = min(max(from + Double(step), range.lowerBound), range.upperBound)
    let share = step == 0 ? 0 : abs(target - from) / abs(Double(step))
    return ColorTrack(
      axis: axis, from: from, distance: target - from,
      duration: .milliseconds(Int64((Double(tenths) * 100 * share).rounded(.up))))
  }

  // MARK: Chromaticity

  private static func moveToColor(
    _ context: inout ServerContext, _ request: ColorControl.MoveToColorRequest
  ) throws(StatusError) {
    guard request.colorX <= ColorValues.maximumXY, request.colorY <= ColorValues.maximumXY else {
      throw StatusError(.constraintError)
    }
    try check(transitionTime: request.transitionTime)
    guard mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
    ColorModes.enter(.currentXAndCurrentY, &context)
    ColorTransition.start(
      [
        track(.x, to: Double(request.colorX), over: request.transitionTime, &context),
        track(.y, to: Double(request.colorY), over: request.transitionTime, &context),
      ], &context)
  }

  private static func moveColor(_ context: inout ServerContext, _ request: ColorControl.MoveColorRequest) {
    guard mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
    guard request.rateX != 0 || request.rateY != 0 else { return stop(&context) }
    ColorModes.enter(.currentXAndCurrentY, &context)
    let tracks = [(ColorAxis.x, Int(request.rateX)), (.y, Int(request.rateY))].filter { $0.1 != 0 }.map {
      track($0, to: $1 > 0 ? Double(ColorValues.maximumXY) : 0, rate: abs($1), &context)
    }
    ColorTransition.start(tracks, &context)
  }

  private static func stepColor(
    _ context: inout ServerContext, _ request: ColorControl.StepColorRequest
  ) throws(StatusError) {
    try check(transitionTime: request.transitionTime)
    guard request.stepX != 0 || request.stepY != 0 else { throw StatusError(.invalidCommand) }
    guard mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
    ColorModes.enter(.currentXAndCurrentY, &context)
    let range = 0...Double(ColorValues.maximumXY)
    ColorTransition.start(
      [
        track(.x, by: Int(request.stepX), over: request.transitionTime, within: range, &context),
        track(.y, by: Int(request.stepY), over: request.transitionTime, within: range, &context),
      ], &context)
  }
}
