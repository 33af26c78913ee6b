internal import Foundation
internal import Glibc
package import MatterProtocol
internal import Runtime

/// An open home: its structures, rooms and devices, to read, observe and command. See <doc:TheHomeModel>.
///
///     let home = try await Home(options)
///     try await home.follow()
///     for await devices in home.devices().batched() { … }
///
/// Several processes may have one home open at the same time. One of them owns it and serves the others.
public final class Home: HomeEditing {
  package let backend: any HomeBackend
  /// The controller of this process, which may have become the owner of the home after it was opened; nil if the home is used
  /// through another process.
  package var owner: HomeController? { backend as? HomeController ?? (backend as? HubClient)?.owner }

  /// Opens a home. Must be closed with ``close()``.
  ///
  /// The first process that opens it becomes its owner. The other processes of this user are connected with the owner.
  /// When the owner closes it, one of the others becomes the owner.
  /// - Throws: ``HomeError`` if its files can't be used, no socket can be opened, or its owner does not answer.
  public init(_ options: HomeController.Options) async throws(HomeError) {
    if let owner = try await HomeController.openOwned(options) {
      backend = owner
    } else {
      var client = HubClient.Options(
        routes: [.peer(options)], name: "\(ProcessInfo.processInfo.processName) \(getpid())", logger: options.logger)
      (client.timeout, client.machine) = (options.timeout, options.machine)
      // A busy owner has as much time for a connection as for a request.
      client.connectTimeout = max(client.connectTimeout, options.timeout)
      (client.firstPause, client.longestPause) = (.milliseconds(20), .milliseconds(500))
      backend = try await HubClient.connected(client)
    }
  }

  /// Opens a home as its owner, and waits while another process owns it. Must be closed with ``close()``.
  /// - Throws: ``HomeError`` if its files can't be used, or no socket can be opened.
  public init(owning options: HomeController.Options) async throws(HomeError) {
    var owner = try await HomeController.openOwned(options)
    while owner == nil {
      try await OwnerLock.waitUntilFree(options.state)
      guard !Task.isCancelled else { throw .canceled }
      owner = try await HomeController.openOwned(options)
    }
    guard let owner else { throw OwnerLock.held(options.state) }
    backend = owner
  }

  package init(_ backend: any HomeBackend) { self.backend = backend }

  /// The controller of this process.
  /// - Throws: ``HomeError`` `accessDenied` if another process owns the home.
  package var controller: HomeController {
    get throws(HomeError) {
      if let owner { return owner }
      throw HomeError(
        .accessDenied,
        (backend as? HubClient)?.usesOwner == true
          ? "not available: another process owns the home; close the home there first"
          : "not available through a hub; run the command on the hub's machine")
    }
  }

  /// Stores pending changes and closes the home.
  public func close() async { await backend.close() }

  /// Keeps the devices' states up to date: the owner of the home subscribes to the devices.
  public func follow() async throws(HomeError) { try await backend.follow() }

  /// The current state of the whole home.
  public var state: HomeState { get async { await backend.state } }

  /// Returns all further updates, in order. An update without changes means that the home was reloaded and everything
  /// may have changed.
  package func updates() -> HomeEvents { HomeEvents(stream: backend.updates()) }

  /// The wall clock in milliseconds since 1970.
  package static func now() -> Int64 { HostClock.unixMicroseconds() / 1000 }

  /// The current names of devices and rooms, for resolving texts.
  package var registry: HomeRegistry {
    get async {
      var registry = HomeRegistry(await state)
      registry.isStored = await isStored
      guard let groups = try? await groups else { return registry }
      return registry.with(groups)
    }
  }

  // MARK: Observing

  /// The structures of the home, which are buildings. See <doc:TheHomeModel>, “Observing”.
  public func structures() -> Query<Structure> { backend.query() }

  /// The default structure: the one selected by the owner, else the first; nil if the home has none.
  public var primaryStructure: Structure? {
    get async {
      var primary = await backend.state.primaryStructure
      primary?.home = backend
      return primary
    }
  }

  /// The rooms, without the rooms for the entire home.
  public func rooms() -> Query<Room> { backend.query() }

  /// The devices, including bridged ones.
  public func devices() -> Query<HomeDevice> { backend.query() }

