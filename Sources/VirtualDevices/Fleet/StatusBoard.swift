import Glibc
import NIOCore
import Runtime

/// Keeps a fleet's status file up to date. Confined to one event loop; told of changes on any.
///
/// The first change is written at once. Those that come while the file is being made, or soon after it, are written together
/// later: a home of a thousand devices is never still, and its file takes a while.
final class StatusBoard: Sendable {
  private struct State {
    var home = ""
    var devices: [NIOLoopBound<VirtualDevice>] = []
    var directory: String?
    var pace = WritingPace()
    /// What the file says of drops.
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

  /// From now on there is a file, for these devices. Done when it was written first.
  func open(_ home: String, _ devices: [NIOLoopBound<VirtualDevice>], in directory: String) -> EventLoopFuture<Void> {
    eventLoop.flatSubmit { [self] in
      state.value.home = home
      state.value.devices = devices
      state.value.directory = directory
      // Drops come by the thousand: they are looked at now and then.
      state.value.watch = eventLoop.scheduleRepeatedTask(
        initialDelay: Self.dropsInterval, delay: Self.dropsInterval
      ) { [self] _ in _ = writeDrops() }
      return write()
    }
  }

  private static let dropsInterval = TimeAmount.seconds(2)

  /// Writes the file anew if there were drops since.
  private func writeDrops() -> EventLoopFuture<Void> {
    let devices = state.value.devices.map { device in device.eventLoop.submit { device.value.drops } }
    return EventLoopFuture.whenAllSucceed(devices, on: eventLoop).flatMap { [self] drops in
      drops == state.value.drops ? eventLoop.makeSucceededVoidFuture() : write()
    }
  }

  /// Something about a device is not as the file says.
  func changed() { eventLoop.execute { [self] in _ = write() } }

  /// Removes the file for good.
  func close() -> EventLoopFuture<Void> {
    eventLoop.submit { [self] in
      if let directory = state.value.directory { FleetStatus.remove(process: getpid(), from: directory) }
      state.value.directory = nil
      state.value.watch?.cancel()
    }
  }

  /// What all devices are like now, in the order of the definition.
  func status() -> EventLoopFuture<FleetStatus> {
    eventLoop.flatSubmit { [self] in
      let home = state.value.home
      let devices = state.value.devices.map { device in device.eventLoop.submit { device.value.status } }
      return EventLoopFuture.whenAllSucceed(devices, on: eventLoop).and(discovery.drops()).map { devices, drops in
        FleetStatus(home: home, process: getpid(), devices: devices, discoveryDrops: drops)
      }
    }
  }

  private func write() -> EventLoopFuture<Void> {
    guard state.value.directory != nil, state.value.pace.change() else { return eventLoop.makeSucceededVoidFuture() }
    return make()
  }

  private func make() -> EventLoopFuture<Void> {
    let start = NIODeadline.now()
    return status().map { [self] status in
      // A file that can't be written leaves `sim ps` without news, and the devices as they are.
      if let directory = state.value.directory { try? status.write(to: directory) }
      state.value.drops = status.devices.map(\.drops)
    }.always { [self] _ in
      eventLoop.scheduleTask(in: state.value.pace.rest(after: NIODeadline.now() - start)) { [self] in
        if state.value.pace.rested() { _ = make() }
      }
    }
  }
}
