import Glibc
import NIOCore
import Runtime

/// Keeps a fleet's status file up to date. Confined to one event loop; changes are reported from any.
///
/// The first change is written at once. Changes during or soon after a write are coalesced into a later one: a home of
/// a thousand devices changes constantly, and its file takes a while to write.
final class StatusBoard: Sendable {
  private struct State {
    var home = ""
    var devices: [NIOLoopBound<VirtualDevice>] = []
    var directory: String?
    var throttle = WriteThrottle()
    /// The drops in the file.
    var drops: [[String: Int]] = []
    var watch: RepeatedTask?
  }

  let eventLoop: any EventLoop
  private let discovery: ServiceDiscovery
  private let state: NIOLoopBoundBox<State>

  init(_ discovery: ServiceDiscovery, on eventLoop: any EventLoop) {
    (self.discovery, self.eventLoop) = (discovery, eventLoop)
    state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: eventLoop)
  }

  /// Starts writing the file for these devices. The future completes after the first write.
  func open(_ home: String, _ devices: [NIOLoopBound<VirtualDevice>], in directory: String) -> EventLoopFuture<Void> {
    eventLoop.flatSubmit { [self] in
      state.value.home = home
      state.value.devices = devices
      state.value.directory = directory
      // Thousands of drops may occur, so they are polled, at most 50 devices in a second: each takes two system calls.
      let interval = TimeAmount.milliseconds(max(2000, 20 * Int64(devices.count)))
      state.value.watch = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { [self] _ in
        _ = writeDrops()
      }
      return write()
    }
  }

  /// Writes the file if the drops have changed.
  private func writeDrops() -> EventLoopFuture<Void> {
    return each { $0.drops }.flatMap { [self] drops in
      drops == state.value.drops ? eventLoop.makeSucceededVoidFuture() : write()
    }
  }

  /// Reports a change of a device.
  func changed() { eventLoop.execute { [self] in _ = write() } }

  /// Stops writing and removes the file.
  func close() -> EventLoopFuture<Void> {
    eventLoop.submit { [self] in
      if let directory = state.value.directory { FleetStatus.remove(process: getpid(), from: directory) }
      state.value.directory = nil
      state.value.watch?.cancel()
    }
  }

  /// Returns the status of all devices, in the order of the definition.
  func status() -> EventLoopFuture<FleetStatus> {
    eventLoop.flatSubmit { [self] in
      let home = state.value.home
      return each { $0.status }.and(discovery.drops()).map { devices, drops in
        FleetStatus(home: home, process: getpid(), devices: devices, discoveryDrops: drops)
      }
    }
  }

  /// Returns a value of each device, in the order of the definition. Each loop is visited for several devices at a time, as
  /// many as don't delay its datagrams.
  private func each<R: Sendable>(_ value: @escaping @Sendable (VirtualDevice) -> R) -> EventLoopFuture<[R]> {
    let devices = state.value.devices
    var parts: [EventLoopFuture<[(Int, R)]>] = []
    for indices in Dictionary(grouping: devices.indices, by: { ObjectIdentifier(devices[$0].eventLoop) }).values {
      for start in stride(from: 0, to: indices.count, by: 32) {
        let some = indices[start..<min(start + 32, indices.count)]
        parts.append(devices[some[start]].eventLoop.submit { some.map { ($0, value(devices[$0].value)) } })
      }
    }
    return EventLoopFuture.whenAllSucceed(parts, on: eventLoop).map { parts in
      parts.joined().sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  private func write() -> EventLoopFuture<Void> {
    guard state.value.directory != nil, state.value.throttle.requestWrite() else {
      return eventLoop.makeSucceededVoidFuture()
    }
    return performWrite()
  }

  private func performWrite() -> EventLoopFuture<Void> {
    let start = NIODeadline.now()
    return status().map { [self] status in
      // If the file can't be written, `sim ps` shows an old status; the devices are not affected.
      if let directory = state.value.directory { try? status.write(to: directory) }
      state.value.drops = status.devices.map(\.drops)
    }.always { [self] _ in
      eventLoop.scheduleTask(in: state.value.throttle.pause(after: NIODeadline.now() - start)) { [self] in
        // A closed board writes nothing.
        if state.value.directory != nil, state.value.throttle.pauseEnded() { _ = performWrite() }
      }
    }
  }
}
