package import MatterModel

extension Thermostat {
  private static let deadBandPairs = [
    (occupiedHeatingSetpoint, occupiedCoolingSetpoint), (unoccupiedHeatingSetpoint, unoccupiedCoolingSetpoint),
    (minHeatSetpointLimit, minCoolSetpointLimit), (maxHeatSetpointLimit, maxCoolSetpointLimit),
  ]

  /// The attributes that ``deadBandProblem(features:_:)`` compares.
  package static let deadBandAttributes: Set<AttributeID> = deadBandPairs.reduce(into: [minSetpointDeadBand.id]) {
    $0.formUnion([$1.0.id, $1.1.id])
  }

  /// Returns the first pair of limits or set points that are closer to each other than MinSetpointDeadBand; nil if none
  /// are, or the thermostat does not change between heating and cooling. Application Clusters § 4.3.5.
  /// - Parameter encoded: Returns the encoded value of an attribute of the cluster; nil for an unknown one.
  package static func deadBandProblem(features: UInt32, _ encoded: (AttributeID) -> [UInt8]?) -> String? {
    guard features & autoMode.mask != 0,
      let band = encoded(minSetpointDeadBand.id).flatMap({ try? Int8(tlv: $0) })
    else { return nil }
    for (heating, cooling) in deadBandPairs {
      guard let low = encoded(heating.id).flatMap({ try? Int16(tlv: $0) }),
        let high = encoded(cooling.id).flatMap({ try? Int16(tlv: $0) }), Int(high) - Int(low) < Int(band) * 10
      else { continue }
      func text(_ info: Attribute<Self, Int16>, _ value: Int16) -> String {
        info.name + (ValueUnit(id, info.id)?.text(Int64(value)).map { " (\($0))" } ?? "")
      }
      return "\(text(cooling, high)) at least MinSetpointDeadBand above \(text(heating, low))"
    }
    return nil
  }
}
