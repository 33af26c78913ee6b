import MatterClusters
import MatterDevice
import MatterModel

// The state of devices that measure power, for display.
extension VirtualDevice {
  /// Returns the power that the first of the endpoints with an electrical sensor measures; nil without one.
  static func power(_ engine: inout DeviceEngine, on endpoints: [EndpointID]) -> String? {
    for endpoint in endpoints {
      guard let power = engine.value(ElectricalPowerMeasurement.activePower, on: endpoint) else { continue }
      return power.wrapped.map { ValueUnit.milliwatts.text($0) ?? "\($0)" } ?? "unknown"
    }
    return nil
  }
}
