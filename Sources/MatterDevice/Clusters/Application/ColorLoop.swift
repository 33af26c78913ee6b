import MatterClusters
import MatterModel
import MatterProtocol

/// The color loop: a transition of the hue without end. Application Clusters § 3.2.8.19.
///
/// ColorLoopSet, a recalled scene or a change at the device ends it; no other command affects it.
enum ColorLoop {
  private static let circle: Double = 65536

  static func isActive(_ context: inout ServerContext) -> Bool {
    context.has(ColorControl.colorloop) && context[ColorControl.colorLoopActive] == 1
  }

  static func set(
    _ context: inout ServerContext, _ request: ColorControl.ColorLoopSetRequest
  ) throws(StatusError) {
    guard request.action.isKnown, request.direction.isKnown else { throw StatusError(.invalidCommand) }
    guard ColorCommands.mayExecute(request.optionsMask, request.optionsOverride, &context) else { return }
    let flags = request.updateFlags
    if flags.contains(.updateDirection) { update(ColorControl.colorLoopDirection, request.direction, &context) }
    if flags.contains(.updateTime) { update(ColorControl.colorLoopTime, request.time, &context) }
    if flags.contains(.updateStartHue) { context[ColorControl.colorLoopStartEnhancedHue] = request.startHue }
    let isChanged = !flags.isDisjoint(with: [.updateDirection, .updateTime])
    guard flags.contains(.updateAction) else {
      if isChanged && isActive(&context) { updateTrack(&context) }
      return
    }
    switch request.action {
    case .deactivate:
      guard isActive(&context) else { return }
      let stored = context[ColorControl.colorLoopStoredEnhancedHue]
      deactivate(&context)
      ColorValues.set(.enhancedHue, Double(stored), &context)
      context.call(ScenesManagementServer.attributeChanged, ())
    case .activateFromColorLoopStartEnhancedHue:
      activate(from: context[ColorControl.colorLoopStartEnhancedHue], &context)
    default: activate(from: nil, &context)
    }
  }

  /// - Parameter start: The enhanced hue to start from; nil for the current one.
  static func activate(from start: UInt16?, isScene: Bool = false, _ context: inout ServerContext) {
    ColorModes.enter(.enhancedCurrentHueAndCurrentSaturation, isScene: isScene, &context)
    if !isActive(&context) {
      // The hue to restore when the loop is deactivated.
      context[ColorControl.colorLoopStoredEnhancedHue] = context[ColorControl.enhancedCurrentHue]
      setActive(1, &context)
    }
    let from = start.map { Double($0) } ?? ColorValues.value(.enhancedHue, &context)
    ColorValues.set(.enhancedHue, from, &context)
    ColorTransition.start([track(from: from, &context)], isScene: isScene, &context)
  }

  /// Ends the loop and keeps the current hue.
  static func deactivate(_ context: inout ServerContext) {
    setActive(0, &context)
    ColorTransition.stop([.enhancedHue], &context)
  }

  /// Continues from the current hue with the new direction or time.
  private static func updateTrack(_ context: inout ServerContext) {
    guard let old = ColorTransition.track(.enhancedHue, context) else { return }
    var new = track(from: old.position(at: context.now), &context)
    new.start = old.lastStep(at: context.now)
    ColorTransition.replace(new, &context)
  }

  private static func track(from hue: Double, _ context: inout ServerContext) -> ColorTrack {
    let seconds = context[ColorControl.colorLoopTime]
    let isUp = context[ColorControl.colorLoopDirection] == .increment
    // A loop with a time of 0 does not move.
    let distance = seconds == 0 ? 0 : isUp ? circle : -circle
    return ColorTrack(
      axis: .enhancedHue, from: hue, distance: distance, duration: .seconds(Int64(max(seconds, 1))), isEndless: true)
  }

  // MARK: Attributes

  /// Sets direction and time of the loop that a scene is about to start.
  static func prepare(_ direction: ColorControl.ColorLoopDirection?, time: UInt16?, _ context: inout ServerContext) {
    context[scratch: ColorValues.OwnChange.self] = .init()
    if let direction { context[ColorControl.colorLoopDirection] = direction }
    if let time { context[ColorControl.colorLoopTime] = time }
    context[scratch: ColorValues.OwnChange.self] = nil
  }

  private static func setActive(_ value: UInt8, _ context: inout ServerContext) {
    context[scratch: ColorValues.OwnChange.self] = .init()
    context[ColorControl.colorLoopActive] = value
    context[scratch: ColorValues.OwnChange.self] = nil
  }

  private static func update<Value: ModelValue & Equatable>(
    _ attribute: Attribute<ColorControl, Value>, _ value: Value, _ context: inout ServerContext
  ) {
    guard context[attribute] != value else { return }
    context[scratch: ColorValues.OwnChange.self] = .init()
    context[attribute] = value
    context[scratch: ColorValues.OwnChange.self] = nil
    context.call(ScenesManagementServer.attributeChanged, ())
  }
}
