public import MatterController
public import MatterModel
public import MatterProtocol
internal import Runtime

/// A home that is open: its structures, rooms and devices, to look at, to follow and to command.
/// See <doc:TheHomeModel>.
///
///     let home = try await Home(options)
///     try await home.follow()
///     for await devices in home.devices().batched() { … }
///
/// Several processes may have one home open at the same time.
public final class Home: Sendable {
  package let backend: any HomeBackend

  /// Opens a home. To be ended with ``close()``.
  /// - Throws: ``HomeError`` where its files can't be used, or no socket can be had.
  public init(_ options: HomeController.Options) async throws(HomeError) {
    backend = try await HomeController.open(options)
  }

  package init(_ backend: any HomeBackend) { self.backend = backend }

  /// The controller of this process, for what only who has the fabric's keys can do.
  /// - Throws: ``HomeError`` `accessDenied` where the home is seen through a hub.
  public var controller: HomeController {
    get throws(HomeError) {
      guard let controller = backend as? HomeController else {
        throw HomeError(.accessDenied, "not available through a hub; run the command on the hub's machine")
      }
      return controller
    }
  }

  /// Ends everything; what is not stored yet is stored first.
  public func close() async { await backend.close() }

  /// Keeps the devices' states up to date from now on: follows them, or the process that does.
  public func follow() async throws(HomeError) { try await backend.follow() }

  /// The whole home as it is now.
  public var state: HomeState { get async { await backend.state } }

  /// Everything that happens from now on, in order. An update without changes means that everything may be different: it is
  /// not known any more what happened.
  public func updates() -> HomeEvents { HomeEvents(stream: backend.updates()) }

  /// The wall clock in milliseconds since 1970.
  public static func now() -> Int64 { HostClock.unixMicroseconds() / 1000 }

  /// The names of devices and rooms as they are now, to find what a text means.
  public var registry: HomeRegistry {
    get async {
      let registry = HomeRegistry(await state)
      guard let controller = backend as? HomeController else { return registry }
      return registry.with(await controller.groups)
    }
  }

  // MARK: Looking and following

  /// The structures of the home, which are buildings. See <doc:TheHomeModel>, “Observing”.
  public func structures() -> Query<Structure> { backend.query { $0.state.structures } }

  /// The structure that is meant where none is named: the one that the owner chose, else the first. Nil where there is none.
  public var primaryStructure: Structure? { get async { await backend.state.primaryStructure } }

  /// The rooms, without those for the entire home.
  public func rooms() -> Query<Room> { backend.query { $0.state.rooms } }

  /// The devices, those behind bridges among them.
  public func devices() -> Query<HomeDevice> { backend.query { $0.devices } }

  /// One device: a collection of one, or of none while there is no such device.
  public func device(id: String) -> Query<HomeDevice> { devices().only(id) }

  /// The devices that have a trait.
  public func devices<C: Cluster>(having trait: Trait<C>.Type) async -> [HomeDevice] {
    await backend.devices.filter { $0.traits.contains(trait) }
  }

  // MARK: Names

  /// Gives a device another name; names are cut at 60 Unicode code points.
  /// - Throws: ``HomeError`` `badArguments` where the name is not allowed or another device of the room has it.
  @discardableResult
  public func rename(_ device: String, to name: String) async throws(HomeError) -> NamedDevice {
    try await backend.setName(name, of: device)
  }

  /// Puts a device into a room; nil takes it out of its room.
  public func move(_ device: String, to roomID: String?) async throws(HomeError) {
    try await perform([.moveDevice(device, roomID: roomID)])
  }

  /// Adds a room.
  /// - Parameter structureID: nil: the primary structure, which is made where there is none.
  public func addRoom(_ name: String, to structureID: String? = nil) async throws(HomeError) -> Room {
    try await backend.addRoom(name, to: structureID)
  }

  /// Gives a room another name, cut at 60 Unicode code points.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` for the room for the entire home, and where another room of the
  ///   structure has the name.
  public func renameRoom(_ id: String, to name: String) async throws(HomeError) {
    try await perform([.renameRoom(id, name: name)])
  }

  /// Removes a room; its devices stay, in the room for the entire home.
  public func removeRoom(_ id: String) async throws(HomeError) { try await perform([.removeRoom(id)]) }

  /// Adds a structure with a name that none has, cut at 60 Unicode code points.
  /// - Throws: ``HomeError`` `badArguments` where the name is taken or is none.
  public func addStructure(_ name: String) async throws(HomeError) -> Structure {
    try await backend.addStructure(name)
  }

  /// Gives a structure another name, cut at 60 Unicode code points.
  /// - Throws: ``HomeError`` `notFound`; `badArguments` where another structure has the name.
  public func renameStructure(_ id: String, to name: String) async throws(HomeError) {
    try await perform([.renameStructure(id, name: name)])
  }

  /// Removes a structure with its rooms. Where it was the primary one, the first that remains is.
  /// - Throws: ``HomeError`` `badArguments` while there are devices in it.
  public func removeStructure(_ id: String) async throws(HomeError) { try await perform([.removeStructure(id)]) }

  /// Chooses the structure that is meant where none is named.
  public func updatePrimaryStructure(_ id: String) async throws(HomeError) {
    try await perform([.choosePrimaryStructure(id)])
  }

  /// Does several things to names in one step: all of them or, where it throws, none.
  @discardableResult
  public func perform(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result] {
    try await backend.perform(edits, origin: nil)
  }

  /// Does something with a device, and names it in an error.
  func with<R: Sendable>(
    _ device: DeviceRecord, _ body: () async throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    do throws(HomeError) { return try await body() } catch { throw error.about(device) }
  }

  // MARK: Requests

  /// Reads attributes of a device.
  public func read(
    _ device: DeviceRecord, _ paths: [AttributePath], isFabricFiltered: Bool = true, timeout: Duration? = nil
  ) async throws(HomeError) -> ReassembledReport {
    try await with(device) { () async throws(HomeError) in
      try await backend.read(device.nodeID, paths, isFabricFiltered: isFabricFiltered, timeout: timeout)
    }
  }

  /// Writes attributes of a device.
  /// - Throws: what the device said of the first write that it refused; of several, which one that was. The others may have been
  ///   done.
  public func write(_ device: DeviceRecord, _ writes: [AttributeWrite], isTimed: Bool) async throws(HomeError) {
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
  /// - Throws: also where the answer is a response of the command's own that says that it failed.
  public func invoke(
    _ device: DeviceRecord, _ command: CommandData, isTimed: Bool
  ) async throws(HomeError) -> CommandData? {
    try await with(device) { () async throws(HomeError) in
      let answer = try await backend.invoke(device.nodeID, command, isTimed: isTimed)
      if let answer, let failure = CommandOutcome.failure(answer) { throw failure.answered(answer) }
      return answer
    }
  }

  /// Subscribes to a device.
  public func subscribe(
    _ device: DeviceRecord, _ request: SubscriptionRequest
  ) -> AsyncThrowingStream<SubscriptionNews, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: SubscriptionNews.self)
    let task = Tasks.start {
      do {
        for try await news in await self.backend.subscribe(device.nodeID, request) { continuation.yield(news) }
        continuation.finish()
      } catch {
        continuation.finish(throwing: HomeError(error).about(device))
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}
