import MatterClusters
import MatterModel
import MatterTLV

/// The commands for users and credentials of a door lock. Application Clusters § 5.2.10.32 to § 5.2.10.40.
enum LockUserCommands {
  /// Stands for all users, or all credentials of a type.
  static let all: UInt16 = 0xFFFE
  private static let longestName = 10

  static func add(to server: ClusterServer) -> ClusterServer {
    server
      .on(DoorLock.setUser, setUser)
      .answer(DoorLock.getUser, user)
      .on(DoorLock.clearUser, clearUser)
      .answer(DoorLock.setCredential, setCredential)
      .answer(DoorLock.getCredentialStatus, credentialStatus)
      .on(DoorLock.clearCredential, clearCredential)
      .onFabricRemoved { context, fabric in LockTables.forget(fabric, &context) }
  }

  // MARK: Users

  private static func setUser(_ context: inout ServerContext, _ request: DoorLock.SetUserRequest) throws(StatusError) {
    guard LockTables.users.isValid(request.userIndex, &context),
      (request.userName.wrapped?.utf8.count ?? 0) <= longestName, isValid(request.userStatus),
      isValid(request.userType, among: userTypes), [nil, .single].contains(request.credentialRule.wrapped)
    else { throw StatusError(.invalidCommand) }
    let present = LockTables.users.entry(request.userIndex, context)
    var user = present ?? LockUser(creator: context.subject.fabric)
    switch (request.operationType, present) {
    case (.add, nil): break
    case (.add, _): throw StatusError(.failure, clusterCode: DoorLock.LockStatus.occupied.rawValue)
    case (.modify, let present?):
      // Only the fabric that created a user may rename it.
      guard
        present.creator == context.subject.fabric || (request.userName == .null && request.userUniqueID == .null)
      else { throw StatusError(.invalidCommand) }
    default: throw StatusError(.invalidCommand)
    }
    if let name = request.userName.wrapped { user.name = name }
    if let id = request.userUniqueID.wrapped { user.uniqueID = id }
    if let status = request.userStatus.wrapped { user.status = status }
    if let type = request.userType.wrapped { user.type = type }
    // A new status or type starts the time of an expiring user again.
    if request.userStatus != .null || request.userType != .null { user.expiry = nil }
    user.modifier = context.subject.fabric
    LockTables.users.set(user, at: request.userIndex, &context)
    report(.userIndex, request.operationType, user: request.userIndex, data: request.userIndex, &context)
  }

  /// The types of users that SetCredential may create. The lock has no programming user.
  private static let createdTypes: Set<DoorLock.UserType> = [
    .unrestrictedUser, .nonAccessUser, .forcedUser, .disposableUser, .expiringUser, .remoteOnlyUser,
  ]
  /// The types that SetUser may give: also those of users with schedules.
  private static let userTypes = createdTypes.union([
    .yearDayScheduleUser, .weekDayScheduleUser, .scheduleRestrictedUser,
  ])

  private static func isValid(
    _ type: Nullable<DoorLock.UserType>, among allowed: Set<DoorLock.UserType>
  ) -> Bool { type.wrapped.map(allowed.contains) ?? true }

  private static func isValid(_ status: Nullable<DoorLock.UserStatus>) -> Bool {
    [nil, .occupiedEnabled, .occupiedDisabled].contains(status.wrapped)
  }

  private static func user(
    _ context: inout ServerContext, _ request: DoorLock.GetUserRequest
  ) throws(StatusError) -> DoorLock.GetUserResponse {
    guard LockTables.users.isValid(request.userIndex, &context) else { throw StatusError(.invalidCommand) }
    var response = DoorLock.GetUserResponse()
    response.userIndex = request.userIndex
    response.nextUserIndex = Nullable(LockTables.users.occupied(context).first { $0 > request.userIndex })
    guard let user = LockAccess.user(request.userIndex, &context) else { return response }
    response.userName = .value(user.name)
    response.userUniqueID = Nullable(user.uniqueID)
    response.userStatus = .value(user.status)
    response.userType = .value(user.type)
    response.credentialRule = .value(.single)
    response.credentials = .value(LockTables.credentials(of: request.userIndex, context))
    response.creatorFabricIndex = user.creator.nullable
    response.lastModifiedFabricIndex = user.modifier.nullable
    return response
  }

