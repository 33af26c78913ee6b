import Logging
import NIOCore
import Runtime

/// Looks every other second which interfaces and addresses the host has, and lets a fleet follow: a cable that is plugged in
/// later, another lease, an address that was still being checked for duplicates.
final class InterfaceFollower: Sendable {
  private struct State {
    var known: [NetworkInterface]
    /// Looks after a change in which addresses may still become usable.
    var unsettled = 5
  }

  private static let interval = TimeAmount.seconds(2)
  private let task: RepeatedTask

  /// - Parameters:
  ///   - known: what the devices have been started with.
  ///   - loop: where to look.
  init(
    _ selection: InterfaceSelection, known: [NetworkInterface], _ discovery: ServiceDiscovery,
    _ devices: [NIOLoopBound<VirtualDevice>], on loop: any EventLoop, logger: Logger
  ) {
    let state = NIOLoopBoundBox.makeBoxSendingValue(State(known: known), eventLoop: loop)
    task = loop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { _ in
      let now = NetworkInterfaces.usable(selection)
      if now != state.value.known {
        state.value = State(known: now)
        let text = now.map { "\($0.name) \($0.addresses.map { "\($0.ip)" }.joined(separator: " "))" }
        logger.info("interfaces: \(text.isEmpty ? "none" : text.joined(separator: ", "))")
      } else if state.value.unsettled > 0 {
        state.value.unsettled -= 1
      } else {
        return
      }
      // Sockets first: what is announced then can be reached.
      let done = devices.map { device in device.eventLoop.submit { device.value.follow(now) } }
      EventLoopFuture.andAllComplete(done, on: loop).whenComplete { _ in discovery.follow(now) }
    }
  }

  func stop() { task.cancel() }
}