  /// One device: a sequence of its values, which can also be listed like a collection.
  public func device(id: String) -> DeviceQuery { DeviceQuery(id, of: devices()) }

  /// The devices that have a trait.
  public func devices<C: Cluster>(having trait: Trait<C>.Type) async -> [HomeDevice] {
    await backend.devices.filter { $0.traits.contains(trait) }
  }

  // MARK: Names

  /// Renames a device; the name is truncated to 60 Unicode code points, see ``HomeDevice/isNameTruncated``.
  /// - Throws: ``HomeError`` `badArguments` if the name is invalid or another device of the room has it.
  @discardableResult
  public func rename(_ device: String, to name: String) async throws(HomeError) -> HomeDevice {
    try await backend.setName(name, of: device)
  }

  /// Adds a structure with an unused name, truncated to 60 Unicode code points.
  /// - Throws: ``HomeError`` `badArguments` if the name is in use or invalid.
  public func addStructure(_ name: String) async throws(HomeError) -> Structure {
    try await perform(.addStructure(name: name), \.structure)
  }

  /// Renames a structure; the name is truncated to 60 Unicode code points.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` if another structure has the name.
  public func renameStructure(_ id: String, to name: String) async throws(HomeError) {
    try await perform([.renameStructure(id: id, name: name)])
  }

  /// Removes a structure with its rooms. If it was the primary one, the first remaining one becomes primary.
  /// - Throws: ``HomeError`` `badArguments` while there are devices in it.
  public func removeStructure(_ id: String) async throws(HomeError) { try await perform([.removeStructure(id: id)]) }

  /// Selects the default structure.
  public func updatePrimaryStructure(_ id: String) async throws(HomeError) {
    try await perform([.choosePrimaryStructure(id: id)])
  }

  @discardableResult
  public func perform(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result] {
    try await backend.apply(edits)
  }

  /// Calls the body and adds the device to its error.
  package func with<R: Sendable>(
    _ device: DeviceRecord, _ body: () async throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    do throws(HomeError) { return try await body() } catch { throw error.about(device) }
  }

  // MARK: Requests

  /// Reads attributes of a device.
  package func read(
    _ device: DeviceRecord, _ paths: [AttributePath], isFabricFiltered: Bool = true, timeout: Duration? = nil
  ) async throws(HomeError) -> ReassembledReport {
    try await with(device) { () async throws(HomeError) in
      try await backend.read(device.nodeID, paths, isFabricFiltered: isFabricFiltered, timeout: timeout)
    }
  }

  /// Writes attributes of a device.
  /// - Throws: the status of the first rejected write, with its path if there are several. Other writes may have been
  ///   applied.
  package func write(_ device: DeviceRecord, _ writes: [AttributeWrite], isTimed: Bool) async throws(HomeError) {
    try await with(device) { () async throws(HomeError) in
      let statuses = try await backend.write(device.nodeID, writes, isTimed: isTimed)
      let refused = statuses.filter { $0.status.code != .success }
      guard let first = refused.first else { return }
      var error = HomeError(first.status, of: first.path.cluster)
      if writes.count > 1 {
        let others = refused.count > 1 ? ", and \(refused.count - 1) more of \(writes.count)" : ""
        error.message = "\(ElementNames.text(first.path)): \(error.message)\(others)"
      }
      throw error
    }
  }

  /// Invokes a command of a device.
  /// - Throws: also if the response command has an error status.
  package func invoke(
    _ device: DeviceRecord, _ command: CommandData, isTimed: Bool
  ) async throws(HomeError) -> CommandData? {
    try await with(device) { () async throws(HomeError) in
      let answer = try await backend.invoke(device.nodeID, command, isTimed: isTimed)
      if let answer, let failure = CommandOutcome.failure(answer) { throw failure.answered(answer) }
      return answer
    }
  }

  /// Invokes a command of a device by its declaration.
  /// - Throws: also if the response command has an error status.
  @discardableResult
  package func invoke<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request = Request(), on endpoint: EndpointID,
    of device: DeviceRecord
  ) async throws(HomeError) -> Response {
    try await with(device) { () async throws(HomeError) in
      try await backend.invoke(command, fields, on: endpoint, of: device.nodeID)
    }
  }
}
