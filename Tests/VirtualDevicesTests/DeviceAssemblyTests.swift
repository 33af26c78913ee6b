import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Every kind of device of a definition file is complete.
@Suite("Device assembly") struct DeviceAssemblyTests {
  private func definition(_ kind: DeviceKind, more: String = "") throws -> DeviceDefinition {
    let behind = kind == .bridge ? "    devices: [{ name: Behind, type: plug }]\n" : ""
    let text = "devices:\n  - name: Thing\n    type: \(kind.name)\n\(behind)\(more)"
    return try #require(try HomeDefinition.load(simulating: [("test.yaml", text)]).devices.first)
  }

  @Test(arguments: DeviceKind.all) func servesClustersOfItsType(_ kind: DeviceKind) throws {
    let endpoint = try #require(DeviceAssembly.endpoints(of: try definition(kind)).first)
    let type = try #require(DeviceTypes.named(kind.deviceType), "\(kind.name) has no device type")
    // Energy management is a device type of its own.
    #expect(endpoint.deviceTypes.first == type && endpoint.deviceTypes.dropFirst().allSatisfy { $0.id == 0x050D })
    let served = Set(endpoint.servers.map(\.id))
    #expect(endpoint.clients == type.clients)
    #expect(Set(type.servers).subtracting([Descriptor.id]).isSubset(of: served), "\(kind.name) lacks clusters")
  }

  @Test(arguments: DeviceKind.all) func startsWithTheValuesOfItsDefinition(_ kind: DeviceKind) throws {
    let onOff = DeviceAssembly.servers(of: kind).first { $0.id == OnOff.id }
    // A cooktop can be switched on at the device only.
    let hasOnOff = onOff.map { $0.features & OnOff.offOnly.mask == 0 } ?? false
    let startUp = onOff.map { $0.features & OnOff.lighting.mask == 0 } ?? false ? "" : ", onOff.startUpOnOff: on"
    let device = try definition(kind, more: hasOnOff ? "    attributes: { onOff.onOff: true\(startUp) }\n" : "")
    var random: any RandomSource = SeededRandomSource(seed: 1)
    let store = MemoryStore()
    let identity = try DeviceIdentity(of: device, in: store, [:], random: &random)
    var engine = DeviceEngine(
      DeviceAssembly.configuration(of: device, identity: identity, port: 5540),
      endpoints: DeviceAssembly.endpoints(of: device), random: random, at: .zero)
    #expect(engine.value(OnOff.onOff, on: 1) == onOff.map { _ in hasOnOff })
    #expect(engine.value(BasicInformation.serialNumber, on: .root) == device.serialNumber)
    #expect(engine.value(BasicInformation.uniqueID, on: .root) == device.uniqueID)
    #expect(engine.isCommissionable)

    // The identity is created once: the second start loads it.
    let again = try DeviceIdentity(of: device, in: store, try store.load(), random: &random)
    #expect(again.salt == identity.salt)
  }

  @Test func createsTheSameCertificatesFromASeed() throws {
    let device = try definition(#require(DeviceKind.all.first))
    func certificate(seed: UInt64, draws: Int = 0) throws -> [UInt8]? {
      var random: any RandomSource = SeededRandomSource(seed: seed)
      let identity = try DeviceIdentity(
        of: device, in: MemoryStore(), [:], signatures: DeterministicSignatures(), random: &random)
      _ = random.bytes(draws)
      guard case .onDemand(let make) = identity.attestation else { return nil }
      return try make().deviceCertificate
    }
    let first = try #require(try certificate(seed: 1))
    #expect(try certificate(seed: 1, draws: 10) == first)
    #expect(try certificate(seed: 2) != first)
  }

  @Test func rejectsValuesOfMissingAttributes() {
    let text = "devices:\n  - name: Lamp\n    type: on/off light\n    attributes: { levelControl.currentLevel: 3 }\n"
    let error = #expect(throws: DefinitionError.self) {
      try HomeDefinition.load(simulating: [("lamp.yaml", text)])
    }
    #expect(error?.problems.first?.mark.line == 4)
    #expect(error?.problems.first?.found == "1.levelControl.currentLevel")
  }

  @Test(
    "rejects initial values with which a device could not work",
    arguments: [
      (
        "water valve", "valveConfigurationAndControl.levelStep: 7, valveConfigurationAndControl.defaultOpenLevel: 10",
        "10", "a number from 1% to 100% in steps of 7, or 100"
      ),
      ("door lock", "doorLock.minPINCodeLength: 9", "9", "a number from 0 to 8"),
      ("pump", "pumpConfigurationAndControl.minConstSpeed: 5000", "5000", "a number from 0 to 4000, or null"),
      ("fan", "fanControl.speedMax: 2", "2", "a number from 3 to 100"),
    ]
  ) func rejectsContradictions(_ kind: String, _ values: String, _ found: String, _ expected: String) {
    let error = #expect(throws: DefinitionError.self) {
      try HomeDefinition.load(
        simulating: [("a.yaml", "devices:\n  - { name: A, type: \(kind), attributes: { \(values) } }\n")])
    }
    #expect(error?.problems.map(\.found) == [found])
    #expect(error?.problems.map(\.expected) == [expected])
  }

  @Test(
    "rejects initial values with which a cluster violates its conformance",
    arguments: [
      (
        "dimmable light", "onOff.onOff: true, levelControl.currentFrequency: 50",
        "1.levelControl.currentFrequency", "attribute CurrentFrequency (0x0004) is not allowed; its conformance is FQ"
      ),
      (
        "color light",
        "colorControl.numberOfPrimaries: 4, colorControl.primary1X: 9",
        "1.colorControl.numberOfPrimaries",
        "attribute Primary4X (0x0020) is missing; mandatory with NumberOfPrimaries>3"
      ),
    ]
  ) func rejectsNonconformingValues(_ kind: String, _ values: String, _ found: String, _ violation: String) {
    let text = "devices:\n  - name: Lamp\n    type: \(kind)\n    attributes: { \(values) }\n"
    let error = #expect(throws: DefinitionError.self) {
      try HomeDefinition.load(simulating: [("lamp.yaml", text)])
    }
    #expect(error?.problems.map(\.found) == [found])
    #expect(error?.problems.first?.expected.hasSuffix(violation) == true, "\(error?.problems ?? [])")
  }
}
