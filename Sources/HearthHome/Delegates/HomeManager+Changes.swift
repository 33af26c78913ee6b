public import MatterController

// The edits of a client. The client receives the result of the call, all other clients are notified of the change. A call
// that fails causes no notification.
extension HomeManager: HomeEditing {
  @discardableResult
  public func perform(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result] {
    try await client.apply(edits)
  }

  // MARK: Homes

  /// Adds a home.
  /// - Throws: ``HomeError`` `badArguments` if the name is invalid or in use.
  @discardableResult
  public func addHome(withName name: String) async throws(HomeError) -> Structure {
    try await perform(.addStructure(name: name), \.structure)
  }

  /// Selects the primary home.
  /// - Throws: ``HomeError`` `notFound`.
  public func updatePrimaryHome(_ home: Structure) async throws(HomeError) {
    try await perform([.choosePrimaryStructure(id: home.id)])
  }

  /// Removes a home with its rooms. If it was the primary home, the first remaining one becomes primary.
  /// - Throws: ``HomeError`` `badArguments` while there are devices in it.
  public func removeHome(_ home: Structure) async throws(HomeError) {
    try await perform([.removeStructure(id: home.id)])
  }

  // MARK: Devices

  /// Renames a device; the name is truncated to 60 Unicode code points.
  @discardableResult
  public func rename(_ accessory: String, to name: String) async throws(HomeError) -> HomeDevice {
    try await client.setName(name, of: accessory)
  }

  /// Commissions a device, reads its description, and names it.
  /// - Parameter name: the name; nil: the name that the device reports.
  public func addAccessory(
    _ request: CommissioningRequest, name: String? = nil, room: String? = nil,
    onStep: @escaping @Sendable (CommissioningStep, StepProgress) -> Void = { _, _ in }
  ) async throws(HomeError) -> PairedDevice {
    try await home.pair(request, name: name, room: room, trust: nil, origin: id, onStep: onStep)
  }
}
