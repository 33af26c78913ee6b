/// The qualities of an attribute or command. Matter Core § 7.7.
public struct Quality: OptionSet, Hashable, Sendable {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Survives a restart.
  public static let nonVolatile = Self(rawValue: 1 << 0)
  /// Changes only with the firmware.
  public static let fixed = Self(rawValue: 1 << 1)
  /// Part of a scene.
  public static let scene = Self(rawValue: 1 << 2)
  /// Changes are not reported to subscribers (Changes Omitted).
  public static let changesOmitted = Self(rawValue: 1 << 3)
  /// Reported only for certain changes (Quieter Reporting), which the cluster's server defines.
  public static let quieter = Self(rawValue: 1 << 4)
  /// A list whose entries belong to fabrics; entries of other fabrics are never returned.
  public static let fabricScoped = Self(rawValue: 1 << 5)
  /// Data that only its fabric may read, even if other fields of the entry are readable.
  public static let fabricSensitive = Self(rawValue: 1 << 6)
  /// Written or invoked only in a timed interaction.
  public static let timed = Self(rawValue: 1 << 7)
  /// One instance per node, shared by all endpoints (Singleton).
  public static let singleton = Self(rawValue: 1 << 8)
  /// Skipped by wildcard reads (Diagnostics).
  public static let diagnostics = Self(rawValue: 1 << 9)
  /// A command that is too large for one message and needs TCP (Large Message).
  public static let largeMessage = Self(rawValue: 1 << 10)
  /// Written only within an atomic write (Atomic). Matter Core § 7.15.
  public static let atomic = Self(rawValue: 1 << 11)

  /// All qualities by their names.
  package static let named: [(name: String, quality: Quality)] = [
    ("nonVolatile", .nonVolatile), ("fixed", .fixed), ("scene", .scene), ("changesOmitted", .changesOmitted),
    ("quieter", .quieter), ("fabricScoped", .fabricScoped), ("fabricSensitive", .fabricSensitive), ("timed", .timed),
    ("singleton", .singleton), ("diagnostics", .diagnostics), ("largeMessage", .largeMessage), ("atomic", .atomic),
  ]

  /// The names of the members.
  package var names: [String] { Self.named.filter { contains($0.quality) }.map(\.name) }
}

/// An access privilege. Matter Core § 6.6.5 and § 7.6.
public enum Privilege: UInt8, Hashable, Comparable, CaseIterable, Sendable {
  case view = 1, proxyView = 2, operate = 3, manage = 4, administer = 5

  /// Returns the privilege with the name of a case; nil if there is none.
  package init?(named name: String) {
    guard let privilege = Self.allCases.first(where: { "\($0)" == name }) else { return nil }
    self = privilege
  }

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// Whether this privilege includes `other`. Proxy view is not part of the hierarchy: it includes only view.
  public func grants(_ other: Privilege) -> Bool {
    switch self {
    case .proxyView: other == .proxyView || other == .view
    case .administer: true
    default: other != .proxyView && self >= other
    }
  }
}

/// A constraint on the values of a type. Matter Core § 7.5.
public enum Constraint: Hashable, Sendable {
  case none
  /// A number within the range.
  case range(ClosedRange<Int64>)
  /// A string with a length in bytes within the range.
  case length(ClosedRange<Int>)
  /// A list with a number of entries within the range, whose upper bound is `Int.max` without a maximum.
  case entries(ClosedRange<Int>)
}
