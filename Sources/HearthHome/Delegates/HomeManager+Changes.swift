internal import HomeControl
public import HomeModel
public import MatterController

// The edits of a client. The client receives the result of the call, all other clients are notified of the change. A call
// that fails causes no notification.
extension HomeManager {
  // MARK: Homes

  /// Adds a home.
  /// - Throws: ``HomeError`` `badArguments` if the name is invalid or in use.
  @discardableResult
  public func addHome(_ name: String) async throws(HomeError) -> Structure {
    try await home.backend.addStructure(name, origin: id)
  }

  /// Renames a home; the name is truncated to 60 Unicode code points.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` if another home has the name.
  public func renameHome(_ homeID: String, to name: String) async throws(HomeError) {
    try await change(.renameStructure(id: homeID, name: name))
  }

  /// Selects the primary home.
  /// - Throws: ``HomeError`` `notFound`.
  public func updatePrimaryHome(_ homeID: String) async throws(HomeError) {
    try await change(.choosePrimaryStructure(id: homeID))
  }

  /// Removes a home with its rooms. If it was the primary home, the first remaining one becomes primary.
  /// - Throws: ``HomeError`` `badArguments` while there are devices in it.
  public func removeHome(_ homeID: String) async throws(HomeError) {
    try await change(.removeStructure(id: homeID))
  }

  // MARK: Rooms

  /// Adds a room.
  /// - Parameter homeID: the home; nil: the primary home, which is created if there is none.
  @discardableResult
  public func addRoom(_ name: String, to homeID: String? = nil) async throws(HomeError) -> Room {
    try await home.backend.addRoom(name, to: homeID, origin: id)
  }

  /// Renames a room; the name is truncated to 60 Unicode code points.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` for the room for the entire home, and if another room of the
  ///   home has the name.
  public func renameRoom(_ roomID: String, to name: String) async throws(HomeError) {
    try await change(.renameRoom(id: roomID, name: name))
  }

  /// Removes a room; its devices move to the room for the entire home.
  public func removeRoom(_ roomID: String) async throws(HomeError) {
    try await change(.removeRoom(id: roomID))
  }

  // MARK: Devices

  /// Renames a device; the name is truncated to 60 Unicode code points.
  @discardableResult
  public func rename(_ accessory: String, to name: String) async throws(HomeError) -> HomeDevice {
    try await client.setName(name, of: accessory)
  }

  /// Moves a device to a room.
  /// - Parameter roomID: the room; nil removes the device from its room.
  public func move(_ accessory: String, to roomID: String?) async throws(HomeError) {
    try await change(.moveDevice(id: accessory, roomID: roomID))
  }

  /// Commissions a device, reads its description, and names it.
  /// - Parameter name: the name; nil: the name that the device reports.
  public func addAccessory(
    _ request: CommissioningRequest, name: String? = nil, room: String? = nil,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void = { _, _ in }
  ) async throws(HomeError) -> PairedDevice {
    try await home.pair(request, name: name, room: room, trust: nil, origin: id, onStep: onStep)
  }

  /// Removes a device from the fabric and the home; a bridge with all its bridged devices.
  /// - Parameter force: removes the device even if it can't be reached.
  /// - Throws: ``HomeError`` `badArguments` for a bridged device, which can't be removed separately.
  public func removeAccessory(_ accessory: String, force: Bool = false) async throws(HomeError) {
    try await home.remove(device: accessory, force: force, origin: id)
  }

  private func change(_ edit: HomeEdit) async throws(HomeError) {
    _ = try await home.backend.edit(edit, origin: id)
  }
}
