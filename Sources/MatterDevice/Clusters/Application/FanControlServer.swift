public import MatterClusters
public import MatterModel

/// The Fan Control server: modes, percentages and speeds that agree with each other. Application Clusters § 4.4.
public enum FanControlServer {
  /// Sets the percentage at which the fan runs in the mode Auto.
  public static let automatic = ServerHook<FanControl, UInt8>("automatic")
  /// Reports that the device was switched on or off.
  static let switched = ServerHook<FanControl, Void>("switched")

  /// Returns the server.
  /// - Parameters:
  ///   - features: The features beside `multiSpeed`.
  ///   - speeds: The number of speeds, at least 3.
  public static func make(features: [Feature], speeds: UInt8) -> ClusterServer {
    let hasAuto = features.contains(FanControl.auto)
    var server = ClusterServer(FanControl.self, features: [FanControl.multiSpeed] + features)
      .initial(FanControl.fanModeSequence, hasAuto ? .offLowMedHighAuto : .offLowMedHigh)
      .initial(FanControl.speedMax, speeds)
      .limiting(
        FanControl.fanModeSequence,
        to: hasAuto
          ? [.offLowMedHighAuto, .offLowHighAuto, .offHighAuto] : [.offLowMedHigh, .offLowHigh, .offHigh]
      )
      // Without a setting, the mode determines it. 0 is a setting: the fan is off.
      .initial(FanControl.percentSetting, .null)
      .initial(FanControl.speedSetting, .null)
      // Each of the modes Low, Medium and High has a speed of its own.
      .limiting(FanControl.speedMax, to: 3...100)
      .storing(FanControl.percentSetting)
      .storing(FanControl.speedSetting)
      .deriving(FanControl.percentCurrent)
      .deriving(FanControl.speedCurrent)
      .limiting(FanControl.speedSetting, to: FanControl.speedMax)
      .limiting(FanControl.fanMode, by: FanControl.fanModeSequence) { sequence in
        [.off, .on, .smart] + modes(of: sequence) + (hasAuto ? [.auto] : [])
      }
      .onWrite(FanControl.fanMode) { _, mode throws(StatusError) in mode = supported(mode, hasAuto: hasAuto) }
      // Null is the value in the mode Auto, and can't be written (§ 4.4.6.3, § 4.4.6.6).
      .onWrite(FanControl.percentSetting) { _, percent throws(StatusError) in
        if percent == .null { throw StatusError(.invalidInState) }
      }
      .onWrite(FanControl.speedSetting) { _, speed throws(StatusError) in
        if speed == .null { throw StatusError(.invalidInState) }
      }
      .onChange(FanControl.fanMode, modeChanged)
      .onChange(FanControl.percentSetting, percentChanged)
      .onChange(FanControl.speedSetting, speedChanged)
      .hook(switched) { context, _ in updateCurrent(&context) }
      .hook(automatic) { context, percent in
        context[scratch: Automatic.self] = Automatic(percent: min(100, percent))
        updateCurrent(&context)
      }
      .onStart { context in
        if context[FanControl.percentSetting] != .null {
          percentChanged(&context)
        } else if context[FanControl.speedSetting] != .null {
          speedChanged(&context)
        } else {
          modeChanged(&context)
        }
      }
    if features.contains(FanControl.stepFeature) { server = server.on(FanControl.step, step) }
    if features.contains(FanControl.rocking) {
      server =
        server.initial(FanControl.rockSupport, [.rockLeftRight, .rockUpDown])
        .storing(FanControl.rockSetting)
        .limiting(FanControl.rockSetting, toBitsOf: FanControl.rockSupport)
    }
    if features.contains(FanControl.wind) {
      server =
        server.initial(FanControl.windSupport, [.sleepWind, .naturalWind])
        .storing(FanControl.windSetting)
        .limiting(FanControl.windSetting, toBitsOf: FanControl.windSupport)
    }
    if features.contains(FanControl.airflowDirectionFeature) { server = server.storing(FanControl.airflowDirection) }
    return server
  }

  // MARK: Agreement of the attributes

  /// Present while the server itself changes modes and settings.
  private struct Adjusting: Sendable {}
  private struct Automatic: Sendable { var percent: UInt8 = 30 }

  /// Returns the mode in place of the deprecated modes On and Smart (§ 4.4.6.1).
  private static func supported(_ mode: FanControl.FanMode, hasAuto: Bool) -> FanControl.FanMode {
    mode == .on || (mode == .smart && !hasAuto) ? .high : mode == .smart ? .auto : mode
  }

