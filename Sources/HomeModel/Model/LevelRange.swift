internal import MatterClusters

/// The levels that a device can have: its MinLevel and MaxLevel. Application Clusters § 1.6.6.
package struct LevelRange: Hashable, Sendable {
  package var lowest: UInt8
  package var highest: UInt8

  /// The range of a light: 1 to 254.
  package static let standard = LevelRange(lowest: 1, highest: 254)

  package init(lowest: UInt8, highest: UInt8) { (self.lowest, self.highest) = (lowest, max(1, min(highest, 254))) }

  /// - Returns: nil if the range of the endpoint is unknown.
  package init?(_ values: NodeValues?, on endpoint: EndpointID) {
    guard let values, let highest = values.value(LevelControl.maxLevel, on: endpoint) else { return nil }
    let lowest = values.value(LevelControl.minLevel, on: endpoint) ?? Self.standard.lowest
    self.init(lowest: lowest, highest: highest)
  }

  /// Whether the device can have the level; 0 is off.
  package func allows(_ level: UInt8) -> Bool { level == 0 || level >= lowest && level <= highest }

  /// A level in percent of the highest; at least 1 for a level above 0.
  package func percent(_ level: UInt8) -> Int {
    level == 0 ? 0 : max(1, (Int(min(level, highest)) * 100 + Int(highest) / 2) / Int(highest))
  }
}
