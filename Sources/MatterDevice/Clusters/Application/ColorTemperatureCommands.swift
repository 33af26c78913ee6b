import MatterClusters
import MatterModel
import MatterProtocol

/// The commands of color temperature. Application Clusters § 3.2.8.14, § 3.2.8.21 and § 3.2.8.22.
enum ColorTemperatureCommands {
  private static let maximumMireds: UInt16 = 65279

  static func served(by server: ClusterServer) -> ClusterServer {
    server.on(ColorControl.moveToColorTemperature, moveTo).on(ColorControl.moveColorTemperature, move)
      .on(ColorControl.stepColorTemperature, step)
  }

  private static func moveTo(
    _ context: inout ServerContext, _ request: ColorControl.MoveToColorTemperatureRequest
  ) throws(StatusError) {
    guard request.colorTemperatureMireds <= maximumMireds else { throw StatusError(.constraintError) }
    try ColorCommands.check(transitionTime: request.transitionTime)
    guard ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
    ColorModes.enter(.colorTemperatureMireds, &context)
    let target = ColorTemperature.clamp(Double(request.colorTemperatureMireds), &context)
    ColorTransition.start(
      [ColorCommands.track(.temperature, to: target, over: request.transitionTime, &context)], &context)
  }

  private static func move(
    _ context: inout ServerContext, _ request: ColorControl.MoveColorTemperatureRequest
  ) throws(StatusError) {
    try check(request.colorTemperatureMinimumMireds, request.colorTemperatureMaximumMireds)
    guard request.moveMode.isKnown, request.rate > 0 || request.moveMode == .stop else {
      throw StatusError(.invalidCommand)
    }
    guard ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
    guard request.moveMode != .stop else { return ColorCommands.stop(&context) }
    ColorModes.enter(.colorTemperatureMireds, &context)
    let range = range(
      request.colorTemperatureMinimumMireds, request.colorTemperatureMaximumMireds, isUp: request.moveMode == .up,
      &context)
    let target = request.moveMode == .up ? range.upperBound : range.lowerBound
    ColorTransition.start(
      [ColorCommands.track(.temperature, to: target, rate: Int(request.rate), &context)], &context)
  }

  private static func step(
    _ context: inout ServerContext, _ request: ColorControl.StepColorTemperatureRequest
  ) throws(StatusError) {
    try ColorCommands.check(transitionTime: request.transitionTime)
    try check(request.colorTemperatureMinimumMireds, request.colorTemperatureMaximumMireds)
    guard request.stepMode.isKnown, request.stepSize > 0 else { throw StatusError(.invalidCommand) }
    guard ColorCommands.mayChangeHue(request.optionsMask, request.optionsOverride, &context) else { return }
    ColorModes.enter(.colorTemperatureMireds, &context)
    let range = range(
      request.colorTemperatureMinimumMireds, request.colorTemperatureMaximumMireds, isUp: request.stepMode == .up,
      &context)
    let step = request.stepMode == .up ? Int(request.stepSize) : -Int(request.stepSize)
    ColorTransition.start(
      [
        ColorCommands.track(
          .temperature, by: step, over: request.transitionTime, within: range, &context)
      ], &context)
  }

  private static func check(_ minimum: UInt16, _ maximum: UInt16) throws(StatusError) {
    guard minimum <= maximumMireds, maximum <= maximumMireds else { throw StatusError(.constraintError) }
  }

  /// Returns the range of a movement from the current value: up to the limit of the command and that of the light, and
  /// never in the opposite direction.
  /// - Parameters:
  ///   - minimum: The minimum of the command; 0 for that of the light.
  ///   - maximum: The maximum of the command; 0 for that of the light.
  private static func range(
    _ minimum: UInt16, _ maximum: UInt16, isUp: Bool, _ context: inout ServerContext
  ) -> ClosedRange<Double> {
    let physical = ColorTemperature.range(&context)
    let current = ColorValues.value(.temperature, &context)
    if isUp {
      let limit = maximum == 0 ? physical.upperBound : min(maximum, physical.upperBound)
      return current...max(Double(limit), current)
    }
    return min(Double(max(minimum, physical.lowerBound)), current)...current
  }
}
