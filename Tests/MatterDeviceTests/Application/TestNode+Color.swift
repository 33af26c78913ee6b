import MatterClusters
import MatterModel
import Testing

@testable import MatterDevice

extension TestNode {
  /// An extended color light that is on, or one with less features.
  static func colorful(
    _ features: [Feature] = ColorControlServer.everything, isOn: Bool = true, mireds: UInt16 = 250
  ) -> TestNode {
    TestNode(
      dimmableLight(onOff: OnOffServer.make(isOn: isOn)) + [ColorControlServer.make(features: features, mireds: mireds)]
    )
  }

  /// A color temperature light that is on.
  static func white(_ mireds: UInt16 = 250) -> TestNode { colorful([ColorControl.colortemperature], mireds: mireds) }

  /// Restarts the light, which is on after the restart.
  func restartedInColor() -> TestNode {
    TestNode(Self.dimmableLight(onOff: OnOffServer.make(isOn: true)) + [ColorControlServer.make()], stored: stored)
  }

  func moveToHue(
    _ hue: UInt8, _ direction: ColorControl.Direction = .shortest, _ time: UInt16 = 0, mask: ColorControl.Options = [],
    override: ColorControl.Options = []
  ) throws(StatusError) {
    try invoke(
      ColorControl.moveToHue,
      .init(hue: hue, direction: direction, transitionTime: time, optionsMask: mask, optionsOverride: override))
  }

  func moveHue(_ mode: ColorControl.MoveMode, _ rate: UInt8) throws(StatusError) {
    try invoke(ColorControl.moveHue, .init(moveMode: mode, rate: rate, optionsMask: [], optionsOverride: []))
  }

  func stepHue(_ mode: ColorControl.StepMode, _ size: UInt8, _ time: UInt8 = 0) throws(StatusError) {
    try invoke(
      ColorControl.stepHue,
      .init(stepMode: mode, stepSize: size, transitionTime: time, optionsMask: [], optionsOverride: []))
  }

  func moveToSaturation(_ saturation: UInt8, _ time: UInt16 = 0) throws(StatusError) {
    try invoke(
      ColorControl.moveToSaturation,
      .init(saturation: saturation, transitionTime: time, optionsMask: [], optionsOverride: []))
  }

  func moveSaturation(_ mode: ColorControl.MoveMode, _ rate: UInt8) throws(StatusError) {
    try invoke(ColorControl.moveSaturation, .init(moveMode: mode, rate: rate, optionsMask: [], optionsOverride: []))
  }

  func stepSaturation(_ mode: ColorControl.StepMode, _ size: UInt8, _ time: UInt8 = 0) throws(StatusError) {
    try invoke(
      ColorControl.stepSaturation,
      .init(stepMode: mode, stepSize: size, transitionTime: time, optionsMask: [], optionsOverride: []))
  }

  func moveToHueAndSaturation(_ hue: UInt8, _ saturation: UInt8, _ time: UInt16 = 0) throws(StatusError) {
    try invoke(
      ColorControl.moveToHueAndSaturation,
      .init(hue: hue, saturation: saturation, transitionTime: time, optionsMask: [], optionsOverride: []))
  }

  func moveToColor(
    _ x: UInt16, _ y: UInt16, _ time: UInt16 = 0, mask: ColorControl.Options = [], override: ColorControl.Options = []
  ) throws(StatusError) {
    try invoke(
      ColorControl.moveToColor,
      .init(colorX: x, colorY: y, transitionTime: time, optionsMask: mask, optionsOverride: override))
  }

  func moveColor(_ x: Int16, _ y: Int16) throws(StatusError) {
    try invoke(ColorControl.moveColor, .init(rateX: x, rateY: y, optionsMask: [], optionsOverride: []))
  }

  func stepColor(_ x: Int16, _ y: Int16, _ time: UInt16 = 0) throws(StatusError) {
    try invoke(
      ColorControl.stepColor, .init(stepX: x, stepY: y, transitionTime: time, optionsMask: [], optionsOverride: []))
  }

  func moveToTemperature(_ mireds: UInt16, _ time: UInt16 = 0) throws(StatusError) {
    try invoke(
      ColorControl.moveToColorTemperature,
      .init(colorTemperatureMireds: mireds, transitionTime: time, optionsMask: [], optionsOverride: []))
  }

  func moveTemperature(
    _ mode: ColorControl.MoveMode, _ rate: UInt16, within range: (UInt16, UInt16) = (0, 0)
  ) throws(StatusError) {
    try invoke(
      ColorControl.moveColorTemperature,
      .init(
        moveMode: mode, rate: rate, colorTemperatureMinimumMireds: range.0, colorTemperatureMaximumMireds: range.1,
        optionsMask: [], optionsOverride: []))
  }

  func stepTemperature(
    _ mode: ColorControl.StepMode, _ size: UInt16, _ time: UInt16 = 0, within range: (UInt16, UInt16) = (0, 0)
  ) throws(StatusError) {
    try invoke(
      ColorControl.stepColorTemperature,
      .init(
        stepMode: mode, stepSize: size, transitionTime: time, colorTemperatureMinimumMireds: range.0,
        colorTemperatureMaximumMireds: range.1, optionsMask: [], optionsOverride: []))
  }

  func enhancedMoveToHue(
    _ hue: UInt16, _ direction: ColorControl.Direction = .shortest, _ time: UInt16 = 0
  ) throws(StatusError) {
    try invoke(
      ColorControl.enhancedMoveToHue,
      .init(enhancedHue: hue, direction: direction, transitionTime: time, optionsMask: [], optionsOverride: []))
  }

  func enhancedMoveHue(_ mode: ColorControl.MoveMode, _ rate: UInt16) throws(StatusError) {
    try invoke(ColorControl.enhancedMoveHue, .init(moveMode: mode, rate: rate, optionsMask: [], optionsOverride: []))
  }

  func enhancedStepHue(_ mode: ColorControl.StepMode, _ size: UInt16, _ time: UInt16 = 0) throws(StatusError) {
    try invoke(
      ColorControl.enhancedStepHue,
      .init(stepMode: mode, stepSize: size, transitionTime: time, optionsMask: [], optionsOverride: []))
  }

  func loop(
    _ flags: ColorControl.UpdateFlags, _ action: ColorControl.ColorLoopAction = .deactivate,
    _ direction: ColorControl.ColorLoopDirection = .decrement, time: UInt16 = 0, start: UInt16 = 0
  ) throws(StatusError) {
    try invoke(
      ColorControl.colorLoopSet,
      .init(
        updateFlags: flags, action: action, direction: direction, time: time, startHue: start, optionsMask: [],
        optionsOverride: []))
  }

  func stopColor() throws(StatusError) {
    try invoke(ColorControl.stopMoveStep, .init(optionsMask: [], optionsOverride: []))
  }

  var hue: UInt8 { self[ColorControl.currentHue] }
  var enhancedHue: UInt16 { self[ColorControl.enhancedCurrentHue] }
  var saturation: UInt8 { self[ColorControl.currentSaturation] }
  var xy: [UInt16] { [self[ColorControl.currentX], self[ColorControl.currentY]] }
  var mireds: UInt16 { self[ColorControl.colorTemperatureMireds] }
  var colorTime: UInt16 { self[ColorControl.remainingTime] }
  /// ColorMode and EnhancedColorMode.
  var modes: [UInt8] { [self[ColorControl.colorMode].rawValue, self[ColorControl.enhancedColorMode].rawValue] }
}
