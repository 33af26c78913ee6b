import Foundation
import Testing

@testable import VirtualDevices

@Suite("Example definition files")
struct ExampleFilesTests {
  private func load(_ name: String, simulating: Bool = false) throws -> HomeDefinition {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let text = try String(contentsOf: root.appending(path: "devices/\(name)"), encoding: .utf8)
    let files = [(name: name, text: text)]
    let open: HomeDefinition.FileReader = { [root] name, _ in
      try String(contentsOf: root.appending(path: "devices/\(name)"), encoding: .utf8)
    }
    return simulating
      ? try HomeDefinition.load(simulating: files, opening: open) : try HomeDefinition.load(files: files)
  }

  @Test("cover every type and can be simulated")
  func all() throws {
    let names = [
      "demo", "bridge", "switches", "sensors", "alarms", "appliances", "lock", "climate", "covers", "water", "energy",
      "media", "faults", "maker",
    ]
    let homes = try names.map { try load("\($0).yaml", simulating: true) }
    let devices = homes.flatMap(\.devices)
    #expect(Set((devices + devices.flatMap(\.bridged)).map(\.kind)) == Set(DeviceKind.all))
    // All of them may run side by side.
    let others = try ["house.yaml", "light.yaml"].flatMap { try load($0).devices }
    #expect(Set((devices + others).map(\.uniqueID)).count == devices.count + others.count)
    #expect(Set(devices.map(\.uniqueID)).count == devices.count)
    #expect(Set(devices.map { "\($0.passcode) \($0.discriminator)" }).count == devices.count)
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
