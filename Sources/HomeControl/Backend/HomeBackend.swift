package import HomeAutomation
package import HomeModel
package import HomeStore
package import MatterController
package import MatterProtocol
package import NIOCore
package import Runtime

/// The current state of a home and the stream of its changes. Confined to the event loop.
package protocol HomeView: AnyObject {
  var reducer: HomeReducer { get }
  var stream: HomeStream { get }
}

/// The implementation of a ``Home``: the controller of this process, or a connection to a hub.
package protocol HomeBackend: HomeAccess, LoopActor {
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

  /// Performs a request. Canceling the task cancels the request.
  /// - Parameters:
  ///   - origin: the id of the calling client, which is not notified of its own changes.
  ///   - progress: receives the values that precede the reply.
  func perform(
    _ request: HomeRequest, origin: String?, progress: @escaping HomeProgress.Handler
  ) async throws(HomeError) -> HomeReply

  /// Stores values of a device that it has not reported itself.
  func store(_ report: NodeReport)
  /// Marks these devices as offline if they have not answered yet.
  func stopWaiting(for devices: Set<String>)

  func execute(_ query: ObserverQuery) async
  func stop(_ query: ObserverQuery) async
}

extension HomeBackend {
  // MARK: Values

  package var state: HomeState { view.reducer.state }

  /// Whether another device has a name, in any case.
  package func hasOtherDevice(named name: String, than id: String) -> Bool {
    state.devices(named: name).contains { $0.id != id }
  }

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

  // MARK: Requests

  /// Performs a request without intermediate values.
  @discardableResult
  package func perform(_ request: HomeRequest, origin: String? = nil) async throws(HomeError) -> HomeReply {
    try await perform(request, origin: origin) { _ in }
  }

  /// Performs a request, and returns the value of its reply.
  /// - Parameter value: returns the value; nil: the reply is one to another request.
  package func request<Value>(
    _ request: HomeRequest, origin: String? = nil, _ value: (HomeReply) -> Value?
  ) async throws(HomeError) -> Value {
    guard let value = value(try await perform(request, origin: origin)) else { throw .unexpectedReply }
    return value
  }

