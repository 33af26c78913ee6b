import MatterClusters
import MatterModel
import MatterTLV

/// A user of a door lock in its stored form.
struct LockUser: ModelStruct {
  var name = ""
  var uniqueID: UInt32?
  var status = DoorLock.UserStatus.occupiedEnabled
  var type = DoorLock.UserType.unrestrictedUser
  /// The fabrics that created and last modified the user; `.none` after their removal.
  var creator = FabricIndex.none
  var modifier = FabricIndex.none
  /// The end of the access of an expiring user, in seconds of UTC since 2000; nil before the first use.
  var expiry: UInt32?

  static let fields: [Field<Self>] = [
    .init(0, "Name", \.name), .init(1, "UniqueID", \.uniqueID), .init(2, "Status", \.status),
    .init(3, "Type", \.type), .init(4, "Creator", \.creator), .init(5, "Modifier", \.modifier),
    .init(6, "Expiry", \.expiry),
  ]
}

/// A credential of a door lock in its stored form.
struct LockCredential: ModelStruct {
  var data: OctetString = []
  var user: UInt16 = 0
  var creator = FabricIndex.none
  var modifier = FabricIndex.none

  static let fields: [Field<Self>] = [
    .init(0, "Data", \.data), .init(1, "User", \.user), .init(2, "Creator", \.creator),
    .init(3, "Modifier", \.modifier),
  ]
}

/// A table of a door lock. Its entries have indices from 1, and each is one entry in the store of the server.
struct LockTable<Entry: ModelStruct>: Sendable {
  let prefix: String
  let capacity: @Sendable (inout ServerContext) -> UInt16

  /// Returns whether the table has an entry with the index, occupied or not.
  func isValid(_ index: UInt16, _ context: inout ServerContext) -> Bool {
    index > 0 && index <= capacity(&context)
  }

  func entry(_ index: UInt16, _ context: ServerContext) -> Entry? {
    context[stored: prefix + "\(index)"].flatMap { try? Entry(tlv: $0) }
  }

  func set(_ entry: Entry?, at index: UInt16, _ context: inout ServerContext) {
    context[stored: prefix + "\(index)"] = entry?.tlv
  }

  /// Returns the indices of the occupied entries, sorted.
  func occupied(_ context: ServerContext) -> [UInt16] {
    context.storedKeys(prefix: prefix).compactMap { UInt16($0.dropFirst(prefix.count)) }.sorted()
  }

  /// Returns the first free index after another.
  func free(after index: UInt16, _ context: inout ServerContext) -> UInt16? {
    let capacity = capacity(&context)
    guard index < capacity else { return nil }
    let occupied = Set(occupied(context))
    return (index + 1...capacity).first { !occupied.contains($0) }
  }
}

/// The tables of a door lock.
enum LockTables {
  static let users = LockTable<LockUser>(prefix: "user/") { $0[DoorLock.numberOfTotalUsersSupported] }
  static let holidays = LockTable<DoorLock.SetHolidayScheduleRequest>(prefix: "holiday/") {
    UInt16($0[DoorLock.numberOfHolidaySchedulesSupported])
  }

  static func weekDays(of user: UInt16) -> LockTable<DoorLock.SetWeekDayScheduleRequest> {
    LockTable(prefix: "week/\(user)/") { UInt16($0[DoorLock.numberOfWeekDaySchedulesSupportedPerUser]) }
  }

  static func yearDays(of user: UInt16) -> LockTable<DoorLock.SetYearDayScheduleRequest> {
    LockTable(prefix: "year/\(user)/") { UInt16($0[DoorLock.numberOfYearDaySchedulesSupportedPerUser]) }
  }

  /// The types of credentials that the lock has.
  static let types: [DoorLock.CredentialType] = [.pin, .rfid]

  static func credentials(_ type: DoorLock.CredentialType) -> LockTable<LockCredential> {
    LockTable(prefix: "credential/\(type.rawValue)/") {
      switch type {
      case .pin: $0[DoorLock.numberOfPINUsersSupported]
      case .rfid: $0[DoorLock.numberOfRFIDUsersSupported]
      default: 0
      }
    }
  }

  /// Returns the credentials of a user, sorted by type and index.
  static func credentials(of user: UInt16, _ context: ServerContext) -> [DoorLock.CredentialStruct] {
    types.flatMap { type in
      let table = credentials(type)
      return table.occupied(context).filter { table.entry($0, context)?.user == user }
        .map { DoorLock.CredentialStruct(credentialType: type, credentialIndex: $0) }
    }
  }

  /// Removes a user with its credentials and schedules.
  static func remove(_ user: UInt16, _ context: inout ServerContext) {
    for credential in credentials(of: user, context) {
      credentials(credential.credentialType).set(nil, at: credential.credentialIndex, &context)
    }
    for key in context.storedKeys(prefix: "week/\(user)/") + context.storedKeys(prefix: "year/\(user)/") {
      context[stored: key] = nil
    }
    users.set(nil, at: user, &context)
  }

  /// Removes the references to a fabric. Its users and credentials stay.
  static func forget(_ fabric: FabricIndex, _ context: inout ServerContext) {
    for index in users.occupied(context) {
      guard var user = users.entry(index, context) else { continue }
      if user.creator == fabric { user.creator = .none }
      if user.modifier == fabric { user.modifier = .none }
      users.set(user, at: index, &context)
    }
    for table in types.map(credentials) {
      for index in table.occupied(context) {
        guard var credential = table.entry(index, context) else { continue }
        if credential.creator == fabric { credential.creator = .none }
        if credential.modifier == fabric { credential.modifier = .none }
        table.set(credential, at: index, &context)
      }
    }
  }
}

extension FabricIndex {
  /// The fabric, or null for none.
  var nullable: Nullable<FabricIndex> { self == .none ? .null : .value(self) }
}
