import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// Users and credentials of a door lock.
@Suite("Users of a door lock") struct LockUserTests {
  private let pin = DoorLock.CredentialStruct(credentialType: .pin, credentialIndex: 1)

  @Test func servesMandatoryElementsWithValidValues() {
    let server = DoorLockServer.make()
    expectConformance(of: server)
  }

  @Test("adds, reads, modifies and clears users (TC_DRLK_2_8)") func managesUsers() throws {
    let node = TestNode.lock()
    try node.setUser(1, status: .occupiedEnabled, type: .unrestrictedUser, rule: .single)
    var user = try node.user(1)
    #expect(user.userName == .value("xxx") && user.userUniqueID == .value(6452))
    #expect(user.userStatus == .value(.occupiedEnabled) && user.userType == .value(.unrestrictedUser))
    #expect(user.credentialRule == .value(.single) && user.credentials == .value([]))
    #expect(user.creatorFabricIndex == .value(1) && user.lastModifiedFabricIndex == .value(1))
    #expect(user.nextUserIndex == .null)
    let wrong: [() throws -> Void] = [
      { try node.setUser(2, type: .init(10)) },
      { try node.setUser(2, rule: .dual) },
      { try node.setUser(2, status: .available) },
      { try node.setUser(2, name: "12345678901") },
      { try node.setUser(0) }, { try node.setUser(11) },
      { try node.setUser(2, .modify) },
      { try node.setUser(2, .clear) },
      { _ = try node.user(0) }, { _ = try node.user(11) },
    ]
    for (index, request) in wrong.enumerated() { #expect(status(request) == Status(.invalidCommand), "\(index)") }
    #expect(status { try node.setUser(1) } == Status(.failure, clusterCode: 3), "occupied")
    try node.setUser(2, name: nil, id: nil)
    try node.setUser(2, .modify, name: nil, id: nil)
    user = try node.user(2)
    #expect(user.userName == .value("") && user.userUniqueID == .null)
    try node.invoke(DoorLock.clearUser, .init(userIndex: 1))
    user = try node.user(1)
    #expect(user.userName == .null && user.credentials == .null && user.nextUserIndex == .value(2))
    try node.invoke(DoorLock.clearUser, .init(userIndex: 1))
    let changes = try node.payloads(of: DoorLock.lockUserChange)
    #expect(changes.map(\.dataOperationType) == [.add, .add, .modify, .clear])
    #expect(changes.map(\.userIndex) == [.value(1), .value(2), .value(2), .value(1)])
    #expect(changes.allSatisfy { $0.lockDataType == .userIndex && $0.operationSource == .remote })
    #expect(changes.allSatisfy { $0.fabricIndex == .value(1) && $0.sourceNode == .value(0x1_0001) })
  }

  @Test("limits the types of users by the command") func limitsUserTypes() throws {
    typealias UserType = DoorLock.UserType
    let scheduled: [UserType] = [.yearDayScheduleUser, .weekDayScheduleUser, .scheduleRestrictedUser]
    let created: [UserType] = [
      .unrestrictedUser, .nonAccessUser, .forcedUser, .disposableUser, .expiringUser, .remoteOnlyUser,
    ]
    let refused: [UserType] = [.programmingUser, .init(10)]
    for type in created + scheduled {
      let node = TestNode.lock()
      try node.setUser(1, type: type)
      #expect(try node.user(1).userType == .value(type))
    }
    for type in refused {
      #expect(status { try TestNode.lock().setUser(1, type: type) } == Status(.invalidCommand), "\(type)")
    }
    for type in created { #expect(try TestNode.lock().setCredential("1234", at: 1, userType: type).status == .success) }
    for type in scheduled + refused {
      let status = try TestNode.lock().setCredential("1234", at: 1, userType: type).status
      #expect(status == .invalidField, "\(type)")
    }
  }

  @Test("adds, modifies and clears credentials (TC_DRLK_2_9)") func managesCredentials() throws {
    let node = TestNode.lock()
    try node.setUser(1)
    let added = try node.setCredential("12345678", at: 1, user: 1)
    #expect(added.status == .success && added.userIndex == .null && added.nextCredentialIndex == .value(2))
    var state = try node.credential(1)
    #expect(state.credentialExists && state.userIndex == .value(1) && state.nextCredentialIndex == .some(.null))
    #expect(state.creatorFabricIndex == .value(1) && state.lastModifiedFabricIndex == .value(1))
    #expect(try node.setCredential("123456789", at: 2, status: .init(5), userType: .init(10)).status == .invalidField)
    #expect(try node.setCredential("123", at: 2).status == .invalidField, "too short")
    #expect(try node.setCredential("12345678", at: 2).status == .duplicate)
    #expect(try node.setCredential("12345678", at: 1).status == .occupied)
    #expect(try node.setCredential("87654321", at: 1).status == .occupied)
    #expect(try node.setCredential("87654321", at: 3, .pin, .modify, user: 1).status == .invalidField)
    #expect(try node.setCredential("1234", at: 0).status == .invalidField)
    #expect(try node.setCredential("1234", at: 11).status == .invalidField)
    #expect(try node.setCredential("1234", at: 2, user: 2).status == .invalidField, "no such user")
    #expect(try node.setCredential("1234", at: 2, user: 1, userType: .nonAccessUser).status == .invalidField)
    #expect(try node.setCredential("1234", at: 0, .programmingPIN, .modify).status == .invalidField)
    #expect(try node.setCredential("1234", at: 1, .face).status == .invalidField)

    try node.setCredential("tag0", at: 1, .rfid, user: 1)
    #expect(
      try node.user(1).credentials
        == .value([pin, DoorLock.CredentialStruct(credentialType: .rfid, credentialIndex: 1)]))
    #expect(try node.setCredential("4321", at: 1, .pin, .modify, user: 1).status == .success)
    #expect(try node.setCredential("5432", at: 1, .pin, .modify, user: 2).status == .invalidField)
    try node.clearCredential(1)
    state = try node.credential(1)
    #expect(!state.credentialExists && state.userIndex == .null)
    #expect(try node.user(1).userName == .value("xxx"), "it has another credential")
    try node.clearCredential(1, .rfid)
    #expect(try node.user(1).userName == .null, "its last credential was cleared")
    try node.clearCredential(1)
    for (index, type) in [(1, .aliroNonEvictableEndpointKey), (1, .init(9)), (0, .programmingPIN), (11, .pin)]
      as [(UInt16, DoorLock.CredentialType)]
    {
      #expect(
        status { try node.clearCredential(index, type) } == Status(.invalidCommand), "\(type)"
      )
    }
    let changes = try node.payloads(of: DoorLock.lockUserChange)
    #expect(changes.map(\.lockDataType) == [.userIndex, .pin, .rfid, .pin, .pin, .rfid, .userIndex])
    #expect(changes.map(\.dataOperationType) == [.add, .add, .add, .modify, .clear, .clear, .clear])
  }

