import MatterClusters
import MatterModel
import MatterProtocol

/// Sets the color attributes and limits their reports to one per second and one at the end of a transition.
/// Application Clusters § 3.2.7.
enum ColorValues {
  private static let reportInterval: Duration = .seconds(1)
  static let maximumHue: UInt8 = 254
  static let maximumSaturation: UInt8 = 254
  static let maximumXY: UInt16 = 65279

  /// Present while the server sets a color, to distinguish this change from a change at the device.
  struct OwnChange: Sendable {}

  private struct Reports: Sendable {
    var last: Instant
    /// Attributes whose current value has not been reported.
    var pending: Set<AttributeID> = []
    /// The RemainingTime that was last reported.
    var remainingTime: UInt16 = 0
    /// Whether the transition takes a second or more, so that its end is reported.
    var isLong = false
  }

  // MARK: Setting

  static func set(_ track: ColorTrack, at now: Instant, isReported: Bool, _ context: inout ServerContext) {
    set(track.axis, track.position(at: now), isReported: isReported, &context)
  }

  static func set(_ axis: ColorAxis, _ position: Double, isReported: Bool = true, _ context: inout ServerContext) {
    switch axis {
    case .hue:
      // Converts 255 steps to 65536, such that CurrentHue equals the upper byte again.
      setEnhancedHue((wrapped(position, 255) * 257).rounded(), isReported: isReported, &context)
    case .enhancedHue:
      setEnhancedHue(wrapped(position.rounded(), 65536), isReported: isReported, &context)
    case .saturation: set(ColorControl.currentSaturation, whole(position), isReported: isReported, &context)
    case .x: set(ColorControl.currentX, whole(position), isReported: isReported, &context)
    case .y: set(ColorControl.currentY, whole(position), isReported: isReported, &context)
    case .temperature: set(ColorControl.colorTemperatureMireds, whole(position), isReported: isReported, &context)
    }
  }

  /// Returns the value of an axis in its own unit.
  static func value(_ axis: ColorAxis, _ context: inout ServerContext) -> Double {
    switch axis {
    case .hue: Double(context[ColorControl.currentHue])
    case .enhancedHue: Double(context[ColorControl.enhancedCurrentHue])
    case .saturation: Double(context[ColorControl.currentSaturation])
    case .x: Double(context[ColorControl.currentX])
    case .y: Double(context[ColorControl.currentY])
    case .temperature: Double(context[ColorControl.colorTemperatureMireds])
    }
  }

  /// Returns the CurrentHue for an EnhancedCurrentHue (§ 3.2.7.12).
  static func hue(enhanced: UInt16) -> UInt8 { min(UInt8(enhanced >> 8), maximumHue) }

  private static func setEnhancedHue(_ position: Double, isReported: Bool, _ context: inout ServerContext) {
    let enhanced: UInt16 = whole(position)
    set(ColorControl.enhancedCurrentHue, enhanced, isReported: isReported, &context)
    set(ColorControl.currentHue, hue(enhanced: enhanced), isReported: isReported, &context)
  }

  private static func wrapped(_ position: Double, _ circle: Double) -> Double {
    let rest = position.truncatingRemainder(dividingBy: circle)
    return rest < 0 ? rest + circle : rest
  }

  private static func whole<Number: FixedWidthInteger>(_ position: Double) -> Number {
    Number(min(max(position.rounded(), Double(Number.min)), Double(Number.max)))
  }

  /// Sets a value. A report that is due also includes earlier unreported changes.
  private static func set<Value: ModelValue & Equatable>(
    _ attribute: Attribute<ColorControl, Value>, _ value: Value, isReported: Bool, _ context: inout ServerContext
  ) {
    guard let old = context.value(attribute) else { return }
    var reports = context[scratch: Reports.self] ?? Reports(last: context.now)
    if isReported {
      let isPending = reports.pending.remove(attribute.id) != nil
      if old == value && isPending { context.markChanged(attribute) }
    } else if old != value {
      reports.pending.insert(attribute.id)
    }
    context[scratch: Reports.self] = reports
    context[scratch: OwnChange.self] = OwnChange()
    context.set(attribute, value, reporting: isReported ? .now : .quiet)
    context[scratch: OwnChange.self] = nil
  }

  // MARK: Reports

  /// Restarts the report interval: the next report is due a second later.
  static func startReports(_ context: inout ServerContext) {
    let now = context.now
    context[scratch: Reports.self, default: Reports(last: now)].last = now
  }

  /// Returns whether the report interval has elapsed, and restarts it if so.
  static func isReportDue(_ context: inout ServerContext) -> Bool {
    let reports = context[scratch: Reports.self] ?? Reports(last: context.now)
    guard context.now - reports.last >= reportInterval else { return false }
    startReports(&context)
    return true
  }

  /// Sets the color temperature. Reports are limited to one per second; the last value is always reported.
  static func setTemperature(_ mireds: UInt16, _ context: inout ServerContext) {
    let isDue = context[scratch: Reports.self] == nil || isReportDue(&context)
    set(.temperature, Double(mireds), isReported: isDue, &context)
    guard let reports = context[scratch: Reports.self], !reports.pending.isEmpty else { return }
    context.schedule(.deferredReport, at: reports.last + reportInterval)
  }

  static func reportDeferred(_ context: inout ServerContext) {
    guard ColorTransition.track(.temperature, context) == nil else { return }
    startReports(&context)
    set(.temperature, value(.temperature, &context), isReported: true, &context)
  }

  /// Sets RemainingTime. It is reported when a command changes it by more than a second, and when it becomes zero;
  /// transitions of less than a second are not reported (§ 3.2.7.4).
  /// - Parameter tenths: The remaining time in tenths of a second.
  static func setRemainingTime(_ tenths: UInt16, isCommand: Bool, _ context: inout ServerContext) {
    let old = context[ColorControl.remainingTime]
    var reports = context[scratch: Reports.self] ?? Reports(last: context.now)
    let isReported =
      if tenths == 0 {
        reports.isLong || reports.remainingTime != 0
      } else {
        isCommand && abs(Int(tenths) - Int(old)) > 10
      }
    if isCommand { reports.isLong = tenths >= 10 }
    if isReported { reports.remainingTime = tenths }
    context[scratch: Reports.self] = reports
    context.set(ColorControl.remainingTime, tenths, reporting: isReported ? .now : .quiet)
  }
}
