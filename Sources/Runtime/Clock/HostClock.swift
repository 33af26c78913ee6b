public import MatterProtocol
internal import Glibc
internal import NIOCore

/// The host's clocks. No other code in Hearth reads a clock: the driver passes the time to the engines.
public enum HostClock {
  /// Returns the monotonic clock (CLOCK_MONOTONIC, the base of NIO's deadlines). It stops while the host sleeps.
  public static func now() -> Instant {
    Instant(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds))
  }

  /// Returns the time since boot, including sleep (CLOCK_BOOTTIME). It cannot be set and never runs backward.
  public static func sinceBoot() -> Duration {
    var time = timespec()
    guard clock_gettime(CLOCK_BOOTTIME, &time) == 0 else { return .nanoseconds(now().nanoseconds) }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The Matter epoch, 2000-01-01T00:00:00Z, in seconds of Unix time. Matter Core § 7.19.2.
  static let matterEpoch: Int64 = 946_684_800

  /// Returns the wall clock in microseconds since 1970. May jump.
  public static func unixMicroseconds() -> Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { return matterEpoch * 1_000_000 }
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}

extension Instant {
  /// The same instant as an NIO deadline.
  var deadline: NIODeadline { .uptimeNanoseconds(UInt64(clamping: nanoseconds)) }
}
