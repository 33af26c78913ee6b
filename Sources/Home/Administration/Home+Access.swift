public import MatterClusters
internal import MatterController
internal import MatterModel

extension Home {
  /// Who of our fabric may do what with a device, in the device's order.
  public func accessList(of device: DeviceRecord) async throws(HomeError) -> [AccessEntry] {
    let list: ScopedList<AccessEntry> = try await scopedList(AccessControl.acl, on: .root, of: device)
    return list.entries.map(\.entry)
  }

  /// Lets somebody do something.
  /// - Parameter force: also where the list does not say that this home may administer the device, and would say so in force.
  /// - Returns: the list as it is now, and whether it had to be changed.
  /// - Throws: `badArguments` where the list that is written would lock this home out.
  public func grant(
    _ entry: AccessEntry, on device: DeviceRecord, force: Bool = false
  ) async throws(HomeError) -> (entries: [AccessEntry], isChanged: Bool) {
    let own = try await controller.fabric.nodeID
    return try await changeScopedList(AccessControl.acl, on: .root, of: device) { items throws(HomeError) in
      var list = AccessList(items: items)
      let isChanged = list.grant(entry, own: own)
      guard !isChanged || force || list.letsAdminister(own) else {
        throw HomeError(
          .badArguments,
          "the change would lock this home out of the device, because the access control list does not name it; "
            + "--force writes it anyway", device: device.name)
      }
      items = list.items
      return ((items.map(\.entry), isChanged), isChanged)
    }
  }

  /// Takes an entry out of the list.
  /// - Parameters:
  ///   - number: its place in the list, from 1.
  ///   - force: also where this home could not change the device any more.
  /// - Returns: the entry that is gone.
  /// - Throws: `notFound` where there is no such entry, `badArguments` where it is the one that lets this home in.
  public func revokeAccess(
    number: Int, on device: DeviceRecord, force: Bool
  ) async throws(HomeError) -> AccessEntry {
    let own = try await controller.fabric.nodeID
    return try await changeScopedList(AccessControl.acl, on: .root, of: device) { items throws(HomeError) in
      var list = AccessList(items: items)
      guard let removed = list.remove(number: number) else {
        throw HomeError(
          .notFound, "no entry \(number); expected 1 to \(items.count)", device: device.name)
      }
      guard force || list.letsAdminister(own) else {
        throw HomeError(
          .badArguments,
          "entry \(number) is the one that lets this home administer the device; "
            + "--force removes it anyway", device: device.name)
      }
      items = list.items
      return (removed.entry, true)
    }
  }

  /// Takes back what ``grant(_:on:)`` gave to one subject for one target.
  func takeBack(_ entry: AccessEntry, on device: DeviceRecord) async throws(HomeError) -> Bool {
    let own = try await controller.fabric.nodeID
    return try await changeScopedList(AccessControl.acl, on: .root, of: device) { items throws(HomeError) in
      var list = AccessList(items: items)
      let isChanged = list.revoke(entry) && list.letsAdminister(own)
      if isChanged { items = list.items }
      return (isChanged, isChanged)
    }
  }
}
