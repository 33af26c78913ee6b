import MatterClusters
public import MatterModel
import MatterProtocol

/// The Color Control server: all color models, all commands, color loops, and the coupling with Level Control.
/// Application Clusters § 3.2.
public enum ColorControlServer {
  /// Recalls the color of a scene.
  static let recalled = ServerHook<ColorControl, ColorScenes.Recall>("recalled")
  /// The level changed, and the coupled color temperature has to follow.
  static let levelChanged = ServerHook<ColorControl, UInt8>("levelChanged")

  /// The features of an extended color light: all of them.
  public static let everything: [Feature] = [
    ColorControl.hueAndSaturation, ColorControl.enhancedHue, ColorControl.colorloop, ColorControl.xy,
    ColorControl.colortemperature,
  ]

  /// Returns the server.
  /// - Parameters:
  ///   - features: `colortemperature` for color temperature lights.
  ///   - mireds: The factory default: white of this color temperature, clamped to `range`.
  ///   - range: The supported color temperatures in mireds, 1 to 65279.
  public static func make(
    features: [Feature] = everything, mireds: UInt16 = 250, range: ClosedRange<UInt16> = 140...500
  ) -> ClusterServer {
    let mask = features.reduce(0) { $0 | $1.mask }
    var server = ClusterServer(ColorControl.self, features: features)
      .initial(ColorControl.remainingTime, 0)
      .initial(ColorControl.colorCapabilities, .init(rawValue: UInt16(truncatingIfNeeded: mask & 0x1F)))
      .onTimer(.tick) { context in ColorTransition.advance(&context) }
      .hook(recalled) { context, scene in ColorScenes.recall(scene, &context) }
      .onStart { context in start(&context) }
    let white = min(max(mireds, range.lowerBound), range.upperBound)
    server = colors(of: server, mask, white: white)
    if mask & ColorControl.colortemperature.mask != 0 { server = temperature(server, range) }
    if mask & ColorControl.colorloop.mask != 0 { server = loop(server) }
    return ColorCommands.served(by: primaries(of: server, mask))
  }

  // MARK: Parts

  /// All color models start with the same white. The initial mode is the one that represents it best.
  private static func colors(of server: ClusterServer, _ mask: UInt32, white: UInt16) -> ClusterServer {
    var server = server
    let color = Chromaticity(mireds: Double(white))
    let polar = HueAndSaturation(color)
    let hue = UInt16((polar.hue * 65535).rounded())
    var mode = ColorControl.EnhancedColorMode.currentHueAndCurrentSaturation
    if mask & ColorControl.hueAndSaturation.mask != 0 {
      server = server.initial(ColorControl.currentHue, ColorValues.hue(enhanced: hue))
        .initial(ColorControl.currentSaturation, UInt8((polar.saturation * 254).rounded()))
        .onChange(ColorControl.currentHue) { context in handleManualChange(.currentHueAndCurrentSaturation, &context) }
        .onChange(ColorControl.currentSaturation) { context in
          handleManualChange(.currentHueAndCurrentSaturation, &context)
        }
    }
    if mask & ColorControl.enhancedHue.mask != 0 {
      server = server.initial(ColorControl.enhancedCurrentHue, hue)
        .onChange(ColorControl.enhancedCurrentHue) { context in
          handleManualChange(.enhancedCurrentHueAndCurrentSaturation, &context)
        }
    }
    if mask & ColorControl.xy.mask != 0 {
      mode = .currentXAndCurrentY
      server = server.initial(ColorControl.currentX, UInt16((color.x * 65536).rounded()))
        .initial(ColorControl.currentY, UInt16((color.y * 65536).rounded()))
        .onChange(ColorControl.currentX) { context in handleManualChange(.currentXAndCurrentY, &context) }
        .onChange(ColorControl.currentY) { context in handleManualChange(.currentXAndCurrentY, &context) }
    }
    if mask & ColorControl.colortemperature.mask != 0 {
      mode = .colorTemperatureMireds
      server = server.initial(ColorControl.colorTemperatureMireds, white)
        .onChange(ColorControl.colorTemperatureMireds) { context in
          handleManualChange(.colorTemperatureMireds, &context)
        }
    }
    return server.initial(ColorControl.enhancedColorMode, mode)
      .initial(ColorControl.colorMode, ColorModes.base(mode))
  }

