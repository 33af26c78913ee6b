import Foundation
import Logging
import MatterController
import MatterModel
import MatterProtocol
import Runtime
import Synchronization
import Testing

@testable import Home

/// `hearth pair` with unusual codes and devices.
@Suite("Pairing", .serialized) struct PairTests {
  @Test func listsCodesOfMultipleDeviceCode() throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let refused = try hearth("pair", "MT:M5L90MP500K64J00000*M5L90U.D010K4J00000")
    #expect(refused.status == 2)
    #expect(refused.errors.contains("MT:M5L90MP500K64J00000, MT:M5L90U.D010K4J00000"))
  }

  /// The home model, “Delegates”: a message goes to every other client, and never to the one that made the change.
  @Test(.timeLimit(.minutes(10))) func notifiesOnlyOtherClientsOfAddedAccessory() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let fleet = try await PairFleet(hearth, "{ name: Added, type: on/off light }")
    defer { fleet.stop() }
    var options = HomeController.Options(state: StateDirectory(hearth.state), logger: Logger(label: "test"))
    options.discovery = .off
    let home = try await Home(options)
    try await home.follow()
    let (own, others) = (Additions(), Additions())
    let (manager, other) = (HomeManager(home), HomeManager(home))
    (manager.homeDelegate, other.homeDelegate) = (own, others)
    var request = CommissioningRequest(try SetupPayload(parsing: fleet.qrCode))
    request.target = .addresses([fleet.address])
    let paired = try await manager.addAccessory(request, name: "Desk", room: "Study")
    #expect(paired.device.name == "Desk" && paired.device.room == "Study")
    #expect(try await waits { others.names == ["Desk"] })
    // Messages are delivered in order, so this one follows that of the addition.
    try await other.rename(paired.device.id, to: "Table")
    #expect(try await waits { own.renamed == ["Table"] })
    #expect(own.names.isEmpty && others.renamed.isEmpty)
    await home.close()
  }

  /// The certificates of the device, made at its first start, are for another product than it reports now.
  @Test(.timeLimit(.minutes(10))) func rejectsDeviceOfOtherProduct() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let lines = "type: on/off light, discriminator: 1003, passcode: 20240003, serial: P1"
    let first = try await PairFleet(hearth, "{ name: Odd, \(lines), product: 0x8001 }")
    let oldCode = first.qrCode
    first.stop()
    let fleet = try await PairFleet(hearth, "{ name: Odd, \(lines), product: 0x8002 }")
    defer { fleet.stop() }
    #expect(oldCode != fleet.qrCode)

    // The old code does not match the product.
    let other = try hearth.run(["pair", oldCode] + fleet.location)
    #expect(other.status == 9, "\(other.errors)")
    #expect(other.errors.contains("vendor 0xFFF1, product 0x8001"), "\(other.errors)")
    #expect(other.errors.contains("vendor 0xFFF1, product 0x8002"), "\(other.errors)")
    // The new code does, but the certificates do not.
    let unproven = try hearth.run(["pair", fleet.qrCode] + fleet.location)
    #expect(unproven.status == 9, "\(unproven.errors)")
    #expect(unproven.errors.contains("attestation failed") && unproven.errors.contains("--allow-unverified"))
    #expect(try hearth("devices", "--json").output.contains("\"name\"") == false)
    // With --allow-unverified both are notes only.
    let allowed = try hearth.run(["pair", oldCode, "--allow-unverified", "--json"] + fleet.location)
    #expect(allowed.status == 0, "\(allowed.errors)")
    #expect(allowed.output.contains(#""attestationVerified":false"#))
    #expect(allowed.errors.contains("attestation failed") && allowed.errors.contains("the code is for vendor 0xFFF1"))
  }

  @Test("refuses a test device if only production devices are trusted", .timeLimit(.minutes(10)))
  func trustIsProduction() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let fleet = try await PairFleet(
      hearth, "{ name: Plain, type: on/off light, discriminator: 3843, passcode: 20202021 }")
    defer { fleet.stop() }
    #expect(try hearth("home", "trust").output == "test\n")
    #expect(try hearth("home", "trust", "production").output == "production\n")
    #expect(try hearth("home", "trust", "--json").output.contains(#""trust":"production""#))
    #expect(try hearth("home", "trust", "none").status == 2)
    let refused = try hearth.run(["pair", fleet.qrCode] + fleet.location)
    #expect(refused.status == 9, "\(refused.errors)")
    #expect(refused.errors.contains("public") && refused.errors.contains("hearth home trust test"), "\(refused.errors)")
    #expect(refused.errors.contains("verifyAttestation"), "\(refused.errors)")
    #expect(try hearth("home", "trust", "all").output == "test\n")
    let paired = try hearth.run(["pair", fleet.qrCode, "--name", "Lamp", "--json"] + fleet.location)
    #expect(paired.status == 0 && paired.output.contains(#""attestation":"test""#), "\(paired.output)\(paired.errors)")
    // No note about test devices on loopback.
    #expect(!paired.errors.contains("attestation"), "\(paired.errors)")
    let described = try hearth.run(["describe", "lamp"] + fleet.location)
    #expect(described.output.contains("Attestation    test"), "\(described.output)")
    let json = try hearth.run(["describe", "lamp", "--json"] + fleet.location)
    #expect(json.output.contains(#""attestation":"test""#), "\(json.output)")
  }

  /// The pairing process was killed after the device joined the fabric, and before it was added to the home.
  @Test(.timeLimit(.minutes(10))) func listsAndRemovesDeviceThatIsOnlyInFabric() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let lines = "{ name: Plain, type: on/off light, discriminator: 3841, passcode: 20202021 }"
    let fleet = try await PairFleet(hearth, lines)
    let paired = try hearth.run(["pair", fleet.qrCode, "--name", "Lamp", "--room", "Den"] + fleet.location)
    #expect(paired.status == 0, "\(paired.errors)")
    func forget() throws {
      try StoredNames(StateDirectory(hearth.state)).withDatabase { database throws(HomeError) in
        let room = try database.names().rooms.first
        try database.commit([HomeUpdate([.deviceRemoved(id: "1")], at: 1)])
        _ = try database.keep(PairingWish(name: "Sun", room: room), for: [1], besides: [1])
      }
    }
    try forget()
    let listed = try hearth.run(["devices"] + fleet.location)
    #expect(listed.output.contains("Sun") && listed.output.contains("Den"), "\(listed.output) \(listed.errors)")
    #expect(listed.output.contains("On/Off Light"), "\(listed.output)")
    // The same without an answer of the device.
    fleet.stop()
    try forget()
    let away = try hearth.run(["devices", "--timeout", "500ms"] + fleet.location)
    #expect(away.output.contains("Sun") && away.output.contains("Den"), "\(away.output) \(away.errors)")
    let removed = try hearth.run(["remove", "den/sun", "--force", "--timeout", "500ms"] + fleet.location)
    #expect(removed.status == 0, "\(removed.errors)")
    #expect(try hearth("devices", "--json").output.contains("Sun") == false)
    let left = try StoredNames(StateDirectory(hearth.state)).withDatabase { database throws(HomeError) in
      try database.wishes()
    }
    #expect(left.isEmpty)
  }

  /// A manual code of a product with a custom flow contains the vendor and product ids.
  @Test(.timeLimit(.minutes(10))) func reportsCustomFlow() async throws {
    let hearth = Hearth()
    defer { hearth.cleanUp() }
    let fleet = try await PairFleet(
      hearth, "{ name: Plain, type: on/off light, discriminator: 3840, passcode: 20202021, product: 0x8001 }")
    defer { fleet.stop() }
    // For product 0x8001 of vendor 0xFFF2, and of vendor 0xFFF1.
    let other = try hearth.run(["pair", "749701123365522327692"] + fleet.location)
    #expect(other.status == 9, "\(other.errors)")
    #expect(other.errors.contains("vendor 0xFFF2, product 0x8001"), "\(other.errors)")
    let paired = try hearth.run(["pair", "7497-0112-3365-5213-2769-4"] + fleet.location)
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(paired.errors.contains("vendor-specific setup steps"))
  }
}

