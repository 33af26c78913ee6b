import MatterClusters
import MatterModel
import MatterProtocol

/// The color mode, and conversion between the color models. Application Clusters § 3.2.8.2.
enum ColorModes {
  typealias Mode = ColorControl.EnhancedColorMode

  /// Switches to a color mode. Its attributes start with the current color or the nearest one that they can represent;
  /// the attributes of the other modes keep their values.
  static func enter(_ mode: Mode, isScene: Bool = false, _ context: inout ServerContext) {
    let old = context[ColorControl.enhancedColorMode]
    if base(old) != base(mode) {
      ColorTransition.stop(ColorAxis.allCases, &context)
      convert(from: base(old), to: base(mode), &context)
    }
    setMode(mode, &context)
    if old != mode && !isScene { context.call(ScenesManagementServer.attributeChanged, ()) }
  }

  static func setMode(_ mode: Mode, _ context: inout ServerContext) {
    context[ColorControl.enhancedColorMode] = mode
    context[ColorControl.colorMode] = base(mode)
  }

  /// Returns the ColorMode for an EnhancedColorMode, for clients without support for the enhanced hue (§ 3.2.7.13).
  static func base(_ mode: Mode) -> ColorControl.ColorMode {
    mode == .enhancedCurrentHueAndCurrentSaturation
      ? .currentHueAndCurrentSaturation : ColorControl.ColorMode(rawValue: mode.rawValue)
  }

  static func isServed(_ mode: Mode, _ context: ServerContext) -> Bool {
    switch mode {
    case .currentHueAndCurrentSaturation: context.has(ColorControl.hueAndSaturation)
    case .currentXAndCurrentY: context.has(ColorControl.xy)
    case .colorTemperatureMireds: context.has(ColorControl.colortemperature)
    case .enhancedCurrentHueAndCurrentSaturation: context.has(ColorControl.enhancedHue)
    default: false
    }
  }

  // MARK: Conversion

  private static func convert(
    from old: ColorControl.ColorMode, to new: ColorControl.ColorMode, _ context: inout ServerContext
  ) {
    let color = chromaticity(old, &context)
    switch new {
    case .currentHueAndCurrentSaturation:
      let polar = HueAndSaturation(color)
      // White has no hue; the previous one is kept.
      if polar.saturation > 0 { ColorValues.set(.enhancedHue, polar.hue * 65536, &context) }
      ColorValues.set(.saturation, polar.saturation * Double(ColorValues.maximumSaturation), &context)
    case .currentXAndCurrentY:
      ColorValues.set(.x, min(color.x * 65536, Double(ColorValues.maximumXY)), &context)
      ColorValues.set(.y, min(color.y * 65536, Double(ColorValues.maximumXY)), &context)
    case .colorTemperatureMireds:
      ColorValues.set(.temperature, ColorTemperature.clamp(color.mireds, &context), &context)
    default: break
    }
  }

  private static func chromaticity(_ mode: ColorControl.ColorMode, _ context: inout ServerContext) -> Chromaticity {
    switch mode {
    case .currentXAndCurrentY:
      return Chromaticity(
        x: Double(context[ColorControl.currentX]) / 65536, y: Double(context[ColorControl.currentY]) / 65536)
    case .colorTemperatureMireds:
      return Chromaticity(mireds: Double(context[ColorControl.colorTemperatureMireds]))
    default:
      let hue =
        context.has(ColorControl.enhancedHue)
        ? Double(context[ColorControl.enhancedCurrentHue]) / 65536 : Double(context[ColorControl.currentHue]) / 255
      return Chromaticity(
        HueAndSaturation(hue: hue, saturation: Double(context[ColorControl.currentSaturation]) / 254))
    }
  }
}

/// The color temperature range of a light. Application Clusters § 3.2.7.20.
enum ColorTemperature {
  /// The range in mireds; never empty, whatever values are stored or configured.
  static func range(_ context: inout ServerContext) -> ClosedRange<UInt16> {
    let least = max(context[ColorControl.colorTempPhysicalMinMireds], 1)
    return least...max(context[ColorControl.colorTempPhysicalMaxMireds], least)
  }

  static func clamp(_ mireds: Double, _ context: inout ServerContext) -> Double {
    let range = range(&context)
    return min(max(mireds, Double(range.lowerBound)), Double(range.upperBound))
  }

  /// Returns the color temperature for a level: the lower the warmer, as with an incandescent lamp (§ 3.2.5.1).
  static func coupled(to level: UInt8, _ context: inout ServerContext) -> UInt16 {
    let range = range(&context)
    let coldest = min(
      max(context.value(ColorControl.coupleColorTempToLevelMinMireds) ?? range.lowerBound, range.lowerBound),
      range.upperBound)
    let warmth = Int(range.upperBound - coldest) * Int(254 - min(max(level, 1), 254)) / 253
    return coldest + UInt16(clamping: warmth)
  }
}
