/// The qualities of an attribute or command. Matter Core § 7.7 and § 7.3.
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
  /// Provisional in this version of the standard: served only if a server enables it explicitly. Matter Core § 7.3.2.
  public static let provisional = Self(rawValue: 1 << 12)
}

/// An access privilege. Matter Core § 6.6.5 and § 7.6.
public enum Privilege: UInt8, Hashable, Comparable, Sendable {
  case view = 1, proxyView = 2, operate = 3, manage = 4, administer = 5

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

/// Whether an element is mandatory, optional or not allowed: a simplified form of the conformance expressions. Matter
/// Core § 7.3.
public enum Conformance: Hashable, Sendable {
  case mandatory
  case optional
  /// Mandatory with any of these features, else not allowed.
  case features(UInt32)
  /// Optional with any of these features, else not allowed.
  case optionalWith(UInt32)
  /// Mandatory with any of these features, else optional.
  case recommended(UInt32)
  /// Mandatory if the condition holds, else not allowed.
  case when(FeatureCondition)
  /// Optional if the condition holds, else not allowed.
  case optionalWhen(FeatureCondition)
  /// Mandatory if the condition holds, else optional with any of these features, else not allowed.
  case whenElseOptionalWith(FeatureCondition, UInt32)

  /// Whether the element is mandatory with these features.
  public func requires(_ features: UInt32) -> Bool {
    switch self {
    case .mandatory: true
    case .features(let mask), .recommended(let mask): features & mask != 0
    case .when(let condition), .whenElseOptionalWith(let condition, _): condition.holds(features)
    case .optional, .optionalWith, .optionalWhen: false
    }
  }

  /// Whether the element is allowed with these features.
  public func allows(_ features: UInt32) -> Bool {
    switch self {
    case .mandatory, .optional, .recommended: true
    case .features(let mask), .optionalWith(let mask): features & mask != 0
    case .when(let condition), .optionalWhen(let condition): condition.holds(features)
    case .whenElseOptionalWith(let condition, let mask): condition.holds(features) || features & mask != 0
    }
  }
}

/// A condition on a FeatureMap that a single mask cannot express: `LF & PA_LF`, `!OFFONLY`, `!USR & (PIN | RID)`.
public struct FeatureCondition: Hashable, Sendable {
  /// Features that must all be present.
  public var all: UInt32
  /// At least one of these features must be present; 0 for no condition.
  public var any: UInt32
  /// Features that must all be absent.
  public var none: UInt32

  public init(all: UInt32 = 0, any: UInt32 = 0, none: UInt32 = 0) { (self.all, self.any, self.none) = (all, any, none) }

  /// Whether a FeatureMap satisfies the condition.
  public func holds(_ features: UInt32) -> Bool {
    features & all == all && (any == 0 || features & any != 0) && features & none == 0
  }
}

/// A constraint on the values of a type. Matter Core § 7.5.
public enum Constraint: Hashable, Sendable {
  case none
  /// A number within the range.
  case range(ClosedRange<Int64>)
  /// A string with a length in bytes within the range.
  case length(ClosedRange<Int>)
  /// A list with at most this number of entries.
  case entries(Int)
}
