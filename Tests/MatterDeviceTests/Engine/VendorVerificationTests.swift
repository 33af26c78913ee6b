import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

private let set = OperationalCredentials.setVIDVerificationStatement
private let sign = OperationalCredentials.signVIDVerificationRequest
private let challenge = OctetString((0..<32).map { 0xA1 + $0 })

@Test func signsVendorVerification() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let statement = [UInt8](repeating: 1, count: 85)
  let signer = [UInt8](repeating: 0xAA, count: 400)

  // The message, built independently of the implementation.
  func expected(_ vendor: [UInt8], _ statement: [UInt8]) throws -> [UInt8] {
    let fabric = lab.administrators[0].core.fabrics[0]
    let attestation = try #require(lab.administrators[0].core.session(session)).attestationChallenge
    return [1] + challenge.bytes + attestation + [1] + [1] + fabric.rootPublicKey + [0, 0, 0, 0, 0, 0, 0x0F, 0xAB]
      + vendor + statement
  }
  func proves(_ message: [UInt8]) throws -> Bool {
    let answer = try lab.call(sign, .init(fabricIndex: 1, clientChallenge: challenge), on: session)
    #expect(answer.fabricIndex == 1 && answer.fabricBindingVersion == 1)
    let noc = try MatterCertificate(tlv: lab.device.fabrics[0].operationalCertificate)
    return try P256PublicKey(bytes: noc.publicKey).verify(answer.signature.bytes, of: message)
  }
  #expect(try proves(expected([0xFF, 0xF1], [])))
  #expect(
    try lab.status(
      set,
      .init(vendorID: 0x6A01, vidVerificationStatement: OctetString(statement), vvsc: OctetString(signer)), on: session)
      == .success)
  #expect(try proves(expected([0x6A, 0x01], statement)))
  lab.crash()
  let opened = lab.openCASE()
  let again = try #require(opened)
  let fabric = try #require(try lab.read(OperationalCredentials.fabrics, on: again).first)
  #expect(fabric.vendorID == 0x6A01 && fabric.vidVerificationStatement?.bytes == statement)
  #expect(try lab.read(OperationalCredentials.nocs, on: again).first?.vvsc?.bytes == signer)
  #expect(try lab.status(set, .init(vidVerificationStatement: [], vvsc: []), on: again) == .success)
  #expect(lab.device.fabrics[0].vidVerificationStatement.isEmpty && lab.device.fabrics[0].vidVerificationSigner.isEmpty)
}

@Test func rejectsInvalidVendorStatements() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let before = lab.device.fabrics[0]
  #expect(try lab.status(set, .init(), on: session) == Status(.invalidCommand))
  for vendor: VendorID in [0, 0xFFF5] {
    #expect(try lab.status(set, .init(vendorID: vendor), on: session) == Status(.constraintError))
  }
  for count in [1, 84, 86] {
    let octets = OctetString([UInt8](repeating: 1, count: count))
    #expect(
      try lab.status(set, .init(vendorID: 1, vidVerificationStatement: octets), on: session)
        == Status(.constraintError))
  }
  let long = OctetString([UInt8](repeating: 1, count: 401))
  #expect(try lab.status(set, .init(vendorID: 1, vvsc: long), on: session) == Status(.constraintError))
  #expect(lab.device.fabrics[0] == before, "no partial change")
  for (fabric, octets) in [(0, 32), (2, 32), (1, 31), (1, 33)] {
    let request = OperationalCredentials.SignVIDVerificationRequest(
      fabricIndex: FabricIndex(UInt8(fabric)), clientChallenge: OctetString([UInt8](repeating: 1, count: octets)))
    #expect(try lab.status(sign, request, on: session) == Status(.constraintError))
  }
}

/// Administrators may read the certificates of all fabrics to verify their vendors.
@Test func returnsCertificatesOfAllFabrics() throws {
  var lab = try Lab()
  for _ in 0..<2 { try lab.addAdministrator() }
  let first = try lab.commission()
  let window = AdministratorCommissioning.openBasicCommissioningWindow
  #expect(try lab.status(window, .init(commissioningTimeout: 180), on: first, isTimed: true) == .success)
  _ = try lab.commission(1)
  let reports = try lab.read(
    ReadRequest(
      attributePaths: [AttributePath(OperationalCredentials.nocs.path(on: 0))], isFabricFiltered: false), on: first)
  var certificates: [[UInt8]] = []
  for case .data(let data) in reports.flatMap(\.attributeReports) {
    if let list = try? [OperationalCredentials.NOCStruct](tlv: data.value) {
      certificates += list.map(\.noc.bytes)
    } else {
      certificates.append(try OperationalCredentials.NOCStruct(tlv: data.value).noc.bytes)
    }
  }
  #expect(certificates == lab.device.fabrics.map(\.operationalCertificate))
}
