import MatterClusters
import MatterModel
import MatterProtocol

/// The color attributes in scenes. Application Clusters § 3.2.5.2.
enum ColorScenes {
  struct Recall: Sendable {
    var values: [AttributeID: UInt16]
    var duration: Duration
  }

  /// Returns the served attributes in the order of a scene's fields.
  static func attributes(_ context: ServerContext) -> [(attribute: AttributeID, isWide: Bool)] {
    [
      (ColorControl.currentX.id, true), (ColorControl.currentY.id, true), (ColorControl.enhancedCurrentHue.id, true),
      (ColorControl.currentSaturation.id, false), (ColorControl.colorLoopActive.id, false),
      (ColorControl.colorLoopDirection.id, false), (ColorControl.colorLoopTime.id, true),
      (ColorControl.colorTemperatureMireds.id, true), (ColorControl.enhancedColorMode.id, false),
    ].filter { context.info(ConcreteAttributePath(context.endpoint, ColorControl.id, $0.0)) != nil }
  }

  static func value(_ attribute: AttributeID, _ context: inout ServerContext) -> UInt16 {
    let path = ConcreteAttributePath(context.endpoint, ColorControl.id, attribute)
    return context.encoded(path).flatMap { try? UInt16(tlv: $0) } ?? 0
  }

  /// Returns the nearest valid value of the attribute (§ 1.4.7.4); none of these attributes is nullable.
  static func inRange(_ value: UInt16, of attribute: AttributeID, _ context: inout ServerContext) -> UInt16 {
    switch attribute {
    case ColorControl.currentX.id, ColorControl.currentY.id: min(value, ColorValues.maximumXY)
    case ColorControl.currentSaturation.id: min(value, UInt16(ColorValues.maximumSaturation))
    case ColorControl.colorLoopActive.id, ColorControl.colorLoopDirection.id: min(value, 1)
    case ColorControl.enhancedColorMode.id: min(value, 3)
    case ColorControl.colorTemperatureMireds.id: UInt16(ColorTemperature.clamp(Double(value), &context))
    default: value
    }
  }

  /// Changes to the color of a scene. Only the values of the scene's color mode are used.
  static func recall(_ scene: Recall, _ context: inout ServerContext) {
    let values = scene.values
    let mode = values[ColorControl.enhancedColorMode.id].map {
      ColorControl.EnhancedColorMode(rawValue: UInt8(clamping: $0))
    }
    let hue = values[ColorControl.enhancedCurrentHue.id]
    let saturation = values[ColorControl.currentSaturation.id]
    if values[ColorControl.colorLoopActive.id] == 1, context.has(ColorControl.colorloop) {
      let direction = values[ColorControl.colorLoopDirection.id].map {
        ColorControl.ColorLoopDirection(rawValue: UInt8(clamping: $0))
      }
      ColorLoop.prepare(direction, time: values[ColorControl.colorLoopTime.id], &context)
      ColorLoop.activate(
        from: hue ?? context[ColorControl.colorLoopStartEnhancedHue], isScene: true, &context)
      if let saturation { move([(.saturation, saturation)], over: scene.duration, &context) }
      return
    }
    if ColorLoop.isActive(&context) { ColorLoop.deactivate(&context) }
    guard let target = mode ?? inferredMode(of: values), ColorModes.isServed(target, context) else { return }
    ColorModes.enter(target, isScene: true, &context)
    let moves: [(ColorAxis, UInt16?)] =
      switch target {
      case .currentXAndCurrentY: [(.x, values[ColorControl.currentX.id]), (.y, values[ColorControl.currentY.id])]
      case .colorTemperatureMireds: [(.temperature, values[ColorControl.colorTemperatureMireds.id])]
      default: [(.enhancedHue, hue), (.saturation, saturation)]
      }
    move(moves.compactMap { axis, value in value.map { (axis, $0) } }, over: scene.duration, &context)
  }

  /// Infers the color mode of a scene that does not contain one.
  private static func inferredMode(of values: [AttributeID: UInt16]) -> ColorControl.EnhancedColorMode? {
    if values[ColorControl.currentX.id] != nil { return .currentXAndCurrentY }
    if values[ColorControl.colorTemperatureMireds.id] != nil { return .colorTemperatureMireds }
    if values[ColorControl.enhancedCurrentHue.id] != nil { return .enhancedCurrentHueAndCurrentSaturation }
    return values[ColorControl.currentSaturation.id] == nil ? nil : .currentHueAndCurrentSaturation
  }

  private static func move(
    _ targets: [(axis: ColorAxis, value: UInt16)], over duration: Duration, _ context: inout ServerContext
  ) {
    let tracks = targets.map { axis, value in
      let track =
        axis == .enhancedHue
        ? HueCommands.track(axis, to: Double(value), .shortest, over: 0, &context)
        : ColorCommands.track(axis, to: Double(value), over: 0, &context)
      return ColorTrack(axis: axis, from: track.from, distance: track.distance, duration: duration)
    }
    ColorTransition.start(tracks, isScene: true, &context)
  }
}
