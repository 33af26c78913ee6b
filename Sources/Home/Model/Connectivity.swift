/// Whether something can be reached. See <doc:TheHomeModel>, “Connectivity and locality”.
public enum ConnectivityState: String, Hashable, Sendable, CaseIterable, Codable {
  /// Nobody has tried yet, or nothing feeds it.
  case unknown
  case online
  case offline
  /// Only of an aggregate: some of its parts are online.
  case partiallyOnline
}

/// Where the data of something come from. See <doc:TheHomeModel>, “Connectivity and locality”.
public enum DataSourceLocality: String, Hashable, Sendable, CaseIterable, Codable {
  /// From nowhere yet: it was restored and not reached.
  case unspecified
  /// Straight from the device, no hub between.
  case peer
  /// Through a hub on the local network.
  case local
  /// Through the internet: a hub reached from outside, or a maker's cloud.
  case remote
  /// Only of an aggregate: by several of these.
  case mixed

  /// Other names of the same.
  public static let direct = Self.peer, localPeer = Self.local

  /// The nearer, the smaller.
  var distance: Int {
    switch self {
    case .peer: 0
    case .local: 1
    case .remote: 2
    case .mixed: 3
    case .unspecified: 4
    }
  }
}

/// Whether the source of some data can be reached, and where it is.
public struct SourceConnectivity: Hashable, Sendable {
  public var connectivityState: ConnectivityState
  public var dataSourceLocality: DataSourceLocality

  public init(_ connectivityState: ConnectivityState, _ dataSourceLocality: DataSourceLocality) {
    self.connectivityState = connectivityState
    self.dataSourceLocality = dataSourceLocality
  }

  /// Of what has no source.
  public static let unknown = Self(.unknown, .unspecified)

  /// The state of a whole, from those of all its parts: the order, repetitions and grouping of the parts don't count.
  public init(of parts: some Sequence<SourceConnectivity>) {
    var fold = Fold()
    for part in parts { fold.add(part) }
    self = fold.value
  }

  /// What is known of a whole when some of its parts were looked at. Every part adds to sets, and nothing is taken away:
  /// that is what makes the result independent of order, repetition and grouping.
  struct Fold: Hashable, Sendable {
    private var hasUnknown = false, hasOnline = false, hasOffline = false, hasPartial = false
    private var hasPeer = false, hasLocal = false, hasRemote = false, hasMixed = false

    init() {}

    mutating func add(_ part: SourceConnectivity) {
      switch part.connectivityState {
      case .unknown: hasUnknown = true
      case .online: hasOnline = true
      case .offline: hasOffline = true
      case .partiallyOnline: hasPartial = true
      }
      switch part.dataSourceLocality {
      case .unspecified: break
      case .peer: hasPeer = true
      case .local: hasLocal = true
      case .remote: hasRemote = true
      case .mixed: hasMixed = true
      }
    }

    mutating func add(_ other: Fold) {
      hasUnknown = hasUnknown || other.hasUnknown
      hasOnline = hasOnline || other.hasOnline
      hasOffline = hasOffline || other.hasOffline
      hasPartial = hasPartial || other.hasPartial
      hasPeer = hasPeer || other.hasPeer
      hasLocal = hasLocal || other.hasLocal
      hasRemote = hasRemote || other.hasRemote
      hasMixed = hasMixed || other.hasMixed
    }

    var value: SourceConnectivity { SourceConnectivity(state, locality) }

    private var state: ConnectivityState {
      if hasOnline || hasPartial {
        return hasPartial || hasOffline || hasUnknown ? .partiallyOnline : .online
      }
      // Offline with unknown, and nothing at all, are unknown.
      return hasOffline && !hasUnknown ? .offline : .unknown
    }

    private var locality: DataSourceLocality {
      switch (hasPeer, hasLocal, hasRemote, hasMixed) {
      case (false, false, false, false): .unspecified
      case (true, false, false, false): .peer
      case (false, true, false, false): .local
      case (false, false, true, false): .remote
      default: .mixed
      }
    }
  }
}

/// Why something can't be reached. A closed list for programs; ``text`` is for people.
public enum OfflineReason: String, Hashable, Sendable, CaseIterable, Codable {
  /// Nobody knows where it is: no address was found.
  case noAddress
  /// It does not answer at any address that is known.
  case timedOut
  /// It answered, and would not open a session.
  case sessionRefused
  /// It did not report in time.
  case subscriptionLost
  /// Its bridge says that it can't reach it.
  case bridgeSaysUnreachable
  /// It said that it shuts down.
  case poweredOffAnnounced
  /// The cloud of its maker does not answer.
  case cloudUnreachable
  /// The cloud of its maker does not let us in: the account's token is not valid, or not any more.
  case cloudRefused
  /// The cloud of its maker says that it can't reach it.
  case cloudSaysUnreachable
  /// The hub that it is seen through can't be reached, nor any other way to it.
  case hubUnreachable

  /// “no address”, “timed out”, …: for a table, after the device's name.
  public var text: String {
    switch self {
    case .noAddress: "no address"
    case .timedOut: "timed out"
    case .sessionRefused: "session refused"
    case .subscriptionLost: "subscription lost"
    case .bridgeSaysUnreachable: "bridge says unreachable"
    case .poweredOffAnnounced: "powered off announced"
    case .cloudUnreachable: "cloud unreachable"
    case .cloudRefused: "cloud refuses the account"
    case .cloudSaysUnreachable: "cloud says unreachable"
    case .hubUnreachable: "hub unreachable"
    }
  }

  /// Whether it says more than that nobody answers: something is there, and that is why.
  var isAnswer: Bool {
    switch self {
    case .sessionRefused, .cloudRefused, .cloudSaysUnreachable: true
    case .noAddress, .timedOut, .subscriptionLost, .bridgeSaysUnreachable, .poweredOffAnnounced, .cloudUnreachable,
      .hubUnreachable:
      false
    }
  }
}

/// When something was heard, and when it is to be heard again. Not part of any equality: it changes with each message.
public struct Contact: Hashable, Sendable {
  /// The last authenticated message, in microseconds since 1970; nil: never.
  public var last: Int64?
  /// When the next report is due at the latest, in the same terms; nil: none is promised.
  public var nextReport: Int64?

  public init(last: Int64? = nil, nextReport: Int64? = nil) { (self.last, self.nextReport) = (last, nextReport) }
}
