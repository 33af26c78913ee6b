import MatterClusters
import MatterModel
import MatterProtocol

/// A color attribute with transitions. Hue and enhanced hue are the same axis in two units.
enum ColorAxis: Int, CaseIterable, Sendable {
  case hue, enhancedHue, saturation, x, y, temperature

  /// The number of steps of a full circle; nil for axes with ends.
  var circle: Double? {
    switch self {
    case .hue: 255
    case .enhancedHue: 65536
    default: nil
    }
  }

  private var isHue: Bool { circle != nil }

  /// Returns whether a transition of this axis continues when a command moves the others. Only hue and saturation are
  /// commanded independently.
  fileprivate func survives(_ others: [ColorAxis]) -> Bool {
    let isPolar = (others + [self]).allSatisfy { $0.isHue || $0 == .saturation }
    return isPolar && !others.contains { $0.isHue == isHue }
  }
}

/// The transition of one axis.
struct ColorTrack: Sendable {
  let axis: ColorAxis
  let from: Double
  /// The distance covered in `duration`; an endless track repeats it.
  let distance: Double
  var start = Instant.zero
  let duration: Duration
  var isEndless = false

  static let interval: Duration = .milliseconds(100)

  var end: Instant? { isEndless ? nil : start + duration }

  /// Returns the value at a time. It changes in steps of a tenth of a second, independent of when the timer fires.
  func position(at now: Instant) -> Double {
    if let end, now >= end { return from + distance }
    return from + distance * Double((lastStep(at: now) - start).milliseconds) / Double(max(duration.milliseconds, 1))
  }

  func lastStep(at now: Instant) -> Instant {
    start + .milliseconds((now - start).milliseconds / 100 * 100)
  }

  func nextStep(after now: Instant) -> Instant {
    let next = lastStep(at: now) + Self.interval
    return end.map { min($0, next) } ?? next
  }

  func isOver(at now: Instant) -> Bool { end.map { $0 <= now || distance == 0 } ?? false }
}

/// The color transition of an endpoint. Application Clusters § 3.2.8.
struct ColorTransition: Sendable {
  private var tracks: [ColorTrack] = []

  /// Returns the track of an axis; nil if it does not move.
  static func track(_ axis: ColorAxis, _ context: ServerContext) -> ColorTrack? {
    context[scratch: ColorTransition.self]?.tracks.first { $0.axis == axis }
  }

  // MARK: Transitions

  /// Starts tracks. Running tracks that can't continue beside them end.
  /// - Parameter isScene: whether a recalled scene starts them, which therefore stays valid.
  static func start(_ tracks: [ColorTrack], isScene: Bool = false, _ context: inout ServerContext) {
    let now = context.now
    if context[scratch: ColorTransition.self] == nil { ColorValues.startReports(&context) }
    var transition = context[scratch: ColorTransition.self] ?? ColorTransition()
    let axes = tracks.map(\.axis)
    let ended = transition.tracks.filter { !$0.axis.survives(axes) }
    transition.tracks.removeAll { !$0.axis.survives(axes) }
    transition.tracks += tracks.map { track in
      var track = track
      track.start = now
      return track
    }
    for track in ended where !axes.contains(track.axis) { ColorValues.set(track, at: now, isReported: true, &context) }
    if !isScene, tracks.contains(where: { $0.distance != 0 }) {
      context.call(ScenesManagementServer.attributeChanged, ())
    }
    context[scratch: ColorTransition.self] = transition
    proceed(isCommand: true, &context)
  }

  /// Replaces the track of the same axis. The start time is kept, and scenes stay valid.
  static func replace(_ track: ColorTrack, _ context: inout ServerContext) {
    guard var transition = context[scratch: ColorTransition.self],
      let index = transition.tracks.firstIndex(where: { $0.axis == track.axis })
    else { return }
    transition.tracks[index] = track
    context[scratch: ColorTransition.self] = transition
    proceed(isCommand: true, &context)
  }

  /// Stops the axes at their current values.
  static func stop(_ axes: [ColorAxis], _ context: inout ServerContext) {
    guard var transition = context[scratch: ColorTransition.self] else { return }
    let ended = transition.tracks.filter { axes.contains($0.axis) }
    transition.tracks.removeAll { axes.contains($0.axis) }
    context[scratch: ColorTransition.self] = transition
    for track in ended { ColorValues.set(track, at: context.now, isReported: true, &context) }
    proceed(isCommand: true, &context)
  }

  static func advance(_ context: inout ServerContext) { proceed(isCommand: false, &context) }

  /// Sets the moving attributes to their current values and schedules the next step.
  private static func proceed(isCommand: Bool, _ context: inout ServerContext) {
    guard var transition = context[scratch: ColorTransition.self] else { return }
    let now = context.now
    let isDue = !isCommand && ColorValues.isReportDue(&context)
    for track in transition.tracks {
      ColorValues.set(track, at: now, isReported: isDue || track.isOver(at: now), &context)
    }
    transition.tracks.removeAll { $0.isOver(at: now) }
    guard let next = transition.tracks.map({ $0.nextStep(after: now) }).min() else {
      context[scratch: ColorTransition.self] = nil
      context.cancel(.tick)
      ColorValues.setRemainingTime(0, isCommand: isCommand, &context)
      return
    }
    context[scratch: ColorTransition.self] = transition
    let ends = transition.tracks.map(\.end)
    let rest = ends.contains(nil) ? nil : ends.compactMap { $0 }.max().map { $0 - now }
    // An endless transition reports the maximum remaining time.
    ColorValues.setRemainingTime(
      rest.map { UInt16(clamping: ($0.milliseconds + 99) / 100) } ?? .max, isCommand: isCommand, &context)
    context.schedule(.tick, at: next)
  }
}
