import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import VirtualDevices

/// The first value of a course acts like the same change of a running device, on every kind of device.
@Suite("First steps of courses") struct FirstStepTests {
  private static let mark = SourceMark(file: "", line: 1, column: 1)

  /// Numbers to try: all named ones, and a few others.
  private func candidates(_ schema: Schema) -> [InitialValue.Value] {
    switch schema {
    case .boolean: [.boolean(true), .boolean(false)]
    case .enumeration(_, let names): names.keys.sorted().map { .integer(Int64(clamping: $0)) }
    case .bitmap, .unsigned, .signed: [.integer(1), .integer(60)]
    case .nullable(let inner): candidates(inner)
    default: []
    }
  }

  private func following(_ path: ConcreteAttributePath, _ schema: Schema, _ value: InitialValue.Value)
    -> BehaviorDefinition
  {
    let attribute = InitialValue(
      endpoint: path.endpoint, cluster: "", attribute: "", value: value,
      target: .init(cluster: path.cluster, attribute: path.attribute, schema: schema, constraint: .none),
      mark: Self.mark, text: "", valueMark: Self.mark)
    return BehaviorDefinition(attribute: attribute, course: .steps([.init(value, at: .zero)]), values: [])
  }

  /// The values of the application endpoints.
  private func values(_ engine: inout DeviceEngine, at now: Instant) -> [ConcreteAttributePath: [UInt8]] {
    let paths = engine.attributes.map(\.path).filter { $0.endpoint != .root }
    return paths.reduce(into: [:]) { $0[$1] = engine.value(of: $1, at: now) }
  }

  private func differences(
    _ first: inout DeviceEngine, _ second: inout DeviceEngine, at now: Instant
  ) -> [String] {
    let (expected, actual) = (values(&first, at: now), values(&second, at: now))
    return expected.keys.sorted { "\($0)" < "\($1)" }.filter { expected[$0] != actual[$0] }.map {
      "\($0): \(expected[$0] ?? []), \(actual[$0] ?? [])"
    }
  }

  @Test(arguments: DeviceKind.all) func actsLikeChange(_ kind: DeviceKind) throws {
    guard kind != .bridge else { return }
    let text = "devices:\n  - { name: Device, type: \(kind.name) }\n"
    let device = try HomeDefinition.load(simulating: [("home.yaml", text)]).devices[0]
    // The battery of the node follows no course.
    for endpoint in DeviceAssembly.endpoints(of: device) where endpoint.id != .root {
      for server in endpoint.servers {
        for info in server.cluster.attributes where server.performsChanges(of: info.id) {
          let path = ConcreteAttributePath(endpoint.id, server.id, info.id)
          for value in candidates(info.schema) {
            var changed = try DeviceEngine(device)
            guard (try? changed.act(set: path, encoded: value.tlv(as: info.schema), at: .zero)) != nil else { continue }
            var behaving = device
            behaving.behaviors = [following(path, info.schema, value)]
            var follower = try DeviceEngine(behaving)
            for now in [Instant.zero, .zero + .seconds(30)] {
              advance(&changed, to: now)
              advance(&follower, to: now)
              #expect(differences(&changed, &follower, at: now) == [], "\(info.name) \(value)")
            }
          }
        }
      }
    }
  }

  @Test("a robot cleans, and a cooktop is on, from the first step or value") func startsAppliances() throws {
    let home = try HomeDefinition.load(simulating: [
      (
        "home.yaml",
        """
        devices:
          - { name: Robot, type: robot vacuum, behave: { rvcRunMode.currentMode: { steps: [1 for 1h, 0 for 1h] } } }
          - { name: Hob, type: cooktop, behave: { 2.onOff.onOff: { steps: [true for 1h, false for 1h] } } }
          - { name: Stove, type: cooktop, attributes: { 3.onOff.onOff: true } }

        """
      )
    ])
    var engines = try home.devices.map { try DeviceEngine($0) }
    #expect(engines[0].value(RvcRunMode.currentMode, on: 1) == 1)
    #expect(engines[0].value(RvcOperationalState.operationalState, on: 1) == .running)
    for index in [1, 2] { #expect(engines[index].value(OnOff.onOff, on: 1) == true) }
    advance(&engines, to: .zero + .seconds(30))
    let heated = engines[1].value(TemperatureMeasurement.measuredValue, on: 2)?.wrapped
    #expect(heated.map { $0 > 2100 } == true)
  }
}