  private static func clearUser(
    _ context: inout ServerContext, _ request: DoorLock.ClearUserRequest
  ) throws(StatusError) {
    guard request.userIndex == all || LockTables.users.isValid(request.userIndex, &context) else {
      throw StatusError(.invalidCommand)
    }
    let cleared = LockTables.users.occupied(context).filter { request.userIndex == all || $0 == request.userIndex }
    guard !cleared.isEmpty else { return }
    for user in cleared { LockTables.remove(user, &context) }
    report(.userIndex, .clear, user: request.userIndex, data: request.userIndex, &context)
  }

  // MARK: Credentials

  private static func setCredential(
    _ context: inout ServerContext, _ request: DoorLock.SetCredentialRequest
  ) -> DoorLock.SetCredentialResponse {
    let (type, index) = (request.credential.credentialType, request.credential.credentialIndex)
    var response = DoorLock.SetCredentialResponse()
    response.nextCredentialIndex = Nullable(LockTables.credentials(type).free(after: index, &context))
    do throws(LockError) {
      let created = try store(request, &context)
      response.userIndex = Nullable(created)
    } catch {
      response.status = error.status
    }
    return response
  }

  /// The reason to refuse a credential.
  private struct LockError: Error {
    var status: DoorLock.LockStatus
    init(_ status: DoorLock.LockStatus) { self.status = status }
  }

  /// Adds or modifies a credential.
  /// - Returns: The user that was created for it; nil if the request names a user.
  private static func store(
    _ request: DoorLock.SetCredentialRequest, _ context: inout ServerContext
  ) throws(LockError) -> UInt16? {
    let (type, index) = (request.credential.credentialType, request.credential.credentialIndex)
    let table = LockTables.credentials(type)
    // The lock has no programming user, so a programming PIN has no valid index either.
    guard table.isValid(index, &context), lengths(type, &context).contains(request.credentialData.bytes.count),
      isValid(request.userStatus), isValid(request.userType, among: createdTypes)
    else { throw LockError(.invalidField) }
    for other in table.occupied(context) where other != index {
      if table.entry(other, context)?.data == request.credentialData { throw LockError(.duplicate) }
    }
    // The status and type belong to a user that is created with the credential.
    guard request.userIndex == .null || (request.userStatus == .null && request.userType == .null) else {
      throw LockError(.invalidField)
    }
    let present = table.entry(index, context)
    var created: UInt16?
    var credential: LockCredential
    switch (request.operationType, present) {
    case (.add, nil):
      if let user = request.userIndex.wrapped {
        try checkOwner(of: user, &context)
        guard LockTables.credentials(of: user, context).count < context[DoorLock.numberOfCredentialsSupportedPerUser]
        else { throw LockError(.resourceExhausted) }
      } else {
        created = try createUser(request, &context)
      }
      credential = LockCredential(user: created ?? request.userIndex.wrapped ?? 0, creator: context.subject.fabric)
    case (.add, _): throw LockError(.occupied)
    case (.modify, let present?):
      guard present.creator == context.subject.fabric, present.user == request.userIndex.wrapped else {
        throw LockError(.invalidField)
      }
      try checkOwner(of: present.user, &context)
      credential = present
    default: throw LockError(.invalidField)
    }
    credential.data = request.credentialData
    credential.modifier = context.subject.fabric
    table.set(credential, at: index, &context)
    if created == nil, var user = LockTables.users.entry(credential.user, context) {
      user.modifier = context.subject.fabric
      LockTables.users.set(user, at: credential.user, &context)
    }
    report(dataType(type), request.operationType, user: credential.user, data: index, &context)
    return created
  }

  private static func lengths(_ type: DoorLock.CredentialType, _ context: inout ServerContext) -> ClosedRange<Int> {
    let lowest = Int(context[type == .pin ? DoorLock.minPINCodeLength : DoorLock.minRFIDCodeLength])
    return lowest...max(lowest, Int(context[type == .pin ? DoorLock.maxPINCodeLength : DoorLock.maxRFIDCodeLength]))
  }

  /// Throws unless the user exists and was created by the fabric of the request.
  private static func checkOwner(of user: UInt16, _ context: inout ServerContext) throws(LockError) {
    guard LockTables.users.entry(user, context)?.creator == context.subject.fabric else {
      throw LockError(.invalidField)
    }
  }

