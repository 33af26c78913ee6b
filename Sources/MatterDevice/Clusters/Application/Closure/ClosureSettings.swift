public import MatterClusters

/// A closure such as a gate, a garage door or an awning: its panels, its latch and its named positions.
///
/// Positions are hundredths of a percent of the way: 0 is open, 10,000 is closed.
public struct ClosureSettings: Hashable, Sendable {
  /// The panels, each with an endpoint of its own; empty for a closure that is controlled as a whole only.
  public var panels: [ClosurePanelSettings]
  /// The time of a full travel at the speeds Auto and Medium.
  public var travel: Duration
  /// Whether the motors measure their positions. Otherwise a position is unknown after a movement by hand, and after a
  /// loss of power on the way.
  public var hasEncoder = true
  /// What clients can do with the latch; nil without a latch.
  public var latch: LatchControlModes? = [.remoteLatching, .remoteUnlatching]
  /// Whether clients can set the speed.
  public var hasSpeeds = true
  /// The position for ventilation; nil without one.
  public var ventilation: UInt16? = 9000
  /// The position for pedestrians; nil without one.
  public var pedestrian: UInt16? = 7000
  /// The position that the user prefers.
  public var signature: UInt16 = 5000
  /// The position at the first start; nil if it is unknown.
  public var position: UInt16? = 10_000
  /// Whether the latch is closed at the first start.
  public var isLatched = false

  /// Creates settings; by default those of a garage door.
  public init(
    panels: [ClosurePanelSettings] = [ClosurePanelSettings("Panel")], travel: Duration = .seconds(15)
  ) {
    (self.panels, self.travel) = (panels, travel)
  }
}

/// A panel of a closure, which moves along or about one axis. Application Clusters, Closure Dimension.
public struct ClosurePanelSettings: Hashable, Sendable {
  /// The movement of a panel.
  public enum Motion: Hashable, Sendable {
    /// A translation in a direction.
    case translation(ClosureDimension.TranslationDirection)
    /// A rotation about an axis, with the space that the panel needs beside the opening.
    case rotation(ClosureDimension.RotationAxis, ClosureDimension.Overflow)
    /// A change of a flow, such as that of light.
    case modulation(ClosureDimension.ModulationType)
  }

  /// The name, unique within the closure.
  public var name: String
  public var motion: Motion
  /// The time of a full travel; nil for that of the closure.
  public var travel: Duration?
  /// The unit of the range; nil without one.
  public var unit: ClosureDimension.ClosureUnit?
  /// The positions in the unit when the panel is open and closed, in ascending order.
  public var unitRange: ClosedRange<Int16> = 0...0
  /// The positions between which the panel moves, multiples of the resolution; nil for all.
  public var limits: ClosedRange<UInt16>?
  /// The smallest difference of two positions, 1 to 10,000.
  public var resolution: UInt16 = 100
  /// The distance of one step, a multiple of the resolution.
  public var step: UInt16 = 1000

  /// Creates a panel; by default one that moves up to open, through 2 meters.
  public init(
    _ name: String, _ motion: Motion = .translation(.upward), unit: ClosureDimension.ClosureUnit? = .millimeter,
    unitRange: ClosedRange<Int16> = 0...2000
  ) {
    (self.name, self.motion, self.unit, self.unitRange) = (name, motion, unit, unitRange)
  }

  /// The range of positions, open first.
  var range: ClosedRange<Int64> {
    Int64(limits?.lowerBound ?? 0)...Int64(limits?.upperBound ?? 10_000)
  }
}
