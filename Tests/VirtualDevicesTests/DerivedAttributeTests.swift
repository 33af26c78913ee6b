import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import VirtualDevices

/// Attributes that follow from others: neither a definition nor the physical device can set them.
@Suite("Derived attributes") struct DerivedAttributeTests {
  struct Example: Sendable, CustomTestStringConvertible {
    let type: String
    /// The name of the attribute in definition files.
    let name: String
    let path: ConcreteAttributePath
    /// A value other than that of a device that starts.
    let value: [UInt8]
    /// The value in definition files.
    let text: String
    var testDescription: String { "\(type): \(name)" }

    init<C: Cluster, Value: ModelValue>(
      _ type: String, _ attribute: MatterModel.Attribute<C, Value>, _ value: Value, _ text: String
    ) {
      (self.type, name, path, self.value, self.text) = (
        type, "\(NormalizedName.camelCase(C.name)).\(NormalizedName.camelCase(attribute.name))", attribute.path(on: 1),
        value.tlv, text
      )
    }
  }

  static let examples: [Example] = [
    .init("fan", FanControl.percentCurrent, 77, "77"),
    .init("fan", FanControl.speedCurrent, 2, "2"),
    .init("air purifier", HepaFilterMonitoring.changeIndication, .critical, "Critical"),
    .init("air purifier", ActivatedCarbonFilterMonitoring.changeIndication, .warning, "Warning"),
    .init("thermostat", Thermostat.thermostatRunningState, .cool, "Cool"),
    .init("thermostat", Thermostat.thermostatRunningMode, .cool, "Cool"),
    .init("radiator thermostat", Thermostat.piHeatingDemand, 50, "50"),
    .init("pump", PumpConfigurationAndControl.effectiveOperationMode, .local, "Local"),
    .init("pump", PumpConfigurationAndControl.effectiveControlMode, .automatic, "Automatic"),
    .init("pump", PumpConfigurationAndControl.power, .value(5), "5"),
    .init("water valve", ValveConfigurationAndControl.targetLevel, .value(9), "9"),
    .init("water valve", ValveConfigurationAndControl.openDuration, .value(9), "9"),
    .init("air quality sensor", CarbonDioxideConcentrationMeasurement.levelValue, .critical, "Critical"),
    .init("air quality sensor", CarbonDioxideConcentrationMeasurement.peakMeasuredValue, .value(9), "9"),
    .init("air quality sensor", CarbonDioxideConcentrationMeasurement.averageMeasuredValue, .value(9), "9"),
    .init("smoke CO alarm", SmokeCoAlarm.expressedState, .testing, "Testing"),
    .init("water leak detector", BooleanStateConfiguration.alarmsActive, .visual, "Visual"),
  ]

  private func load(_ fields: String) throws(DefinitionError) -> DeviceDefinition? {
    try HomeDefinition.load(simulating: [("home.yaml", "devices:\n  - { name: A, \(fields) }\n")]).devices.first
  }

  @Test("the physical device can't set them", arguments: examples) func refusesActions(_ example: Example) throws {
    let device = try #require(try load("type: \(example.type)"))
    var engine = try DeviceEngine(device)
    let value = engine.value(of: example.path, at: .zero)
    let before = try #require(value)
    #expect(before != example.value && engine.isDerived(example.path))
    #expect(throws: StatusError(.invalidInState)) {
      try engine.act(set: example.path, encoded: example.value, at: .zero)
    }
    #expect(engine.value(of: example.path, at: .zero) == before)
  }

  @Test("a definition can't set them", arguments: examples) func refusesDefinitions(_ example: Example) {
    let error = #expect(throws: DefinitionError.self) {
      try load("type: \(example.type), attributes: { \(example.name): \(example.text) }")
    }
    let problem = error?.problems.first
    #expect(problem?.expected == "an attribute that does not follow from others", "\(error?.problems ?? [])")
  }

  @Test("the status of a covering can only be a stop") func stopsCovering() throws {
    let device = try #require(try load("type: blind"))
    var engine = try DeviceEngine(device)
    #expect(throws: StatusError(.invalidInState)) {
      try engine.act(set: WindowCovering.operationalStatus, .init(rawValue: 1), on: 1, at: .zero)
    }
    try engine.act(set: WindowCovering.operationalStatus, [], on: 1, at: .zero)
  }
}
