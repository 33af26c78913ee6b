import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import MatterDevice
@testable import VirtualDevices

/// The endpoints of a bridge: their composition and their stability.
@Suite("Bridges and buttons") struct BridgeTests {
  private func bridge(_ devices: String) throws -> DeviceDefinition {
    let text = "devices:\n  - name: Bridge\n    type: bridge\n    devices:\n" + devices
    return try #require(try HomeDefinition.load(simulating: [("bridge.yaml", text)]).devices.first)
  }

  private let three = """
          - { name: Lamp, room: Hall, type: dimmable light, labels: { floor: ground } }
          - { name: Spot, type: on/off light, count: 2 }
          - { name: Remote, type: generic switch, buttons: [On, Scene] }

    """

  @Test func composesEndpointTree() throws {
    let endpoints = DeviceAssembly.endpoints(of: try bridge(three)).sorted { $0.id < $1.id }
    #expect(endpoints.map(\.id) == [1, 2, 3, 4, 5, 6, 7])
    #expect(
      endpoints.map { $0.deviceTypes.map(\.id) } == [
        [0x000E], [0x0101, 0x0013], [0x0100, 0x0013], [0x0100, 0x0013], [0x0013], [0x000F], [0x000F],
      ])
    #expect(endpoints.map(\.parts) == [[2, 3, 4, 5, 6, 7], [], [], [], [6, 7], [], []])
    for endpoint in endpoints {
      let served = Set(endpoint.servers.map(\.id))
      for type in endpoint.deviceTypes {
        #expect(Set(type.servers).subtracting([Descriptor.id]).isSubset(of: served), "endpoint \(endpoint.id)")
      }
    }
  }

  @Test func bridgesColorLights() throws {
    let device = try bridge(
      """
            - { name: White, type: color temperature light }
            - { name: Strip, type: extended color light, attributes: { onOff.onOff: true } }

      """)
    let endpoints = DeviceAssembly.endpoints(of: device).sorted { $0.id < $1.id }
    #expect(endpoints.map { $0.deviceTypes.map(\.id) } == [[0x000E], [0x010C, 0x0013], [0x010D, 0x0013]])
    for endpoint in endpoints.dropFirst() {
      let served = Set(endpoint.servers.map(\.id))
      for type in endpoint.deviceTypes {
        #expect(Set(type.servers).subtracting([Descriptor.id]).isSubset(of: served), "endpoint \(endpoint.id)")
      }
      for server in endpoint.servers { #expect(server.violations.isEmpty, "\(server.cluster.name)") }
    }
    var engine = try DeviceEngine(device)
    #expect(engine.value(BridgedDeviceBasicInformation.nodeLabel, on: 2) == "White")
    #expect(engine.value(BridgedDeviceBasicInformation.reachable, on: 3) == true)
    #expect(engine.value(ColorControl.colorCapabilities, on: 2) == .colorTemperature)
    #expect(engine.value(ColorControl.currentHue, on: 2) == nil)
    #expect(engine.value(ColorControl.currentHue, on: 3) != nil)

    // A scene stores the color of its own light only.
    engine.context.subject = Subject(.case, fabric: 1, node: 5)
    func move(_ hue: UInt8) throws {
      try engine.press(
        ColorControl.moveToHue,
        .init(hue: hue, direction: .shortest, transitionTime: 0, optionsMask: [], optionsOverride: []), on: 3, at: .zero
      )
    }
    try move(120)
    let stored = try engine.press(ScenesManagement.storeScene, .init(groupID: 0, sceneID: 1), on: 3, at: .zero)
    #expect(stored?.status == .success)
    try move(40)
    #expect(engine.value(ColorControl.currentHue, on: 3) == 40)
    try engine.press(ScenesManagement.recallScene, .init(groupID: 0, sceneID: 1), on: 3, at: .zero)
    #expect(engine.value(ColorControl.currentHue, on: 3) == 120)
    #expect(throws: StatusError.self) {
      try engine.press(ScenesManagement.recallScene, .init(groupID: 0, sceneID: 1), on: 2, at: .zero)
    }
    // An unreachable device keeps its endpoint.
    try engine.power(false, bridgedOn: 3, at: .zero)
    #expect(engine.value(BridgedDeviceBasicInformation.reachable, on: 3) == false)
    #expect(engine.value(Descriptor.partsList, on: 1) == [2, 3])
  }

  @Test func tagsSiblingsOfOneType() throws {
    let endpoints = DeviceAssembly.endpoints(of: try bridge(three)).sorted { $0.id < $1.id }
    #expect(endpoints.map { $0.tags.map(\.namespaceID) } == [[], [], [0x07], [0x07], [], [0x43], [0x43]])
    #expect(endpoints.flatMap { $0.tags.map(\.tag) } == [1, 2, 0, 8])
    let many = DeviceAssembly.endpoints(of: try bridge("      - { name: Spot, type: plug, count: 40 }\n"))
    #expect(Set(many.map(\.tags)).count == 41)
  }

  @Test func servesLabelsOfTheFile() throws {
    let endpoints = DeviceAssembly.endpoints(of: try bridge(three)).sorted { $0.id < $1.id }
    let labeled = endpoints.filter { endpoint in endpoint.servers.contains { $0.id == FixedLabel.id } }
    #expect(labeled.map(\.id) == [2])
    #expect(labeled.first?.servers.contains { $0.id == UserLabel.id } == true)
  }

  @Test func keepsEndpointsAndNeverReusesThem() throws {
    var numbers = EndpointNumbers()
    let first = try bridge("      - { name: A, type: plug }\n      - { name: B, type: plug }\n")
    #expect(DeviceAssembly.endpoints(of: first, &numbers).map(\.id) == [1, 2, 3])
    // After a restart, only the stored state is left.
    let store = MemoryStore()
    try store.commit(numbers.changes)
    var later = EndpointNumbers(try store.load())
    let second = try bridge("      - { name: C, type: plug }\n      - { name: B, type: plug }\n")
    let endpoints = DeviceAssembly.endpoints(of: second, &later)
    #expect(endpoints.map(\.id).sorted() == [1, 3, 4])
    try store.commit(later.changes)
    var last = EndpointNumbers(try store.load())
    #expect(DeviceAssembly.endpoints(of: first, &last).map(\.id) == [1, 2, 3], "A has its previous endpoint")
    #expect(last.changes.isEmpty)
  }

  @Test func distinguishesBridgedDevicesOfTheSameName() throws {
    let bridged = try #require(try bridge("      - { name: Lamp, room: Hall, type: plug }\n").bridged.first)
    let text = "devices: [{ name: Lamp, room: Hall, type: plug }]"
    let lamp = try #require(try HomeDefinition.load(simulating: [("lamp.yaml", text)]).devices.first)
    #expect(bridged.uniqueID != lamp.uniqueID && bridged.serialNumber != lamp.serialNumber)
    let other = try HomeDefinition.load(
      simulating: [
        (
          "other.yaml",
          "devices: [{ name: Other, type: bridge, devices: [{ name: Lamp, room: Hall, type: plug }] }]"
        )
      ])
    #expect(other.devices.first?.bridged.first?.uniqueID != bridged.uniqueID)
  }

  /// With a given unique ID, a device behind a bridge and one without are the same device, reachable both ways.
  @Test func acceptsGivenUniqueID() throws {
    let id = "00112233445566778899aabbccddeeff"
    func load(_ first: String, _ second: String) throws -> HomeDefinition {
      let text = """
        devices:
          - { name: Lamp, type: plug, uniqueID: "\(id)" }
          - { name: Plug, type: plug, uniqueID: "\(first)" }
          - name: Bridge
            type: bridge
            devices:
              - { name: Behind, type: plug, uniqueID: "\(id.uppercased())" }
              - { name: Beside, type: plug, uniqueID: "\(second)" }

        """
      return try HomeDefinition.load(simulating: [("home.yaml", text)])
    }
    let others = (String(repeating: "1", count: 32), String(repeating: "2", count: 32))
    let devices = try load(others.0, others.1).devices
    #expect(devices.map(\.uniqueID).first == id.uppercased())
    #expect(devices.last?.bridged.map(\.uniqueID) == [id.uppercased(), others.1])
    // Not twice in one list, nor for several devices.
    func problem(_ body: () throws -> Void) -> String {
      do { try body() } catch { return "\(error)" }
      return ""
    }
    #expect(problem { _ = try load(id, others.1) }.contains("“Lamp” has it (home.yaml:2)"))
    #expect(problem { _ = try load(others.0, id) }.contains("“Behind” has it (home.yaml:7)"))
    let several = "devices: [{ name: A, type: plug, count: 2, uniqueID: \"\(id)\" }]"
    let expected = "found one unique id for several devices, expected a unique id only in an entry without count"
    #expect(problem { _ = try HomeDefinition.load(simulating: [("home.yaml", several)]) }.contains(expected))
  }

  @Test func bridgedDeviceHasItsOwnBasicInformation() throws {
    let device = try bridge("      - { name: Lamp, type: plug, vendorName: Elm, serial: S-1, vendor: 0xFFF2 }\n")
    let lamp = try #require(device.bridged.first)
    #expect(lamp.serialNumber == "S-1")
    #expect(lamp.uniqueID != device.uniqueID)
    var engine = try DeviceEngine(device)
    #expect(engine.value(BridgedDeviceBasicInformation.nodeLabel, on: 2) == "Lamp")
    #expect(engine.value(BridgedDeviceBasicInformation.vendorName, on: 2) == "Elm")
    #expect(engine.value(BridgedDeviceBasicInformation.uniqueID, on: 2) == lamp.uniqueID)
    #expect(engine.value(BasicInformation.uniqueID, on: .root) == device.uniqueID)
    #expect(engine.value(Descriptor.partsList, on: .root) == [1, 2])
    #expect(engine.value(BridgedDeviceBasicInformation.reachable, on: 2) == true)
    try engine.power(false, bridgedOn: 2, at: .zero)
    #expect(engine.value(BridgedDeviceBasicInformation.reachable, on: 2) == false)
    #expect(throws: StatusError(.unsupportedCluster)) { try engine.power(false, bridgedOn: 1, at: .zero) }
  }

  @Test func numbersEndpointsOfAttributesWithinTheDevice() throws {
    var engine = try DeviceEngine(
      try bridge(
        """
              - { name: A, type: dimmable light, attributes: { levelControl.currentLevel: 7 } }
              - { name: R, type: generic switch, buttons: [On, Off], attributes: { 2.switch.multiPressMax: 5 } }

        """))
    #expect(engine.value(LevelControl.currentLevel, on: 2) == .value(7))
    #expect(engine.value(Switch.multiPressMax, on: 4) == 3)
    #expect(engine.value(Switch.multiPressMax, on: 5) == 5)
    #expect(throws: StatusError(.constraintError)) {
      try engine.operate(switchOn: 5, [SwitchMove(to: 2)], at: .zero)
    }
    #expect(throws: StatusError(.unsupportedCluster)) {
      try engine.operate(switchOn: 2, [SwitchMove(to: 1)], at: .zero)
    }
    try engine.operate(switchOn: 5, [SwitchMove(to: 1)], at: .zero)
    #expect(engine.value(Switch.currentPosition, on: 5) == 1)
  }

  // MARK: Errors

  /// Returns the problems of a bridge with these devices, which begin in line 5.
  private func problems(_ devices: String) -> String {
    do {
      _ = try bridge(devices)
      return ""
    } catch {
      return "\(error)"
    }
  }

  @Test(arguments: [
    (
      "      - { name: A, type: plug, passcode: 1 }",
      "5:32: found key “passcode”, expected name, room, type, vendor, product, vendorName, productName, serial, "
        + "uniqueID, attributes, behave, battery, count, labels, switch, buttons, provisional, climate, filters, tank, "
        + "phases, modes, areas, compartments, doorAlarm, travel, encoder, faults, load, solar, storage, vehicle, "
        + "images, media, clusters, sounds, tariff or closure"
    ),
    ("      - { name: A, type: bridge }", "5:26: found “bridge”, expected a device that can be behind a bridge"),
    ("      - { name: A, type: plugg }", "5:26: found device type “plugg”, expected a known device type"),
    (
      "      - { name: A, type: plug, switch: action }",
      "5:40: found “switch”, expected this key only in a device of the type “generic switch”"
    ),
    (
      "      - { name: A, type: button, switch: atcion }",
      "5:42: found “atcion”, expected “latching”, “momentary”, “release”, “long press”, “multi press”, "
        + "“full” or “action”, did you mean “action”?"
    ),
    (
      "      - { name: A, type: button, buttons: [] }",
      "5:43: found a list, expected a list of 1 to 16 names of buttons, such as [On, Off]"
    ),
    (
      "      - { name: A, type: button, buttons: [Up, up] }",
      "5:48: found button “up” again, expected each button once; it is in line 5 already"
    ),
    (
      "      - { name: A, type: plug, labels: { a: 12345678901234567 } }",
      "5:45: found 12345678901234567, expected a text of at most 16 bytes"
    ),
    ("      - { name: A, type: plug, labels: 5 }", "5:40: found 5, expected a mapping such as { floor: ground }"),
    (
      "      - { name: A, type: plug, attributes: { switch.multiPressMax: 3 } }",
      "5:46: found 1.switch.multiPressMax, expected an attribute that the device has"
    ),
    (
      "      - { name: Bridge, type: plug }", "5:17: found device “Bridge” again, expected another one: “Bridge” has it"
    ),
  ])
  func reportsErrors(line: String, message: String) {
    let found = problems(line + "\n")
    #expect(found.hasPrefix("bridge.yaml:" + message) && !found.contains("\n"), "\(found)")
  }

  @Test func onlyBridgesHaveDevices() {
    func problems(_ text: String) -> String {
      do {
        _ = try HomeDefinition.load(simulating: [("a.yaml", text)])
        return ""
      } catch {
        return "\(error)"
      }
    }
    #expect(
      problems("devices:\n  - { name: A, type: bridge }")
        == "a.yaml:2:5: found a bridge without devices, expected “devices:” and a list of devices")
    #expect(
      problems("devices:\n  - { name: A, type: plug, devices: [] }")
        == "a.yaml:2:37: found “devices”, expected this key only in a device of the type “bridge”")
    #expect(
      problems("devices:\n  - { name: A, type: bridge, devices: 3 }")
        == "a.yaml:2:39: found 3, expected a list of devices, each beginning with “- name: ”")
    #expect(
      problems("devices:\n  - { name: A, type: bridge, count: 2, devices: [{ name: B, type: plug }] }")
        == "a.yaml:2:37: found several bridges with the same devices behind them, "
        + "expected an entry of its own for each bridge that has devices")
    #expect(
      problems("devices:\n  - { name: A, type: bridge, devices: [{ name: B, type: plug, count: 251 }] }")
        == "a.yaml:2:5: found 251 devices behind one bridge, expected at most 250")
  }
}
