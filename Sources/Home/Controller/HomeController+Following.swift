internal import MatterModel
internal import NIOCore
internal import Runtime

// Several processes may have one home open. One of them follows the devices and writes down what they say; the others read
// what it wrote. When it ends, the next takes over.
extension HomeController {
  /// How often the log is looked at for what other processes wrote.
  private static let pollInterval = TimeAmount.milliseconds(100)

  /// Follows all devices from now on, or, while another process does, what it writes down.
  public func follow() throws(HomeError) {
    guard polling == nil else { return }
    try takeOver()
    let loop = eventLoop
    polling = loop.scheduleRepeatedTask(initialDelay: Self.pollInterval, delay: Self.pollInterval) { [weak self] _ in
      guard let self else { return }
      // On the loop that the actor lives on.
      assumeIsolated { $0.poll() }
    }
  }

  /// Whether this process is the one that follows the devices.
  public var isFollower: Bool { follower != nil }

  private func takeOver() throws(HomeError) {
    guard follower == nil, let lock = try FollowerLock.acquire(options.state) else { return }
    follower = lock
    edge.value.host.perform { engine, now in
      engine.isPassive = false
      engine.follow(at: now)
    }
  }

  /// Takes in what others wrote.
  private func poll() {
    let keeper = edge.value.keeper
    let anchor = keeper.anchor
    let isFollower = isFollower
    keeper.perform { database in try database.updates(after: anchor) }.assumeIsolated().whenSuccess { [weak self] others in
      self?.assumeIsolated { $0.take(others) }
    }
    if !isFollower { try? takeOver() }
  }

  private func take(_ others: OtherUpdates) {
    var hasNodes = false
    for logged in others.updates {
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
    edge.value.keeper.reached(others.next)
    if hasNodes, let stored = try? StateStore.snapshot(of: options.state.controller) {
      edge.value.host.perform { engine, now in engine.adopt(stored, at: now) }
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
    let time = HostClock.unixMicroseconds()
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
