import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV

@testable import MatterDevice

extension TestNode {
  /// A door lock, in place of the light.
  static func lock(stored: StoredState = [:]) -> TestNode { TestNode([DoorLockServer.make()], stored: stored) }

  /// The types of the operations so far.
  func operations() throws -> [DoorLock.LockOperationType] {
    try payloads(of: DoorLock.lockOperation).map(\.lockOperationType)
  }

  /// Adds or modifies an unrestricted user.
  func setUser(
    _ index: UInt16, _ operation: DoorLock.DataOperationType = .add, name: String? = "xxx", id: UInt32? = 6452,
    status: DoorLock.UserStatus? = nil, type: DoorLock.UserType? = nil, rule: DoorLock.CredentialRule? = nil,
    fabric: FabricIndex = 1
  ) throws(StatusError) {
    try invoke(
      DoorLock.setUser,
      .init(
        operationType: operation, userIndex: index, userName: Nullable(name), userUniqueID: Nullable(id),
        userStatus: Nullable(status), userType: Nullable(type), credentialRule: Nullable(rule)), fabric: fabric)
  }

  func user(_ index: UInt16) throws(StatusError) -> DoorLock.GetUserResponse {
    try invoke(DoorLock.getUser, .init(userIndex: index)) ?? .init()
  }

  /// Sets a credential.
  @discardableResult
  func setCredential(
    _ code: String, at index: UInt16, _ type: DoorLock.CredentialType = .pin,
    _ operation: DoorLock.DataOperationType = .add, user: UInt16? = nil, status: DoorLock.UserStatus? = nil,
    userType: DoorLock.UserType? = nil, fabric: FabricIndex = 1
  ) throws(StatusError) -> DoorLock.SetCredentialResponse {
    try invoke(
      DoorLock.setCredential,
      .init(
        operationType: operation, credential: .init(credentialType: type, credentialIndex: index),
        credentialData: OctetString(Array(code.utf8)), userIndex: Nullable(user), userStatus: Nullable(status),
        userType: Nullable(userType)), fabric: fabric) ?? .init()
  }

  func credential(
    _ index: UInt16, _ type: DoorLock.CredentialType = .pin
  ) throws(StatusError) -> DoorLock.GetCredentialStatusResponse {
    try invoke(
      DoorLock.getCredentialStatus, .init(credential: .init(credentialType: type, credentialIndex: index))) ?? .init()
  }

  func clearCredential(_ index: UInt16, _ type: DoorLock.CredentialType = .pin) throws(StatusError) {
    try invoke(
      DoorLock.clearCredential, .init(credential: .value(.init(credentialType: type, credentialIndex: index))))
  }

  func lockDoor(_ code: String? = nil) throws(StatusError) {
    try invoke(DoorLock.lockDoor, .init(pinCode: code.map { OctetString(Array($0.utf8)) }))
  }

  func unlockDoor(_ code: String? = nil) throws(StatusError) {
    try invoke(DoorLock.unlockDoor, .init(pinCode: code.map { OctetString(Array($0.utf8)) }))
  }

  func unboltDoor(_ code: String? = nil) throws(StatusError) {
    try invoke(DoorLock.unboltDoor, .init(pinCode: code.map { OctetString(Array($0.utf8)) }))
  }
}

/// Returns the status with which the body fails; success if it does not.
func status(_ body: () throws -> Void) -> Status {
  do {
    try body()
    return .success
  } catch {
    return (error as? StatusError)?.status ?? Status(.failure, clusterCode: .max)
  }
}