  private static func createUser(
    _ request: DoorLock.SetCredentialRequest, _ context: inout ServerContext
  ) throws(LockError) -> UInt16 {
    guard let index = LockTables.users.free(after: 0, &context) else { throw LockError(.occupied) }
    LockTables.users.set(
      LockUser(
        status: request.userStatus.wrapped ?? .occupiedEnabled, type: request.userType.wrapped ?? .unrestrictedUser,
        creator: context.subject.fabric, modifier: context.subject.fabric), at: index, &context)
    report(.userIndex, .add, user: index, data: index, &context)
    return index
  }

  private static func credentialStatus(
    _ context: inout ServerContext, _ request: DoorLock.GetCredentialStatusRequest
  ) throws(StatusError) -> DoorLock.GetCredentialStatusResponse {
    let (type, index) = (request.credential.credentialType, request.credential.credentialIndex)
    guard LockTables.types.contains(type) || type == .programmingPIN else { throw StatusError(.invalidCommand) }
    let table = LockTables.credentials(type)
    var response = DoorLock.GetCredentialStatusResponse()
    response.nextCredentialIndex = Nullable(table.occupied(context).first { $0 > index })
    if let credential = table.entry(index, context) {
      response.credentialExists = true
      response.userIndex = .value(credential.user)
      response.creatorFabricIndex = credential.creator.nullable
      response.lastModifiedFabricIndex = credential.modifier.nullable
    }
    return response
  }

  private static func clearCredential(
    _ context: inout ServerContext, _ request: DoorLock.ClearCredentialRequest
  ) throws(StatusError) {
    guard let credential = request.credential.wrapped else {
      for type in LockTables.types { clearAll(type, &context) }
      return
    }
    let (type, index) = (credential.credentialType, credential.credentialIndex)
    guard LockTables.types.contains(type) else { throw StatusError(.invalidCommand) }
    guard index != all else { return clearAll(type, &context) }
    guard LockTables.credentials(type).isValid(index, &context) else { throw StatusError(.invalidCommand) }
    guard let user = clear(type, index, &context) else { return }
    report(dataType(type), .clear, user: user, data: index, &context)
    clearUserWithoutCredentials(user, &context)
  }

  private static func clearAll(_ type: DoorLock.CredentialType, _ context: inout ServerContext) {
    let users = Set(LockTables.credentials(type).occupied(context).compactMap { clear(type, $0, &context) })
    guard !users.isEmpty else { return }
    report(dataType(type), .clear, user: all, data: all, &context)
    for user in users.sorted() { clearUserWithoutCredentials(user, &context) }
  }

  /// - Returns: The user of the credential; nil if the index was free.
  private static func clear(
    _ type: DoorLock.CredentialType, _ index: UInt16, _ context: inout ServerContext
  ) -> UInt16? {
    let table = LockTables.credentials(type)
    guard let credential = table.entry(index, context) else { return nil }
    table.set(nil, at: index, &context)
    if var user = LockTables.users.entry(credential.user, context) {
      user.modifier = context.subject.fabric
      LockTables.users.set(user, at: credential.user, &context)
    }
    return credential.user
  }

  /// Clears a user whose last credential was cleared.
  private static func clearUserWithoutCredentials(_ user: UInt16, _ context: inout ServerContext) {
    guard LockTables.credentials(of: user, context).isEmpty else { return }
    LockTables.remove(user, &context)
    report(.userIndex, .clear, user: user, data: user, &context)
  }

  // MARK: Events

  private static func dataType(_ type: DoorLock.CredentialType) -> DoorLock.LockDataType {
    type == .pin ? .pin : .rfid
  }

  /// Emits the event of a change by the subject of the request, or by the lock itself.
  static func report(
    _ type: DoorLock.LockDataType, _ operation: DoorLock.DataOperationType, user: UInt16, data: UInt16,
    _ context: inout ServerContext
  ) {
    let subject = context.subject
    let isRemote = subject.kind != .device
    context.emit(
      DoorLock.lockUserChange,
      .init(
        lockDataType: type, dataOperationType: operation, operationSource: isRemote ? .remote : .auto,
        userIndex: .value(user), fabricIndex: isRemote ? .value(subject.fabric) : .null,
        sourceNode: isRemote ? .value(subject.node) : .null, dataIndex: .value(data)))
  }
}
