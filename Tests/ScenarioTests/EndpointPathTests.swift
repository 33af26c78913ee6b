import MatterDevice
import MatterModel
import Testing

@testable import Scenario
@testable import VirtualDevices

/// Attributes, parts and commands of any endpoint in scenarios.
@Suite("Endpoints in scenarios") struct EndpointPathTests {
  private static let devices = """
    devices:
      - { name: Plug, type: metering plug, load: 60W, attributes: { onOff.onOff: true } }
      - { name: Storage, type: battery storage }
      - { name: Door, type: contact sensor, battery: 80% }
      - { name: Fridge, type: refrigerator }
      - { name: Pump, type: heat pump }
      - { name: TV, type: basic video player }
      - { name: Fan, type: fan, parts: [{ name: Fan light, type: on/off light }] }
      - name: Bridge
        type: bridge
        devices:
          - { name: Spot, type: plug, battery: 50% }
          - { name: Remote, type: generic switch, buttons: [On, Off] }
          - { name: Dryer, type: laundry dryer }

    """

  private static func problems(_ step: String) -> String {
    ScenarioFileTests.problems(devices + "steps:\n  - \(step)\n").joined(separator: "\n")
  }

  @Test("expects, sets and invokes elements of other endpoints and the battery") func findsElements() async throws {
    let steps = """
      steps:
        - expect: { plug.activePower: 60W, plug.2.electricalPowerMeasurement.activePower: 60W, within: 10s }
        - expect: { actual plug.2.activePower: 60W }
        - set: { plug.activePower: 50W, storage.powerSource.batPercentRemaining: 20% }
        - set: { door.0.powerSource.batPercentRemaining: 30%, spot.powerSource.batPercentRemaining: 40% }
        - expect: { plug.activePower: 50W, storage.batPercentRemaining: 20%, door.batPercentRemaining: 30%, within: 2m }
        - expect: { spot.0.batPercentRemaining: 40%, actual storage.3.powerSource.batPercentRemaining: 20%, within: 2m }
        - set: { fridge.3.door: open, spot.1.onOff.onOff: true, fan light.1.onOff: true }
        - expect: { spot.1.onOff: true, actual spot.1.onOff.onOff: true, fan light.1.onOff.onOff: true, within: 5s }
        - set: { fridge.3.door: closed }
        - set: { dryer.0.door: open, dryer.1.filter: full, dryer.water tank: full }
        - do: invoke plug.1.onOff.off
        - do: write door.0.basicInformation.nodeLabel Hall
        - expect: { plug.1.onOff: false, door.0.basicInformation.nodeLabel: Hall, within: 5s }
        - press: { remote: { press: short, button: Off } }
        - expect: { event remote.2.switch.initialPress: true, within: 5s }
        - press: { remote: { press: short, button: On } }
        - expect: { event remote.1.initialPress: true, within: 5s }
      """
    let result = try await ScenarioFileTests.load(Self.devices + steps).simulate(seed: 1).result
    #expect(result.isPassed && result.commands.allSatisfy { $0.error == nil }, "\(result) \(result.commands)")
    let wrong = "steps:\n  - expect: { plug.2.activePower: 1W, within: 5s }\n"
    #expect(try await !ScenarioFileTests.load(Self.devices + wrong).simulate(seed: 1).result.isPassed)
  }

