internal import MatterModel
public import MatterProtocol
internal import NIOCore
internal import Runtime

// The home as values: what a device needs of it, and who observes it.
extension HomeController: HomeBackend {
  package nonisolated var view: any HomeView { edge.value }

  /// It was loaded when it was opened.
  package func synchronize(within timeout: Duration) {}

  package func hear(_ report: NodeReport) { take(.report(report)) }

  package func perform(_ edits: [HomeEdit], origin: String?) async throws(HomeError) -> [HomeEdit.Result] {
    let random = options.machine.makeRandom()
    return try await change(origin: origin) { state throws(HomeError) in try state.changes(doing: edits, random) }
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
    let (value, wasCut) = try await setName(name, of: device, origin: nil)
    return NamedDevice(device: value, wasCut: wasCut)
  }

  public nonisolated func reports(of device: String) -> AsyncStream<DeviceReport> { observedReports(of: device) }

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
    let found = Tasks.start { () -> Bool in
      for await report in reports where report.device.source?.status.connectivity.connectivityState == .online {
        return true
      }
      return false
    }
    let timer = eventLoop.scheduleTask(in: .nanoseconds(time.nanoseconds)) { found.cancel() }
    defer { timer.cancel() }
    return await found.value
  }
}
