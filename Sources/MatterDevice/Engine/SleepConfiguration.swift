internal import MatterProtocol

/// The timing of an intermittently connected device, which can be reached only part of the time. Matter Core § 9.16.1.
public struct SleepConfiguration: Hashable, Sendable {
  /// How long the device may be unreachable.
  public enum Mode: String, Hashable, Sendable, CaseIterable {
    /// A short idle time (SIT): messages that arrive while the device is idle reach it at its next poll.
    case short
    /// A long idle time (LIT): once a client is registered, messages that arrive while the device is idle are lost.
    case long
  }

  /// The kind of idle time, which determines the features of ICD Management.
  public var mode: Mode
  /// The maximum time in idle mode, in whole seconds.
  public var idleDuration: Duration
  /// The minimum time in active mode after each idle mode, in milliseconds.
  public var activeDuration: Duration
  /// The time for which the device stays active after each message, in milliseconds.
  public var activeThreshold: Duration
  /// The interval at which the device asks its parent for messages while it is idle.
  public var pollInterval: Duration
  /// Whether a device with a long idle time can be required to have a short one, such as while it has mains power.
  public var isDynamic = false
  /// The number of clients that each fabric may register.
  public var clientsPerFabric: UInt16 = 4

  /// The limits of the specification. § 9.16.6, § 9.16.1.5.
  public static let idleDurations = Duration.seconds(1)...Duration.seconds(64_800)
  /// The longest interval between polls of a device with a short idle time.
  public static let longestPoll = Duration.seconds(15)
  /// The shortest active mode threshold of a device with a long idle time.
  public static let shortestLongThreshold = Duration.seconds(5)
  /// The longest active mode threshold, which has 16 bits.
  public static let longestThreshold = Duration.milliseconds(65_535)

  /// Creates the usual timing of a mode.
  public init(_ mode: Mode) {
    self.mode = mode
    switch mode {
    case .short:
      (idleDuration, activeDuration, activeThreshold) = (.seconds(60), .seconds(1), .seconds(1))
      pollInterval = .seconds(3)
    case .long:
      (idleDuration, activeDuration, activeThreshold) = (.seconds(3600), .seconds(5), .seconds(5))
      pollInterval = .seconds(5)
    }
  }

  /// The longest time for which a device promises to stay active on request. § 9.16.7.5.
  static let longestPromise = Duration.seconds(30)

  /// Returns the maximum reporting interval of a subscription in seconds: a multiple of the idle mode duration, so that
  /// the device does not leave idle mode only to report. § 8.5.3.2.
  func maximumInterval(from floor: UInt16, to ceiling: UInt16) -> UInt16 {
    let idle = max(1, idleDuration.components.seconds)
    let cycles = max(1, (Int64(floor) + idle - 1) / idle, Int64(ceiling) / idle)
    return UInt16(clamping: idle.saturatingMultiply(cycles))
  }
}

extension DeviceConfiguration {
  /// Sets the retransmission intervals that the timing implies. § 4.13.1.
  mutating func applySleep() {
    guard let sleep else { return }
    parameters.idleInterval = sleep.pollInterval
    parameters.activeThreshold = sleep.activeThreshold
  }
}
