public import MatterModel

/// Color Control (0x0300). The color of a light: by hue and saturation, by chromaticity, or by temperature.
/// Application Clusters § 3.2.
public enum ColorControl: Cluster {
  public static let id: ClusterID = 0x0300, revision: UInt16 = 7, name = "ColorControl"

  public static let hueAndSaturation = Feature(0, "HS", "HueAndSaturation")
  public static let enhancedHue = Feature(1, "EHUE", "EnhancedHue")
  public static let colorloop = Feature(2, "CL", "Colorloop")
  public static let xy = Feature(3, "XY", "XY")
  public static let colortemperature = Feature(4, "CT", "Colortemperature")
  public static let features: [Feature] = [hueAndSaturation, enhancedHue, colorloop, xy, colortemperature]

  // MARK: Attributes

  public static let currentHue = Attribute<Self, UInt8>(
    0x0000, "CurrentHue", initial: 0, quality: [.nonVolatile, .quieter], conformance: .features(hueAndSaturation.mask),
    constraint: .range(0...254))
  public static let currentSaturation = Attribute<Self, UInt8>(
    0x0001, "CurrentSaturation", initial: 0, quality: [.nonVolatile, .scene, .quieter],
    conformance: .features(hueAndSaturation.mask), constraint: .range(0...254))
  public static let remainingTime = Attribute<Self, UInt16>(
    0x0002, "RemainingTime", initial: 0, quality: .quieter, conformance: .optional)
  public static let currentX = Attribute<Self, UInt16>(
    0x0003, "CurrentX", initial: 24939, quality: [.nonVolatile, .scene, .quieter], conformance: .features(xy.mask),
    constraint: .range(0...65279))
  public static let currentY = Attribute<Self, UInt16>(
    0x0004, "CurrentY", initial: 24701, quality: [.nonVolatile, .scene, .quieter], conformance: .features(xy.mask),
    constraint: .range(0...65279))
  public static let driftCompensation = Attribute<Self, DriftCompensation>(
    0x0005, "DriftCompensation", conformance: .optional)
  public static let compensationText = Attribute<Self, String>(
    0x0006, "CompensationText", conformance: .optional, constraint: .length(0...254))
  public static let colorTemperatureMireds = Attribute<Self, UInt16>(
    0x0007, "ColorTemperatureMireds", initial: 250, quality: [.nonVolatile, .scene, .quieter],
    conformance: .features(colortemperature.mask))
  public static let colorMode = Attribute<Self, ColorMode>(
    0x0008, "ColorMode", initial: .currentXAndCurrentY, quality: .nonVolatile)
  public static let options = Attribute<Self, Options>(0x000F, "Options", initial: [], write: .operate)
  public static let numberOfPrimaries = Attribute<Self, Nullable<UInt8>>(
    0x0010, "NumberOfPrimaries", initial: .null, quality: .fixed, constraint: .range(0...6))
  public static let primary1X = Attribute<Self, UInt16>(
    0x0011, "Primary1X", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary1Y = Attribute<Self, UInt16>(
    0x0012, "Primary1Y", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary1Intensity = Attribute<Self, Nullable<UInt8>>(
    0x0013, "Primary1Intensity", initial: .null, quality: .fixed, conformance: .optional)
  public static let primary2X = Attribute<Self, UInt16>(
    0x0015, "Primary2X", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary2Y = Attribute<Self, UInt16>(
    0x0016, "Primary2Y", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary2Intensity = Attribute<Self, Nullable<UInt8>>(
    0x0017, "Primary2Intensity", initial: .null, quality: .fixed, conformance: .optional)
  public static let primary3X = Attribute<Self, UInt16>(
    0x0019, "Primary3X", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary3Y = Attribute<Self, UInt16>(
    0x001A, "Primary3Y", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary3Intensity = Attribute<Self, Nullable<UInt8>>(
    0x001B, "Primary3Intensity", initial: .null, quality: .fixed, conformance: .optional)
  public static let primary4X = Attribute<Self, UInt16>(
    0x0020, "Primary4X", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary4Y = Attribute<Self, UInt16>(
    0x0021, "Primary4Y", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary4Intensity = Attribute<Self, Nullable<UInt8>>(
    0x0022, "Primary4Intensity", initial: .null, quality: .fixed, conformance: .optional)
  public static let primary5X = Attribute<Self, UInt16>(
    0x0024, "Primary5X", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary5Y = Attribute<Self, UInt16>(
    0x0025, "Primary5Y", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary5Intensity = Attribute<Self, Nullable<UInt8>>(
    0x0026, "Primary5Intensity", initial: .null, quality: .fixed, conformance: .optional)
  public static let primary6X = Attribute<Self, UInt16>(
    0x0028, "Primary6X", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary6Y = Attribute<Self, UInt16>(
    0x0029, "Primary6Y", quality: .fixed, conformance: .optional, constraint: .range(0...65279))
  public static let primary6Intensity = Attribute<Self, Nullable<UInt8>>(
    0x002A, "Primary6Intensity", initial: .null, quality: .fixed, conformance: .optional)
  public static let whitePointX = Attribute<Self, UInt16>(
    0x0030, "WhitePointX", write: .manage, conformance: .optional, constraint: .range(0...65279))
  public static let whitePointY = Attribute<Self, UInt16>(
    0x0031, "WhitePointY", write: .manage, conformance: .optional, constraint: .range(0...65279))
  public static let colorPointRX = Attribute<Self, UInt16>(
    0x0032, "ColorPointRX", write: .manage, conformance: .optional, constraint: .range(0...65279))
  public static let colorPointRY = Attribute<Self, UInt16>(
    0x0033, "ColorPointRY", write: .manage, conformance: .optional, constraint: .range(0...65279))
  public static let colorPointRIntensity = Attribute<Self, Nullable<UInt8>>(
    0x0034, "ColorPointRIntensity", initial: .null, write: .manage, conformance: .optional, constraint: .range(0...254))
  public static let colorPointGX = Attribute<Self, UInt16>(
    0x0036, "ColorPointGX", write: .manage, conformance: .optional, constraint: .range(0...65279))
  public static let colorPointGY = Attribute<Self, UInt16>(
    0x0037, "ColorPointGY", write: .manage, conformance: .optional, constraint: .range(0...65279))
  public static let colorPointGIntensity = Attribute<Self, Nullable<UInt8>>(
    0x0038, "ColorPointGIntensity", initial: .null, write: .manage, conformance: .optional, constraint: .range(0...254))
  public static let colorPointBX = Attribute<Self, UInt16>(
    0x003A, "ColorPointBX", write: .manage, conformance: .optional, constraint: .range(0...65279))
  public static let colorPointBY = Attribute<Self, UInt16>(
    0x003B, "ColorPointBY", write: .manage, conformance: .optional, constraint: .range(0...65279))
  public static let colorPointBIntensity = Attribute<Self, Nullable<UInt8>>(
    0x003C, "ColorPointBIntensity", initial: .null, write: .manage, conformance: .optional, constraint: .range(0...254))
  public static let enhancedCurrentHue = Attribute<Self, UInt16>(
    0x4000, "EnhancedCurrentHue", quality: [.nonVolatile, .scene, .quieter], conformance: .features(enhancedHue.mask))
  public static let enhancedColorMode = Attribute<Self, EnhancedColorMode>(
    0x4001, "EnhancedColorMode", quality: [.nonVolatile, .scene])
  public static let colorLoopActive = Attribute<Self, UInt8>(
    0x4002, "ColorLoopActive", quality: [.nonVolatile, .scene], conformance: .features(colorloop.mask),
    constraint: .range(0...1))
  public static let colorLoopDirection = Attribute<Self, ColorLoopDirection>(
    0x4003, "ColorLoopDirection", quality: [.nonVolatile, .scene], conformance: .features(colorloop.mask))
  public static let colorLoopTime = Attribute<Self, UInt16>(
    0x4004, "ColorLoopTime", quality: [.nonVolatile, .scene], conformance: .features(colorloop.mask))
  public static let colorLoopStartEnhancedHue = Attribute<Self, UInt16>(
    0x4005, "ColorLoopStartEnhancedHue", conformance: .features(colorloop.mask))
  public static let colorLoopStoredEnhancedHue = Attribute<Self, UInt16>(
    0x4006, "ColorLoopStoredEnhancedHue", conformance: .features(colorloop.mask))
  public static let colorCapabilities = Attribute<Self, ColorCapabilities>(
    0x400A, "ColorCapabilities", constraint: .range(0...31))
  public static let colorTempPhysicalMinMireds = Attribute<Self, UInt16>(
    0x400B, "ColorTempPhysicalMinMireds", conformance: .features(colortemperature.mask), constraint: .range(1...65279))
  public static let colorTempPhysicalMaxMireds = Attribute<Self, UInt16>(
    0x400C, "ColorTempPhysicalMaxMireds", conformance: .features(colortemperature.mask), constraint: .range(0...65279))
  public static let coupleColorTempToLevelMinMireds = Attribute<Self, UInt16>(
    0x400D, "CoupleColorTempToLevelMinMireds", conformance: .optionalWith(colortemperature.mask))
  public static let startUpColorTemperatureMireds = Attribute<Self, Nullable<UInt16>>(
    0x4010, "StartUpColorTemperatureMireds", initial: .null, quality: .nonVolatile, write: .manage,
    conformance: .optionalWith(colortemperature.mask), constraint: .range(1...65279))

  // MARK: Commands

  public static let moveToHue = Command<Self, MoveToHueRequest, NoFields>(
    0x00, "MoveToHue", conformance: .features(hueAndSaturation.mask))
  public static let moveHue = Command<Self, MoveHueRequest, NoFields>(
    0x01, "MoveHue", conformance: .features(hueAndSaturation.mask))
  public static let stepHue = Command<Self, StepHueRequest, NoFields>(
    0x02, "StepHue", conformance: .features(hueAndSaturation.mask))
  public static let moveToSaturation = Command<Self, MoveToSaturationRequest, NoFields>(
    0x03, "MoveToSaturation", conformance: .features(hueAndSaturation.mask))
  public static let moveSaturation = Command<Self, MoveSaturationRequest, NoFields>(
    0x04, "MoveSaturation", conformance: .features(hueAndSaturation.mask))
  public static let stepSaturation = Command<Self, StepSaturationRequest, NoFields>(
    0x05, "StepSaturation", conformance: .features(hueAndSaturation.mask))
  public static let moveToHueAndSaturation = Command<Self, MoveToHueAndSaturationRequest, NoFields>(
    0x06, "MoveToHueAndSaturation", conformance: .features(hueAndSaturation.mask))
  public static let moveToColor = Command<Self, MoveToColorRequest, NoFields>(
    0x07, "MoveToColor", conformance: .features(xy.mask))
  public static let moveColor = Command<Self, MoveColorRequest, NoFields>(
    0x08, "MoveColor", conformance: .features(xy.mask))
  public static let stepColor = Command<Self, StepColorRequest, NoFields>(
    0x09, "StepColor", conformance: .features(xy.mask))
  public static let moveToColorTemperature = Command<Self, MoveToColorTemperatureRequest, NoFields>(
    0x0A, "MoveToColorTemperature", conformance: .features(colortemperature.mask))
  public static let enhancedMoveToHue = Command<Self, EnhancedMoveToHueRequest, NoFields>(
    0x40, "EnhancedMoveToHue", conformance: .features(enhancedHue.mask))
  public static let enhancedMoveHue = Command<Self, EnhancedMoveHueRequest, NoFields>(
    0x41, "EnhancedMoveHue", conformance: .features(enhancedHue.mask))
  public static let enhancedStepHue = Command<Self, EnhancedStepHueRequest, NoFields>(
    0x42, "EnhancedStepHue", conformance: .features(enhancedHue.mask))
  public static let enhancedMoveToHueAndSaturation = Command<Self, EnhancedMoveToHueAndSaturationRequest, NoFields>(
    0x43, "EnhancedMoveToHueAndSaturation", conformance: .features(enhancedHue.mask))
  public static let colorLoopSet = Command<Self, ColorLoopSetRequest, NoFields>(
    0x44, "ColorLoopSet", conformance: .features(colorloop.mask))
  public static let stopMoveStep = Command<Self, StopMoveStepRequest, NoFields>(
    0x47, "StopMoveStep", conformance: .features(hueAndSaturation.mask | xy.mask | colortemperature.mask))
  public static let moveColorTemperature = Command<Self, MoveColorTemperatureRequest, NoFields>(
    0x4B, "MoveColorTemperature", conformance: .features(colortemperature.mask))
  public static let stepColorTemperature = Command<Self, StepColorTemperatureRequest, NoFields>(
    0x4C, "StepColorTemperature", conformance: .features(colortemperature.mask))

  public static let elements: [any ClusterElement] = [
    currentHue, currentSaturation, remainingTime, currentX, currentY, driftCompensation, compensationText,
    colorTemperatureMireds, colorMode, options, numberOfPrimaries, primary1X, primary1Y, primary1Intensity, primary2X,
    primary2Y, primary2Intensity, primary3X, primary3Y, primary3Intensity, primary4X, primary4Y, primary4Intensity,
    primary5X, primary5Y, primary5Intensity, primary6X, primary6Y, primary6Intensity, whitePointX, whitePointY,
    colorPointRX, colorPointRY, colorPointRIntensity, colorPointGX, colorPointGY, colorPointGIntensity, colorPointBX,
    colorPointBY, colorPointBIntensity, enhancedCurrentHue, enhancedColorMode, colorLoopActive, colorLoopDirection,
    colorLoopTime, colorLoopStartEnhancedHue, colorLoopStoredEnhancedHue, colorCapabilities,
    colorTempPhysicalMinMireds, colorTempPhysicalMaxMireds, coupleColorTempToLevelMinMireds,
    startUpColorTemperatureMireds, moveToHue, moveHue, stepHue, moveToSaturation, moveSaturation, stepSaturation,
    moveToHueAndSaturation, moveToColor, moveColor, stepColor, moveToColorTemperature, enhancedMoveToHue,
    enhancedMoveHue, enhancedStepHue, enhancedMoveToHueAndSaturation, colorLoopSet, stopMoveStep, moveColorTemperature,
    stepColorTemperature,
  ]
}
