/// An injected fault, enabled only by tests, that the scenarios must detect. Each one models a plausible programming
/// error.
public struct SeededDefect: RawRepresentable, Hashable, Sendable, CaseIterable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Unacknowledged messages are not retransmitted.
  public static let sendsOnce = SeededDefect(rawValue: "sendsOnce")
  /// The least recently used session is evicted regardless of the shares of the fabrics.
  public static let evictsAnybody = SeededDefect(rawValue: "evictsAnybody")

  /// A device that loses power during commissioning keeps the changes made until then.
  public static let keepsHalfCommissioning = SeededDefect(rawValue: "keepsHalfCommissioning")
  /// A device restarts in its previous state regardless of its start-up attributes.
  public static let ignoresStartUp = SeededDefect(rawValue: "ignoresStartUp")
  /// Changes during the transmission of a report are not reported.
  public static let reportsOneAtATime = SeededDefect(rawValue: "reportsOneAtATime")

  /// A device evicts its oldest subscription for a new one, regardless of the fabric.
  public static let endsOldestSubscription = SeededDefect(rawValue: "endsOldestSubscription")

  /// A controller tries a node at its last known address only.
  public static let staysAtAddress = SeededDefect(rawValue: "staysAtAddress")
  /// A controller tries a node at its discovered addresses only.
  public static let needsDiscovery = SeededDefect(rawValue: "needsDiscovery")

  /// A home ignores the announcements of devices.
  public static let ignoresAnnouncements = SeededDefect(rawValue: "ignoresAnnouncements")
  /// A home assumes that its subscription with a device is alive, even if the device announces itself again.
  public static let trustsSubscriptions = SeededDefect(rawValue: "trustsSubscriptions")
  /// A home ignores the reachability that a bridge reports for its bridged devices.
  public static let ignoresReachable = SeededDefect(rawValue: "ignoresReachable")
  /// A home that starts only follows the devices of its first batch of concurrent connections.
  public static let followsFirstCallsOnly = SeededDefect(rawValue: "followsFirstCallsOnly")
  /// A home checks certificates against its clock even if the clock was never set.
  public static let trustsAnyClock = SeededDefect(rawValue: "trustsAnyClock")

  public static let allCases: [SeededDefect] = [
    .sendsOnce, .evictsAnybody, .keepsHalfCommissioning, .ignoresStartUp, .reportsOneAtATime,
    .endsOldestSubscription, .staysAtAddress, .needsDiscovery, .ignoresAnnouncements,
    .trustsSubscriptions, .ignoresReachable, .followsFirstCallsOnly, .trustsAnyClock,
  ]
}
