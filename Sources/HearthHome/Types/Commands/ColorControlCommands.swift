public import HomeModel
public import MatterClusters
internal import MatterModel

// The commands of Color Control that have fields, with labels. Application Clusters § 3.2.

extension Trait where C == ColorControl {
  /// Application Clusters § 3.2.8.4.
  /// - Parameters:
  ///   - hue: 0 to 254 for the whole circle.
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveToHue(
    hue: UInt8, direction: ColorControl.Direction, transitionTime: UInt16 = 0, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.moveToHue,
      .init(
        hue: hue, direction: direction, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.5.
  /// - Parameters:
  ///   - rate: steps a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveHue(
    moveMode: ColorControl.MoveMode, rate: UInt8, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.moveHue,
      .init(moveMode: moveMode, rate: rate, optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.6.
  /// - Parameters:
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func stepHue(
    stepMode: ColorControl.StepMode, stepSize: UInt8, transitionTime: UInt8 = 0, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.stepHue,
      .init(
        stepMode: stepMode, stepSize: stepSize, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.7.
  /// - Parameters:
  ///   - saturation: 0 to 254.
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveToSaturation(
    saturation: UInt8, transitionTime: UInt16 = 0, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.moveToSaturation,
      .init(
        saturation: saturation, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.8.
  /// - Parameters:
  ///   - rate: steps a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveSaturation(
    moveMode: ColorControl.MoveMode, rate: UInt8, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.moveSaturation,
      .init(moveMode: moveMode, rate: rate, optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.9.
  /// - Parameters:
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func stepSaturation(
    stepMode: ColorControl.StepMode, stepSize: UInt8, transitionTime: UInt8 = 0, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.stepSaturation,
      .init(
        stepMode: stepMode, stepSize: stepSize, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.10.
  /// - Parameters:
  ///   - hue: 0 to 254 for the whole circle.
  ///   - saturation: 0 to 254.
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveToHueAndSaturation(
    hue: UInt8, saturation: UInt8, transitionTime: UInt16 = 0, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.moveToHueAndSaturation,
      .init(
        hue: hue, saturation: saturation, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.11.
  /// - Parameters:
  ///   - colorX: 65536ths, up to 65279.
  ///   - colorY: 65536ths, up to 65279.
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveToColor(
    colorX: UInt16, colorY: UInt16, transitionTime: UInt16 = 0, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.moveToColor,
      .init(
        colorX: colorX, colorY: colorY, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.12.
  /// - Parameters:
  ///   - rateX: 65536ths a second.
  ///   - rateY: 65536ths a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveColor(
    rateX: Int16, rateY: Int16, optionsMask: ColorControl.Options = [], optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.moveColor,
      .init(rateX: rateX, rateY: rateY, optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.13.
  /// - Parameters:
  ///   - stepX: 65536ths.
  ///   - stepY: 65536ths.
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func stepColor(
    stepX: Int16, stepY: Int16, transitionTime: UInt16 = 0, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.stepColor,
      .init(
        stepX: stepX, stepY: stepY, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.14.
  /// - Parameters:
  ///   - colorTemperatureMireds: mireds.
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveToColorTemperature(
    colorTemperatureMireds: UInt16, transitionTime: UInt16 = 0, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.moveToColorTemperature,
      .init(
        colorTemperatureMireds: colorTemperatureMireds, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.15.
  /// - Parameters:
  ///   - enhancedHue: 0 to 65535 for the whole circle.
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func enhancedMoveToHue(
    enhancedHue: UInt16, direction: ColorControl.Direction, transitionTime: UInt16 = 0,
    optionsMask: ColorControl.Options = [], optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.enhancedMoveToHue,
      .init(
        enhancedHue: enhancedHue, direction: direction, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.16.
  /// - Parameters:
  ///   - rate: steps a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func enhancedMoveHue(
    moveMode: ColorControl.MoveMode, rate: UInt16, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.enhancedMoveHue,
      .init(moveMode: moveMode, rate: rate, optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.17.
  /// - Parameters:
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func enhancedStepHue(
    stepMode: ColorControl.StepMode, stepSize: UInt16, transitionTime: UInt16 = 0,
    optionsMask: ColorControl.Options = [], optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.enhancedStepHue,
      .init(
        stepMode: stepMode, stepSize: stepSize, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.18.
  /// - Parameters:
  ///   - enhancedHue: 0 to 65535 for the whole circle.
  ///   - saturation: 0 to 254.
  ///   - transitionTime: tenths of a second.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func enhancedMoveToHueAndSaturation(
    enhancedHue: UInt16, saturation: UInt8, transitionTime: UInt16 = 0, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.enhancedMoveToHueAndSaturation,
      .init(
        enhancedHue: enhancedHue, saturation: saturation, transitionTime: transitionTime, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.19.
  /// - Parameters:
  ///   - time: seconds for one turn.
  ///   - startHue: 0 to 65535 for the whole circle.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func colorLoopSet(
    updateFlags: ColorControl.UpdateFlags, action: ColorControl.ColorLoopAction,
    direction: ColorControl.ColorLoopDirection, time: UInt16, startHue: UInt16, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.colorLoopSet,
      .init(
        updateFlags: updateFlags, action: action, direction: direction, time: time, startHue: startHue,
        optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.20.
  /// - Parameter optionsMask: which options `optionsOverride` sets for this command alone.
  public func stopMoveStep(
    optionsMask: ColorControl.Options = [], optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(ColorControl.stopMoveStep, .init(optionsMask: optionsMask, optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.21.
  /// - Parameters:
  ///   - rate: mireds a second.
  ///   - colorTemperatureMinimumMireds: mireds; 0: as low as the device can.
  ///   - colorTemperatureMaximumMireds: mireds; 0: as high as the device can.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func moveColorTemperature(
    moveMode: ColorControl.MoveMode, rate: UInt16, colorTemperatureMinimumMireds: UInt16,
    colorTemperatureMaximumMireds: UInt16, optionsMask: ColorControl.Options = [],
    optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.moveColorTemperature,
      .init(
        moveMode: moveMode, rate: rate, colorTemperatureMinimumMireds: colorTemperatureMinimumMireds,
        colorTemperatureMaximumMireds: colorTemperatureMaximumMireds, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }

  /// Application Clusters § 3.2.8.22.
  /// - Parameters:
  ///   - transitionTime: tenths of a second.
  ///   - colorTemperatureMinimumMireds: mireds; 0: as low as the device can.
  ///   - colorTemperatureMaximumMireds: mireds; 0: as high as the device can.
  ///   - optionsMask: which options `optionsOverride` sets for this command alone.
  public func stepColorTemperature(
    stepMode: ColorControl.StepMode, stepSize: UInt16, transitionTime: UInt16 = 0,
    colorTemperatureMinimumMireds: UInt16, colorTemperatureMaximumMireds: UInt16,
    optionsMask: ColorControl.Options = [], optionsOverride: ColorControl.Options = []
  ) async throws(HomeError) {
    try await invoke(
      ColorControl.stepColorTemperature,
      .init(
        stepMode: stepMode, stepSize: stepSize, transitionTime: transitionTime,
        colorTemperatureMinimumMireds: colorTemperatureMinimumMireds,
        colorTemperatureMaximumMireds: colorTemperatureMaximumMireds, optionsMask: optionsMask,
        optionsOverride: optionsOverride))
  }
}