  @Test func limitsCredentialsOfUser() throws {
    let node = TestNode.lock()
    try node.setUser(1)
    for index in 1...5 as ClosedRange<UInt16> {
      let response = try node.setCredential("123\(index)", at: index, user: 1)
      #expect(response.status == .success && response.nextCredentialIndex == .value(index + 1))
    }
    #expect(try node.setCredential("1236", at: 6, user: 1).status == .resourceExhausted)
    try node.clearCredential(LockUserCommands.all)
    #expect(try node.credential(1).credentialExists == false)
    let change = try #require(try node.payloads(of: DoorLock.lockUserChange).dropLast().last)
    #expect(change.lockDataType == .pin && change.userIndex == .value(0xFFFE) && change.dataIndex == .value(0xFFFE))
  }

  @Test func createsUserWithCredential() throws {
    let node = TestNode.lock()
    let response = try node.setCredential("1234", at: 3, status: .occupiedDisabled, userType: .forcedUser)
    #expect(response.status == .success && response.userIndex == .value(1))
    let user = try node.user(1)
    #expect(user.userName == .value("") && user.userStatus == .value(.occupiedDisabled))
    #expect(user.userType == .value(.forcedUser))
    #expect(try node.setCredential("4321", at: 4, userType: .programmingUser).status == .invalidField)
    for index in 2...10 as ClosedRange<UInt16> { try node.setUser(index) }
    #expect(try node.setCredential("4321", at: 4).status == .occupied, "no user is free")
    #expect(try node.setCredential("4321", at: 10, user: 2).nextCredentialIndex == .some(.null))
    try node.invoke(DoorLock.clearCredential, .init(credential: .null))
    #expect(try !node.credential(3).credentialExists && !node.credential(10).credentialExists)
    try node.invoke(DoorLock.clearUser, .init(userIndex: LockUserCommands.all))
    #expect(try node.user(5).userName == .null)
  }

  @Test func protectsUsersOfOtherFabrics() throws {
    let node = TestNode.lock()
    try node.setUser(1)
    try node.setCredential("1234", at: 1, user: 1)
    let renamed = status { try node.setUser(1, .modify, id: nil, fabric: 2) }
    #expect(renamed == Status(.invalidCommand))
    try node.setUser(1, .modify, name: nil, id: nil, status: .occupiedDisabled, fabric: 2)
    #expect(try node.user(1).lastModifiedFabricIndex == .value(2))
    #expect(try node.setCredential("4321", at: 1, .pin, .modify, user: 1, fabric: 2).status == .invalidField)
    #expect(try node.setCredential("4321", at: 2, user: 1, fabric: 2).status == .invalidField)
    node.removeFabric(1)
    #expect(try node.user(1).creatorFabricIndex == .null && node.credential(1).creatorFabricIndex == .null)
    #expect(try node.user(1).lastModifiedFabricIndex == .value(2), "the user stays")
  }

  @Test func storesUsersAndSettings() throws {
    let first = TestNode.lock()
    try first.setUser(1)
    try first.setCredential("1234", at: 1, user: 1)
    try first.write(DoorLock.autoRelockTime, 30)
    try first.write(DoorLock.requirePINforRemoteOperation, true)
    first.act(DoorLock.lockState, .value(.unlocked))
    let second = TestNode.lock(stored: first.stored)
    #expect(try second.user(1).credentials == .value([pin]))
    #expect(second[DoorLock.lockState] == .value(.unlocked))
    second.wait(30_500)
    #expect(second[DoorLock.lockState] == .value(.locked), "the time to lock starts again")
    #expect(status { try second.unlockDoor() } == Status(.failure))
    try second.unlockDoor("1234")
  }
}
