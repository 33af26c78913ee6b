import Foundation
import HearthHome
import HomeControl
import HomeModel
import HomeStore
import Logging
import MatterController
import MatterModel
import MatterProtocol
import Runtime
import Synchronization
import Testing

/// `hearth pair` with unusual codes and devices.
@Suite("Pairing", .serialized, .processes) struct PairTests {
  @Test func listsCodesOfMultipleDeviceCode() async throws {
    let hearth = Hearth()
    let refused = try await hearth("pair", "MT:M5L90MP500K64J00000*M5L90U.D010K4J00000")
    #expect(refused.status == 2)
    #expect(refused.errors.contains("MT:M5L90MP500K64J00000, MT:M5L90U.D010K4J00000"))
  }

  /// The home model, “Delegates”: a message goes to every other client, and never to the one that made the change.
  @Test(.timeLimit(.minutes(10))) func notifiesOnlyOtherClientsOfAddedAccessory() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(hearth, unadvertised: "{ name: Added, type: on/off light }")
    var options = HomeController.Options(state: StateDirectory(hearth.state), logger: Logger(label: "test"))
    options.discovery = .off
    let home = try await Home(options)
    try await home.follow()
    let (own, others) = (Additions(), Additions())
    let (manager, other) = (HomeManager(home), HomeManager(home))
    (manager.homeDelegate, other.homeDelegate) = (own, others)
    var request = CommissioningRequest(try SetupPayload(parsing: fleet.code))
    request.target = .addresses([fleet.address])
    let paired = try await manager.addAccessory(request, name: "Desk", room: "Study")
    #expect(paired.device.name == "Desk" && paired.device.room == "Study")
    #expect(await eventually { others.names == ["Desk"] })
    // Messages are delivered in order, so this one follows that of the addition.
    try await other.rename(paired.device.id, to: "Table")
    #expect(await eventually { own.renamed == ["Table"] })
    #expect(own.names.isEmpty && others.renamed.isEmpty)
    await home.close()
  }

  /// The code is for another product than the device reports, and its certificates are for another vendor.
  @Test(.timeLimit(.minutes(10))) func rejectsDeviceOfOtherProduct() async throws {
    let hearth = Hearth()
    let lines = "type: on/off light, discriminator: 1003, passcode: 20240003, serial: P1"
    let first = try await Fleet(hearth, unadvertised: "{ name: Odd, \(lines), product: 0x8001 }")
    let oldCode = first.code
    await first.stop()
    let fleet = try await Fleet(
      hearth, unadvertised: "{ name: Odd, \(lines), product: 0x8002, faults: { attestation: vendor } }")
    #expect(oldCode != fleet.code)

    // The old code does not match the product.
    let other = try await hearth.run(["pair", oldCode] + fleet.location)
    #expect(other.status == 9, "\(other.errors)")
    #expect(other.errors.contains("vendor 0xFFF1, product 0x8001"), "\(other.errors)")
    #expect(other.errors.contains("vendor 0xFFF1, product 0x8002"), "\(other.errors)")
    // The new code does, but the certificates do not.
    let unproven = try await hearth.run(["pair", fleet.code] + fleet.location)
    #expect(unproven.status == 9, "\(unproven.errors)")
    #expect(unproven.errors.contains("attestation failed") && unproven.errors.contains("--allow-unverified"))
    #expect(try await hearth("devices", "--json").output.contains("\"name\"") == false)
    // With --allow-unverified both are notes only.
    let allowed = try await hearth.run(["pair", oldCode, "--allow-unverified", "--json"] + fleet.location)
    #expect(allowed.status == 0, "\(allowed.errors)")
    #expect(allowed.output.contains(#""attestationVerified":false"#))
    #expect(allowed.errors.contains("attestation failed") && allowed.errors.contains("the code is for vendor 0xFFF1"))
  }

  @Test("refuses a test device if only production devices are trusted", .timeLimit(.minutes(10)))
  func trustIsProduction() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(
      hearth, unadvertised: "{ name: Plain, type: on/off light, discriminator: 3843, passcode: 20202021 }")
    #expect(try await hearth("home", "trust").output == "test\n")
    #expect(try await hearth("home", "trust", "production").output == "production\n")
    #expect(try await hearth("home", "trust", "--json").output.contains(#""trust":"production""#))
    #expect(try await hearth("home", "trust", "none").status == 2)
    let refused = try await hearth.run(["pair", fleet.code] + fleet.location)
    #expect(refused.status == 9, "\(refused.errors)")
    #expect(refused.errors.contains("public") && refused.errors.contains("hearth home trust test"), "\(refused.errors)")
    #expect(refused.errors.contains("verifyAttestation"), "\(refused.errors)")
    #expect(try await hearth("home", "trust", "all").output == "test\n")
    let paired = try await hearth.run(["pair", fleet.code, "--name", "Lamp", "--json"] + fleet.location)
    #expect(paired.status == 0 && paired.output.contains(#""attestation":"test""#), "\(paired.output)\(paired.errors)")
    // No note about test devices on loopback.
    #expect(!paired.errors.contains("attestation"), "\(paired.errors)")
    let described = try await hearth.run(["describe", "lamp"] + fleet.location)
    #expect(described.output.contains("Attestation    test"), "\(described.output)")
    let json = try await hearth.run(["describe", "lamp", "--json"] + fleet.location)
    #expect(json.output.contains(#""attestation":"test""#), "\(json.output)")
  }

  /// A manual code of a product with a custom flow contains the vendor and product ids.
  @Test(.timeLimit(.minutes(10))) func reportsCustomFlow() async throws {
    let hearth = Hearth()
    let fleet = try await Fleet(
      hearth,
      unadvertised: "{ name: Plain, type: on/off light, discriminator: 3840, passcode: 20202021, product: 0x8001 }")
    // For product 0x8001 of vendor 0xFFF2, and of vendor 0xFFF1.
    let other = try await hearth.run(["pair", "749701123365522327692"] + fleet.location)
    #expect(other.status == 9, "\(other.errors)")
    #expect(other.errors.contains("vendor 0xFFF2, product 0x8001"), "\(other.errors)")
    let paired = try await hearth.run(["pair", "7497-0112-3365-5213-2769-4"] + fleet.location)
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(paired.errors.contains("vendor-specific setup steps"))
  }
}

extension Fleet {
  /// Starts one device that is not advertised.
  fileprivate init(_ hearth: Hearth, unadvertised device: String) async throws {
    try await self.init(hearth, definition: "devices:\n  - \(device)\n", options: ["--mdns", "off"])
  }

  /// The options with the address of the device.
  fileprivate var location: [String] { ["--mdns", "off", "--at", "127.0.0.1:\(ports[0])"] }

  fileprivate var address: SocketAddress { SocketAddress(.loopback4, port: ports[0]) }
}

/// Records added and renamed accessories.
private final class Additions: HomeNameDelegate {
  private let recorded = Mutex<(names: [String], renamed: [String])>(([], []))
  var names: [String] { recorded.withLock { $0.names } }
  var renamed: [String] { recorded.withLock { $0.renamed } }

  func home(_ home: Structure, didAdd accessory: HomeDevice) async {
    recorded.withLock { $0.names.append(accessory.name) }
  }
  func home(_ home: Structure, didRemove accessory: HomeDevice) async {}
  func homeDidUpdateName(_ home: Structure) async {}
  func home(_ home: Structure, didUpdateNameFor room: Room) async {}
  func home(_ home: Structure, didUpdateNameFor accessory: HomeDevice) async {
    recorded.withLock { $0.renamed.append(accessory.name) }
  }
}