  /// Returns the modes with a speed, slowest first (§ 4.4.6.1).
  private static func modes(of sequence: FanControl.FanModeSequence) -> [FanControl.FanMode] {
    switch sequence {
    case .offLowHigh, .offLowHighAuto: [.low, .high]
    case .offHigh, .offHighAuto: [.high]
    default: [.low, .medium, .high]
    }
  }

  private static func modeChanged(_ context: inout ServerContext) {
    let mode = supported(context[FanControl.fanMode], hasAuto: context.has(FanControl.auto))
    let speed = mode == .auto ? nil : speeds(&context).first { $0.mode == mode }?.highest ?? 0
    let maximum = context[FanControl.speedMax]
    adjust(mode, speed, speed.map { percent($0, maximum) }, &context)
  }

  private static func percentChanged(_ context: inout ServerContext) {
    guard let percent = context[FanControl.percentSetting].wrapped else { return }
    let maximum = context[FanControl.speedMax]
    let speed = speed(percent, maximum)
    adjust(mode(speed, &context), speed, percent, &context)
  }

  private static func speedChanged(_ context: inout ServerContext) {
    guard let speed = context[FanControl.speedSetting].wrapped else { return }
    let maximum = context[FanControl.speedMax]
    adjust(mode(speed, &context), speed, percent(speed, maximum), &context)
  }

  /// Sets mode, speed and percentage, which are null in the mode Auto.
  private static func adjust(
    _ mode: FanControl.FanMode, _ speed: UInt8?, _ percent: UInt8?, _ context: inout ServerContext
  ) {
    guard context[scratch: Adjusting.self] == nil else { return }
    context[scratch: Adjusting.self] = Adjusting()
    context[FanControl.fanMode] = mode
    context[FanControl.speedSetting] = Nullable(speed)
    context[FanControl.percentSetting] = Nullable(percent)
    context[scratch: Adjusting.self] = nil
    updateCurrent(&context)
    context.call(ThermostatServer.switched, ())
  }

  /// Applies the setting to PercentCurrent and SpeedCurrent.
  private static func updateCurrent(_ context: inout ServerContext) {
    let isOff = context.value(OnOff.onOff) == false
    let automatic = context[scratch: Automatic.self, default: Automatic()].percent
    let percent = isOff ? 0 : context[FanControl.percentSetting].wrapped ?? automatic
    context[FanControl.percentCurrent] = percent
    context[FanControl.speedCurrent] = speed(percent, context[FanControl.speedMax])
    context.call(FilterServer.hepaAirflow, percent)
    context.call(FilterServer.carbonAirflow, percent)
  }

  /// Returns the modes with their highest speeds, which are equally far apart.
  private static func speeds(_ context: inout ServerContext) -> [(mode: FanControl.FanMode, highest: UInt8)] {
    let (modes, maximum) = (modes(of: context[FanControl.fanModeSequence]), Int(context[FanControl.speedMax]))
    return modes.enumerated().map { ($1, max(1, UInt8(clamping: maximum * ($0 + 1) / modes.count))) }
  }

  private static func mode(_ speed: UInt8, _ context: inout ServerContext) -> FanControl.FanMode {
    speed == 0 ? .off : speeds(&context).first { speed <= $0.highest }?.mode ?? .high
  }

  /// Returns the percentage of a speed, rounded down (§ 4.4.6.6.1).
  private static func percent(_ speed: UInt8, _ maximum: UInt8) -> UInt8 {
    UInt8(clamping: Int(speed) * 100 / max(1, Int(maximum)))
  }

  /// Returns the speed of a percentage, rounded up (§ 4.4.6.3.1).
  private static func speed(_ percent: UInt8, _ maximum: UInt8) -> UInt8 {
    UInt8(clamping: (Int(percent) * Int(maximum) + 99) / 100)
  }

  // MARK: Steps

  /// Steps to the next speed (§ 4.4.7.1).
  private static func step(
    _ context: inout ServerContext, _ request: FanControl.StepRequest
  ) throws(StatusError) {
    guard request.direction.isKnown else { throw StatusError(.constraintError) }
    let highest = context[FanControl.speedMax]
    let lowest: UInt8 = request.lowestOff ?? true ? 0 : 1
    let wraps = request.wrap ?? false
    let speed = context[FanControl.speedSetting].wrapped ?? context[FanControl.speedCurrent]
    let next: UInt8
    if request.direction == .increase {
      next = speed < highest ? speed + 1 : wraps ? lowest : highest
    } else {
      next = speed > lowest ? speed - 1 : wraps ? highest : speed
    }
    context[FanControl.speedSetting] = .value(next)
  }
}
