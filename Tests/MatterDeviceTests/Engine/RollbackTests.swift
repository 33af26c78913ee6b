import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// After a power cut during commissioning, at any step, the next start undoes the changes.
@Suite struct RollbackTests {
  enum Step: Int, CaseIterable {
    case armed, configured, configuredTwice, certified, operational, complete
  }

  private static func configure(
    _ lab: inout Lab, _ country: String, on session: SessionID, _ administrator: Int
  ) throws {
    let answer = try lab.call(
      GeneralCommissioning.setRegulatoryConfig,
      .init(newRegulatoryConfig: country == "DE" ? .indoor : .outdoor, countryCode: country, breadcrumb: 2),
      on: session, administrator)
    #expect(answer.errorCode == .ok)
  }

  /// - Parameter isSecond: Whether the device was commissioned by another administrator before.
  @Test(arguments: Step.allCases, [false, true])
  func rollsBackCommissioning(at step: Step, isSecond: Bool) throws {
    var lab = try Lab()
    for _ in 0..<2 { try lab.addAdministrator() }
    var location = "XX"
    if isSecond {
      let first = try lab.commission(1)
      location = "FR"
      _ = try lab.write([AttributeWrite(BasicInformation.location.path(on: 0), value: location.tlv)], on: first, 1)
      let window = AdministratorCommissioning.openBasicCommissioningWindow
      #expect(try lab.status(window, .init(commissioningTimeout: 180), on: first, 1, isTimed: true) == .success)
    }
    let acl = lab.device.value(AccessControl.acl, on: 0)
    let opened = lab.openPASE()
    let pase = try #require(opened)
    #expect(lab.store[StoreKey.failSafe] == nil, "no changes to undo yet")
    if step.rawValue >= Step.configured.rawValue {
      try Self.configure(&lab, "DE", on: pase, 0)
      if step.rawValue >= Step.configuredTwice.rawValue { try Self.configure(&lab, "IT", on: pase, 0) }
      #expect(lab.device.value(BasicInformation.location, on: 0) != location)
      #expect(lab.store[StoreKey.failSafe] != nil)
    }
    if step.rawValue >= Step.certified.rawValue { #expect(try lab.addNOC(on: pase).statusCode == .ok) }
    if step.rawValue >= Step.operational.rawValue {
      let operational = lab.openCASE()
      let session = try #require(operational)
      if step == .complete {
        let answer = try lab.call(GeneralCommissioning.commissioningComplete, NoFields(), on: session)
        #expect(answer.errorCode == .ok)
      }
    }
    // Also checks a second start from the store of the first.
    for _ in 0..<2 {
      lab.crash()
      #expect(lab.store[StoreKey.failSafe] == nil)
      if step == .complete {
        #expect(lab.device.value(BasicInformation.location, on: 0) == "IT")
        #expect(lab.device.value(GeneralCommissioning.regulatoryConfig, on: 0) == .outdoor)
        #expect(lab.device.fabrics.count == (isSecond ? 2 : 1))
        #expect(lab.openCASE() != nil)
        continue
      }
      #expect(lab.device.value(BasicInformation.location, on: 0) == location)
      #expect(lab.device.value(GeneralCommissioning.regulatoryConfig, on: 0) == .indoorOutdoor)
      #expect(lab.device.fabrics.map(\.adminVendorID) == (isSecond ? [lab.administrators[1].vendor] : []))
      #expect(lab.device.value(AccessControl.acl, on: 0) == acl)
      let own = isSecond ? "/1" : "/none"
      #expect(lab.store.keys.allSatisfy { !$0.hasPrefix("fabric/") || $0 == "fabric\(own)" })
      #expect(lab.store.keys.allSatisfy { !$0.hasPrefix("resumption/") || $0.hasPrefix("resumption\(own)/") })
      #expect(lab.device.isCommissionable == !isSecond)
    }
  }

  @Test func rollsBackUpdateNOC() throws {
    var lab = try Lab()
    try lab.addAdministrator()
    let session = try lab.commission()
    let arm = GeneralCommissioning.armFailSafe
    #expect(try lab.call(arm, .init(expiryLengthSeconds: 60, breadcrumb: 1), on: session).errorCode == .ok)
    let nonce = OctetString([UInt8](repeating: 7, count: 32))
    let csr = try lab.call(
      OperationalCredentials.csrRequest, .init(csrNonce: nonce, isForUpdateNOC: true), on: session)
    let elements = try NOCSRElements(tlv: csr.nocsrElements.bytes)
    let key = try CertificateSigningRequest(verifying: elements.certificateSigningRequest).publicKey
    let noc = try lab.administrators[0].issue(key, node: 0x2_0002)
    let answer = try lab.call(OperationalCredentials.updateNOC, .init(nocValue: OctetString(noc)), on: session)
    #expect(answer.statusCode == .ok)
    #expect(lab.openCASE(node: 0x2_0002) != nil)
    #expect(lab.store.keys.contains { $0.hasPrefix("resumption/1/") })
    lab.crash()
    #expect(lab.events.contains(.rolledBack))
    #expect(lab.device.fabrics.map(\.nodeID) == [0x2_0001])
    #expect(lab.store[StoreKey.failSafe] == nil)
    #expect(!lab.store.keys.contains { $0.hasPrefix("resumption/") })
    // The resumption records of the new node id are removed permanently.
    lab.crash()
    #expect(lab.openCASE(node: 0x2_0002) == nil)
    #expect(lab.openCASE() != nil)
  }

  @Test(arguments: [[], [0x15, 0x18], [0xFF]] as [[UInt8]])
  func removesInvalidRecord(bytes: [UInt8]) throws {
    var lab = try Lab()
    lab.store[StoreKey.failSafe] = bytes
    lab.crash()
    #expect(lab.store[StoreKey.failSafe] == nil)
    #expect(lab.device.isCommissionable)
  }
}