  private static func temperature(_ server: ClusterServer, _ range: ClosedRange<UInt16>) -> ClusterServer {
    server.initial(ColorControl.colorTempPhysicalMinMireds, range.lowerBound)
      .initial(ColorControl.colorTempPhysicalMaxMireds, range.upperBound)
      .limiting(
        ColorControl.colorTemperatureMireds, from: ColorControl.colorTempPhysicalMinMireds,
        to: ColorControl.colorTempPhysicalMaxMireds
      )
      .limiting(
        ColorControl.coupleColorTempToLevelMinMireds, from: ColorControl.colorTempPhysicalMinMireds,
        to: ColorControl.colorTempPhysicalMaxMireds
      )
      .limiting(ColorControl.colorTempPhysicalMinMireds, to: ColorControl.colorTempPhysicalMaxMireds)
      .limiting(ColorControl.colorTempPhysicalMaxMireds, from: ColorControl.colorTempPhysicalMinMireds)
      .initial(ColorControl.coupleColorTempToLevelMinMireds, range.lowerBound)
      .initial(ColorControl.startUpColorTemperatureMireds, .null)
      .onTimer(.deferredReport) { context in ColorValues.reportDeferred(&context) }
      .hook(levelChanged) { context, level in
        guard context[ColorControl.colorMode] == .colorTemperatureMireds, !ColorLoop.isActive(&context) else { return }
        ColorTransition.stop([.temperature], &context)
        let mireds = ColorTemperature.coupled(to: level, &context)
        if mireds != context[ColorControl.colorTemperatureMireds] {
          context.call(ScenesManagementServer.attributeChanged, ())
        }
        ColorValues.setTemperature(mireds, &context)
      }
  }

  private static func loop(_ server: ClusterServer) -> ClusterServer {
    server.initial(ColorControl.colorLoopActive, 0)
      .initial(ColorControl.colorLoopDirection, .decrement)
      .initial(ColorControl.colorLoopTime, 25)
      .initial(ColorControl.colorLoopStartEnhancedHue, 0x2300).storing(ColorControl.colorLoopStartEnhancedHue)
      .initial(ColorControl.colorLoopStoredEnhancedHue, 0).storing(ColorControl.colorLoopStoredEnhancedHue)
  }

  /// Sets the primaries to those of sRGB, with their shares of its white point. A light without color has none.
  private static func primaries(of server: ClusterServer, _ mask: UInt32) -> ClusterServer {
    guard mask & (ColorControl.xy.mask | ColorControl.hueAndSaturation.mask) != 0 else {
      return server.initial(ColorControl.numberOfPrimaries, .value(0))
    }
    return server.initial(ColorControl.numberOfPrimaries, .value(3))
      .initial(ColorControl.primary1X, 41943).initial(ColorControl.primary1Y, 21627)
      .initial(ColorControl.primary1Intensity, .value(76))
      .initial(ColorControl.primary2X, 19661).initial(ColorControl.primary2Y, 39322)
      .initial(ColorControl.primary2Intensity, .value(254))
      .initial(ColorControl.primary3X, 9830).initial(ColorControl.primary3Y, 3932)
      .initial(ColorControl.primary3Intensity, .value(26))
  }

  // MARK: Start and manual changes

  /// Makes a color that was set at the device itself the current one.
  private static func handleManualChange(_ mode: ColorControl.EnhancedColorMode, _ context: inout ServerContext) {
    guard context[scratch: ColorValues.OwnChange.self] == nil else { return }
    if ColorLoop.isActive(&context) { ColorLoop.deactivate(&context) }
    ColorTransition.stop(ColorAxis.allCases, &context)
    ColorModes.setMode(mode, &context)
    alignHues(&context)
    context.call(ScenesManagementServer.attributeChanged, ())
  }

  private static func start(_ context: inout ServerContext) {
    let mode = context[ColorControl.enhancedColorMode]
    // A definition file may set ColorMode alone, without EnhancedColorMode.
    if ColorModes.base(mode) != context[ColorControl.colorMode] {
      let given = ColorControl.EnhancedColorMode(rawValue: context[ColorControl.colorMode].rawValue)
      ColorModes.setMode(ColorModes.isServed(given, context) ? given : mode, &context)
    }
    alignHues(&context)
    if context.has(ColorControl.colortemperature) {
      let startUp = context[ColorControl.startUpColorTemperatureMireds].wrapped
      let mireds = startUp ?? context[ColorControl.colorTemperatureMireds]
      ColorValues.set(.temperature, ColorTemperature.clamp(Double(mireds), &context), &context)
      if startUp != nil {
        if ColorLoop.isActive(&context) { ColorLoop.deactivate(&context) }
        ColorModes.setMode(.colorTemperatureMireds, &context)
      }
    }
    if ColorLoop.isActive(&context) { ColorLoop.activate(from: nil, isScene: true, &context) }
  }

  /// Derives CurrentHue from EnhancedCurrentHue, or the reverse, depending on the mode.
  private static func alignHues(_ context: inout ServerContext) {
    guard context.has(ColorControl.enhancedHue) else { return }
    let (hue, enhanced) = (context[ColorControl.currentHue], context[ColorControl.enhancedCurrentHue])
    guard hue != ColorValues.hue(enhanced: enhanced) else { return }
    let isPlain = context[ColorControl.enhancedColorMode] == .currentHueAndCurrentSaturation
    ColorValues.set(isPlain ? .hue : .enhancedHue, Double(isPlain ? UInt16(hue) : enhanced), &context)
  }
}
