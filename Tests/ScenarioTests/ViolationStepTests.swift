import Scenario
import Testing

/// Scenarios in which data of a device violates the data model for a while.
@Suite("Violations of the data model in scenarios") struct ViolationStepTests {
  private static let devices = """
    devices:
      - { name: Lamp, type: dimmable light }
      - name: Bridge
        type: bridge
        devices:
          - { name: Spot, type: dimmable light }

    """

  private static let lists = ["missing", "null", "cut", "type"]
  /// Attributes of a dimmable light, with their violations.
  private static let attributes = [
    "1.descriptor.deviceTypeList": lists, "1.descriptor.serverList": lists, "1.descriptor.clientList": lists,
    "1.descriptor.partsList": lists, "onOff.attributeList": lists, "onOff.onOff": ["missing", "null", "type"],
    "onOff.featureMap": ["missing", "null", "unknown", "type"], "levelControl.options": ["missing", "unknown"],
  ]
  private static let ofRoot = Dictionary(
    uniqueKeysWithValues: ["deviceTypeList", "serverList", "clientList", "partsList"].map {
      ("0.descriptor.\($0)", lists)
    })

  @Test(
    "a device can be used during and after each violation",
    arguments: [("lamp", attributes.merging(ofRoot) { $1 }), ("spot", attributes), ("bridge", ofRoot)])
  func usesDevice(_ subject: String, _ attributes: [String: [String]]) async throws {
    let device = subject == "bridge" ? "spot" : subject
    var steps = "steps:\n  - expect: { spot.connectivity: online, lamp.connectivity: online, within: 30s }\n"
    for (attribute, violations) in attributes.sorted(by: { $0.key < $1.key }) {
      for violation in violations {
        steps += """
            - fault: { \(subject): { data: { \(attribute): \(violation) } } }
            - wait: 3s
            - expect: { spot.connectivity: online, lamp.connectivity: online }
            - fault: { \(subject): heal }
            - wait: 3s
            - expect: { spot.connectivity: online, lamp.connectivity: online }
            - do: on \(device)
            - expect: { actual \(device).onOff: true, \(device).onOff: true, within: 5s }
            - do: off \(device)
            - expect: { actual \(device).onOff: false, \(device).onOff: false, within: 5s }

          """
      }
    }
    let result = try await ScenarioFileTests.load(Self.devices + steps).simulate(seed: 1).result
    #expect(result.isPassed, "\(result)")
  }
}
