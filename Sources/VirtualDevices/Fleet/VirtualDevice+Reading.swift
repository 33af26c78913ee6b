import MatterClusters
import MatterDevice
import MatterModel

// The states and measurements of devices, for display.
extension VirtualDevice {
  /// Returns the state or the measurement of a device as text; nil if its kind has none.
  /// - Parameter endpoints: Its application endpoints.
  static func reading(_ engine: inout DeviceEngine, on endpoints: [EndpointID], of kind: DeviceKind) -> String? {
    let position = kind.shownPosition
    if endpoints.indices.contains(position), let text = reading(&engine, on: endpoints[position], of: kind) {
      return text
    }
    if let power = power(&engine, on: endpoints) { return power }
    // The compartments of a refrigerator, and the cavity of an oven.
    guard kind == .refrigerator || kind == .oven else { return nil }
    return endpoints.dropFirst().compactMap { reading(&engine, on: $0, of: kind) }.joined(separator: ", ")
  }

  /// Returns the state or the measurement of an endpoint as text; nil if it has none.
  private static func reading(
    _ engine: inout DeviceEngine, on endpoint: EndpointID, of kind: DeviceKind
  ) -> String? {
    func text<C: Cluster, Value: ModelValue & BinaryInteger>(
      _ attribute: MatterModel.Attribute<C, Nullable<Value>>
    ) -> String? {
      engine.value(attribute, on: endpoint).map { value in
        value.wrapped.map { ValueUnit(C.id, attribute.id)?.text(Int64($0)) ?? "\($0)" } ?? "unknown"
      }
    }
    if let state = engine.value(BooleanState.stateValue, on: endpoint), let words = BooleanState.words(kind.deviceType)
    {
      return state ? words.whenTrue : words.whenFalse
    }
    if let lock = engine.value(DoorLock.lockState, on: endpoint) {
      return lock.wrapped.map { $0 == .notFullyLocked ? "not fully locked" : "\($0)".lowercased() } ?? "unknown"
    }
    if let percent = engine.value(FanControl.percentCurrent, on: endpoint), !kind.conditionsRoom {
      let mode = engine.value(FanControl.fanMode, on: endpoint).map { $0.isKnown ? " \($0.words)" : "" } ?? ""
      return "fan\(mode)" + (percent == 0 ? "" : ", \(percent)%")
    }
    if let occupancy = engine.value(OccupancySensing.occupancy, on: endpoint) {
      return occupancy.contains(.occupied) ? "occupied" : "unoccupied"
    }
    if let state = engine.value(SmokeCoAlarm.expressedState, on: endpoint) { return state.words }
    if let quality = engine.value(AirQuality.airQuality, on: endpoint) { return quality.words }
    if let state = engine.value(OvenCavityOperationalState.operationalState, on: endpoint)?.rawValue {
      let words = OperationalState.words(
        state, engine.value(OvenCavityOperationalState.phaseList, on: endpoint)?.wrapped ?? [],
        engine.value(OvenCavityOperationalState.currentPhase, on: endpoint)?.wrapped)
      return words + (text(TemperatureMeasurement.measuredValue).map { ", " + $0 } ?? "")
    }
    if let state = engine.value(OperationalState.operationalState, on: endpoint)?.rawValue
      ?? engine.value(RvcOperationalState.operationalState, on: endpoint)?.rawValue
    {
      return OperationalState.words(
        state, engine.value(OperationalState.phaseList, on: endpoint)?.wrapped ?? [],
        engine.value(OperationalState.currentPhase, on: endpoint)?.wrapped)
    }
    if let relays = engine.value(Thermostat.thermostatRunningState, on: endpoint) {
      let demand = engine.value(Thermostat.piHeatingDemand, on: endpoint).map { " \($0)%" } ?? ""
      let action = relays.contains(.heat) ? ", heating" + demand : relays.contains(.cool) ? ", cooling" : ""
      return text(Thermostat.localTemperature).map { $0 + action }
    }
    return text(TemperatureMeasurement.measuredValue) ?? text(RelativeHumidityMeasurement.measuredValue)
      ?? text(IlluminanceMeasurement.measuredValue) ?? text(PressureMeasurement.measuredValue)
      ?? text(FlowMeasurement.measuredValue) ?? text(SoilMeasurement.soilMoistureMeasuredValue)
      ?? position(&engine, on: endpoint) ?? charging(&engine, on: endpoint)
      ?? media(&engine, on: endpoint)
  }
}