/// One virtual device without DNS-SD, in a separate process.
private struct PairFleet {
  let qrCode: String
  /// The options with its address.
  let location: [String]
  let address: SocketAddress
  private let process: Process

  init(_ hearth: Hearth, _ device: String) async throws {
    let state = URL(filePath: hearth.state)
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    let (definition, ready) = (state.appending(path: "home.yaml"), state.appending(path: "ready"))
    try? FileManager.default.removeItem(at: ready)
    try "devices:\n  - \(device)\n".write(to: definition, atomically: true, encoding: .utf8)
    process = try hearth.start(
      ["run", definition.path, "--mdns", "off", "--ready-file", ready.path],
      output: state.appending(path: "fleet.out"), errors: state.appending(path: "fleet.err"))
    for _ in 0..<1200 where !FileManager.default.fileExists(atPath: ready.path) && process.isRunning {
      try await Task.sleep(for: .milliseconds(50))
    }
    let shown = try hearth("sim", "ps", "--json").output
    func after(_ key: String, _ isPart: (Character) -> Bool) throws -> String {
      let rest = shown.split(separator: key, maxSplits: 1)
      try #require(rest.count == 2, "no device is running: \(shown)")
      return String(rest[1].prefix(while: isPart))
    }
    qrCode = try after("\"qrCode\":\"") { $0 != "\"" }
    let port = try after("\"port\":") { $0.isNumber }
    location = ["--mdns", "off", "--at", "127.0.0.1:" + port]
    address = SocketAddress(try #require(IPAddress("127.0.0.1")), port: try #require(UInt16(port)))
  }

  func stop() {
    if process.isRunning { process.interrupt() }
    process.waitUntilExit()
  }
}

/// Records added and renamed accessories.
private final class Additions: HomeDelegate {
  private let recorded = Mutex<(names: [String], renamed: [String])>(([], []))
  var names: [String] { recorded.withLock { $0.names } }
  var renamed: [String] { recorded.withLock { $0.renamed } }

  func home(_ home: ManagedHome, didAdd accessory: HomeDevice) async {
    recorded.withLock { $0.names.append(accessory.name) }
  }
  func home(_ home: ManagedHome, didUpdateNameOf accessory: HomeDevice) async {
    recorded.withLock { $0.renamed.append(accessory.name) }
  }
}
