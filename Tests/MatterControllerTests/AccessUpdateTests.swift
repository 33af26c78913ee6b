import MatterCertificates
import MatterClusters
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@testable import MatterController

/// When access entries are written to a device, and when the controller forgets that it has them.
@Suite struct AccessUpdateTests {
  private typealias Entry = AccessControl.AccessControlEntryStruct
  private static let acl = AccessControl.acl.path(on: .root)
  private static let admin = entry(.administer, 0xC0_0000_0001)

  private static func entry(_ privilege: Privilege, _ subject: NodeID) -> Entry {
    Entry(
      privilege: .init(rawValue: privilege.rawValue), authMode: .case, subjects: .value([subject]), targets: .null,
      fabricIndex: 1)
  }

  /// Returns a controller that has issued a certificate with tag 1, and a device without an entry for it.
  private func makeWorld() throws -> World {
    var world = try World()
    try world.addDevice()
    world.devices[0].set(AccessControl.acl, [Self.admin], 0)
    try world.commissionAll()
    try certify(&world)
    return world
  }

  private func certify(_ world: inout World) throws {
    let request = try CertificateSigningRequest(key: P256PrivateKey(random: &world.random)).der
    _ = try world.controller.certify(request, tag: 1, privilege: .operate, at: world.now)
  }

  private func subjects(_ write: AttributeWrite) throws -> [NodeID] {
    try [Entry](tlv: write.value).flatMap { $0.subjects.wrapped ?? [] }
  }

  @Test("changes the entries of a device one after another, with the present versions of the tags")
  func serializesChanges() throws {
    var world = try makeWorld()
    let first = world.controller.updateAccess(1, at: world.now)
    let second = world.controller.updateAccess(1, at: world.now)
    let canceled = world.controller.updateAccess(1, at: world.now)
    // The end of a queued change does not start the first one again.
    world.controller.cancel(canceled, at: world.now)
    try world.controller.revokeCertificates(tag: 1)
    _ = try #require(try world.result(of: first)?.get())
    #expect(world.controller.nodesWithMissingAccess == [1], "the entry has the earlier version")
    _ = try #require(try world.result(of: second)?.get())
    #expect(world.devices[0].log == ["Read", "Write", "Read", "Write"])
    #expect(
      try world.devices[0].writes.map { try subjects($0) } == [
        [0xC0_0000_0001, .tag(0x0001_0001)], [0xC0_0000_0001, .tag(0x0001_0002)],
      ])
    #expect(world.controller.nodesWithMissingAccess.isEmpty)
  }

  @Test("removes the entries of a tag without certificates, until the next one is issued", arguments: [true, false])
  func removesEntriesOfLastCertificate(isIssuedAgain: Bool) throws {
    var world = try makeWorld()
    func update() throws {
      let id = world.controller.updateAccess(1, at: world.now)
      _ = try #require(try world.result(of: id)?.get())
    }
    try update()
    // The first of two revocations raises the version, for which the other client may have a new certificate or none.
    try world.controller.revokeCertificates(tag: 1)
    try update()
    world.devices[0].set(AccessControl.acl, [Self.admin, Self.entry(.operate, .tag(0x0001_0002))], 0)
    if isIssuedAgain { try certify(&world) }
    try world.controller.revokeCertificates(tag: 1, isLast: true)
    #expect(world.controller.nodesWithPendingAccess == [1] && world.controller.nodesWithMissingAccess.isEmpty)
    try update()
    #expect(world.controller.nodesWithPendingAccess.isEmpty)
    world.devices[0].set(AccessControl.acl, [Self.admin], 0)
    try certify(&world)
    #expect(world.controller.nodesWithMissingAccess == [1] && world.controller.holders(ofTag: 1).isEmpty)
    try update()
    let last: UInt32 = isIssuedAgain ? 0x0001_0003 : 0x0001_0002
    let written = try world.devices[0].writes.map { Array(try subjects($0).dropFirst()) }
    let tags: [[UInt32]] = [[0x0001_0001], [0x0001_0002], [], [last]]
    #expect(written == tags.map { $0.map { .tag(CASEAuthenticatedTag($0)) } })
  }

  @Test func forgetsLostEntries() throws {
    var world = try makeWorld()
    func update() throws {
      let id = world.controller.updateAccess(1, at: world.now)
      _ = try #require(try world.result(of: id)?.get())
      #expect(world.controller.nodesWithMissingAccess.isEmpty)
    }
    func read() throws {
      let id = world.controller.read(1, [AttributePath(Self.acl)], at: world.now)
      _ = try #require(try world.result(of: id)?.get())
    }
    try update()
    world.devices[0].set(AccessControl.acl, [Self.admin, Self.entry(.operate, .tag(0x0001_0001))], 0)
    try read()
    #expect(world.controller.nodesWithMissingAccess.isEmpty)
    world.devices[0].set(AccessControl.acl, [Self.admin], 0)
    try read()
    #expect(world.controller.nodesWithMissingAccess == [1])
    try update()
    // A write of the list by the user.
    let write = AttributeWrite(Self.acl, value: [Self.admin].tlv)
    let id = world.controller.write(1, [write], at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    #expect(world.controller.nodesWithMissingAccess == [1])
  }

  @Test("repeats a change that failed while another one was not due yet") func repeatsFailedChange() throws {
    var world = try makeWorld()
    world.controller.closeSessions(with: 1, at: world.now)
    world.devices[0].writeStatus = Status(.constraintError)
    // The session that it opens does not count as an attempt.
    let id = world.controller.updateAccess(1, at: world.now)
    #expect(world.error(of: id) == .status(Status(.constraintError)))
    world.controller.closeSessions(with: 1, at: world.now)
    world.run(for: .seconds(1))
    world.devices[0].writeStatus = .success
    let connection = world.controller.connect(1, at: world.now)
    _ = try #require(try world.result(of: connection)?.get())
    world.run(for: .seconds(5))
    #expect(world.controller.nodesWithMissingAccess.isEmpty)
  }
}
