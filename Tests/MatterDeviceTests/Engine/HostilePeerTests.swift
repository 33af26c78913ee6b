import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

extension Lab {
  /// Commissions the device for another administrator through a window that `opener` opens.
  fileprivate mutating func commission(
    _ administrator: Int, through session: SessionID, of opener: Int
  ) throws -> SessionID {
    let opened = try status(
      AdministratorCommissioning.openBasicCommissioningWindow, .init(commissioningTimeout: 180), on: session, opener,
      isTimed: true)
    #expect(opened == .success)
    return try commission(administrator)
  }
}

/// All administrators here have the same node id, as those of different fabrics may. A session of a removed fabric must
/// not gain the privileges of a fabric that is assigned the same index.
@Test func rejectsRequestsOfRemovedFabric() throws {
  var lab = try Lab()
  for _ in 0..<3 { try lab.addAdministrator() }
  let first = try lab.commission()
  let second = try lab.commission(1, through: first, of: 0)
  // Two exchanges that keep the session alive: one for a timed command, one for a list written in several messages.
  let announced = try lab.sendRequest(TimedRequest(timeoutMilliseconds: 60_000), on: first)
  let timed = try #require(announced.first).exchange
  let entry = AccessControl.AccessControlEntryStruct(
    privilege: .administer, authMode: .case, subjects: .null, targets: .null)
  let begun = try lab.sendRequest(
    WriteRequest(
      [AttributeWrite(AccessControl.acl.path(on: 0), value: [entry].tlv)], moreChunkedMessages: true), on: first)
  let written = try #require(begun.first)
  #expect(try WriteResponse(decoding: written.bytes).statuses.map(\.status) == [.success])

  #expect(try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 1), on: second, 1).statusCode == .ok)
  // Simulates wrapped indices, so that the next fabric is assigned the free index.
  lab.device.context.node.commissioning.lastIndex = 254
  _ = try lab.commission(2, through: second, of: 1)
  #expect(lab.device.fabrics.map(\.index) == [1, 2])
  let before = lab.device.value(AccessControl.acl, on: 0)

  _ = try lab.sendRequest(
    WriteRequest([AttributeWrite(AccessControl.acl.path(on: 0), .append, value: entry.tlv)]), on: written.exchange)
  #expect(lab.device.value(AccessControl.acl, on: 0) == before)
  let on = CommandData(OnOff.on.path(on: 1), fields: NoFields().tlv)
  _ = try lab.sendRequest(InvokeRequest([on], isTimed: true), on: timed)
  if let exchange = lab.administrators[0].core.openExchange(on: first, at: lab.now) {
    _ = try lab.sendRequest(InvokeRequest([on]), on: exchange)
  }
  #expect(lab.device.value(OnOff.onOff, on: 1) == false)
}

/// With a ceiling of 0, each confirmed report would immediately cause the next.
@Test func limitsReportRate() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let (_, response) = try lab.subscribe(
    SubscribeRequest(
      minIntervalFloor: 0, maxIntervalCeiling: 0, attributePaths: [AttributePath(OnOff.onOff.path(on: 1))]),
    on: session)
  #expect(response.maxInterval == 1)
  lab.advance(by: .seconds(5))
  #expect(lab.administrators[0].reports.count == 5)
}

@Test func removesFailSafeWithItsFabric() throws {
  var lab = try Lab()
  for _ in 0..<2 { try lab.addAdministrator() }
  let first = try lab.commission()
  let second = try lab.commission(1, through: first, of: 0)
  let arm = GeneralCommissioning.ArmFailSafeRequest(expiryLengthSeconds: 900, breadcrumb: 0)
  #expect(try lab.call(GeneralCommissioning.armFailSafe, arm, on: first).errorCode == .ok)
  #expect(try lab.call(GeneralCommissioning.armFailSafe, arm, on: second, 1).errorCode == .busyWithOtherAdmin)
  #expect(try lab.call(OperationalCredentials.removeFabric, .init(fabricIndex: 1), on: second, 1).statusCode == .ok)
  #expect(try lab.call(GeneralCommissioning.armFailSafe, arm, on: second, 1).errorCode == .ok)
}

@Test func removesResumptionRecordsOnUpdateNOC() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  func records() -> [String] { lab.store.keys.filter { $0.hasPrefix("resumption/") } }
  #expect(records().count == 1)
  _ = try lab.call(GeneralCommissioning.armFailSafe, .init(expiryLengthSeconds: 60, breadcrumb: 0), on: session)
  let csr = try lab.call(
    OperationalCredentials.csrRequest,
    .init(csrNonce: OctetString([UInt8](repeating: 7, count: 32)), isForUpdateNOC: true), on: session)
  let elements = try NOCSRElements(tlv: csr.nocsrElements.bytes)
  let key = try CertificateSigningRequest(verifying: elements.certificateSigningRequest).publicKey
  let noc = try lab.administrators[0].issue(key, node: 0x2_0002)
  #expect(
    try lab.call(OperationalCredentials.updateNOC, .init(nocValue: OctetString(noc)), on: session).statusCode == .ok)
  #expect(records().isEmpty)
  #expect(lab.openCASE() == nil, "the old node id is no longer valid")
  let renewed = lab.openCASE(node: 0x2_0002)
  #expect(renewed != nil)
  #expect(records().count == 1)
}

/// A list without a limit of its own must not grow without bounds by appended entries.
@Test func limitsSizeOfWrittenLists() throws {
  var light = Lab.light
  light.servers.append(ClusterServer(UserLabel.self))
  var lab = try Lab(endpoints: [light])
  try lab.addAdministrator()
  let session = try lab.commission()
  let path = UserLabel.labelList.path(on: 1)
  let entry = LabelStruct(label: "0123456789abcdef", value: "0123456789abcdef").tlv
  var last = Status.success
  var count = 0
  while last == .success && count < 1000 {
    let writes = [AttributeWrite](repeating: .init(path, .append, value: entry), count: 15)
    let statuses = try lab.write(writes, on: session)
    last = statuses.last ?? Status(.failure)
    count += 15
  }
  #expect(last == Status(.resourceExhausted))
  #expect((lab.device.value(of: path, at: lab.now)?.count ?? 0) <= WriteJob.longestValue)
}