  @Test(
    "reports elements that an endpoint does not have",
    arguments: [
      (
        "expect: { plug.9.activePower: 1W }",
        "found attribute “9.activePower” of “Plug”, expected one of its endpoints: 0, 1 and 2"
      ),
      (
        "expect: { plug.1.activePower: 1W }",
        "found attribute “1.activePower” of “Plug”, expected endpoint 2, which has it"
      ),
      ("set: { plug.1.electricalPowerMeasurement.activePower: 60W }", "expected endpoint 2, which has it"),
      ("set: { fridge.1.door: open }", "found part “1.door” of “Fridge”, expected endpoint 2 or 3, which has it"),
      ("set: { dryer.2.door: open }", "found part “2.door” of “Dryer”, expected endpoint 0 or 1, which has it"),
      ("set: { dryer.0.lid: open }", "found attribute “0.lid” of “Dryer”, expected an attribute of a laundry dryer"),
      ("set: { fan light.2.onOff: true }", "expected one of its endpoints: 0 and 1"),
      (
        "do: invoke spot.4.onOff.on",
        "found command “4.onOff.on” of “Spot”, expected one of its endpoints: 0 and 1"
      ),
      (
        "expect: { event remote.3.switch.initialPress: true }",
        "found event “3.switch.initialPress” of “Remote”, expected one of its endpoints: 0, 1 and 2"
      ),
      ("set: { plug: 60W }", "found “plug”, expected a path such as plug.onOff"),
      ("set: { plug.1.2.onOff.onOff: true }", "expected a path such as plug.onOff"),
      ("expect: { plg.2.activePower: 60W }", "found device “plg”"),
    ]) func reports(_ step: String, _ expected: String)
  {
    #expect(Self.problems(step).contains(expected), "\(Self.problems(step))")
  }

  @Test("commands and expectations of a vanished endpoint fail") func reportsVanishedEndpoints() async throws {
    let steps = """
      steps:
        - expect: { fridge.3.temperatureControl.temperatureSetpoint: -18C, within: 10s }
        - remove: { bridge: fridge }
        - add: { bridge: { name: Fridge, type: refrigerator, compartments: { Fresh food: 5C } } }
        - expect: { fridge.2.temperatureControl.temperatureSetpoint: 5C, within: 30s }
        - do: invoke fridge.3.temperatureControl.setTemperature targetTemperature=300
        - expect: { fridge.2.temperatureControl.temperatureSetpoint: 5C, within: 5s }
        - expect: { fridge.3.temperatureControl.temperatureSetpoint: -18C, within: 5s }
      """
    let devices = """
      devices:
        - { name: Bridge, type: bridge, devices: [{ name: Fridge, type: refrigerator }] }

      """
    let result = try await ScenarioFileTests.load(devices + steps).simulate(seed: 1).result
    let missing = "no endpoint 3; expected 0, 1 or 2"
    #expect(result.commands.map { $0.error?.contains(missing) } == [true], "\(result.commands)")
    #expect(!result.isPassed && "\(result)".contains(missing), "\(result)")
  }

  @Test("finds attributes of all clusters of the root endpoint") func findsRoot() throws {
    let text = "devices:\n  - { name: X, room: Den, type: plug }\n"
    let home = try HomeDefinition.load(simulating: [("x.yaml", text)])
    let (device, names) = (try #require(home.devices.first), DeviceNames(home))
    for server in DeviceAssembly.rootServers(of: device) {
      let attribute = try #require(server.cluster.attributes.first { server.serves($0.id) })
      let element = DeviceNames.Element(
        device: device, endpoint: 0, cluster: server.cluster.name, name: attribute.name)
      #expect(names.attributes(of: element).map(\.cluster) == [server.id], "\(element.text)")
    }
  }

  @Test("finds attributes of all clusters of each kind", arguments: DeviceKind.all) func findsAll(_ kind: DeviceKind)
    throws
  {
    // A bridge has only the devices of a definition.
    guard kind != .bridge else { return }
    let text = "devices:\n  - { name: X, type: \(kind.name) }\n"
    let home = try HomeDefinition.load(simulating: [("x.yaml", text)])
    let (device, names) = (try #require(home.devices.first), DeviceNames(home))
    for endpoint in DeviceAssembly.endpoints(of: device) {
      for server in endpoint.servers {
        guard let attribute = server.cluster.attributes.first(where: { server.serves($0.id) }) else { continue }
        for number in [nil, endpoint.id.rawValue] {
          let element = DeviceNames.Element(
            device: device, endpoint: number, cluster: server.cluster.name, name: attribute.name)
          let found = names.attributes(of: element)
          #expect(found == [AttributePlace(server.id, attribute.id, on: number)], "\(element.text)")
        }
        guard endpoint.id != .root || server.cluster.name == "PowerSource" else { continue }
        #expect(SimulatedDevice.clusterNames(of: kind).contains(server.cluster.name), "\(server.cluster.name)")
      }
    }
  }
}