  /// Returns the values that a request produces. Ending the iteration cancels the request.
  private nonisolated func stream<Value: Sendable>(
    _ request: HomeRequest, _ value: @escaping @Sendable (HomeProgress) -> Value?
  ) -> AsyncThrowingStream<Value, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Value.self)
    let task = Tasks.start {
      do throws(HomeError) {
        _ = try await self.perform(request, origin: nil) { if let value = value($0) { continuation.yield(value) } }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  package func edit(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result] {
    try await edit(edits, origin: nil)
  }

  package func edit(_ edits: [HomeEdit], origin: String?) async throws(HomeError) -> [HomeEdit.Result] {
    try await request(.edit(edits: edits), origin: origin) {
      if case .edited(let results) = $0 { results } else { nil }
    }
  }

  package func read(
    _ node: NodeID, _ paths: [AttributePath], isFabricFiltered: Bool = true, timeout: Duration? = nil
  ) async throws(HomeError) -> ReassembledReport {
    try await request(.read(node: node, paths: paths, isFabricFiltered: isFabricFiltered, timeout: timeout)) {
      if case .report(let attributes, let statuses) = $0 { ReassembledReport(attributes, statuses) } else { nil }
    }
  }

  package func write(
    _ node: NodeID, _ writes: [AttributeWrite], isTimed: Bool
  ) async throws(HomeError) -> [AttributeStatus] {
    try await request(.write(node: node, writes: writes, isTimed: isTimed)) {
      if case .written(let statuses) = $0 { statuses } else { nil }
    }
  }

  package func invoke(
    _ node: NodeID, _ command: CommandData, isTimed: Bool
  ) async throws(HomeError) -> CommandData? {
    try await request(.invoke(node: node, command: command, isTimed: isTimed)) { $0.response }
  }

  package nonisolated func subscribe(
    _ node: NodeID, _ request: SubscriptionRequest
  ) -> AsyncThrowingStream<SubscriptionEvent, any Error> {
    stream(.subscribe(node: node, request: request)) { if case .subscription(let news) = $0 { news } else { nil } }
  }

  package nonisolated func discover(
    _ query: DiscoveryQuery, for time: Duration?
  ) -> AsyncThrowingStream<DiscoveryEvent, any Error> {
    stream(.discover(query: query, time: time)) { if case .discovery(let news) = $0 { news } else { nil } }
  }

  package var fabric: HomeFabric {
    get async throws(HomeError) {
      try await request(.fabric) { if case .fabric(let fabric) = $0 { fabric } else { nil } }
    }
  }

  package func anchor() async throws(HomeError) -> Anchor {
    try await request(.anchor) { if case .anchor(let anchor) = $0 { anchor } else { nil } }
  }

  package func samples(
    after anchor: Anchor?, _ filter: SampleFilter, limit: Int
  ) async throws(HomeError) -> AnchoredResult {
    try await request(.samples(after: anchor, filter: filter, limit: limit)) {
      if case .samples(let result) = $0 { result } else { nil }
    }
  }

  /// Invokes a command by its declaration.
  /// - Throws: also if the response command has an error status.
  @discardableResult
  package func invoke<C: Cluster, Request: ModelStruct, Response: ModelStruct>(
    _ command: Command<C, Request, Response>, _ fields: Request = Request(), on endpoint: EndpointID, of node: NodeID
  ) async throws(HomeError) -> Response {
    try command.response(
      try await invoke(
        node, CommandData(command.path(on: endpoint), fields: fields.tlv),
        isTimed: command.details.quality.contains(.timed)))
  }

  package func setName(_ name: String, of device: String) async throws(HomeError) -> HomeDevice {
    try await setName(name, of: device, origin: nil)
  }

  package func setName(_ name: String, of device: String, origin: String?) async throws(HomeError) -> HomeDevice {
    let wasCut = try await edit([.renameDevice(id: device, name: name)], origin: origin).first?.wasCut ?? false
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
      stream.addListener { event in
        switch event {
        case .update(let update, _): continuation.yield(update)
        case .reloaded(_, _, let time): continuation.yield(HomeUpdate([], at: time))
        case .hub, .contacts: break
        case .ended: continuation.finish()
        }
        return true
      }
    } end: {
      $0.removeListener($1)
    }
  }

  package nonisolated func reports(of device: String) -> DeviceReports {
    let slot = DeviceReports.Slot()
    let reader = DeviceReports.Reader()
    runOnEventLoop { view in view.stream.observers.addReports(reader, at: slot, of: device, view.reducer) }
    return DeviceReports(
      first: slot,
      reading: .init { [eventLoop] in
        eventLoop.execute { self.view.stream.observers.removeReports(reader, of: device) }
      })
  }

  /// Returns a query of a collection.
  package nonisolated func query<Item: ObservedItem>() -> Query<Item> {
    Query(
      snapshot: { timeout async throws(HomeError) in
        try await self.synchronize(within: timeout)
        return await self.all()
      },
      snapshots: { self.observe({ $0.observers.add(.snapshots($2), $1) }, end: { $0.observers.remove($1) }) },
      changes: { self.observe({ $0.observers.add(.changes($2), $1) }, end: { $0.observers.remove($1) }) })
  }

  private func all<Item: ObservedItem>() -> [Item] { Item.all(in: view.reducer, through: self) }

  /// Creates a stream with an observer, which is added on the event loop and removed when the stream terminates.
  /// - Parameters:
  ///   - begin: adds the observer, and returns its number.
  ///   - end: removes the observer with this number.
  private nonisolated func observe<Element: Sendable>(
    _ begin: @escaping @Sendable (HomeStream, HomeReducer, AsyncStream<Element>.Continuation) -> Int,
    end: @escaping @Sendable (HomeStream, Int) -> Void
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
    runOnEventLoop { [loop = eventLoop] view in
      let id = begin(view.stream, view.reducer, continuation)
      continuation.onTermination = { _ in loop.execute { end(self.view.stream, id) } }
    }
    return stream
  }

  /// Calls the body on the event loop, at once for a caller that is on it.
  private nonisolated func runOnEventLoop(_ body: @escaping @Sendable (any HomeView) -> Void) {
    if eventLoop.inEventLoop { body(view) } else { eventLoop.execute { body(self.view) } }
  }
}

extension HomeState {
  /// The structures, whose values send their edits through `home`.
  package func structures(through home: (any HomeAccess)?) -> [Structure] {
    structures.map { modified($0) { $0.home = home } }
  }

  /// The rooms, whose values send their edits through `home`.
  package func rooms(through home: (any HomeAccess)?) -> [Room] {
    rooms.map { modified($0) { $0.home = home } }
  }
}

extension HomeReducer {
  /// Returns the value of a device, which sends its requests through `home`.
  package func device(_ entry: DeviceEntry, through home: any HomeAccess) -> HomeDevice {
    let entry = shown(entry)
    let source = entry.active
    var others: [NodeID: NodeValues] = [:]
    for other in entry.sources where other.id != source?.id { others[other.id.node] = state.values[other.id.node] }
    return HomeDevice(
      entry, values: source.flatMap { state.values[$0.id.node] } ?? NodeValues(), others: others,
      contact: contact(by: source), settled: settledConnectivity(of: entry.id), structures: state.structures,
      rooms: state.rooms, home: home)
  }
}
