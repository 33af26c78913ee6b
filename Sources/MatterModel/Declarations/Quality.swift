/// What the standard says of an attribute or command besides its type. Matter Core § 7.7 and § 7.3.
public struct Quality: OptionSet, Hashable, Sendable {
  public var rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Survives a restart.
  public static let nonVolatile = Self(rawValue: 1 << 0)
  /// Never changes while the firmware stays the same.
  public static let fixed = Self(rawValue: 1 << 1)
  /// Part of a scene.
  public static let scene = Self(rawValue: 1 << 2)
  /// Changes are not reported to subscribers (Changes Omitted).
  public static let changesOmitted = Self(rawValue: 1 << 3)
  /// Reported only at certain changes (Quieter Reporting); the cluster's server says which.
  public static let quieter = Self(rawValue: 1 << 4)
  /// A list whose entries belong to fabrics; the others' are never shown.
  public static let fabricScoped = Self(rawValue: 1 << 5)
  /// A fabric's own data, hidden from others even where the list is not.
  public static let fabricSensitive = Self(rawValue: 1 << 6)
  /// Written or invoked only in a timed interaction.
  public static let timed = Self(rawValue: 1 << 7)
  /// One instance for the whole node, whatever the endpoint (Singleton).
  public static let singleton = Self(rawValue: 1 << 8)
  /// Passed over when a wildcard read asks for it (Diagnostics).
  public static let diagnostics = Self(rawValue: 1 << 9)
  /// Too large for one message: a command that needs TCP (Large Message).
  public static let largeMessage = Self(rawValue: 1 << 10)
  /// Written only within an atomic write (Atomic). Matter Core § 7.15.
  public static let atomic = Self(rawValue: 1 << 11)
  /// Not settled in this version of the standard (Provisional): served only where a server asks for it by name. Matter Core § 7.3.2.
  public static let provisional = Self(rawValue: 1 << 12)
}

/// Who may do something. Matter Core § 6.6.5 and § 7.6.
public enum Privilege: UInt8, Hashable, Comparable, Sendable {
  case view = 1, proxyView = 2, operate = 3, manage = 4, administer = 5

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// Whether somebody granted this privilege may do what needs `other`. Proxy view is beside the ladder, not on it.
  public func grants(_ other: Privilege) -> Bool {
    switch self {
    case .proxyView: other == .proxyView || other == .view
    case .administer: true
    default: other != .proxyView && self >= other
    }
  }
}

/// When an element is there. Matter Core § 7.3; what the standard's full expressions boil down to.
public enum Conformance: Hashable, Sendable {
  case mandatory
  case optional
  /// Mandatory with any of these features, else not allowed.
  case features(UInt32)
  /// Optional with any of these features, else not allowed.
  case optionalWith(UInt32)
  /// Mandatory with any of these features, else optional.
  case recommended(UInt32)
  /// Mandatory where the condition holds, else not allowed.
  case when(FeatureCondition)
  /// Optional where the condition holds, else not allowed.
  case optionalWhen(FeatureCondition)
  /// Mandatory where the condition holds, else optional with any of these features, else not allowed.
  case whenElseOptionalWith(FeatureCondition, UInt32)

  /// Whether a server with these features must have it.
  public func requires(_ features: UInt32) -> Bool {
    switch self {
    case .mandatory: true
    case .features(let mask), .recommended(let mask): features & mask != 0
    case .when(let condition), .whenElseOptionalWith(let condition, _): condition.holds(features)
    case .optional, .optionalWith, .optionalWhen: false
    }
  }

  /// Whether a server with these features may have it.
  public func allows(_ features: UInt32) -> Bool {
    switch self {
    case .mandatory, .optional, .recommended: true
    case .features(let mask), .optionalWith(let mask): features & mask != 0
    case .when(let condition), .optionalWhen(let condition): condition.holds(features)
    case .whenElseOptionalWith(let condition, let mask): condition.holds(features) || features & mask != 0
    }
  }
}

/// A condition on a FeatureMap that one mask cannot say: `LF & PA_LF`, `!OFFONLY`, `!USR & (PIN | RID)`.
public struct FeatureCondition: Hashable, Sendable {
  /// Features that must all be there.
  public var all: UInt32
  /// Features of which one must be there; 0 asks for none.
  public var any: UInt32
  /// Features of which none may be there.
  public var none: UInt32

  public init(all: UInt32 = 0, any: UInt32 = 0, none: UInt32 = 0) { (self.all, self.any, self.none) = (all, any, none) }

  /// Whether a device with this FeatureMap fulfils it.
  public func holds(_ features: UInt32) -> Bool {
    features & all == all && (any == 0 || features & any != 0) && features & none == 0
  }
}

/// What values are allowed, beyond the type. Matter Core § 7.5.
public enum Constraint: Hashable, Sendable {
  case none
  /// A number from … to …
  case range(ClosedRange<Int64>)
  /// A string of at least and at most so many bytes.
  case length(ClosedRange<Int>)
  /// A list of at most so many entries.
  case entries(Int)
}
