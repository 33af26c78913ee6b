internal import Logging
internal import MatterModel
internal import NIOCore
internal import Runtime

// Several processes may have one home open. One of them follows the devices and writes down what they say; the others read
// what it wrote. When it ends, the next takes over.
extension HomeController {
  /// How often it is looked whether the process that follows the devices has ended.
  private static let pollInterval = TimeAmount.milliseconds(250)

  /// Follows all devices from now on, or, while another process does, what it writes down.
  public func follow() async throws(HomeError) {
    guard center == nil else { return }
    try takeOver()
    let loop = eventLoop
    let keeper = edge.value.keeper
    let center = ObserverCenter(
      keeper.database, after: keeper.anchor, on: loop, retention: .init(), machine: options.machine
    ) {
      [weak self] updates, mustReload in
      guard let self else { return }
      options.machine.task { await self.take(updates, mustReload: mustReload) }
    }
    self.center = center
    try await center.start(inBackground: isFollower)
    guard options.machine.sharesFiles else { return edge.value.observers.tell(hubState) }
    polling = loop.scheduleRepeatedTask(initialDelay: Self.pollInterval, delay: Self.pollInterval) { [weak self] _ in
      guard let self else { return }
      // On the loop that the actor lives on.
      assumeIsolated {
        guard !$0.isFollower else { return }
        try? $0.takeOver()
        $0.edge.value.observers.tell($0.hubState)
      }
    }
    edge.value.observers.tell(hubState)
  }

  /// Whether this process is the one that follows the devices.
  public var isFollower: Bool { follower != nil }

  /// Who follows the devices, as far as this process knows.
  public var hubState: HubState { isFollower ? .thisProcess : center == nil ? .notAvailable : .connected }

  private func takeOver() throws(HomeError) {
    guard follower == nil, let lock = try FollowerLock.acquire(options.state) else { return }
    follower = lock
    edge.value.host.perform { engine, now in
      engine.isPassive = false
      engine.follow(at: now)
    }
    if let center { options.machine.task { try? await center.deliverInBackground() } }
  }

  /// Takes in what others wrote.
  private func take(_ others: [LoggedUpdate], mustReload: Bool) {
    // The log does not go back so far: only a new start knows it all.
    if mustReload { options.logger.error("the home's log does not go back far enough; open the home again") }
    var hasNodes = false
    for logged in others {
      edge.value.take(.update(logged.update))
      hasNodes =
        hasNodes
        || logged.update.changes.contains { change in
          switch change {
          case .sourceAdded, .sourceRemoved: true
          default: false
          }
        }
    }
    if hasNodes, let stored = try? options.machine.storedState(of: options.state.controller) {
      edge.value.host.perform { engine, now in engine.adopt(stored, at: now) }
    }
  }

  /// What of these devices has not answered by now is away, until it does.
  package func stopWaiting(for devices: Set<String>) {
    edge.value.host.perform { engine, now in
      let nodes = devices.compactMap { engine.reducer.state.devices[$0]?.active?.id.node }
      engine.stopWaiting(for: Set(nodes).sorted(), at: now)
    }
  }

  // MARK: Changing

  /// Changes names, rooms or devices, and stores that before it counts.
  /// - Parameters:
  ///   - origin: the client whose call it is; it is not told of its own changes.
  ///   - body: gets the home without its values, says what is to be changed and what it has to say itself.
  func change<R: Sendable>(
    origin: String? = nil,
    _ body: @escaping @Sendable (HomeState) throws(HomeError) -> (changes: [HomeChange], result: R)
  ) async throws(HomeError) -> R {
    let time = options.machine.unixMicroseconds()
    let origin = origin ?? options.following.origin
    let done: (update: HomeUpdate, anchor: Anchor, result: R)
    do {
      done = try await edge.value.keeper.perform { try $0.change(origin: origin, at: time, body) }.get()
    } catch {
      throw HomeError(error)
    }
    edge.value.take(.update(done.update))
    return done.result
  }

  /// Waits until everything that happened so far is in the database.
  func flush() async throws(HomeError) {
    do { try await edge.value.keeper.perform { _ in }.get() } catch { throw HomeError(error) }
    if let failure = edge.value.keeper.failure { throw failure }
  }
}
