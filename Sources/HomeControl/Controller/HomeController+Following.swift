internal import HomeAutomation
public import HomeModel
package import HomeStore
internal import Logging
internal import MatterController
internal import MatterProtocol
internal import NIOCore
internal import Runtime

// Subscriptions to the devices, and changes of the home's structure.
extension HomeController {
  /// The interval at which the clock is checked.
  private static let clockInterval = Duration.milliseconds(250)
  /// The suspension time after which a device may have stopped retransmitting a report: five transmissions, the first
  /// retransmission after 300 ms. Matter Core § 4.12.2.1.
  private static let longestSuspension = Duration.seconds(3)

  /// Subscribes to all devices, and starts the observers and background deliveries.
  public func follow() async throws(HomeError) {
    // A concurrent call waits for the first one, and starts itself if that failed.
    while isStartingToFollow { await withCheckedContinuation { followWaiters.append($0) } }
    guard center == nil else { return }
    isStartingToFollow = true
    defer {
      isStartingToFollow = false
      for waiter in exchange(&followWaiters, with: []) { waiter.resume() }
    }
    let (writer, stream) = (dispatcher.value.writer, dispatcher.value.stream)
    let center = ObserverCenter(
      writer.database, published: stream.sequence, on: eventLoop, writer.worker, retention: .init(),
      machine: options.machine,
      onFailure: { [logger = options.logger] in logger.warning("maintenance of the log: \($0)") })
    self.center = center
    stream.addListener { [weak center] event in
      guard let center else { return false }
      if case .update(let update, let reducer) = event { center.assumeIsolated { $0.note(update, reducer.state) } }
      return true
    }
    stream.onCommit = { [weak center] commit in center?.assumeIsolated { $0.note(commit) } }
    // Deliveries are restored before the first report, so that none is missed.
    do throws(HomeError) { try await center.start(inBackground: options.following.wakesObservers) } catch {
      self.center = nil
      await center.stop()
      throw error
    }
    guard self.center === center, !dispatcher.value.host.isStopped else { return }
    keepContacts()
    checkLargeLog()
    dispatcher.value.host.perform { engine, now in engine.follow(at: now) }
    dispatcher.value.stream.publish(.thisProcess)
    await readClouds()
  }

  /// Checks a large log of the home in a thread of its own, and logs damage. A smaller one was checked at opening.
  private func checkLargeLog() {
    guard options.machine.sharesFiles else { return }
    let (worker, database) = (options.machine.makeWorker(), dispatcher.value.writer.database)
    worker.submit(on: eventLoop) { try database.checkLargeLog() }.whenFailure { [logger = options.logger] error in
      logger.critical("\(HomeError(error))")
    }
    worker.close {}
  }

  /// Whether the devices are followed.
  package var isFollowing: Bool { center != nil }

  /// Starts to check periodically whether the clock was set, or the process or the machine suspended.
  func checkClock() {
    guard options.machine.sharesFiles else { return }
    clockCheck = schedule(each: Self.clockInterval) {
      $0.noteClock()
      $0.detectSuspension()
    }
  }

  private func detectSuspension() {
    let now = HostClock.sinceBoot()
    defer { clockCheckedAt = now }
    guard now - clockCheckedAt > Self.longestSuspension else { return }
    options.logger.info(
      "the process was suspended", metadata: ["seconds": "\((now - clockCheckedAt).components.seconds)"])
    dispatcher.value.host.perform { engine, now in engine.awake(at: now) }
  }

  /// Marks these devices as offline if they have not answered yet.
  package func stopWaiting(for devices: Set<String>) {
    dispatcher.value.host.perform { engine, now in
      let nodes = devices.compactMap { engine.reducer.state.devices[$0]?.active?.id.node }
      engine.stopWaiting(for: Set(nodes).sorted(), at: now)
    }
  }

  // MARK: Changing

  /// Changes names, rooms or devices. The change is stored before it is published.
  /// - Parameters:
  ///   - origin: the calling client, which is not notified of its own changes.
  ///   - body: receives the home without attribute values, and returns the changes and a value for the caller.
  package func change<R: Sendable>(
    origin: String? = nil,
    _ body: @escaping @Sendable (HomeState) throws(HomeError) -> (changes: [HomeChange], result: R)
  ) async throws(HomeError) -> R {
    try await commit(origin: origin) { database, origin, time throws(HomeError) in
      try database.change(origin: origin, at: time) { _, state in try body(state) }
    }
  }

  /// - Parameter body: changes the home in the database; receives the origin and the time of the change.
  package func commit<R: Sendable>(
    origin: String? = nil,
    _ body: @escaping @Sendable (HomeDatabase, String?, Int64) throws(HomeError) -> (update: HomeUpdate, result: R)
  ) async throws(HomeError) -> R {
    noteClock()
    let time = options.machine.unixMicroseconds()
    let origin = origin ?? options.following.origin
    let dispatcher = dispatcher
    do {
      return try await dispatcher.value.writer.perform { try body($0, origin, time) }
        .map { update, result in
          dispatcher.value.process(.update(update))
          return result
        }.get()
    } catch {
      throw HomeError(error)
    }
  }

  /// Waits until all previous changes are in the database.
  package func flush() async throws(HomeError) {
    do { try await dispatcher.value.writer.perform { _ in }.get() } catch { throw HomeError(error) }
  }
}
