internal import Foundation
package import HomeModel
internal import MatterClusters
package import MatterModel

extension DeviceState {
  /// One value of a sensor, a lock, a thermostat, a covering or a fan.
  package struct Reading: Hashable, Sendable {
    package var cluster: ClusterID
    package var attribute: AttributeID
    /// The TLV element of the attribute, with an anonymous tag.
    package var value: [UInt8]
    /// A short text: "21.5 °C", "locked", "open 40%".
    package var text: String
  }
}

extension DeviceState.Reading {
  /// What is known of an endpoint, in the order in which a table shows it.
  package static func all(of endpoint: DeviceEndpoint, _ values: NodeValues) -> [DeviceState.Reading] {
    var source = ReadingSource(endpoint: endpoint, values: values)
    source.addSensors()
    source.addLock()
    source.addThermostat()
    source.addCovering()
    source.addFan()
    return source.readings
  }
}

/// Collects the readings of an endpoint.
private struct ReadingSource {
  let endpoint: DeviceEndpoint
  let values: NodeValues
  var readings: [DeviceState.Reading] = []

  /// - Parameter text: nil leaves the reading out.
  private mutating func add<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, _ text: (Value) -> String?
  ) {
    let path = attribute.path(on: endpoint.id)
    guard let bytes = values[path], let value = try? Value(tlv: bytes), let words = text(value) else { return }
    readings.append(.init(cluster: C.id, attribute: attribute.id, value: bytes, text: words))
  }

  /// A reading with its unit.
  private mutating func add<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Nullable<Value>>, prefix: String = "", suffix: String = ""
  ) {
    let path = attribute.path(on: endpoint.id)
    add(attribute) { value in
      value.wrapped == nil ? nil : AttributeUnits.text(path, value.tlv).map { prefix + $0 + suffix }
    }
  }

  private func value<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>) -> Value? {
    values.value(attribute, on: endpoint.id)
  }

  private static func words(_ name: String) -> String {
    camelCase(name).reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
  }

  mutating func addSensors() {
    add(TemperatureMeasurement.measuredValue)
    add(RelativeHumidityMeasurement.measuredValue, suffix: " humidity")
    // Application Clusters § 2.2.5.1: 10,000 · log10(lux) + 1; 0 is too dark to be measured.
    add(IlluminanceMeasurement.measuredValue) { value in
      value.wrapped.map { $0 == 0 ? "dark" : "\(Int(pow(10, (Double($0) - 1) / 10_000).rounded())) lx" }
    }
    add(OccupancySensing.occupancy) { $0.contains(.occupied) ? "occupied" : "unoccupied" }
    let types = endpoint.deviceTypes
    let words: (on: String, off: String) =
      if types.contains(DeviceTypes.contactSensor.id) {
        ("closed", "open")
      } else if types.contains(DeviceTypes.waterLeakDetector.id) {
        ("leak", "dry")
      } else if types.contains(DeviceTypes.rainSensor.id) {
        ("rain", "dry")
      } else if types.contains(DeviceTypes.waterFreezeDetector.id) {
        ("freezing", "not freezing")
      } else {
        ("true", "false")
      }
    add(BooleanState.stateValue) { $0 ? words.on : words.off }
  }

  mutating func addLock() {
    add(DoorLock.lockState) { state in
      state.wrapped.map { DoorLock.LockState.names[UInt64($0.rawValue)].map(Self.words) ?? "lock state \($0.rawValue)" }
    }
    add(DoorLock.doorState) { state in
      state.wrapped.map { DoorLock.DoorState.names[UInt64($0.rawValue)].map(Self.words) ?? "door state \($0.rawValue)" }
    }
  }

  mutating func addThermostat() {
    add(Thermostat.localTemperature)
    guard let mode = value(Thermostat.systemMode) else { return }
    add(Thermostat.systemMode) {
      Thermostat.SystemMode.names[UInt64($0.rawValue)].map(Self.words) ?? "mode \($0.rawValue)"
    }
    let heats = mode == .heat || mode == .emergencyHeat || mode == .auto
    let cools = mode == .cool || mode == .precooling || mode == .auto
    if heats { setpoint(Thermostat.occupiedHeatingSetpoint, mode == .auto ? "heat to " : "to ") }
    if cools { setpoint(Thermostat.occupiedCoolingSetpoint, mode == .auto ? "cool to " : "to ") }
  }

  private mutating func setpoint(_ attribute: Attribute<Thermostat, Int16>, _ prefix: String) {
    let path = attribute.path(on: endpoint.id)
    add(attribute) { value in AttributeUnits.text(path, value.tlv).map { prefix + $0 } }
  }

  mutating func addCovering() {
    /// 100% is closed. Application Clusters § 5.3.6.
    func closed(_ percent: Double) -> String {
      switch percent {
      case ...0: "open"
      case 100...: "closed"
      default: "\(Int(percent.rounded()))% closed"
      }
    }
    if value(WindowCovering.currentPositionLiftPercent100ths)?.wrapped != nil {
      add(WindowCovering.currentPositionLiftPercent100ths) { $0.wrapped.map { closed(Double($0) / 100) } }
    } else {
      add(WindowCovering.currentPositionLiftPercentage) { $0.wrapped.map { closed(Double($0)) } }
    }
    if value(WindowCovering.currentPositionTiltPercent100ths)?.wrapped != nil {
      add(WindowCovering.currentPositionTiltPercent100ths) { $0.wrapped.map { "tilt " + closed(Double($0) / 100) } }
    } else {
      add(WindowCovering.currentPositionTiltPercentage) { $0.wrapped.map { "tilt " + closed(Double($0)) } }
    }
  }

  mutating func addFan() {
    add(FanControl.fanMode) {
      "fan " + (FanControl.FanMode.names[UInt64($0.rawValue)].map(Self.words) ?? "mode \($0.rawValue)")
    }
    guard value(FanControl.fanMode) != .off else { return }
    add(FanControl.percentCurrent) { "\($0)%" }
  }
}
