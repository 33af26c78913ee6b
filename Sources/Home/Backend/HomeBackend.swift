package import MatterController
package import MatterModel
package import MatterProtocol
package import NIOCore
package import Runtime

/// A home as it is, and who observes it. Confined to the event loop.
package protocol HomeView: AnyObject {
  var reducer: HomeReducer { get }
  var observers: HomeObservers { get }
}

/// What a ``Home`` stands on: the controller of this process, or the hub that it goes through.
package protocol HomeBackend: HomeAccess, Actor {
  nonisolated var eventLoop: any EventLoop { get }
  /// What the home runs on, whose clock is its own.
  nonisolated var machine: any Machine { get }
  /// To be asked for on the event loop alone.
  nonisolated var view: any HomeView { get }

  /// Keeps the home up to date from now on.
  func follow() async throws(HomeError)
  /// Waits until the home was loaded for the first time.
  func synchronize(within timeout: Duration) async throws(HomeError)
  func close() async

  /// Changes names, rooms or structures: all of it or, where it throws, nothing.
  /// - Parameter origin: the client whose call it is; it is not told of its own changes.
  func perform(_ edits: [HomeEdit], origin: String?) async throws(HomeError) -> [HomeEdit.Result]

  func read(
    _ node: NodeID, _ paths: [AttributePath], isFabricFiltered: Bool, timeout: Duration?
  ) async throws(HomeError) -> ReassembledReport
  func write(_ node: NodeID, _ writes: [AttributeWrite], isTimed: Bool) async throws(HomeError) -> [AttributeStatus]
  func invoke(_ node: NodeID, _ command: CommandData, isTimed: Bool) async throws(HomeError) -> CommandData?
  func subscribe(_ node: NodeID, _ request: SubscriptionRequest) -> AsyncThrowingStream<SubscriptionNews, any Error>
  /// Takes in what is known of a device without its having reported it.
  func hear(_ report: NodeReport)
  /// What of these devices has not answered by now is away, until it does.
  func stopWaiting(for devices: Set<String>)

  func anchor() async throws(HomeError) -> Anchor
  func samples(after anchor: Anchor?, _ filter: SampleFilter, limit: Int) async throws(HomeError) -> AnchoredResult
  func execute(_ query: ObserverQuery) async throws(HomeError)
  func stop(_ query: ObserverQuery) async
}

extension HomeBackend {
  // MARK: Values

  /// The home as it is now.
  package var state: HomeState { view.reducer.state }

  /// A device as it is now.
  package func device(_ id: String) -> HomeDevice? {
    let reducer = view.reducer
    return reducer.state.devices[id].map { value(of: $0, reducer) }
  }

  /// All devices as they are now, node by node.
  package var devices: [HomeDevice] {
    let reducer = view.reducer
    return reducer.state.orderedDevices.map { value(of: $0, reducer) }
  }

  package nonisolated func value(of entry: DeviceEntry, _ reducer: HomeReducer) -> HomeDevice {
    let entry = reducer.isRestored ? reducer.shown(entry) : entry
    let way = entry.active
    return HomeDevice(
      entry, values: way.flatMap { reducer.state.values[$0.id.node] } ?? NodeValues(),
      contact: reducer.contact(by: way), settled: reducer.settledConnectivity(of: entry.id), home: self)
  }

  // MARK: Commands

  /// Does one edit.
  package func perform(_ edit: HomeEdit, origin: String? = nil) async throws(HomeError) -> HomeEdit.Result {
    guard let result = try await perform([edit], origin: origin).first else {
      throw HomeError(.internalError, "an edit of the home had no result")
    }
    return result
  }

  package func addRoom(_ name: String, to structureID: String?, origin: String? = nil) async throws(HomeError) -> Room {
    guard let room = try await perform(.addRoom(name: name, structureID: structureID), origin: origin).room else {
      throw HomeError(.internalError, "the room that was added is missing")
    }
    return room
  }

