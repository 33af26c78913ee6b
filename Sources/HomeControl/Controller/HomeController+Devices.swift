internal import CloudLink
package import HomeModel
package import MatterProtocol
internal import NIOCore
package import Runtime

// The requests and reports of device values.
extension HomeController: HomeBackend {
  package nonisolated var view: any HomeView { dispatcher.value }
  package nonisolated var machine: any Machine { options.machine }

  /// Does nothing: opening the home has loaded it.
  package func synchronize(within timeout: Duration) {}

  /// Stores the report, unless the devices are followed: then the subscription reports the actual values.
  package func store(_ report: NodeReport) {
    guard !dispatcher.value.host.perform({ engine, _ in engine.isFollowing }) else { return }
    process(.report(report))
  }

  /// Performs edits of names, rooms and structures: all of them or, if it throws, none.
  package func edit(_ edits: [HomeEdit], origin: String?) async throws(HomeError) -> [HomeEdit.Result] {
    let random = options.machine.makeRandom()
    return try await change(origin: origin) { state throws(HomeError) in try state.changes(doing: edits, random) }
  }

  /// Processes an input that does not come from a device.
  package func process(_ input: HomeInput) { dispatcher.value.process(input) }

  // MARK: Commands

  package func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by original: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> CommandData? {
    let (source, found) = try await place(of: command.traits, of: device, by: original, timeout: timeout)
    return try await invoke(source.id.node, command.moved(to: found), isTimed: isTimed)
  }

  package func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by original: SourceID?, timeout: Duration?
  ) async throws(HomeError) {
    let (source, found) = try await place(of: writes.traits, of: device, by: original, timeout: timeout)
    try await write(source.id.node, writes.moved(to: found), isTimed: isTimed).requireSuccess()
  }

  /// Returns the source that traits come from now, and their paths there.
  ///
  /// Fails early for an unreachable device only while the devices are followed. Otherwise the request is sent, because
  /// the stored connectivity may be stale.
  /// - Parameter timeout: the time to wait for the source to come online, if the devices are followed; nil: no wait.
  private func place(
    of paths: [TraitPath], of device: String, by original: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> (DeviceSource, [ClusterPath]) {
    let entry = try state.knownDevice(device)
    let (source, found) = try state.place(of: paths, of: entry, by: original)
    guard source.status.connectivity.connectivityState != .online else { return (source, found) }
    guard let timeout, center != nil else {
      let isFollowing = dispatcher.value.host.perform { engine, _ in engine.isFollowing }
      // Without a subscription, or after an earlier contact, the device may answer.
      guard isFollowing, source.status.connectivity.dataSourceLocality == .unspecified else { return (source, found) }
      throw HomeError(
        .unreachable, "not reached since the home was opened; wait for it, or try again", device: entry.name)
    }
    let isOnline = await comesOnline(source.id.node, reports(of: device), within: timeout) { [weak self] in
      await self?.isOnline(paths, of: $0, by: original) ?? false
    }
    guard isOnline, let entry = state.devices[device] else {
      throw HomeError(.timedOut, "did not come online in time", device: entry.name)
    }
    return try state.place(of: paths, of: entry, by: original)
  }

  private func isOnline(_ paths: [TraitPath], of entry: DeviceEntry, by original: SourceID?) -> Bool {
    let place = try? state.place(of: paths, of: entry, by: original)
    return place?.source.status.connectivity.connectivityState == .online
  }

  /// The interval between attempts to reach a device that a request waits for.
  private static let waitingInterval = TimeAmount.seconds(2)

  /// Waits for a part of a device to come online; returns whether it did in time.
  /// - Parameters:
  ///   - node: the node of its source.
  ///   - isOnline: called with the device of each report. The current state can be newer than the report.
  private func comesOnline(
    _ node: NodeID, _ reports: DeviceReports, within time: Duration,
    isOnline: @escaping @Sendable (DeviceEntry) async -> Bool
  ) async -> Bool {
    let found = Tasks.start { () -> Bool in
      var reports = reports.makeAsyncIterator()
      while let report = await reports.next(isolation: nil) {
        if await isOnline(report.device.entry) { return true }
      }
      return false
    }
    let attempts = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.waitingInterval) { [weak self] _ in
      guard let self else { return }
      // The task runs on the event loop of the actor.
      assumeIsolated { controller in
        controller.dispatcher.value.host.perform { engine, now in engine.retryNow(node, at: now) }
        if node.isTemporaryLocal {
          for link in controller.clouds.values { link.assumeIsolated { $0.pollSoon(for: node) } }
        }
      }
    }
    let timer = eventLoop.scheduleTask(in: .nanoseconds(time.nanoseconds)) { found.cancel() }
    defer {
      timer.cancel()
      attempts.cancel()
    }
    let wait = PendingWork.begin("\(name(of: node)) to come online")
    defer { wait?.end() }
    return await found.value
  }
}
