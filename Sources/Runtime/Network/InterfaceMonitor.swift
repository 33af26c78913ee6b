public import Logging
public import NIOCore

/// Polls the host's interfaces and addresses every two seconds, and reports changes: a cable plugged in later, another
/// lease, an address that has passed duplicate address detection.
public final class InterfaceMonitor: Sendable {
  private struct State {
    var known: [NetworkInterface]
    /// The remaining polls after a change in which addresses may still become usable.
    var unsettled = 5
  }

  private static let interval = TimeAmount.seconds(2)
  private let task: RepeatedTask

  /// - Parameters:
  ///   - known: the interfaces in use.
  ///   - loop: the loop to poll on.
  ///   - onChange: called on the loop with the current interfaces after a change, and at the next polls after it, because
  ///     an address may be usable only later.
  public init(
    _ selection: InterfaceSelection, known: [NetworkInterface], on loop: any EventLoop, logger: Logger,
    onChange: @escaping @Sendable ([NetworkInterface]) -> Void
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
      onChange(now)
    }
  }

  /// Stops following.
  public func stop() { task.cancel() }
}
