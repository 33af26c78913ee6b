import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Every kind of device conforms to the declarations of its clusters and device types.
@Suite("Conformance of the devices") struct DeviceConformanceTests {
  /// Returns the attributes of a device that was started from its definition.
  private func values(_ definition: String) throws -> [ConcreteAttributePath: [UInt8]] {
    let device = try #require(
      try HomeDefinition.load(simulating: [("test.yaml", "devices:\n" + definition)]).devices.first)
    var engine = try DeviceEngine(device)
    var values: [ConcreteAttributePath: [UInt8]] = [:]
    for (path, _) in engine.attributes { values[path] = engine.value(of: path, at: .zero) }
    return values
  }

  /// Returns the differences of the device.
  private func findings(_ definition: String) throws -> [String] {
    DeviceCheck(try values(definition)).findings.map(\.description)
  }

  /// The device type does not have the Groups cluster, unlike other actuators.
  @Test("a water valve joins no groups") func valve() throws {
    let clusters = Set(
      try values("  - { name: Tap, type: water valve }\n").keys.filter { $0.endpoint == 1 }.map(\.cluster))
    #expect(clusters == [Identify.id, Descriptor.id, ValveConfigurationAndControl.id])
  }

  /// The device type does not have the Identify cluster, like other utility types.
  @Test("an electrical sensor does not identify itself") func electricalSensor() throws {
    let clusters = Set(
      try values("  - { name: Meter, type: electrical sensor }\n").keys.filter { $0.endpoint == 1 }.map(\.cluster))
    #expect(
      clusters == [Descriptor.id, PowerTopology.id, ElectricalPowerMeasurement.id, ElectricalEnergyMeasurement.id])
  }

  @Test(arguments: DeviceKind.all) func conforms(_ kind: DeviceKind) throws {
    let behind = kind == .bridge ? ", devices: [{ name: Behind, type: plug }]" : ""
    #expect(try findings("  - { name: Thing, room: Hall, type: \(kind.name)\(behind) }\n") == [])
    #expect(try findings("  - { name: Thing, provisional: true, type: \(kind.name)\(behind) }\n") == [])
  }

  @Test(arguments: DeviceKind.all.filter(\.sharesNode)) func conformsBehindBridge(_ kind: DeviceKind) throws {
    let bridged = "[{ name: Thing, room: Hall, type: \(kind.name), labels: { floor: ground } }]"
    #expect(try findings("  - { name: Bridge, type: bridge, devices: \(bridged) }\n") == [])
  }

  @Test(arguments: DeviceKind.all.filter(\.sharesNode)) func conformsAsParts(_ kind: DeviceKind) throws {
    let parts = "[{ name: One, type: \(kind.name) }, { name: Two, type: \(kind.name), labels: { floor: ground } }]"
    #expect(try findings("  - { name: Lamp, room: Hall, type: dimmable light, parts: \(parts) }\n") == [])
  }

  @Test(arguments: SwitchKind.allCases) func conformsAsSwitch(_ kind: SwitchKind) throws {
    #expect(try findings("  - { name: Thing, type: generic switch, switch: \(kind.rawValue) }\n") == [])
    #expect(
      try findings("  - { name: Thing, type: generic switch, switch: \(kind.rawValue), buttons: [Up, Down] }\n") == [])
  }
}
