internal import MatterClusters
internal import MatterController

extension Home {
  /// Returns the entries of a device's access control list for this fabric, in the device's order.
  package func accessList(of device: DeviceRecord) async throws(HomeError) -> [AccessEntry] {
    let list: ScopedList<AccessEntry> = try await scopedList(AccessControl.acl, on: .root, of: device)
    return list.entries.map(\.entry)
  }

  /// Grants access by adding an entry, or extending an existing one.
  /// - Parameter force: writes the list even if the device's list does not name this home as an administrator.
  /// - Returns: the entries after the change, and whether the list was changed.
  /// - Throws: `badArguments` if writing the list would remove this home's access.
  package func grant(
    _ entry: AccessEntry, on device: DeviceRecord, force: Bool = false
  ) async throws(HomeError) -> (entries: [AccessEntry], isChanged: Bool) {
    let own = try await backend.fabric.nodeID
    return try await changeScopedList(AccessControl.acl, on: .root, of: device) { list throws(HomeError) in
      let isChanged = list.grant(entry, own: own)
      guard !isChanged || force || list.allowsAdministration(own) else {
        throw HomeError(
          .badArguments,
          "the change would lock this home out of the device, because the access control list does not name it; "
            + "--force writes it anyway", device: device.name)
      }
      return ((list.map(\.entry), isChanged), isChanged)
    }
  }

  /// Removes an entry from the list.
  /// - Parameters:
  ///   - number: the position in the list, from 1.
  ///   - force: removes the entry even if this home can't administer the device afterward.
  /// - Returns: the removed entry.
  /// - Throws: `notFound` if there is no such entry, `badArguments` if the entry grants this home its access.
  package func revokeAccess(
    number: Int, on device: DeviceRecord, force: Bool
  ) async throws(HomeError) -> AccessEntry {
    let own = try await backend.fabric.nodeID
    return try await changeScopedList(AccessControl.acl, on: .root, of: device) { list throws(HomeError) in
      guard let removed = list.remove(number: number) else {
        throw HomeError(.notFound, "no entry \(number); expected 1 to \(list.count)", device: device.name)
      }
      guard force || list.allowsAdministration(own) else {
        throw HomeError(
          .badArguments,
          "entry \(number) lets this home administer the device; --force removes it anyway", device: device.name)
      }
      return (removed.entry, true)
    }
  }

  /// Revokes an entry that ``grant(_:on:)`` added for one subject and one target.
  func revoke(_ entry: AccessEntry, on device: DeviceRecord) async throws(HomeError) -> Bool {
    let own = try await backend.fabric.nodeID
    return try await changeScopedList(AccessControl.acl, on: .root, of: device) { list in
      let isChanged = list.revoke(entry) && list.allowsAdministration(own)
      return (isChanged, isChanged)
    }
  }
}
