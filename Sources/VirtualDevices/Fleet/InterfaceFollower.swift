import Logging
import NIOCore
import Runtime

/// Polls the host's interfaces and addresses every two seconds, and passes changes to a fleet: a cable plugged in
/// later, another lease, an address that has passed duplicate address detection.
final class InterfaceFollower: Sendable {
  private struct State {
    var known: [NetworkInterface]
    /// The remaining polls after a change in which addresses may still become usable.
    var unsettled = 5
  }

  private static let interval = TimeAmount.seconds(2)
  private let task: RepeatedTask

  /// - Parameters:
  ///   - known: the interfaces that the devices were started with.
  ///   - loop: the loop to poll on.
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
      // Sockets first, so that the announced addresses are reachable.
      let done = devices.map { device in device.eventLoop.submit { device.value.follow(now) } }
      EventLoopFuture.andAllComplete(done, on: loop).whenComplete { _ in discovery.follow(now) }
    }
  }

  func stop() { task.cancel() }
}
