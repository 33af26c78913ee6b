import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

private typealias Entry = AccessControl.AccessControlEntryStruct
private typealias Extension = AccessControl.AccessControlExtensionStruct

private let administrator = Entry(
  privilege: .administer, authMode: .case, subjects: .value([0x1_0001]), targets: .null)

extension Lab {
  fileprivate mutating func replace(
    _ entries: [AccessControl.AccessControlEntryStruct], on session: SessionID
  ) throws -> StatusCode {
    try write([AttributeWrite(AccessControl.acl.path(on: 0), value: entries.tlv)], on: session)[0].code
  }

  fileprivate mutating func extend(_ data: [[UInt8]], on session: SessionID) throws -> StatusCode {
    let entries = data.map { AccessControl.AccessControlExtensionStruct(data: OctetString($0)) }
    return try write([AttributeWrite(AccessControl.extension.path(on: 0), value: entries.tlv)], on: session)[0].code
  }

  fileprivate mutating func payloads<Payload: ModelStruct>(
    _ event: Event<AccessControl, Payload>, on session: SessionID, _ administrator: Int = 0
  ) throws -> [Payload] {
    let path = EventPath(endpoint: 0, cluster: AccessControl.id, event: event.id)
    return try read(ReadRequest(eventPaths: [path]), on: session, administrator).flatMap(\.eventReports).compactMap {
      guard case .data(let data) = $0, let payload = data.payload else { return nil }
      return try Payload(tlv: payload)
    }
  }
}

@Test func matchesGroupSubjectsByNumber() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  func entry(_ subject: NodeID) -> AccessControl.AccessControlEntryStruct {
    Entry(privilege: .operate, authMode: .group, subjects: .value([subject]), targets: .null)
  }
  #expect(try lab.replace([administrator, entry(0x0123)], on: session) == .success)
  #expect(try lab.replace([administrator, entry(0)], on: session) == .constraintError)
  #expect(try lab.replace([administrator, entry(.group(0x0123))], on: session) == .constraintError)
  let acl = lab.device.context.node.acl
  func allows(_ group: GroupID) -> Bool {
    acl.grants(
      .operate, to: Subject(.group, fabric: 1, node: .group(group)), ClusterPath(1, OnOff.id), deviceTypes: [])
  }
  #expect(allows(0x0123))
  #expect(!allows(0x0124))
}

@Test func grantsProxyView() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let entry = Entry(privilege: .proxyView, authMode: .case, subjects: .value([9]), targets: .null)
  #expect(try lab.replace([administrator, entry], on: session) == .success)
}

@Test func reportsEveryEntryOfReplacedACL() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  let viewer = Entry(privilege: .view, authMode: .case, subjects: .value([9]), targets: .null)
  #expect(try lab.replace([administrator, viewer], on: session) == .success)
  #expect(
    try lab.payloads(AccessControl.accessControlEntryChanged, on: session).map(\.changeType) == [
      .added, .changed, .added,
    ])
  // Appending does not report the other entries.
  let path = AttributePath(AccessControl.acl.path(on: 0))
  _ = try lab.write([AttributeWrite(path, .append, value: viewer.tlv)], on: session)
  #expect(try lab.replace([administrator], on: session) == .success)
  #expect(
    try lab.payloads(AccessControl.accessControlEntryChanged, on: session).dropFirst(3).map(\.changeType) == [
      .added, .changed, .removed, .removed,
    ])
}

@Test func validatesAndReportsACLExtension() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  let session = try lab.commission()
  #expect(try lab.read(AccessControl.extension, on: session).isEmpty)
  let empty: [UInt8] = [0x17, 0x18]
  // An octet string of two bytes with a tag of a test vendor.
  let single: [UInt8] = [0x17, 0xD0, 0, 0, 0xF1, 0xFF, 1, 0, 2, 0x41, 0, 0x18]
  #expect(try lab.extend([empty], on: session) == .success)
  #expect(try lab.extend([single], on: session) == .success)
  let bad: [[UInt8]] = [
    [], [0x17], [0x17, 0x18, 0x18], [0x15, 0x18], [0x17, 0x2C, 1, 0, 0x18], [0x17, 0x08, 0x18], empty + [0],
    [0x37, 1, 0x18], [UInt8](repeating: 0x18, count: 2),
    [0x17, 0xD0, 0, 0, 0xF1, 0xFF, 1, 0, 120] + [UInt8](repeating: 0x41, count: 120) + [0x18],
  ]
  for data in bad { #expect(try lab.extend([data], on: session) == .constraintError, "\(data)") }
  #expect(try lab.extend([empty, single], on: session) == .constraintError)
  #expect(try lab.read(AccessControl.extension, on: session).map(\.data.bytes) == [single])
  #expect(try lab.extend([], on: session) == .success)
  let events = try lab.payloads(AccessControl.accessControlExtensionChanged, on: session)
  #expect(events.map(\.changeType) == [.added, .changed, .removed])
  #expect(events.map { $0.latestValue.wrapped?.data.bytes } == [empty, single, single])
  #expect(events.allSatisfy { $0.adminNodeID == .value(0x1_0001) && $0.fabricIndex == 1 })
}

@Test func scopesACLExtensionToFabric() throws {
  var lab = try Lab()
  try lab.addAdministrator()
  try lab.addAdministrator()
  let first = try lab.commission()
  #expect(try lab.extend([[0x17, 0x18]], on: first) == .success)
  _ = try lab.status(
    AdministratorCommissioning.openBasicCommissioningWindow, .init(commissioningTimeout: 180), on: first,
    isTimed: true)
  let opened = lab.openPASE(1)
  let pase = try #require(opened)
  _ = try lab.addNOC(on: pase, 1)
  let operational = lab.openCASE(1)
  let second = try #require(operational)
  #expect(try lab.read(AccessControl.extension, on: second, 1).isEmpty)
  #expect(try lab.payloads(AccessControl.accessControlExtensionChanged, on: second, 1).isEmpty)
}
