import MatterModel
import MatterProtocol

/// The present UTC and local time, to convert between seconds since 2000 in UTC and minutes since 2000 in local time.
///
/// The difference is the present one, so that a server calculates its times again after each change of the local time.
struct TariffClock {
  /// Seconds since 2000, UTC.
  let utc: Int64
  /// Seconds since 2000, local time.
  let local: Int64

  /// The local time in minutes.
  var minute: Int64 { local / 60 }
  /// The local day.
  var day: Int64 { minute / 1440 }

  /// Returns the UTC time of a local time in minutes.
  func epoch(ofMinute minute: Int64) -> UInt32 { UInt32(clamping: seconds(ofMinute: minute)) }

  /// Returns the start and the end of a span of a course. The end is the last second before the next span.
  func period<Value>(of span: DailyCourse<Value>.Span) -> (start: UInt32, end: Nullable<UInt32>) {
    (epoch(ofMinute: span.start), Nullable(span.end.map { UInt32(clamping: seconds(ofMinute: $0).saturatingAdd(-1)) }))
  }

  private func seconds(ofMinute minute: Int64) -> Int64 { minute.saturatingMultiply(60).saturatingAdd(utc - local) }
}

extension ServerContext {
  /// The present time; nil while it is unknown.
  var tariffClock: TariffClock? {
    mutating get {
      guard let utc = epochSeconds, let local = localSeconds else { return nil }
      return TariffClock(utc: Int64(utc), local: local)
    }
  }

  /// Schedules the next transition of a server that follows a course.
  /// - Parameter minute: The local time; nil for none.
  mutating func follow(until minute: Int64?, _ clock: TariffClock) {
    cancel(.scheduleTransition)
    if let minute { schedule(.scheduleTransition, at: now + .seconds(minute * 60 - clock.local)) }
  }
}

extension ClusterServer {
  /// Runs a handler at the start, at each transition that ``ServerContext/follow(until:_:)`` scheduled, and after a
  /// change of the clock.
  func following(_ body: @escaping ContextHandler) -> Self {
    onStart(body).onPoweredTimer(.scheduleTransition, body).onClockChange(body)
  }
}
