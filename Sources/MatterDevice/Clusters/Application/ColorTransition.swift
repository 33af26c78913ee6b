import MatterClusters
import MatterModel
import MatterProtocol

/// What can move by itself. Hue and enhanced hue are one and the same, in two units.
enum ColorAxis: Int, CaseIterable, Sendable {
  case hue, enhancedHue, saturation, x, y, temperature

  /// How many steps the whole circle has; nil for what has ends.
  var circle: Double? {
    switch self {
    case .hue: 255
    case .enhancedHue: 65536
    default: nil
    }
  }

  private var isHue: Bool { circle != nil }

  /// Whether it may go on while these are moved: hue and saturation are commanded independently, all else is not.
  fileprivate func survives(_ others: [ColorAxis]) -> Bool {
    let isPolar = (others + [self]).allSatisfy { $0.isHue || $0 == .saturation }
    return isPolar && !others.contains { $0.isHue == isHue }
  }
}

/// One value on its way.
struct ColorTrack: Sendable {
  let axis: ColorAxis
  let from: Double
  /// How far it goes in the duration; of what never ends, as far again in the next one.
  let distance: Double
  var start = Instant.zero
  let duration: Duration
  var isEndless = false

  static let interval: Duration = .milliseconds(100)

  var end: Instant? { isEndless ? nil : start + duration }

  /// Where it is: it moves in steps of a tenth of a second, whenever the timer comes.
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

/// A colour on its way. Application Clusters § 3.2.8.
struct ColorTransition: Sendable {
  private var tracks: [ColorTrack] = []
  /// A scene was recalled, which the movement does not make invalid.
  private var isScene = false

  static let tick = "transition"

  /// The way of one axis, if it moves.
  static func track(_ axis: ColorAxis, _ context: ServerContext) -> ColorTrack? {
    context[scratch: ColorTransition.self]?.tracks.first { $0.axis == axis }
  }

  // MARK: Moving

  /// Moves from here on, instead of whatever movement there was that does not go along with it.
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
    transition.isScene = isScene
    for track in ended where !axes.contains(track.axis) { ColorValues.set(track, at: now, isReported: true, &context) }
    if !isScene, tracks.contains(where: { $0.distance != 0 }) {
      context.call(ScenesManagementServer.attributeChanged, ())
    }
    context[scratch: ColorTransition.self] = transition
    proceed(isCommand: true, &context)
  }

  /// Puts a track in the place of the one of its axis, with its start and all, without telling anybody.
  static func replace(_ track: ColorTrack, _ context: inout ServerContext) {
    guard var transition = context[scratch: ColorTransition.self],
      let index = transition.tracks.firstIndex(where: { $0.axis == track.axis })
    else { return }
    transition.tracks[index] = track
    context[scratch: ColorTransition.self] = transition
    proceed(isCommand: true, &context)
  }

  /// Stays where it is.
  static func stop(_ axes: [ColorAxis], _ context: inout ServerContext) {
    guard var transition = context[scratch: ColorTransition.self] else { return }
    let ended = transition.tracks.filter { axes.contains($0.axis) }
    transition.tracks.removeAll { axes.contains($0.axis) }
    context[scratch: ColorTransition.self] = transition
    for track in ended { ColorValues.set(track, at: context.now, isReported: true, &context) }
    proceed(isCommand: true, &context)
  }

  static func advance(_ context: inout ServerContext) { proceed(isCommand: false, &context) }

  /// Sets what moves to where it is now, and sees to the next step.
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
      context.cancel(tick)
      ColorValues.setRemainingTime(0, isCommand: isCommand, &context)
      return
    }
    context[scratch: ColorTransition.self] = transition
    let ends = transition.tracks.map(\.end)
    let rest = ends.contains(nil) ? nil : ends.compactMap { $0 }.max().map { $0 - now }
    // What goes on for ever has the longest time that there is.
    ColorValues.setRemainingTime(
      rest.map { UInt16(clamping: ($0.milliseconds + 99) / 100) } ?? .max, isCommand: isCommand, &context)
    context.schedule(tick, at: next)
  }
}