  package func addStructure(_ name: String, origin: String? = nil) async throws(HomeError) -> Structure {
    guard let structure = try await perform(.addStructure(name: name), origin: origin).structure else {
      throw HomeError(.internalError, "the structure that was added is missing")
    }
    return structure
  }

  /// Invokes a command by its declaration.
  @discardableResult
  package func invoke<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request = Request(), on endpoint: EndpointID, of node: NodeID
  ) async throws(HomeError) -> Response {
    let data = CommandData(command.path(on: endpoint), fields: fields.tlv)
    guard let answer = try await invoke(node, data, isTimed: command.details.quality.contains(.timed)) else {
      return Response()
    }
    do {
      return try Response(tlv: answer.fields ?? NoFields().tlv)
    } catch {
      throw HomeError(.refused, "the answer to \(C.name).\(command.name) can't be read: \(error)", cause: error)
    }
  }

  package func setName(_ name: String, of device: String, origin: String?) async throws(HomeError) -> HomeDevice {
    let wasCut = try await perform(.renameDevice(device, name: name), origin: origin).wasCut
    let reducer = view.reducer
    guard var entry = reducer.state.devices[device] else {
      throw HomeError(.notFound, "there is no device \(device) in the home")
    }
    // The local state may be older than the edit.
    entry.name = try HomeNames.checked(name).name
    var renamed = value(of: entry, reducer)
    renamed.isNameTruncated = wasCut
    return renamed
  }

  // MARK: Observing

  /// See ``Home/updates()``.
  package nonisolated func updates() -> AsyncStream<HomeUpdate> {
    observe { observers, _, continuation in
      let id = observers.addEar { news in
        switch news {
        case .update(let update, _): continuation.yield(update)
        case .reloaded(_, _, let time): continuation.yield(HomeUpdate([], at: time))
        case .hub, .contacts: break
        case .ended: continuation.finish()
        }
        return true
      }
      return { $0.removeEar(id) }
    }
  }

  /// See ``HomeAccess/reports(of:)``.
  package nonisolated func observedReports(of device: String) -> DeviceReports {
    let place = DeviceReports.Place()
    let reader = DeviceReports.Reader()
    let loop = eventLoop
    let start: @Sendable () -> Void = {
      let view = self.view
      view.observers.addReports(reader, at: place, of: device, view.reducer)
    }
    if loop.inEventLoop { start() } else { loop.execute(start) }
    return DeviceReports(
      first: place,
      reading: .init { loop.execute { self.view.observers.removeReports(reader, of: device) } })
  }

  /// A collection: what is in it now, and what after each change.
  nonisolated func query<Item: ObservedItem>(
    _ list: @escaping @Sendable (isolated Self) -> [Item]
  ) -> Query<Item> {
    Query(
      snapshot: { timeout async throws(HomeError) in
        try await self.synchronize(within: timeout)
        return await list(self)
      },
      snapshots: {
        self.observe { observers, reducer, continuation in
          let id = Item.add(.snapshots(continuation), to: observers, reducer)
          return { $0.remove(id) }
        }
      },
      changes: {
        self.observe { observers, reducer, continuation in
          let id = Item.add(.changes(continuation), to: observers, reducer)
          return { $0.remove(id) }
        }
      })
  }

  /// Begins a sequence on the event loop, and takes the observer away when nobody listens any more.
  private nonisolated func observe<Element: Sendable>(
    _ begin:
      @escaping @Sendable (HomeObservers, HomeReducer, AsyncStream<Element>.Continuation) -> (HomeObservers) -> Void
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
    let loop = eventLoop
    let start: @Sendable () -> Void = {
      let view = self.view
      let end = NIOLoopBound(begin(view.observers, view.reducer, continuation), eventLoop: loop)
      continuation.onTermination = { _ in loop.execute { end.value(self.view.observers) } }
    }
    if loop.inEventLoop { start() } else { loop.execute(start) }
    return stream
  }
}
