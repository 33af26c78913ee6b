internal import MatterProtocol
internal import Runtime
internal import Synchronization

/// The link between one device and all other nodes on a real network, for fault injection: it can be cut, or impair
/// datagrams. Service discovery, which the devices of a process share, is affected only by a cut. May be used from any
/// thread.
package final class DeviceLink: Sendable {
  /// The direction as seen from the device.
  enum Direction: Sendable { case out, into }

  private struct State {
    var network = DeviceNetwork()
    var out = DatagramLink()
    var into = DatagramLink()
    var onChange: [@Sendable (_ isCut: Bool) -> Void] = []
  }

  private let state = Mutex(State())
  private let faulty = Atomic(false)

  package init() {}

  /// The present faults.
  var network: DeviceNetwork { state.withLock(\.network) }

  /// Injects a fault into the link.
  func inject(_ fault: DeviceNetwork.Fault) {
    let (isCut, handlers) = state.withLock { state in
      state.network.inject(fault)
      faulty.store(state.network != DeviceNetwork(), ordering: .relaxed)
      if fault == .heal { (state.out, state.into) = (DatagramLink(), DatagramLink()) }
      return (state.network.isCut, state.onChange)
    }
    for handler in handlers { handler(isCut) }
  }

  /// Whether the link has a fault; cheap, since it is checked for each datagram.
  var hasFault: Bool { faulty.load(ordering: .relaxed) }

  /// Whether nothing gets through.
  var isCut: Bool { network.isCut }

  /// Adds a handler for each injected fault, called on the thread that injects it.
  func onChange(_ handler: @escaping @Sendable (_ isCut: Bool) -> Void) {
    state.withLock { $0.onChange.append(handler) }
  }

  /// Returns the delays after which the copies of a datagram arrive; empty if it is lost.
  func carry(_ size: Int, _ direction: Direction, at now: Instant) -> [Duration] {
    state.withLock { state in
      guard !state.network.isPartitioned else { return [] }
      guard let conditions = state.network.conditions else { return [.zero] }
      return direction == .out
        ? state.out.carry(size, conditions, at: now) : state.into.carry(size, conditions, at: now)
    }
  }
}
