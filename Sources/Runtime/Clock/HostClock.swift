public import MatterProtocol
internal import Glibc
internal import NIOCore

/// The host's clocks. Nothing else in Hearth reads one: engines are told the time.
public enum HostClock {
  /// The monotonic clock (CLOCK_MONOTONIC, the one that NIO's deadlines are on). It stands still while the host sleeps.
  public static func now() -> Instant {
    Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds))
  }

  /// How long ago the host was started, the time that it slept included (CLOCK_BOOTTIME). Never set, never back.
  public static func sinceBoot() -> Duration {
    var time = timespec()
    guard clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return .nanoseconds(now().nanoseconds) }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// 2000-01-01T00:00:00Z, where Matter's time starts, in seconds of Unix time. Matter Core § 7.19.2.
  public static let matterEpoch: Int64 = 946_684_800

  /// The wall clock in microseconds since 1970. May jump.
  public static func unixMicroseconds() -> Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return matterEpoch * 1_000_000 }
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  /// The wall clock in microseconds since 2000 (epoch-us). A clock set to before 2000 gives 0.
  public static func matterMicroseconds() -> UInt64 {
    UInt64(clamping: unixMicroseconds() - matterEpoch * 1_000_000)
  }

  /// The wall clock in seconds since 2000 (epoch-s), as in certificates. A clock set to before 2000 gives 0.
  public static func matterSeconds() -> UInt32 {
    UInt32(clamping: matterMicroseconds() / 1_000_000)
  }
}

extension Instant {
  /// The same point for NIO's timers.
  var deadline: NIODeadline { .uptimeNanoseconds(UInt64(clamping: nanoseconds)) }
}
