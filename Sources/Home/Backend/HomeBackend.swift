package import MatterController
package import MatterModel
package import MatterProtocol
package import NIOCore
package import Runtime

/// The current state of a home and the stream of its changes. Confined to the event loop.
package protocol HomeView: AnyObject {
  var reducer: HomeReducer { get }
  var stream: HomeStream { get }
}

/// The implementation of a ``Home``: the controller of this process, or a connection to a hub.
package protocol HomeBackend: HomeAccess, Actor {
  nonisolated var eventLoop: any EventLoop { get }
  /// The machine with the clock, the files and the network of the home.
  nonisolated var machine: any Machine { get }
  /// The state and the stream; access it on the event loop only.
  nonisolated var view: any HomeView { get }

  /// See ``Home/follow()``.
  func follow() async throws(HomeError)
  /// Waits for the first load of the home.
  func synchronize(within timeout: Duration) async throws(HomeError)
  func close() async

  /// Performs edits of names, rooms and structures: all of them or, if it throws, none.
  /// - Parameter origin: the id of the calling client, which is not notified of its own changes.
  func perform(_ edits: [HomeEdit], origin: String?) async throws(HomeError) -> [HomeEdit.Result]

  func read(
    _ node: NodeID, _ paths: [AttributePath], isFabricFiltered: Bool, timeout: Duration?
  ) async throws(HomeError) -> ReassembledReport
  func write(_ node: NodeID, _ writes: [AttributeWrite], isTimed: Bool) async throws(HomeError) -> [AttributeStatus]
  func invoke(_ node: NodeID, _ command: CommandData, isTimed: Bool) async throws(HomeError) -> CommandData?
  func subscribe(_ node: NodeID, _ request: SubscriptionRequest) -> AsyncThrowingStream<SubscriptionEvent, any Error>
  /// Stores values of a device that it has not reported itself.
  func store(_ report: NodeReport)
  /// Marks these devices as offline if they have not answered yet.
  func stopWaiting(for devices: Set<String>)

  func anchor() async throws(HomeError) -> Anchor
  func samples(after anchor: Anchor?, _ filter: SampleFilter, limit: Int) async throws(HomeError) -> AnchoredResult
  func execute(_ query: ObserverQuery) async throws(HomeError)
  func stop(_ query: ObserverQuery) async
}

extension HomeBackend {
  // MARK: Values

  /// The current state of the home.
  package var state: HomeState { view.reducer.state }

  /// Returns the current value of a device; nil if the home lacks it.
  package func device(_ id: String) -> HomeDevice? {
    let reducer = view.reducer
    return reducer.state.devices[id].map { value(of: $0, reducer) }
  }

  /// The current values of all devices, in the order of their nodes.
  package var devices: [HomeDevice] {
    let reducer = view.reducer
    return reducer.state.orderedDevices.map { value(of: $0, reducer) }
  }

  package nonisolated func value(of entry: DeviceEntry, _ reducer: HomeReducer) -> HomeDevice {
    reducer.device(entry, through: self)
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
    observe { stream, _, continuation in
      let id = stream.addListener { event in
        switch event {
        case .update(let update, _): continuation.yield(update)
        case .reloaded(_, _, let time): continuation.yield(HomeUpdate([], at: time))
        case .hub, .contacts: break
        case .ended: continuation.finish()
        }
        return true
      }
      return { $0.removeListener(id) }
    }
  }

  /// See ``HomeAccess/reports(of:)``.
  package nonisolated func observedReports(of device: String) -> DeviceReports {
    let place = DeviceReports.Place()
    let reader = DeviceReports.Reader()
    let loop = eventLoop
    let start: @Sendable () -> Void = {
      let view = self.view
      view.stream.observers.addReports(reader, at: place, of: device, view.reducer)
    }
    if loop.inEventLoop { start() } else { loop.execute(start) }
    return DeviceReports(
      first: place,
      reading: .init { loop.execute { self.view.stream.observers.removeReports(reader, of: device) } })
  }

  /// Returns a query of a collection.
  /// - Parameter list: returns its current elements.
  nonisolated func query<Item: ObservedItem>(
    _ list: @escaping @Sendable (isolated Self) -> [Item]
  ) -> Query<Item> {
    Query(
      snapshot: { timeout async throws(HomeError) in
        try await self.synchronize(within: timeout)
        return await list(self)
      },
      snapshots: {
        self.observe { stream, reducer, continuation in
          let id = Item.add(.snapshots(continuation), to: stream.observers, reducer)
          return { $0.observers.remove(id) }
        }
      },
      changes: {
        self.observe { stream, reducer, continuation in
          let id = Item.add(.changes(continuation), to: stream.observers, reducer)
          return { $0.observers.remove(id) }
        }
      })
  }

  /// Creates a stream with an observer, which is added on the event loop and removed when the stream terminates.
  private nonisolated func observe<Element: Sendable>(
    _ begin:
      @escaping @Sendable (HomeStream, HomeReducer, AsyncStream<Element>.Continuation) -> (HomeStream) -> Void
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
    let loop = eventLoop
    let start: @Sendable () -> Void = {
      let view = self.view
      let end = NIOLoopBound(begin(view.stream, view.reducer, continuation), eventLoop: loop)
      continuation.onTermination = { _ in loop.execute { end.value(self.view.stream) } }
    }
    if loop.inEventLoop { start() } else { loop.execute(start) }
    return stream
  }
}

extension HomeReducer {
  /// Returns the value of a device, which sends its requests through `home`.
  func device(_ entry: DeviceEntry, through home: any HomeAccess) -> HomeDevice {
    let entry = isRestored ? shown(entry) : entry
    let source = entry.active
    return HomeDevice(
      entry, values: source.flatMap { state.values[$0.id.node] } ?? NodeValues(), contact: contact(by: source),
      settled: settledConnectivity(of: entry.id), home: home)
  }
}
