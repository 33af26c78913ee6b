internal import CloudLink
package import HomeModel
internal import MatterModel
package import MatterProtocol
internal import NIOCore
package import Runtime

// The requests and reports of device values.
extension HomeController: HomeBackend {
  package nonisolated var view: any HomeView { edge.value }
  package nonisolated var machine: any Machine { options.machine }

  /// Does nothing: opening the home has loaded it.
  package func synchronize(within timeout: Duration) {}

  /// Stores the report, unless the devices are followed: then the subscription reports the actual values.
  package func store(_ report: NodeReport) {
    guard !edge.value.host.perform({ engine, _ in engine.isFollowing }) else { return }
    take(.report(report))
  }

  /// Performs edits of names, rooms and structures: all of them or, if it throws, none.
  package func edit(_ edits: [HomeEdit], origin: String?) async throws(HomeError) -> [HomeEdit.Result] {
    let random = options.machine.makeRandom()
    return try await change(origin: origin) { state throws(HomeError) in try state.changes(doing: edits, random) }
  }

  /// Processes an input that does not come from a device.
  package func take(_ input: HomeInput) { edge.value.take(input) }

  // MARK: Commands

  package func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> CommandData? {
    let (entry, source) = try await source(of: device, timeout: timeout)
    var command = command
    if let way, let endpoint = command.path.endpoint {
      let path = try state.path(ClusterPath(endpoint, command.path.cluster), nil, of: entry, by: way, now: source)
      (command.path.endpoint, command.path.cluster) = (path.endpoint, path.cluster)
    }
    return try await invoke(source.id.node, command, isTimed: isTimed)
  }

  package func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
  ) async throws(HomeError) {
    let (entry, source) = try await source(of: device, timeout: timeout)
    var writes = writes
    if let way {
      for index in writes.indices {
        guard let endpoint = writes[index].path.endpoint, let cluster = writes[index].path.cluster else { continue }
        let path = try state.path(
          ClusterPath(endpoint, cluster), writes[index].path.attribute, of: entry, by: way, now: source)
        (writes[index].path.endpoint, writes[index].path.cluster) = (path.endpoint, path.cluster)
      }
    }
    for status in try await write(source.id.node, writes, isTimed: isTimed) where status.status.code != .success {
      throw HomeError(status.status, of: status.path.cluster)
    }
  }

  package func setName(_ name: String, of device: String) async throws(HomeError) -> HomeDevice {
    try await setName(name, of: device, origin: nil)
  }

  package nonisolated func reports(of device: String) -> DeviceReports { observedReports(of: device) }

  /// Returns a device and its active source.
  ///
  /// Fails early for an unreachable device only while the devices are followed. Otherwise the request is sent, because
  /// the stored connectivity may be stale.
  /// - Parameter timeout: the time to wait for the device to come online, if the devices are followed; nil: no wait.
  private func source(
    of device: String, timeout: Duration?
  ) async throws(HomeError) -> (DeviceEntry, DeviceSource) {
    let entry = try state.knownDevice(device)
    guard let source = entry.active else {
      throw HomeError(.notFound, "the device has no source", device: entry.name)
    }
    guard source.status.connectivity.connectivityState != .online else { return (entry, source) }
    guard let timeout, center != nil else {
      let isFollowing = edge.value.host.perform { engine, _ in engine.isFollowing }
      // Without a subscription, or after an earlier contact, the device may answer.
      guard isFollowing, source.status.connectivity.dataSourceLocality == .unspecified else { return (entry, source) }
      throw HomeError(
        .unreachable, "not reached since the home was opened; wait for it, or try again", device: entry.name)
    }
    guard await comesOnline(source.id.node, reports(of: device), within: timeout), let entry = state.devices[device],
      let source = entry.active
    else {
      throw HomeError(.timedOut, "did not come online in time", device: entry.name)
    }
    return (entry, source)
  }

  /// The interval between attempts to reach a device that a request waits for.
  private static let waitingInterval = TimeAmount.seconds(2)

  /// Waits for a device to come online; returns whether it did in time.
  /// - Parameter node: the node of its active source.
  private func comesOnline(_ node: NodeID, _ reports: DeviceReports, within time: Duration) async -> Bool {
    let found = Tasks.start { () -> Bool in
      var reports = reports.makeAsyncIterator()
      while let report = await reports.report(isolation: nil) {
        if report.device.source?.status.connectivity.connectivityState == .online { return true }
      }
      return false
    }
    let attempts = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.waitingInterval) { [weak self] _ in
      guard let self else { return }
      // The task runs on the event loop of the actor.
      assumeIsolated { controller in
        controller.edge.value.host.perform { engine, now in engine.retryNow(node, at: now) }
        if node.isTemporaryLocal { for link in controller.clouds.values { link.assumeIsolated { $0.pollSoon(for: node) } } }
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
