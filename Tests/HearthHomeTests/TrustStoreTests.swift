import Foundation
import HearthHome
import HomeControl
import HomeModel
import MatterCertificates
import MatterCrypto
import Testing

/// Folders with trusted attestation roots and declaration signers.
@Suite struct TrustStoreTests {
  private let folder: URL

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "hearth-trust-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder.appending(path: "cd"), withIntermediateDirectories: true)
  }

  private func pem(_ bytes: [UInt8], _ label: String) -> String {
    "-----BEGIN \(label)-----\n"
      + Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
      + "\n-----END \(label)-----\n"
  }

  private func write(_ name: String, _ bytes: [UInt8]) throws {
    try Data(bytes).write(to: folder.appending(path: name))
  }

  @Test func loadsRootsAndSignersInAllFormats() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try write("one.der", PublicTestMaterial.paa)
    try write(
      "both.pem",
      Array((pem(PublicTestMaterial.paa, "CERTIFICATE") + pem(PublicTestMaterial.paaFFF1, "CERTIFICATE")).utf8))
    let key = try P256PrivateKey(scalar: PublicTestMaterial.declarationSignerKey).publicKey
    let prefix: [UInt8] = [
      0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
      0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    try write("signer.pem", Array(pem(prefix + key.bytes, "PUBLIC KEY").utf8))
    // A root certificate in the folder for declaration signers.
    try write("cd/authority.crt", PublicTestMaterial.paaFFF1)
    try write("notes.txt", [1, 2, 3])
    try write("broken.der", [0x30, 0x03, 1, 2, 3])
    let store = try TrustStore(folder.path)
    #expect(Set(store.roots.map(\.der)) == [PublicTestMaterial.paa, PublicTestMaterial.paaFFF1])
    #expect(store.rootCount == 2)
    #expect(store.declarationSigners[PublicTestMaterial.declarationSignerKeyID] == key)
    #expect(store.declarationSignerCount == 2)
    #expect(store.unreadable.map(\.file).map { URL(filePath: $0).lastPathComponent } == ["broken.der"])
    let again = try JSONDecoder().decode(TrustStore.self, from: try JSONEncoder().encode(store))
    #expect(again.roots == store.roots && again.declarationSigners == store.declarationSigners)
    var verifier = AttestationVerifier(trustedRoots: [], declarationSigners: [:])
    store.extend(&verifier)
    store.extend(&verifier)
    #expect(verifier.trustedRoots.count == 2)
    #expect(verifier.declarationSigners.count == 2)
  }

  @Test func rejectsFolderWithoutAuthorities() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(throws: HomeError.self) { try TrustStore(folder.path) }
    do {
      _ = try TrustStore(folder.path + "/none")
      Issue.record("no error")
    } catch {
      #expect(error.code == .notFound)
    }
    var random: SeededRandomSource = SeededRandomSource(seed: 1)
    let device = try TestAttestation(vendorID: 0xFFF1, productID: 0x8001, deviceTypeID: 0x0100, random: &random)
    try write("dac.der", device.dac.der)
    do {
      _ = try TrustStore(folder.path)
      Issue.record("no error")
    } catch {
      #expect(error.code == .badArguments && error.message.contains("not an authority"))
    }
  }
}
