public import Foundation
public import MatterModel

/// The reachability of a device or a part of it. See the article “The home model”, “Connectivity and locality”.
public enum ConnectivityState: String, Hashable, Sendable, CaseIterable, Codable {
  /// Not determined yet, or without a source.
  case unknown
  case online
  case offline
  /// For aggregates only: some of the parts are online.
  case partiallyOnline
}

/// The location of a data source. See the article “The home model”, “Connectivity and locality”.
public enum DataSourceLocality: String, Hashable, Sendable, CaseIterable, Codable {
  /// Not known yet: the data was restored and its source not reached.
  case unspecified
  /// The device itself, without a hub in between.
  case peer
  /// A hub on the local network.
  case local
  /// The internet: a remote hub, or a manufacturer's cloud.
  case remote
  /// For aggregates only: several locations.
  case mixed

  /// Aliases.
  public static let direct = Self.peer, localPeer = Self.local

  /// The rank by distance: smaller is nearer.
  package var distance: Int {
    switch self {
    case .peer: 0
    case .local: 1
    case .remote: 2
    case .mixed: 3
    case .unspecified: 4
    }
  }
}

/// The reachability and location of a data source.
public struct SourceConnectivity: Hashable, Sendable, Codable {
  public var connectivityState: ConnectivityState
  public var dataSourceLocality: DataSourceLocality

  package init(_ connectivityState: ConnectivityState, _ dataSourceLocality: DataSourceLocality) {
    self.connectivityState = connectivityState
    self.dataSourceLocality = dataSourceLocality
  }

  /// The value without a source.
  public static let unknown = Self(.unknown, .unspecified)

  /// Aggregates the states of all parts; independent of their order, repetition and grouping.
  package init(of parts: some Sequence<SourceConnectivity>) {
    self = parts.reduce(nil) { $0?.merged(with: $1) ?? $1 } ?? .unknown
  }

  /// Returns the aggregate of two parts.
  private func merged(with other: Self) -> Self {
    let state: ConnectivityState =
      switch (connectivityState, other.connectivityState) {
      case (other.connectivityState, let state): state
      case (.online, _), (_, .online), (.partiallyOnline, _), (_, .partiallyOnline): .partiallyOnline
      // An offline part with an unknown one.
      default: .unknown
      }
    let locality: DataSourceLocality =
      switch (dataSourceLocality, other.dataSourceLocality) {
      case (let locality, .unspecified), (.unspecified, let locality): locality
      case (other.dataSourceLocality, let locality): locality
      default: .mixed
      }
    return Self(state, locality)
  }
}

/// The reason why a device can't be reached, as a closed list; ``text`` is for users.
public enum OfflineReason: Hashable, Sendable, Codable {
  /// No address was found.
  case noAddress
  /// The device does not answer at any known address.
  case timedOut
  /// The device answered, but rejected the session.
  case sessionRefused
  /// The device accepted the session, but rejected the subscription with this status; nil if it gave none.
  case subscriptionRefused(StatusCode?)
  /// The device did not report in time.
  case subscriptionLost
  /// The bridge reports the device as unreachable.
  case bridgeSaysUnreachable
  /// The device announced its shutdown.
  case poweredOffAnnounced
  /// The manufacturer's cloud does not answer.
  case cloudUnreachable
  /// The manufacturer's cloud rejected the account's token.
  case cloudRefused
  /// The manufacturer's cloud reports the device as unreachable.
  case cloudSaysUnreachable
  /// The hub can't be reached. The device is offline without another source, and otherwise unknown until this client
  /// has reached it.
  case hubUnreachable

  /// “no address”, “timed out”, …: a text for tables, after the device's name.
  public var text: String {
    switch self {
    case .noAddress: "no address"
    case .timedOut: "timed out"
    case .sessionRefused: "session refused"
    case .subscriptionRefused(let status): "subscription refused" + (status.map { ": \($0)" } ?? "")
    case .subscriptionLost: "subscription lost"
    case .bridgeSaysUnreachable: "bridge says unreachable"
    case .poweredOffAnnounced: "powered off announced"
    case .cloudUnreachable: "cloud unreachable"
    case .cloudRefused: "cloud refuses the account"
    case .cloudSaysUnreachable: "cloud says unreachable"
    case .hubUnreachable: "hub unreachable"
    }
  }

  /// Whether the reason comes from a response and so is more specific than a timeout.
  package var isAnswer: Bool {
    switch self {
    case .sessionRefused, .subscriptionRefused, .cloudRefused, .cloudSaysUnreachable: true
    case .noAddress, .timedOut, .subscriptionLost, .bridgeSaysUnreachable, .poweredOffAnnounced, .cloudUnreachable,
      .hubUnreachable:
      false
    }
  }
}

extension OfflineReason: CaseIterable, RawRepresentable {
  /// All reasons, without a status.
  public static let allCases: [OfflineReason] = [
    .noAddress, .timedOut, .sessionRefused, .subscriptionRefused(nil), .subscriptionLost, .bridgeSaysUnreachable,
    .poweredOffAnnounced, .cloudUnreachable, .cloudRefused, .cloudSaysUnreachable, .hubUnreachable,
  ]

  private static let named = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
  private static let refused = "subscriptionRefused"

  /// The name of the case, followed by a status: `noAddress`, `subscriptionRefused 137`.
  public var rawValue: String {
    guard case .subscriptionRefused(let status) = self else { return "\(self)" }
    return Self.refused + (status.map { " \($0.rawValue)" } ?? "")
  }

  public init?(rawValue: String) {
    if let known = Self.named[rawValue] {
      self = known
    } else if rawValue.hasPrefix(Self.refused + " "), let code = UInt8(rawValue.dropFirst(Self.refused.count + 1)) {
      self = .subscriptionRefused(StatusCode(rawValue: code))
    } else {
      return nil
    }
  }
}

/// The times of the last and the next contact. Not part of any equality, because they change with each message.
public struct Contact: Hashable, Sendable, Codable {
  /// ``lastDate`` in microseconds since 1970.
  package var last: Int64?
  /// ``nextReportDate`` in microseconds since 1970.
  package var nextReport: Int64?

  package init(last: Int64? = nil, nextReport: Int64? = nil) { (self.last, self.nextReport) = (last, nextReport) }

  /// The time of the last authenticated message; nil: never.
  public var lastDate: Date? { last.map { Date(microseconds: $0) } }
  /// The latest time of the next report; nil if none is expected.
  public var nextReportDate: Date? { nextReport.map { Date(microseconds: $0) } }
}
