import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV

/// The access of users to a door lock by their credentials. Application Clusters § 5.2.6.18.
enum LockAccess {
  /// A user and the credential that it presented.
  struct Holder: Hashable, Sendable {
    var user: UInt16
    var credential: DoorLock.CredentialStruct
  }

  enum Decision: Sendable {
    case granted(Holder)
    /// The credential is valid, but its user has no access to the door.
    case noAccess(Holder)
    case refused(DoorLock.OperationError, Holder?)
  }

  /// Returns a user, disabled if its time has expired.
  static func user(_ index: UInt16, _ context: inout ServerContext) -> LockUser? {
    guard var user = LockTables.users.entry(index, context) else { return nil }
    if user.status == .occupiedEnabled, let expiry = user.expiry, let now = context.epochSeconds,
      expiry <= now
    {
      user.status = .occupiedDisabled
    }
    return user
  }

  /// Decides about a credential, without an effect.
  static func decide(
    _ type: DoorLock.CredentialType, _ data: OctetString, isRemote: Bool, _ context: inout ServerContext
  ) -> Decision {
    let table = LockTables.credentials(type)
    for index in table.occupied(context) {
      guard let found = table.entry(index, context), found.data == data else { continue }
      let holder = Holder(user: found.user, credential: .init(credentialType: type, credentialIndex: index))
      guard let user = user(found.user, &context), user.status == .occupiedEnabled else {
        return .refused(.disabledUserDenied, holder)
      }
      // The time of an expiring user is unknown without a clock.
      let canExpire = user.type != .expiringUser || context.epochSeconds != nil
      let isRestricted = user.type == .remoteOnlyUser && !isRemote
      guard canExpire, !isRestricted, LockSchedules.admit(user, found.user, &context) else {
        return .refused(.restricted, holder)
      }
      return user.type == .nonAccessUser ? .noAccess(holder) : .granted(holder)
    }
    return .refused(.invalidCredential, nil)
  }

  /// Performs the effects of an unlock by a user: the alarm of a forced user, and the end of a limited access.
  static func noteUse(of index: UInt16, _ context: inout ServerContext) {
    guard var user = LockTables.users.entry(index, context) else { return }
    switch user.type {
    case .forcedUser: context.emit(DoorLock.doorLockAlarm, .init(alarmCode: .forcedUser))
    case .disposableUser:
      user.status = .occupiedDisabled
      LockTables.users.set(user, at: index, &context)
      context.asDevice { LockUserCommands.report(.userIndex, .modify, user: index, data: index, &$0) }
    case .expiringUser where user.expiry == nil:
      guard let now = context.epochSeconds else { return }
      user.expiry = UInt32(clamping: UInt64(now) + UInt64(context[DoorLock.expiringUserTimeout]) * 60)
      LockTables.users.set(user, at: index, &context)
    default: break
    }
  }
}

extension ServerContext {
  /// Runs `body` as the device itself.
  fileprivate mutating func asDevice(_ body: (inout ServerContext) -> Void) {
    enterQuietly(current, as: .device, body)
  }
}
