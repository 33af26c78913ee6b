import MatterClusters
import MatterDevice
import MatterModel

// The state of devices that measure power, for display.
extension VirtualDevice {
  /// Returns the state of a charging station as text, with the power that the next endpoint measures; nil without one.
  static func charging(_ engine: inout DeviceEngine, on endpoint: EndpointID) -> String? {
    guard let state = engine.value(EnergyEvse.state, on: endpoint) else { return nil }
    guard state == .value(.pluggedInCharging) else { return state.wrapped?.words ?? "unknown" }
    let parts = engine.value(Descriptor.partsList, on: endpoint) ?? []
    return [state.wrapped?.words, power(&engine, on: parts)].compactMap { $0 }.joined(separator: ", ")
  }

  /// Returns the power that the first of the endpoints with an electrical sensor measures, and the price of energy that
  /// one of them has; nil without any.
  static func power(_ engine: inout DeviceEngine, on endpoints: [EndpointID]) -> String? {
    var price: String?
    for endpoint in endpoints {
      if let present = engine.value(CommodityPrice.currentPrice, on: endpoint)?.wrapped {
        price = present.text(in: engine.value(CommodityPrice.currency, on: endpoint)?.wrapped)
      }
      guard let power = engine.value(ElectricalPowerMeasurement.activePower, on: endpoint) else { continue }
      let text = power.wrapped.map { ValueUnit.milliwatts.text($0) ?? "\($0)" } ?? "unknown"
      return [text, price].compactMap { $0 }.joined(separator: ", ")
    }
    return nil
  }
}
