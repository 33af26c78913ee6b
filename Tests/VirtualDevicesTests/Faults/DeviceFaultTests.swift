import Foundation
import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Faults of running devices.
@Suite("Faults of devices", .timeLimit(.minutes(10))) struct DeviceFaultTests {
  private static let home = """
    devices:
      - name: Lamp
        type: dimmable light
        faults: { slow: 2s, data: { levelControl.currentLevel: type } }
      - name: Bridge
        type: bridge
        devices:
          - { name: A, type: plug }
          - { name: B, type: plug, faults: { data: { onOff.onOff: null } } }
    """

  /// Runs a device of the home on an event loop without network.
  private func running<R: Sendable>(
    _ index: Int, _ text: String = home, _ body: @escaping @Sendable (VirtualDevice) throws -> R
  ) async throws -> R {
    let definition = try HomeDefinition.load(simulating: [("home.yaml", text)]).devices[index]
    let directory = FileManager.default.temporaryDirectory.path + "/hearth-faults-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try await VirtualDevicesTests.running(definition, in: directory, body)
  }

  @Test("installs and replaces faults, and keeps them after a loss of power") func installsFaults() async throws {
    try await running(0) { device in
      func hooks() throws -> DeviceHooks { try #require(device.host?.perform { engine, _ in engine.hooks }) }
      let place = try #require(device.place(named: "Lamp"))
      let level = LevelControl.currentLevel.path(on: 1)
      #expect(try hooks().responseDelay == .seconds(2))
      #expect(try hooks().violations == [level: .type])
      #expect(device.status.faults == ["slow 2 s", "levelControl.currentLevel type"])

      var faults = DeviceFaults()
      faults.isBusy = true
      try device.inject(faults, at: place)
      #expect(try hooks().isBusy && hooks().responseDelay == .zero && hooks().violations.isEmpty)
      device.cutPower()
      #expect(device.status.faults == ["busy"])
      #expect(throws: ControlError.self) { try device.inject(DeviceFaults(), at: place) }
      try device.restorePower()
      #expect(try hooks().isBusy)

      // An attribute that the device doesn't have leaves the faults as they are.
      let missing = DeviceFaults.DataFault(
        endpoint: nil, cluster: DoorLock.id, attribute: DoorLock.lockState.id, violation: .missing, name: "lockState")
      faults.data = [missing]
      let refused = #expect(throws: ControlError.self) { try device.inject(faults, at: place) }
      #expect(refused?.code == .notFound && refused?.message == "it has no attribute lockState")
      #expect(device.status.faults == ["busy"])
      // A failure of providers only.
      faults = DeviceFaults()
      faults.update = .refused
      let wrong = #expect(throws: ControlError.self) { try device.inject(faults, at: place) }
      #expect(wrong?.message.contains("expected interrupted, digest or rollback") == true)
      try device.inject(DeviceFaults(), at: place)
      #expect(try !hooks().isBusy && device.status.faults.isEmpty)
    }
  }

  @Test("maps faults of bridged devices to their endpoints") func mapsEndpoints() async throws {
    try await running(1) { device in
      func hooks() throws -> DeviceHooks { try #require(device.host?.perform { engine, _ in engine.hooks }) }
      let (a, b) = (try #require(device.place(named: "A")), try #require(device.place(named: "B")))
      let onOff = { (place: VirtualDevice.Place) in OnOff.onOff.path(on: place.node) }
      #expect(try hooks().violations == [onOff(b): .null])
      #expect(device.status.bridged.map(\.faults) == [[], ["onOff.onOff null"]])
      var faults = DeviceFaults()
      faults.data = [
        .init(endpoint: 1, cluster: OnOff.id, attribute: OnOff.onOff.id, violation: .type, name: "1.onOff.onOff")
      ]
      try device.inject(faults, at: a)
      #expect(try hooks().violations == [onOff(a): .type, onOff(b): .null])
      faults.isSilent = true
      let refused = #expect(throws: ControlError.self) { try device.inject(faults, at: a) }
      #expect(refused?.code == .refused)
    }
  }

  @Test("a flawed attestation is refused for its flaw", arguments: TestAttestation.Flaw.allCases)
  func refusesFlawedAttestation(_ flaw: TestAttestation.Flaw) throws {
    let definition = try #require(
      try HomeDefinition.load(simulating: [("home.yaml", "devices:\n  - { name: A, type: plug }\n")]).devices.first)
    var random: any RandomSource = SeededRandomSource(seed: 1)
    func verify(_ flaw: TestAttestation.Flaw?) throws {
      let made = try DeviceIdentity.attestation(
        of: definition, flaw: flaw, signatures: DeterministicSignatures(), random: &random)
      let (nonce, challenge) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 16))
      let elements = AttestationElements(
        certificationDeclaration: made.certificationDeclaration, nonce: nonce, timestamp: 0
      ).tlv
      try TestAttestation.verifier().verify(
        .init(
          elements: elements,
          signature: try AttestationSignature.sign(elements: elements, challenge: challenge, key: made.dacKey),
          dac: made.deviceCertificate, pai: made.intermediateCertificate, nonce: nonce, challenge: challenge),
        vendorID: definition.vendorID, productID: definition.productID, at: 800_000_000)
    }
    try verify(nil)
    let error = #expect(throws: AttestationError.self) { try verify(flaw) }
    let expected: AttestationError =
      switch flaw {
      case .signature: .responseSignature
      case .expiry: .expired(.dac)
      case .vendor: .declarationVendorID
      case .root: .noTrustedRoot
      }
    #expect(error == expected)
  }

  @Test("a device that is added again has no fault of before") func forgetsRemovedDevice() async throws {
    try await running(1) { device in
      func violations() -> [ConcreteAttributePath: ModelViolation]? {
        device.host?.perform { engine, _ in engine.hooks.violations }
      }
      #expect(violations()?.count == 1)
      try device.remove("B")
      try device.add(try device.parse(bridged: "{ name: B, type: plug }"))
      #expect(violations() == [:])
    }
  }
}
