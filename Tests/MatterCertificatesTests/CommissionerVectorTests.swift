import Foundation
import MatterCrypto
import Testing

@testable import MatterCertificates

/// Attestation of devices with one fault each: the vectors of the Matter SDK's
/// `credentials/development/commissioner_dut`, some of them included here, all of them from a checkout given by the
/// environment.
@Suite struct CommissionerVectorTests {
  /// Fields of a vector.
  struct Vector: Sendable, CustomTestStringConvertible {
    var name: String
    var isGood: Bool
    var productID: UInt16
    var dac: [UInt8]
    var pai: [UInt8]
    var declaration: [UInt8]
    var key: [UInt8]
    var testDescription: String { name }
  }

  private static func verify(_ vector: Vector) throws {
    let nonce = [UInt8](repeating: 5, count: 32)
    let challenge = [UInt8](repeating: 9, count: 16)
    let elements = AttestationElements(certificationDeclaration: vector.declaration, nonce: nonce).tlv
    let signature = try AttestationSignature.sign(
      elements: elements, challenge: challenge, key: try P256PrivateKey(scalar: vector.key))
    try TestAttestation.verifier().verify(
      .init(
        elements: elements, signature: signature, dac: vector.dac, pai: vector.pai, nonce: nonce, challenge: challenge),
      vendorID: 0xFFF1, productID: vector.productID, at: 850_000_000)
  }

  /// A checkout of the SDK with all vectors.
  private static let checkout = ProcessInfo.processInfo.environment["MATTER_SDK"]

  /// Faults that the commissioner accepts: it has no ledger to compare with, or must ignore the field
  /// (Matter Core § 6.3.1).
  private static let harmless = [
    "struct_cd_device_type_id_mismatch", "struct_cd_security_info_wrong", "struct_cd_security_level_wrong",
    "struct_cd_version_number_wrong", "struct_cd_cert_id_mismatch",
  ]

  private struct Stored: Decodable {
    var is_success_case: String
    var basic_info_pid: UInt16
    var dac_cert: String
    var pai_cert: String
    var certification_declaration: String
    var dac_private_key: String
  }

  @Test(.enabled(if: checkout != nil, "MATTER_SDK is not set to a checkout of the Matter SDK"))
  func verifiesAllPublishedVectors()
    throws
  {
    let folder = URL(filePath: Self.checkout ?? "").appending(path: "credentials/development/commissioner_dut")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names.count > 100)
    for name in names {
      let data = try Data(contentsOf: folder.appending(path: name).appending(path: "test_case_vector.json"))
      let stored = try JSONDecoder().decode(Stored.self, from: data)
      // The key is on another curve: it cannot sign here, and its DAC is rejected earlier.
      if name == "struct_dac_sig_curve_secp256k1" {
        #expect(throws: (any Error).self) { try X509Certificate(der: bytes(stored.dac_cert)) }
        continue
      }
      let vector = Vector(
        name: name, isGood: stored.is_success_case == "true" || Self.harmless.contains(name),
        productID: stored.basic_info_pid, dac: bytes(stored.dac_cert), pai: bytes(stored.pai_cert),
        declaration: bytes(stored.certification_declaration), key: bytes(stored.dac_private_key))
      if vector.isGood {
        #expect(throws: Never.self, "\(name)") { try Self.verify(vector) }
      } else {
        #expect(throws: AttestationError.self, "\(name)") { try Self.verify(vector) }
      }
    }
  }

  @Test(arguments: CommissionerVectors.all) func reportsFailedCheck(
    _ vector: Vector, _ error: AttestationError?
  ) throws {
    guard let error else { return try Self.verify(vector) }
    #expect(throws: error) { try Self.verify(vector) }
    #expect(error.explanation.count > 20 && !error.explanation.hasSuffix("."))
  }
}
