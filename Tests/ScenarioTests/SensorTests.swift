import Scenario
import Simulation
import Testing
import VirtualDevices

/// Sensors in a simulated home: each kind is commissioned, and its subscriber receives the values of its course.
@Suite struct SensorTests {
  struct Sensor: CustomTestStringConvertible, Sendable {
    var kind: DeviceKind
    var attribute: String
    /// The values of the course in the definition and in the expectations.
    var values: (String, String)
    var event: String?

    var testDescription: String { kind.name }
  }

  private static let sensors = [
    Sensor(
      kind: .contactSensor, attribute: "booleanState.stateValue", values: ("true", "false"),
      event: "booleanState.stateChange"),
    Sensor(
      kind: .waterLeakDetector, attribute: "booleanState.stateValue", values: ("false", "true"),
      event: "booleanState.stateChange"),
    Sensor(
      kind: .waterFreezeDetector, attribute: "booleanState.stateValue", values: ("false", "true"),
      event: "booleanState.stateChange"),
    Sensor(
      kind: .rainSensor, attribute: "booleanState.stateValue", values: ("false", "true"),
      event: "booleanState.stateChange"),
    Sensor(
      kind: .occupancySensor, attribute: "occupancySensing.occupancy", values: ("occupied", "0"),
      event: "occupancySensing.occupancyChanged"),
    Sensor(kind: .lightSensor, attribute: "illuminanceMeasurement.measuredValue", values: ("20lx", "1000lx")),
    Sensor(kind: .temperatureSensor, attribute: "temperatureMeasurement.measuredValue", values: ("-5.5C", "21C")),
    Sensor(kind: .humiditySensor, attribute: "relativeHumidityMeasurement.measuredValue", values: ("40%", "61.25%")),
    Sensor(kind: .soilSensor, attribute: "soilMeasurement.soilMoistureMeasuredValue", values: ("15%", "60%")),
    Sensor(kind: .pressureSensor, attribute: "pressureMeasurement.measuredValue", values: ("990hPa", "1013hPa")),
    Sensor(kind: .airQualitySensor, attribute: "airQuality.airQuality", values: ("Poor", "Good")),
    Sensor(
      kind: .electricalSensor, attribute: "electricalPowerMeasurement.activePower", values: ("60W", "-1.5kW")),
    Sensor(kind: .flowSensor, attribute: "flowMeasurement.measuredValue", values: ("1.2m3/h", "0m3/h")),
  ]

  @Test func listsEverySensor() {
    // An on/off sensor has no attribute to read.
    let kinds = DeviceKind.all.filter {
      $0 != .onOffSensor && ($0.name.hasSuffix("sensor") || $0.name.hasSuffix("detector"))
    }
    #expect(Set(kinds) == Set(Self.sensors.map(\.kind)))
  }

  @Test(arguments: sensors) func reportsItsCourse(_ sensor: Sensor) async throws {
    let (first, second) = sensor.values
    let event = sensor.event.map { "\n      event thing.\($0): true" } ?? ""
    let scenario = try ScenarioFileTests.load(
      """
      devices:
        - name: Thing
          type: \(sensor.kind.name)
          behave: { \(sensor.attribute): { steps: [\(first) for 1m, \(second) for 1h] } }
      steps:
        - expect: { thing.connectivity: online, thing.\(sensor.attribute): \(first), within: 5s }
        - wait: 30s
        - expect:
            thing.\(sensor.attribute): \(second)\(event)
            within: 1m
        # A physical change ends the course.
        - set: { thing.\(sensor.attribute): \(first) }
        - expect: { thing.\(sensor.attribute): \(first), within: 15s }
        - wait: 3h
        - expect: { thing.\(sensor.attribute): \(first), actual thing.\(sensor.attribute): \(first) }
        # It continues at the next start: three hours are almost three rounds.
        - power: { thing: cycle }
        - expect: { thing.\(sensor.attribute): \(second), within: 2m }
      """)
    let (result, _) = await scenario.simulate(seed: 1)
    #expect(result.isPassed, "\(result)")
  }

  /// A random walk draws from the seed of the run.
  @Test func walksFromTheSeed() async throws {
    let definition = try SimulatedHomeTests.definition(
      """
      devices:
        - name: Thing
          type: humidity sensor
          behave:
            relativeHumidityMeasurement.measuredValue: { walk: { from: 10%, to: 90%, step: 5%, every: 1m } }
      """)
    func values(_ seed: UInt64) async throws -> [[UInt8]?] {
      let run = await simulate(definition, seed: seed) { _, world in
        var values: [[UInt8]?] = []
        for _ in 0..<10 {
          try await world.simulation.sleep(for: .seconds(60))
          values.append(await world.value(of: AttributePlace(0x0405, 0x0000), in: "Thing"))
        }
        return values
      }
      return try run.result.get()
    }
    let first = try await values(1)
    #expect(Set(first).count > 5 && first.allSatisfy { $0 != nil })
    #expect(try await values(1) == first)
    #expect(try await values(2) != first)
  }
}
