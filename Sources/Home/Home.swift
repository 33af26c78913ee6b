public import MatterController
public import MatterModel
public import MatterProtocol
internal import Runtime

/// A home that is open: its structures, rooms and devices, to look at, to follow and to command. HOME.md.
///
///     let home = try await Home(options)
///     try await home.follow()
///     for await devices in home.devices().batched() { … }
///
/// Several processes may have one home open at the same time.
public final class Home: Sendable {
  public let controller: HomeController

  /// Opens a home. To be ended with ``close()``.
  /// - Throws: ``HomeError`` where its files can't be used, or no socket can be had.
  public init(_ options: HomeController.Options) async throws(HomeError) {
    controller = try await HomeController.open(options)
  }

  /// Ends everything; what is not stored yet is stored first.
  public func close() async { await controller.close() }

  /// Keeps the devices' states up to date from now on: follows them, or the process that does.
  public func follow() async throws(HomeError) { try await controller.follow() }

  /// The wall clock in milliseconds since 1970.
  public static func now() -> Int64 { HostClock.unixMicroseconds() / 1000 }

  /// The names of devices and rooms as they are now, to find what a text means.
  public var registry: HomeRegistry {
    get async { HomeRegistry(await controller.state) }
  }

  // MARK: Looking and following

  public func structures() -> Query<Structure> {
    Query(
      snapshot: { [controller] _ in await controller.state.structures },
      snapshots: { [controller] in controller.snapshots { $0.add($1 as ObservedCollection<Structure>.Observer, $2) } },
      changes: { [controller] in controller.changes { $0.add($1 as ObservedCollection<Structure>.Observer, $2) } })
  }

  /// The rooms, without those for the entire home.
  public func rooms() -> Query<Room> {
    Query(
      snapshot: { [controller] _ in await controller.state.rooms },
      snapshots: { [controller] in controller.snapshots { $0.add($1 as ObservedCollection<Room>.Observer, $2) } },
      changes: { [controller] in controller.changes { $0.add($1 as ObservedCollection<Room>.Observer, $2) } })
  }

  /// The devices, those behind bridges among them.
  public func devices() -> Query<HomeDevice> {
    Query(
      snapshot: { [controller] _ in await controller.devices },
      snapshots: { [controller] in controller.snapshots { $0.add($1 as ObservedCollection<HomeDevice>.Observer, $2) } },
      changes: { [controller] in controller.changes { $0.add($1 as ObservedCollection<HomeDevice>.Observer, $2) } })
  }

  /// One device: a collection of one, or of none while there is no such device.
  public func device(id: String) -> Query<HomeDevice> { devices().only(id) }

  /// The devices that have a trait.
  public func devices<C: Cluster>(having trait: Trait<C>.Type) async -> [HomeDevice] {
    await controller.devices.filter { $0.traits.contains(trait) }
  }

  // MARK: Names

  /// Gives a device another name; names are cut at 60 Unicode code points.
  /// - Throws: ``HomeError`` `badArguments` where the name is not allowed or another device of the room has it.
  @discardableResult
  public func rename(_ device: String, to name: String) async throws(HomeError) -> NamedDevice {
    try await controller.setName(name, of: device)
  }

  /// Puts a device into a room; nil takes it out of its room.
  public func move(_ device: String, to roomID: String?) async throws(HomeError) {
    try await controller.change { state throws(HomeError) in (try state.movingDevice(device, to: roomID), ()) }
  }

  /// Adds a room.
  /// - Parameter structureID: nil: the first structure, which is made where there is none.
  public func addRoom(_ name: String, to structureID: String? = nil) async throws(HomeError) -> Room {
    try await controller.change { state throws(HomeError) in try state.addingRoom(name, to: structureID) }
  }

  public func renameRoom(_ id: String, to name: String) async throws(HomeError) {
    try await controller.change { state throws(HomeError) in (try state.renamingRoom(id, to: name), ()) }
  }

  /// Removes a room; its devices stay, in the room for the entire home.
  public func removeRoom(_ id: String) async throws(HomeError) {
    try await controller.change { state throws(HomeError) in (try state.removingRoom(id), ()) }
  }

  public func addStructure(_ name: String) async throws(HomeError) -> Structure {
    let id = Identifiers.new()
    return try await controller.change { state throws(HomeError) in
      let (structure, changes) = try state.addingStructure(name, id: id)
      return (changes, structure)
    }
  }

  public func renameStructure(_ id: String, to name: String) async throws(HomeError) {
    try await controller.change { state throws(HomeError) in (try state.renamingStructure(id, to: name), ()) }
  }

  /// Does something with a device, and names it in an error.
  func with<R: Sendable>(
    _ device: DeviceRecord, _ body: () async throws(HomeError) -> R
  ) async throws(HomeError) -> R {
    do throws(HomeError) { return try await body() } catch { throw error.about(device.name) }
  }

  // MARK: Requests

  /// Reads attributes of a device.
  public func read(
    _ device: DeviceRecord, _ paths: [AttributePath], isFabricFiltered: Bool = true, timeout: Duration? = nil
  ) async throws(HomeError) -> ReassembledReport {
    try await with(device) { () async throws(HomeError) in
      try await controller.read(device.nodeID, paths, isFabricFiltered: isFabricFiltered, timeout: timeout)
    }
  }

  /// Writes attributes of a device.
  /// - Throws: what the device said of the first write that it refused.
  public func write(_ device: DeviceRecord, _ writes: [AttributeWrite], isTimed: Bool) async throws(HomeError) {
    try await with(device) { () async throws(HomeError) in
      for status in try await controller.write(device.nodeID, writes, isTimed: isTimed)
      where status.status.code != .success {
        throw HomeError(status.status)
      }
    }
  }

  /// Invokes a command of a device.
  /// - Throws: also where the answer is a response of the command's own that says that it failed.
  public func invoke(
    _ device: DeviceRecord, _ command: CommandData, isTimed: Bool
  ) async throws(HomeError) -> CommandData? {
    try await with(device) { () async throws(HomeError) in
      let answer = try await controller.invoke(device.nodeID, command, isTimed: isTimed)
      if let answer, let failure = CommandOutcome.failure(answer) { throw failure }
      return answer
    }
  }

  /// Subscribes to a device.
  public func subscribe(
    _ device: DeviceRecord, _ request: SubscriptionRequest
  ) -> AsyncThrowingStream<SubscriptionNews, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: SubscriptionNews.self)
    let task = Task {
      do {
        for try await news in await controller.subscribe(device.nodeID, request) { continuation.yield(news) }
        continuation.finish()
      } catch {
        continuation.finish(throwing: HomeError(error).about(device.name))
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}
