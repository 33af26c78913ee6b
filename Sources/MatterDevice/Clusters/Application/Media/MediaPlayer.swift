import MatterClusters
import MatterProtocol

/// A player of titles, one after the other, and of live channels: a value type without a clock, which is advanced to
/// the time of its owner.
///
/// The position is that of a sample, as clients see it: it changes with speed and time from there.
struct MediaPlayer: Hashable, Sendable {
  typealias Status = MediaPlayback.StatusEnum

  /// What a player plays.
  enum Source: Hashable, Sendable { case title(Int), channel(Int) }

  private let titles: [MediaSettings.Title]
  private let channels: [MediaSettings.Station]
  private(set) var source: Source
  private(set) var state = MediaPlayback.PlaybackState.notPlaying
  /// The ratio of the time in the title to the elapsed time; negative backward, 0 unless the state is Playing.
  private(set) var speed: Int64 = 0
  /// The position in the title when the sample was taken.
  private(set) var position = Duration.zero
  /// The time of the sample.
  private(set) var sampledAt: Instant

  static let maximumSpeed: Int64 = 32

  init(_ media: MediaSettings, at now: Instant) {
    (titles, channels, sampledAt) = (media.titles, media.channels, now)
    source = titles.isEmpty ? .channel(0) : .title(0)
  }

  /// The duration of the title; nil for a channel.
  var duration: Duration? {
    if case .title(let index) = source, titles.indices.contains(index) { titles[index].duration } else { nil }
  }

  /// The channel; nil for a title.
  var channel: Int? {
    if case .channel(let index) = source, channels.indices.contains(index) { index } else { nil }
  }

  /// The name of the title or channel; nil if nothing plays.
  var name: String? {
    switch source {
    case _ where state == .notPlaying: nil
    case .title(let index): titles.indices.contains(index) ? titles[index].name : nil
    case .channel(let index): channels.indices.contains(index) ? channels[index].name : nil
    }
  }

  /// Returns the position at a time, between the start and the end of the title.
  private func position(at now: Instant) -> Duration {
    let moved = position + .nanoseconds((now - sampledAt).nanoseconds.saturatingMultiply(speed))
    return min(max(moved, .zero), duration ?? .zero)
  }

  private mutating func sample(_ position: Duration, speed: Int64, at now: Instant) {
    (self.position, self.speed, sampledAt) = (position, speed, now)
    if speed != 0 { state = .playing }
  }

  // MARK: Time

  /// Returns the next time at which to advance: the end of the title, or its start while the player rewinds.
  var nextUpdate: Instant? {
    guard speed != 0, let duration else { return nil }
    let rest = (speed > 0 ? duration - position : position).nanoseconds
    // Rounded up, so that the end is reached at that time.
    return sampledAt + .nanoseconds(rest.saturatingAdd(abs(speed) - 1) / abs(speed))
  }

  /// Advances to a time, which is not before that of the last call. The next title follows a title at its end, and the
  /// player stops after the last one. At the start of a title, a rewind ends with a pause.
  mutating func advance(to now: Instant) {
    while let end = nextUpdate, end <= now {
      if speed < 0 {
        state = .paused
        sample(.zero, speed: 0, at: end)
      } else if case .title(let index) = source, titles.indices.contains(index + 1) {
        source = .title(index + 1)
        sample(.zero, speed: 1, at: end)
      } else {
        source = .title(0)
        stop(at: end)
      }
    }
  }

  // MARK: Control

  mutating func play(at now: Instant) {
    guard state != .playing || speed != 1 else { return }
    sample(position(at: now), speed: 1, at: now)
  }

  /// Pauses a title. Without playback, it is at the start.
  mutating func pause(at now: Instant) -> Status {
    guard duration != nil else { return .notAllowed }
    guard state != .paused else { return .success }
    state = .paused
    sample(position(at: now), speed: 0, at: now)
    return .success
  }

  /// Stops the playback. It begins again with the start of the title, also after a channel.
  mutating func stop(at now: Instant) {
    state = .notPlaying
    sample(.zero, speed: 0, at: now)
    if duration == nil, !titles.isEmpty { source = .title(0) }
  }

  /// Interrupts the playback, which continues at the same position.
  mutating func interrupt(at now: Instant) {
    state = .notPlaying
    sample(position(at: now), speed: 0, at: now)
  }

  mutating func startOver(at now: Instant) -> Status {
    guard duration != nil else { return .notAllowed }
    sample(.zero, speed: 1, at: now)
    return .success
  }

  /// Plays another title by its distance in the list, whose ends are connected.
  mutating func skip(titles distance: Int, at now: Instant) -> Status {
    guard case .title(let index) = source, !titles.isEmpty else { return .notAllowed }
    source = .title((index + distance % titles.count + titles.count) % titles.count)
    sample(.zero, speed: 1, at: now)
    return .success
  }

  /// Tunes to a channel.
  mutating func tune(to channel: Int, at now: Instant) {
    guard channels.indices.contains(channel), source != .channel(channel) || state != .playing else { return }
    source = .channel(channel)
    sample(.zero, speed: 1, at: now)
  }

  /// Plays forward or backward: at normal speed first, then at twice the previous speed.
  mutating func wind(isForward: Bool, at now: Instant) -> Status {
    guard duration != nil else { return .notAllowed }
    let direction: Int64 = isForward ? 1 : -1
    let next = speed * direction > 0 ? speed * 2 : direction
    guard abs(next) <= Self.maximumSpeed else { return .speedOutOfRange }
    sample(position(at: now), speed: next, at: now)
    return .success
  }

  /// Moves the position, to a whole second and not beyond the ends of the title.
  mutating func skip(by time: Duration, at now: Instant) -> Status {
    guard let duration else { return .notAllowed }
    guard state != .notPlaying else { return .invalidStateForCommand }
    let target = max(position(at: now) + time, .zero)
    sample(min(.seconds(target.components.seconds), duration), speed: speed, at: now)
    return .success
  }

  mutating func seek(to position: Duration, at now: Instant) -> Status {
    guard let duration else { return .notAllowed }
    guard state != .notPlaying else { return .invalidStateForCommand }
    guard position <= duration else { return .seekOutOfRange }
    sample(position, speed: speed, at: now)
    return .success
  }

  /// Restores what was played before a restart.
  mutating func restore(_ source: Source, _ position: Duration) {
    switch source {
    case .title(let index) where titles.indices.contains(index): self.source = source
    case .channel(let index) where channels.indices.contains(index): self.source = source
    default: return
    }
    self.position = min(max(position, .zero), duration ?? .zero)
  }
}
