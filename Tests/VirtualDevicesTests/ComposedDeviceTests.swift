import Foundation
import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Devices with parts: further functions on the same node.
@Suite("Devices with parts", .timeLimit(.minutes(10))) struct ComposedDeviceTests {
  private static func device(_ text: String) throws -> DeviceDefinition {
    try #require(try HomeDefinition.load(simulating: [("fan.yaml", "devices:\n" + text)]).devices.first)
  }

  private static let fan = """
      - name: Fan
        room: Hall
        type: fan
        parts:
          - { name: Light, type: dimmable light, attributes: { onOff.onOff: true }, labels: { floor: ground } }
          - { name: Remote, type: generic switch, buttons: [Up, Down] }
          - { name: Second Light, type: dimmable light }
          - { name: Meter, type: metering plug, load: 60W, attributes: { onOff.onOff: true } }

    """

  @Test("parts follow the endpoints of the device, with tags for the same type") func composes() throws {
    var engine = try DeviceEngine(try Self.device(Self.fan))
    #expect(engine.value(Descriptor.partsList, on: .root) == [1, 2, 3, 4, 5, 6, 7])
    let all = (1...7).map { EndpointID($0) }
    let types = all.map { engine.value(Descriptor.deviceTypeList, on: $0)?.map(\.deviceType) }
    #expect(types == [[0x002B], [0x0101], [0x000F], [0x000F], [0x0101], [0x010A], [0x0510]])
    // A bridged node would have information of its own.
    #expect(all.allSatisfy { engine.value(BridgedDeviceBasicInformation.reachable, on: $0) == nil })
    let tags = [2, 5 as EndpointID].map { engine.value(Descriptor.tagList, on: $0)?.map(\.tag) }
    #expect(tags == [[1], [2]])
    #expect(engine.value(Descriptor.tagList, on: 1) == nil)
    #expect(engine.value(OnOff.onOff, on: 2) == true && engine.value(OnOff.onOff, on: 5) == false)
    #expect(engine.value(FixedLabel.labelList, on: 2)?.map(\.value) == ["ground"])
    #expect(engine.value(ElectricalPowerMeasurement.activePower, on: 7) == .value(60_000))
  }

  @Test("buttons of several parts have different tags") func distinguishesButtons() throws {
    let two = "[{ name: A, type: generic switch, buttons: [Up, Down] }, { name: B, type: button, buttons: [Up, Down] }]"
    let remote = "{ name: C, type: generic switch, buttons: [On, Up] }"
    for parts in [two, "[{ name: One, type: generic switch }, \(remote)]"] {
      let endpoints = DeviceAssembly.endpoints(of: try Self.device("  - { name: Fan, type: fan, parts: \(parts) }\n"))
      let tags = endpoints.filter { $0.deviceTypes.map(\.id) == [0x000F] }.map(\.tags)
      #expect(tags.count > 2 && Set(tags).count == tags.count && !tags.contains([]), "\(tags)")
    }
  }

  @Test("parts keep their endpoints when others come and go") func keepsEndpoints() throws {
    func fan(_ parts: String) throws -> DeviceDefinition {
      try Self.device("  - { name: F, type: fan, parts: [\(parts)] }\n")
    }
    let (a, b, c) = ("{ name: A, type: plug }", "{ name: B, type: plug }", "{ name: C, type: plug }")
    var numbers = EndpointNumbers()
    #expect(DeviceAssembly.endpoints(of: try fan("\(a), \(b)"), &numbers).map(\.id) == [1, 2, 3])
    let store = MemoryStore()
    try store.commit(numbers.changes)
    var later = EndpointNumbers(try store.load())
    #expect(DeviceAssembly.endpoints(of: try fan("\(c), \(b)"), &later).map(\.id) == [1, 3, 4])
    // The device itself needs endpoints that parts had in an earlier definition.
    var grown = EndpointNumbers(try store.load())
    let strip = try Self.device("  - { name: F, type: generic switch, buttons: [On, Off], parts: [\(a), \(b)] }\n")
    #expect(DeviceAssembly.endpoints(of: strip, &grown).map(\.id).sorted() == [1, 2, 3, 4])
  }

  @Test("a part is used by its name, with the power of the device") func acts() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/hearth-parts-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await running(try Self.device(Self.fan), in: directory) { device in
      func endpoints(_ path: String) throws -> [EndpointID] { try #require(device.place(named: path)).application }
      #expect(try endpoints("Hall/Fan") == [1] && endpoints("Hall/Meter") == [6, 7])
      #expect(try endpoints("Hall/Remote") == [3, 4])
      let remote = try #require(device.place(named: "Hall/Remote"))
      #expect(throws: ControlError(.refused, "it has no power supply of its own; use “Hall/Fan”")) {
        try device.switchPower(false, at: remote)
      }
      try device.move([SwitchMove(to: 1)], on: remote.application[1])
      #expect(device.host?.perform { engine, _ in engine.value(Switch.currentPosition, on: 4) } == 1)
      let status = device.status
      #expect(status.bridged.map(\.path) == ["Hall/Light", "Hall/Remote", "Hall/Second Light", "Hall/Meter"])
      #expect(status.bridged.map(\.endpoint) == [2, 3, 5, 6] && status.bridged.allSatisfy(\.isReachable))
      #expect(status.bridged.map(\.onOff) == [true, nil, false, true])
      // Parts are no devices of their own.
      #expect(device.deviceCounts == (1, 1))
      device.cutPower()
      try device.restorePower()
      #expect(try endpoints("Hall/Remote") == [3, 4])
    }
  }

  @Test("an alarm as a part gives the node its battery") func hasBattery() throws {
    var engine = try DeviceEngine(
      try Self.device("  - { name: Fan, type: fan, parts: [{ name: Alarm, type: smoke alarm }] }\n"))
    #expect(engine.value(PowerSource.batPercentRemaining, on: .root) != nil)
    #expect(engine.value(SmokeCoAlarm.batteryAlert, on: 2) == .normal)
  }

  @Test("with `count`, each device has parts with its number") func counts() throws {
    let text = """
      devices:
        - { name: Fan, room: Hall, type: fan, count: 2, parts: [{ name: Light, type: plug }, { name: Plug, type: plug }] }

      """
    let devices = try HomeDefinition.load(simulating: [("fan.yaml", text)]).devices
    #expect(devices.map(\.path) == ["Hall/Fan 1", "Hall/Fan 2"])
    let parts = devices.map(\.bridged)
    #expect(parts.map { $0.map(\.path) } == [["Hall/Light 1", "Hall/Plug 1"], ["Hall/Light 2", "Hall/Plug 2"]])
    #expect(Set(parts.joined().map(\.uniqueID)).count == 4 && Set(parts.joined().map(\.serialNumber)).count == 4)
    for device in devices { #expect(DeviceAssembly.endpoints(of: device).map(\.id).sorted() == [1, 2, 3]) }
    let error = #expect(throws: DefinitionError.self) {
      let more = text + "  - { name: Light 2, room: Hall, type: plug }\n"
      _ = try HomeDefinition.load(simulating: [("fan.yaml", more)])
    }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.contains("found device “Hall/Light 2” again, expected another one"), "\(message)")
  }

  private func problems(_ lines: String) -> String {
    do {
      _ = try Self.device(lines)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test(arguments: [
    ("type: fan, parts: 5", "2:38: found 5, expected a list of parts, each beginning with “- name: ”"),
    ("type: bridge, devices: [], parts: []", "2:54: found “parts”, expected “devices:” in a bridge"),
    (
      "type: fan, parts: [{ name: A, type: bridge }]",
      "2:56: found “bridge”, expected a device that can be a part of another"
    ),
    (
      "type: fan, parts: [{ name: A, type: plug, attributes: { 2.onOff.onOff: true } }]",
      "2:76: found 2.onOff.onOff, expected an attribute that the device has; its only endpoint is 1"
    ),
    (
      "type: fan, parts: [{ name: A, type: plug, faults: { busy: true } }]",
      "2:70: found a mapping, expected only the fault “data” here; the others belong to the whole node"
    ),
  ])
  func reportsErrors(keys: String, message: String) {
    let found = problems("  - { name: Thing, \(keys) }\n")
    #expect(found == "fan.yaml:" + message)
  }

  @Test(
    "keys of the node are not those of a part", arguments: ["room: Hall", "passcode: 1", "battery: 5%", "count: 2"])
  func refusesKeys(_ key: String) {
    let found = problems("  - { name: Thing, type: fan, parts: [{ name: A, type: plug, \(key) }] }\n")
    #expect(found.hasPrefix("fan.yaml:2:62: found key “\(key.prefix { $0 != ":" })”, expected name, type, attributes"))
  }
}
