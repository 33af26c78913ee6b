import Foundation
import Testing

@testable import VirtualDevices

@Suite("Example definition files")
struct ExampleFilesTests {
  private static let root: URL = {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    return root.appending(path: "devices")
  }()

  /// The names of all example files, sorted.
  private static let names: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []).filter { $0.hasSuffix(".yaml") }.sorted()

  /// Loads example files as one home.
  private func load(_ names: String..., simulating: Bool = false) throws -> HomeDefinition {
    try load(names, simulating: simulating)
  }

  private func load(_ names: [String], simulating: Bool) throws -> HomeDefinition {
    let open: HomeDefinition.FileReader = { name, _ in
      try String(contentsOf: Self.root.appending(path: name), encoding: .utf8)
    }
    let files = try names.map { (name: $0, text: try open($0, "")) }
    return simulating
      ? try HomeDefinition.load(simulating: files, opening: open) : try HomeDefinition.load(files: files)
  }

  @Test("cover every type and can be simulated")
  func all() throws {
    let devices = try Self.names.flatMap { try load($0, simulating: true).devices }
    #expect(Set((devices + devices.flatMap(\.bridged)).map(\.kind)) == Set(DeviceKind.all))
  }

  /// Reports the values that several devices have.
  private func expectUnique<Value: Hashable>(
    _ noun: String, _ devices: [DeviceDefinition], _ value: (DeviceDefinition) -> Value?
  ) {
    var found: [Value: String] = [:]
    for device in devices {
      guard let value = value(device) else { continue }
      let place = "\(device.path) in \(device.mark.file)"
      if let other = found.updateValue(place, forKey: value) {
        Issue.record("\(noun) \(value) of \(place) is that of \(other)")
      }
    }
  }

  @Test("can run in one fleet")
  func together() throws {
    let home = try load(Self.names, simulating: true)
    let all = home.devices + home.devices.flatMap(\.bridged)
    expectUnique("the name", all) { $0.path.lowercased() }
    expectUnique("the unique id", all) { $0.uniqueID }
    expectUnique("the serial number", all) { $0.serialNumber }
    expectUnique("the discriminator", home.devices) { $0.discriminator }
    expectUnique("the passcode", home.devices) { $0.passcode }
    expectUnique("the port", home.devices) { $0.port }
    expectUnique("the host name", home.devices) { DeviceAssembly.hostName($0) }
    expectUnique("the manual code", home.devices) { "\($0.passcode) \($0.discriminator >> 8)" }
  }

  @Test("can run side by side, each in a fleet of its own")
  func sideBySide() throws {
    let homes = try Self.names.map { try load($0, simulating: true) }
    #expect(Set(homes.map(\.name)).count == homes.count)
    let devices = homes.flatMap(\.devices)
    expectUnique("the name", devices) { $0.path.lowercased() }
    expectUnique("the unique id", devices + devices.flatMap(\.bridged)) { $0.uniqueID }
    expectUnique("the setup code", devices) { "\($0.passcode) \($0.discriminator)" }
  }

  @Test("demo.yaml has lights and a plug")
  func demo() throws {
    let home = try load("demo.yaml")
    #expect(home.name == "Demo home")
    #expect(
      home.devices.map(\.path) == [
        "Kitchen/Ceiling", "Hall/Lamp", "Kitchen/Coffee Machine", "Living Room/Floor Lamp", "Kitchen/Worktop",
        "Living Room/Strip",
      ])
    let lights: Set<DeviceKind> = [.onOffLight, .dimmableLight, .colorTemperatureLight, .extendedColorLight]
    #expect(Set(home.devices.map(\.kind)).isSuperset(of: lights.union([.onOffPlugInUnit])))
    #expect(home.devices[1].discriminator == 2976)
  }

  @Test("light.yaml has one light")
  func light() throws {
    #expect(try load("light.yaml").devices.map(\.kind) == [.dimmableLight])
  }

  @Test("house.yaml has many devices")
  func house() throws {
    let home = try load("house.yaml")
    #expect(home.rooms.count == 8)
    #expect(home.devices.count == 31)
    #expect(home.devices.compactMap(\.port) == [5570, 5571, 5572])
    #expect(Set(home.devices.compactMap(\.room)).count == 8)
  }
}
