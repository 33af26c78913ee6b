import MatterClusters
import MatterModel
import MatterProtocol

/// The attributes that say what colour there is, and when subscribers hear of them: at most once a second, and at the end
/// of a movement. Application Clusters § 3.2.7.
enum ColorValues {
  static let lateReport = "late report"
  private static let reportInterval: Duration = .seconds(1)
  static let maximumHue: UInt8 = 254
  static let maximumSaturation: UInt8 = 254
  static let maximumXY: UInt16 = 65279

  /// Set while the server itself sets a colour, and not somebody at the device.
  struct OwnChange: Sendable {}

  private struct Reports: Sendable {
    var last: Instant
    /// What subscribers were last told of another value.
    var pending: Set<AttributeID> = []
    /// The RemainingTime that they were last told.
    var remainingTime: UInt16 = 0
    /// Whether the time of this transition is one that they may be told.
    var isLong = false
  }

  // MARK: Setting

  static func set(_ track: ColorTrack, at now: Instant, isReported: Bool, _ context: inout ServerContext) {
    set(track.axis, track.position(at: now), isReported: isReported, &context)
  }

  static func set(_ axis: ColorAxis, _ position: Double, isReported: Bool = true, _ context: inout ServerContext) {
    switch axis {
    case .hue:
      // From 255 steps to 65536, such that CurrentHue is again the upper half.
      setEnhancedHue((wrapped(position, 255) * 257).rounded(), isReported: isReported, &context)
    case .enhancedHue:
      setEnhancedHue(wrapped(position.rounded(), 65536), isReported: isReported, &context)
    case .saturation: set(ColorControl.currentSaturation, whole(position), isReported: isReported, &context)
    case .x: set(ColorControl.currentX, whole(position), isReported: isReported, &context)
    case .y: set(ColorControl.currentY, whole(position), isReported: isReported, &context)
    case .temperature: set(ColorControl.colorTemperatureMireds, whole(position), isReported: isReported, &context)
    }
  }

  /// Where an axis is, in its own unit.
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

  /// CurrentHue is calculated from EnhancedCurrentHue, for clients that know no other (§ 3.2.7.12).
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

  /// Sets a value. What was set quietly before is reported, too, when a report is due.
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

  /// A movement begins: the first report of it comes a second later.
  static func startReports(_ context: inout ServerContext) {
    let now = context.now
    context[scratch: Reports.self, default: Reports(last: now)].last = now
  }

  /// Whether a second has passed since the last report; if so, the next second begins.
  static func isReportDue(_ context: inout ServerContext) -> Bool {
    let reports = context[scratch: Reports.self] ?? Reports(last: context.now)
    guard context.now - reports.last >= reportInterval else { return false }
    startReports(&context)
    return true
  }

  /// Sets the temperature as often as somebody likes; subscribers hear of it once a second, and of the last one surely.
  static func follow(_ mireds: UInt16, _ context: inout ServerContext) {
    let isDue = context[scratch: Reports.self] == nil || isReportDue(&context)
    set(.temperature, Double(mireds), isReported: isDue, &context)
    guard let reports = context[scratch: Reports.self], !reports.pending.isEmpty else { return }
    context.schedule(lateReport, at: reports.last + reportInterval)
  }

  static func reportLate(_ context: inout ServerContext) {
    guard ColorTransition.track(.temperature, context) == nil else { return }
    startReports(&context)
    set(.temperature, value(.temperature, &context), isReported: true, &context)
  }

  /// Subscribers hear of it when a command changes it by more than a second, and when it becomes zero; never of what takes
  /// less than a second (§ 3.2.7.4).
  /// - Parameter tenths: of a second.
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
