import Foundation
import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Devices that are added to a bridge and removed while it runs.
@Suite("Changes of a bridge", .timeLimit(.minutes(10))) struct BridgedChangeTests {
  private static let home = """
    devices:
      - name: Bridge
        type: bridge
        devices:
          - { name: A, type: plug }
          - { name: B, room: Hall, type: on/off light }
    """

  private func running<R: Sendable>(
    in directory: String, _ body: @escaping @Sendable (VirtualDevice) throws -> R
  ) async throws -> R {
    let definition = try #require(try HomeDefinition.load(simulating: [("home.yaml", Self.home)]).devices.first)
    return try await VirtualDevicesTests.running(definition, in: directory, body)
  }

  private static func parts(_ device: VirtualDevice) -> [EndpointID]? {
    device.host?.perform { engine, _ in engine.value(Descriptor.partsList, on: 1) } ?? nil
  }

  private static func uniqueID(_ path: String, _ device: VirtualDevice) throws -> String {
    let place = try #require(device.place(named: path))
    return try #require(
      device.host?.perform { engine, _ in engine.value(BridgedDeviceBasicInformation.uniqueID, on: place.node) }
        ?? nil)
  }

  @Test("added and removed devices keep endpoints and unique ids after a restart") func changesDevices() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/hearth-bridge-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let entry = "{ name: C, room: Hall, type: plug, attributes: { onOff.onOff: true } }"
    let first = try await running(in: directory) { device in
      #expect(Self.parts(device) == [2, 3])
      try device.add(try device.parse(bridged: entry))
      #expect(Self.parts(device) == [2, 3, 4])
      #expect(device.place(named: "Hall/C")?.node == 4)
      #expect(device.status.bridged.map(\.path) == ["A", "Hall/B", "Hall/C"])
      #expect(device.status.bridged.last?.onOff == true)
      try device.remove("A")
      #expect(Self.parts(device) == [3, 4] && device.place(named: "A") == nil)
      // Endpoint 2 is not used again.
      try device.add(try device.parse(bridged: "{ name: D, type: plug }"))
      #expect(Self.parts(device) == [3, 4, 5])
      device.cutPower()
      try device.restorePower()
      #expect(Self.parts(device) == [3, 4, 5])
      return try Self.uniqueID("Hall/C", device)
    }
    try await running(in: directory) { device in
      #expect(Self.parts(device) == [2, 3], "the devices of the file")
      try device.add(try device.parse(bridged: "{ name: E, type: plug }"))
      try device.add(try device.parse(bridged: entry))
      #expect(Self.parts(device) == [2, 3, 4, 6])
      #expect(device.place(named: "Hall/C")?.node == 4)
      #expect(try Self.uniqueID("Hall/C", device) == first)
    }
  }

  @Test("rejects impossible changes of a bridge") func refusesImpossibleChanges() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/hearth-bridge-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await running(in: directory) { device in
      func code(_ change: () throws -> Void) -> ControlError.Code? {
        (#expect(throws: ControlError.self) { try change() })?.code
      }
      let unknown = #expect(throws: ControlError.self) { try device.parse(bridged: "{ name: C, type: foo }") }
      #expect(unknown?.code == .badRequest)
      #expect(unknown?.message.hasPrefix("found device type “foo”, expected “") == true, "\(unknown?.message ?? "")")
      #expect(unknown?.message.contains("OTA Provider") == false)
      #expect(code { _ = try device.parse(bridged: "{ name: C, type: bridge, devices: [] }") } == .badRequest)
      #expect(code { _ = try device.parse(bridged: "") } == .badRequest)
      #expect(code { try device.add(try device.parse(bridged: "{ name: a, type: plug }")) } == .refused)
      #expect(code { try device.add(try device.parse(bridged: "{ name: S, type: plug, count: 249 }")) } == .refused)
      #expect(code { try device.remove("C") } == .notFound)
      #expect(Self.parts(device) == [2, 3])
      device.cutPower()
      #expect(code { try device.remove("A") } == .noPower)
    }
  }

  @Test("devices that are added share the air of their room, and stop heating when they are removed")
  func sharesRooms() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/hearth-bridge-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let rooms = Rooms()
    let definition = try #require(try HomeDefinition.load(simulating: [("home.yaml", Self.home)]).devices.first)
    try await VirtualDevicesTests.running(definition, in: directory, rooms: rooms) { device in
      try device.add(
        try device.parse(
          bridged: """
            { name: Heater, room: Hall, type: thermostat,
              attributes: { thermostat.localTemperature: 16C, thermostat.outdoorTemperature: 5C } }
            """))
      try device.add(
        try device.parse(
          bridged: """
            { name: Sensor, room: Hall, type: temperature sensor,
              behave: { temperatureMeasurement.measuredValue: { room: Hall } } }
            """))
      let place = try #require(device.place(named: "Hall/Sensor"))
      let measured = device.host?.perform { engine, _ in
        engine.value(TemperatureMeasurement.measuredValue, on: place.node)?.wrapped
      }
      #expect(measured == 1600)
      func final() throws -> Double {
        var air = try #require(rooms.withAir(of: "Hall") { $0 })
        air.advance(to: Instant(nanoseconds: .max))
        return air.temperature
      }
      #expect(try final() > 40)
      try device.remove("Hall/Heater")
      #expect(try final() == 5)
    }
  }
}
