public import MatterClusters
import MatterProtocol

/// A heat source of a water heater.
public struct WaterHeaterSource: Hashable, Sendable {
  /// The bit of HeaterTypes and HeatDemand.
  public var type: WaterHeaterManagement.WaterHeaterHeatSource
  /// The heat in watts.
  public var power: Int
  /// The heat for each unit of electrical energy; 0 for a source that takes none.
  public var performance: Double

  /// - Parameter performance: nil for the usual one of the type.
  public init(_ type: WaterHeaterManagement.WaterHeaterHeatSource, power: Int, performance: Double? = nil) {
    (self.type, self.power) = (type, power)
    self.performance = performance ?? Self.performance(of: type)
  }

  /// Returns the usual performance of a type: direct heating, a heat pump, or a fuel.
  public static func performance(of type: WaterHeaterManagement.WaterHeaterHeatSource) -> Double {
    switch type {
    case .immersionElement1, .immersionElement2: 1
    case .heatPump: 3
    default: 0
    }
  }

  /// The electrical power in milliwatts.
  var electricalPower: Int64 {
    performance > 0 ? Int64((Double(power) * 1000 / performance).rounded()) : 0
  }
}

/// The tank and the heat sources of a water heater.
public struct WaterHeaterSettings: Hashable, Sendable {
  /// The tank at the start.
  public var tank: WaterTank
  /// At least one. The first one heats; in an emergency all do.
  public var sources: [WaterHeaterSource]

  public init(tank: WaterTank = WaterTank(), sources: [WaterHeaterSource] = [.init(.immersionElement1, power: 3000)]) {
    (self.tank, self.sources) = (tank, sources)
  }
}

extension [WaterHeaterSource] {
  /// The sum of the electrical powers in milliwatts.
  var electricalPower: Int64 { reduce(0) { $0.saturatingAdd($1.electricalPower) } }
}
