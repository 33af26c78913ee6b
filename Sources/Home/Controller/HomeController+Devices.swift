internal import MatterModel
public import MatterProtocol
internal import NIOCore
internal import Runtime

// The home as values: what a device needs of it, and who observes it.
extension HomeController: HomeAccess {
  /// The home as it is now.
  public var state: HomeState { edge.value.reducer.state }

  /// A device as it is now.
  public func device(_ id: String) -> HomeDevice? {
    let reducer = edge.value.reducer
    return reducer.state.devices[id].map { value(of: $0, reducer) }
  }

  /// All devices as they are now, node by node.
  public var devices: [HomeDevice] {
    let reducer = edge.value.reducer
    return reducer.state.orderedDevices.map { value(of: $0, reducer) }
  }

  nonisolated func value(of entry: DeviceEntry, _ reducer: HomeReducer) -> HomeDevice {
    let node = entry.active?.id.node
    return HomeDevice(
      entry, values: node.flatMap { reducer.state.values[$0] } ?? NodeValues(),
      contact: node.flatMap { reducer.contacts[$0] } ?? Contact(),
      settled: reducer.settledConnectivity(of: entry.id), home: self)
  }

  /// Takes in something that did not come from a device.
  package func take(_ input: HomeInput) { edge.value.take(input) }

  // MARK: Commands

  public func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, patience: Duration?
  ) async throws(HomeError) -> CommandData? {
    let source = try await source(of: device, patience: patience)
    return try await invoke(source.node, command, isTimed: isTimed)
  }

  public func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, patience: Duration?
  ) async throws(HomeError) {
    let source = try await source(of: device, patience: patience)
    for status in try await write(source.node, writes, isTimed: isTimed) where status.status.code != .success {
      throw HomeError(status.status)
    }
  }

  public func setName(_ name: String, of device: String) async throws(HomeError) -> NamedDevice {
    let wasCut = try await change { state throws(HomeError) in
      let (wasCut, changes) = try state.renamingDevice(device, to: name)
      return (changes, wasCut)
    }
    guard let value = self.device(device) else {
      throw HomeError(.notFound, "there is no device \(device) in the home")
    }
    return NamedDevice(device: value, wasCut: wasCut)
  }

  /// The way to a device.
  /// - Parameter patience: how long to wait until it is online; nil: not at all, where nothing of it was heard since the
  ///   home began to follow it.
  private func source(of device: String, patience: Duration?) async throws(HomeError) -> SourceID {
    let entry = try state.knownDevice(device)
    guard let source = entry.active else {
      throw HomeError(.notFound, "there is no way to the device", device: entry.name)
    }
    let isFollowing = edge.value.host.perform { engine, _ in engine.isFollowing }
    guard isFollowing, source.status.connectivity.dataSourceLocality == .unspecified else { return source.id }
    guard let patience else {
      throw HomeError(
        .unreachable, "it was not reached since the home was opened; wait for it, or try again", device: entry.name)
    }
    guard await comesOnline(reports(of: device), within: patience), let source = state.devices[device]?.active else {
      throw HomeError(.timedOut, "it did not come online in time", device: entry.name)
    }
    return source.id
  }

  /// Whether a device comes online in time.
  private func comesOnline(_ reports: AsyncStream<DeviceReport>, within time: Duration) async -> Bool {
    let found = Task { () -> Bool in
      for await report in reports where report.device.source?.status.connectivity.connectivityState == .online {
        return true
      }
      return false
    }
    let timer = eventLoop.scheduleTask(in: .nanoseconds(time.nanoseconds)) { found.cancel() }
    defer { timer.cancel() }
    return await found.value
  }

  // MARK: Observing

  public nonisolated func reports(of device: String) -> AsyncStream<DeviceReport> {
    observe { observers, reducer, continuation in
      let id = observers.addReports(continuation, of: device, reducer)
      return { $0.removeReports(id, of: device) }
    }
  }

  /// Everything that happens from now on.
  public nonisolated func updates() -> AsyncStream<HomeUpdate> {
    observe { observers, _, continuation in
      let id = observers.addUpdates(continuation)
      return { $0.removeUpdates(id) }
    }
  }

  nonisolated func snapshots<Item>(
    _ add: @escaping @Sendable (HomeObservers, ObservedCollection<Item>.Observer, HomeReducer) -> Int
  ) -> AsyncStream<[Item]> {
    observe { observers, reducer, continuation in
      let id = add(observers, .snapshots(continuation), reducer)
      return { $0.remove(id) }
    }
  }

  nonisolated func changes<Item>(
    _ add: @escaping @Sendable (HomeObservers, ObservedCollection<Item>.Observer, HomeReducer) -> Int
  ) -> AsyncStream<CollectionChange<Item>> {
    observe { observers, reducer, continuation in
      let id = add(observers, .changes(continuation), reducer)
      return { $0.remove(id) }
    }
  }

  /// Begins a sequence on the event loop, and takes the observer away when nobody listens any more.
  private nonisolated func observe<Element: Sendable>(
    _ begin:
      @escaping @Sendable (HomeObservers, HomeReducer, AsyncStream<Element>.Continuation) -> (HomeObservers) -> Void
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
    let (edge, loop) = (edge, eventLoop)
    let start: @Sendable () -> Void = {
      let end = NIOLoopBound(begin(edge.value.observers, edge.value.reducer, continuation), eventLoop: loop)
      continuation.onTermination = { _ in loop.execute { end.value(edge.value.observers) } }
    }
    if loop.inEventLoop { start() } else { loop.execute(start) }
    return stream
  }
}
