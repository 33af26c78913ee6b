import MatterModel
import Testing

@testable import VirtualDevices

/// Loads one file named `home.yaml`.
func load(_ text: String, catalogue: AttributeCatalogue? = nil) throws(DefinitionError) -> HomeDefinition {
  try HomeDefinition.load(files: [(name: "home.yaml", text: text)], catalogue: catalogue)
}

@Suite("Definition files")
struct DefinitionTests {
  @Test("reads all keys")
  func everything() throws {
    let home = try load(
      """
      home: Demo home
      rooms: [Kitchen, Living Room]
      devices:
        - name: Ceiling
          room: kitchen
          type: Dimmable Light
          passcode: 20202022
          discriminator: 3841
          port: 5541
          vendor: 0xFFF2
          product: 0x8001
          vendorName: Maker
          productName: Thing
          serial: 0042
          attributes: { onOff.onOff: true, 2.levelControl.currentLevel: 40 }
      """)
    #expect(home.name == "Demo home")
    #expect(home.rooms == ["Kitchen", "Living Room"])
    let device = try #require(home.devices.first)
    #expect(home.devices.count == 1)
    #expect(device.path == "Kitchen/Ceiling")
    #expect(device.kind == .dimmableLight)
    #expect(device.passcode == 20_202_022)
    #expect(device.discriminator == 3841)
    #expect(device.port == 5541)
    #expect(device.vendorID == 0xFFF2)
    #expect(device.productID == 0x8001)
    #expect(device.vendorName == "Maker")
    #expect(device.productName == "Thing")
    #expect(device.serialNumber == "0042")
    #expect(device.mark.description == "home.yaml:4:5")
    #expect(
      device.initialValues == [
        InitialValue(
          endpoint: 1, cluster: "onOff", attribute: "onOff", value: .boolean(true),
          mark: SourceMark(file: "home.yaml", line: 15, column: 19), text: "true",
          valueMark: SourceMark(file: "home.yaml", line: 15, column: 32)),
        InitialValue(
          endpoint: 2, cluster: "levelControl", attribute: "currentLevel", value: .integer(40),
          mark: SourceMark(file: "home.yaml", line: 15, column: 38), text: "40",
          valueMark: SourceMark(file: "home.yaml", line: 15, column: 67)),
      ])
    #expect(try device.setupPayload.manualCode.count == 11)
    #expect(try SetupPayload(parsing: try device.setupPayload.qrText) == device.setupPayload)
  }

  @Test("derived values are stable, since controllers have stored them")
  func stable() throws {
    let home = try load("devices: [{name: Ceiling, room: Kitchen, type: plug}, {name: Lamp, type: on-off light}]")
    #expect(home.name == "Home")
    #expect(home.rooms == ["Kitchen"])
    let ceiling = home.devices[0]
    #expect(ceiling.passcode == 46_430_883)
    #expect(ceiling.discriminator == 1371)
    #expect(ceiling.serialNumber == "HRT-963A4436FF90")
    #expect(ceiling.uniqueID == "17C858C061B691BD26AFCFB8262A6741")
    #expect(ceiling.vendorID == 0xFFF1)
    #expect(ceiling.productID == 0x8002)
    #expect(ceiling.vendorName == "Hearth")
    #expect(ceiling.productName == "On/Off Plug-in Unit")
    #expect(ceiling.port == nil)
    let lamp = home.devices[1]
    #expect(lamp.path == "Lamp")
    #expect(lamp.passcode == 75_329_629)
    #expect(lamp.discriminator == 3881)
    #expect(lamp.serialNumber == "HRT-124B87B4D085")
    #expect(lamp.uniqueID == "677C1078E281C6EEBC6A8C44A887DB69")
    #expect(lamp.productID == 0x8000)
  }

  @Test("expands one entry into a thousand distinct devices")
  func count() throws {
    let home = try load("devices: [{name: Ceiling, type: dimmable light, count: 1000}]")
    #expect(home.devices.count == 1000)
    #expect(home.devices.first?.name == "Ceiling 1")
    #expect(home.devices.last?.name == "Ceiling 1000")
    #expect(Set(home.devices.map(\.discriminator)).count == 1000)
    #expect(Set(home.devices.map(\.serialNumber)).count == 1000)
    #expect(Set(home.devices.map(\.uniqueID)).count == 1000)
    #expect(Set(home.devices.map(\.passcode)).count == 1000)
    for device in home.devices {
      #expect(SetupPasscode.isValid(device.passcode))
      #expect(device.discriminator < 4096)
      #expect(device.serialNumber.utf8.count <= 32)
    }
  }

  @Test("avoids well-known codes")
  func wellKnownCodes() {
    // The passcode of the Matter SDK's examples, and the ones that the standard forbids. The first passcode is 1.
    for (known, next) in [
      (20_202_021, 20_202_022), (11_111_111, 11_111_112), (12_345_678, 12_345_679), (87_654_321, 87_654_322),
      (88_888_888, 88_888_889), (20_202_020, 20_202_020), (99_999_998, 99_999_998),
    ] as [(UInt64, UInt32)] {
      #expect(DefinitionResolver.passcode(from: known - 1) == next)
    }
    var taken: Set<UInt16> = []
    #expect(DefinitionResolver.discriminator(from: 3839, taken: &taken) == 3839)
    #expect(DefinitionResolver.discriminator(from: 3840, taken: &taken) == 3841)
    #expect(DefinitionResolver.discriminator(from: 3839, taken: &taken) == 3842)
    taken = Set(0...4095 as ClosedRange<UInt16>).subtracting([3840, 17])
    #expect(DefinitionResolver.discriminator(from: 3840, taken: &taken) == 17)
    #expect(DefinitionResolver.discriminator(from: 5, taken: &taken) == 3840, "the last free discriminator")
  }

  @Test("uses every discriminator once")
  func full() throws {
    let home = try load(
      "devices: [{name: A, type: plug, count: 4095}, {name: B, type: plug, discriminator: 77}]")
    #expect(Set(home.devices.map(\.discriminator)).count == 4096)
    #expect(home.devices.last?.discriminator == 77)
    let shared = try load("devices: [{name: A, type: plug, count: 10000}]").devices
    let numbers = Dictionary(grouping: shared, by: \.discriminator).values.map(\.count)
    #expect(numbers.count == 4096)
    #expect(numbers.allSatisfy { (2...3).contains($0) }, "devices share discriminators evenly")
  }

  @Test("numbers ports, discriminators and serials with count")
  func countedValues() throws {
    let home = try load(
      """
      devices:
        - { name: A, type: plug, count: 3, port: 5540, discriminator: 4093, serial: X, passcode: 1234 }
      """)
    #expect(home.devices.map(\.port) == [5540, 5541, 5542])
    #expect(home.devices.map(\.discriminator) == [4093, 4094, 4095])
    #expect(home.devices.map(\.serialNumber) == ["X-1", "X-2", "X-3"])
    #expect(home.devices.map(\.passcode) == [1234, 1234, 1234])
    #expect(try load("devices: [{name: A, type: plug, count: 1}]").devices.map(\.name) == ["A 1"])
  }

  @Test("merges files and avoids given values")
  func severalFiles() throws {
    let first = "home: First\ndevices: [{name: Lamp, type: plug}]"
    let alone = try load(first).devices[0]
    let second = "home: Second\nrooms: [Hall]\ndevices: [{name: X, type: plug, discriminator: \(alone.discriminator)}]"
    let home = try HomeDefinition.load(files: [(name: "a", text: first), (name: "b", text: second)])
    #expect(home.name == "First")
    #expect(home.rooms == ["Hall"])
    #expect(home.devices.map(\.name) == ["Lamp", "X"])
    #expect(home.devices[0].discriminator == (alone.discriminator + 1) & 0xFFF)
    #expect(home.devices[0].passcode == alone.passcode)
    #expect(home.devices[1].mark.file == "b")
  }

  @Test("assigns ports to devices without one")
  func ports() throws {
    let home = try load(
      "devices: [{name: A, type: plug}, {name: B, type: plug, port: 5541}, {name: C, type: plug, count: 2}]")
    #expect(home.ports(from: 5540) == [5540, 5541, 5542, 5543])
    #expect(home.ports(from: nil) == [nil, 5541, nil, nil])
    #expect(home.ports(from: 65535) == [65535, 5541, nil, nil])
    #expect(home.highestPortBase == 65533)
    #expect(home.ports(from: 65533) == [65533, 5541, 65534, 65535])
    let taken = try load(
      "devices: [{name: A, type: plug, port: 65535}, {name: B, type: plug}, {name: C, type: plug, port: 65533}]")
    #expect(taken.highestPortBase == 65534)
    #expect(try load("devices: [{name: A, type: plug, port: 1}]").highestPortBase == 65535)
  }

  @Test("types values by YAML without a catalogue")
  func untypedValues() throws {
    let home = try load(
      """
      devices:
        - name: A
          type: plug
          attributes:
            a.boolean: false
            a.number: -12
            a.hex: 0xFF
            a.real: 1.5
            a.null: null
            a.text: some text
            a.quoted: "12"
      """)
    let expected: [InitialValue.Value] = [
      .boolean(false), .integer(-12), .integer(255), .real(1.5), .null, .text("some text"), .text("12"),
    ]
    #expect(home.devices[0].initialValues.map(\.value) == expected)
  }

  @Test(
    "ignores case and punctuation of type names",
    arguments: [
      ("on/off light", .onOffLight), ("On-Off Light", .onOffLight), ("ONOFF LIGHT", .onOffLight),
      ("DimmableLight", .dimmableLight), ("dimmable-light", .dimmableLight), ("outlet", .onOffPlugInUnit),
      ("Plug", .onOffPlugInUnit), ("on/off plug-in unit", .onOffPlugInUnit), ("On/Off Plugin Unit", .onOffPlugInUnit),
    ] as [(String, DeviceKind)])
  func kinds(name: String, kind: DeviceKind) {
    #expect(DeviceKind.named(name) == kind)
  }

  @Test("accepts a byte order mark, CRLF and anchors")
  func oddFiles() throws {
    let text = "\u{FEFF}devices:\r\n  - &a {name: A, type: plug}\r\n  - name: B\r\n    type: plug\r\n"
    let home = try load(text)
    #expect(home.devices.map(\.name) == ["A", "B"])
    #expect(home.devices[1].mark.line == 3)
  }

  @Test("reads the key of test event triggers")
  func enableKey() throws {
    func key(_ value: String) throws -> [UInt8]? {
      try load("devices:\n  - { name: A, type: plug, enableKey: \(value) }\n").devices.first?.enableKey
    }
    #expect(try key("\"00112233445566778899aabbccddeeFF\"") == (0..<16).map { UInt8($0 * 0x11) })
    // Digits without quotation marks may parse as a number; the text is used.
    #expect(try key("11112222333344445555666677778888")?.first == 0x11)
    #expect(try load("devices:\n  - { name: A, type: plug }\n").devices.first?.enableKey == nil)
    for wrong in [
      "\"00112233445566778899aabbccddee\"", "\"00112233445566778899aabbccddeefg\"",
      "\"00000000000000000000000000000000\"",
      "\"00112233445566778899aabbccddeeff00\"", "\"+0+1+2+3+4+5+6+7+8+9+a+b+c+d+e+f\"", "[1]", "\"\"",
    ] {
      #expect(throws: DefinitionError.self, "\(wrong)") { try key(wrong) }
    }
  }

  @Test("rejects the key for a bridged device")
  func bridgedEnableKey() throws {
    #expect(throws: DefinitionError.self) {
      try load(
        """
        devices:
          - name: B
            type: bridge
            devices:
              - { name: A, type: plug, enableKey: "00112233445566778899aabbccddeeff" }
        """)
    }
  }
}
