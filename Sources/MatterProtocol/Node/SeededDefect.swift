/// A fault that is built in on purpose, and switched on by tests alone: a scenario that is worth its name fails with it.
///
/// Each one is a line that somebody might have written.
public struct SeededDefect: RawRepresentable, Hashable, Sendable, CaseIterable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A message that got no acknowledgement is not sent again.
  public static let sendsOnce = SeededDefect(rawValue: "sendsOnce")
  /// The session that was unused for longest makes room, whosever it is.
  public static let evictsAnybody = SeededDefect(rawValue: "evictsAnybody")

  /// A device that lost its power in the middle of a commissioning keeps what was done by then.
  public static let keepsHalfCommissioning = SeededDefect(rawValue: "keepsHalfCommissioning")
  /// A device starts as it was, whatever its start-up attributes say.
  public static let ignoresStartUp = SeededDefect(rawValue: "ignoresStartUp")
  /// What changes while a report is on its way is not reported.
  public static let reportsOneAtATime = SeededDefect(rawValue: "reportsOneAtATime")

  /// The subscription that a device has had for longest makes room for one more, whosever it is.
  public static let endsOldestSubscription = SeededDefect(rawValue: "endsOldestSubscription")

  /// A controller tries a node where it was last, and nowhere else.
  public static let staysAtAddress = SeededDefect(rawValue: "staysAtAddress")
  /// A controller tries a node only where service discovery says that it is.
  public static let needsDiscovery = SeededDefect(rawValue: "needsDiscovery")

  /// A home does not care that a device announces itself.
  public static let ignoresAnnouncements = SeededDefect(rawValue: "ignoresAnnouncements")
  /// A home that has a subscription with a device takes it to stand, whatever the device announces.
  public static let trustsSubscriptions = SeededDefect(rawValue: "trustsSubscriptions")
  /// A home does not care what a bridge says of the devices behind it.
  public static let ignoresReachable = SeededDefect(rawValue: "ignoresReachable")
  /// A home that starts follows as many devices as it calls at once, and no more.
  public static let followsFirstCallsOnly = SeededDefect(rawValue: "followsFirstCallsOnly")
  /// A home judges certificates by its clock, whatever that shows.
  public static let trustsAnyClock = SeededDefect(rawValue: "trustsAnyClock")

  public static let allCases: [SeededDefect] = [
    .sendsOnce, .evictsAnybody, .keepsHalfCommissioning, .ignoresStartUp, .reportsOneAtATime,
    .endsOldestSubscription, .staysAtAddress, .needsDiscovery, .ignoresAnnouncements,
    .trustsSubscriptions, .ignoresReachable, .followsFirstCallsOnly, .trustsAnyClock,
  ]
}
