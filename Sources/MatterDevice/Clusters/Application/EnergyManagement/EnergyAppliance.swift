package import MatterClusters
internal import MatterModel

/// An energy smart appliance, as Device Energy Management describes it. Application Clusters § 9.2.
package struct EnergyAppliance: Hashable, Sendable {
  /// The type of the appliance.
  package var type: DeviceEnergyManagement.ESAType
  /// The powers while it is on, in milliwatts; below zero if it generates power.
  package var powers: ClosedRange<Int64>
  /// The adjustments that clients may request, and the forecast.
  var features: [Feature]

  /// - Parameters:
  ///   - powers: in milliwatts.
  ///   - features: features of the cluster; forecast adjustments need a forecast.
  init(_ type: DeviceEnergyManagement.ESAType, _ powers: ClosedRange<Int64>, features: [Feature]) {
    (self.type, self.powers, self.features) = (type, powers, features)
  }
}

/// The report of an energy smart appliance on its present operation.
package struct EnergyReport: Hashable, Sendable {
  /// Online, offline or fault.
  package var condition = DeviceEnergyManagement.ESAState.online
  /// The power in milliwatts; negative if the appliance generates it.
  package var power: Int64 = 0
  /// The power adjustments that are possible; nil for none.
  var capability: [DeviceEnergyManagement.PowerAdjustStruct]?
  /// The forecast, with the demanded start; nil for none. Its ForecastID and ForecastUpdateReason are ignored.
  var forecast: DeviceEnergyManagement.ForecastStruct?

  init() {}
}

/// The demand of clients on an energy smart appliance.
package struct EnergyDemand: Hashable, Sendable {
  /// The power of an adjustment in milliwatts; nil without one.
  package var power: Int64?
  /// Whether the appliance is paused.
  var isPaused = false
  /// The start of the forecast that was requested, in seconds since 2000; nil for that of the appliance.
  package var start: UInt32?

  init() {}
}
