internal import MatterProtocol
internal import Runtime
internal import Synchronization

/// The way between one device and everybody else, on a real network: it may be cut, or treat datagrams badly. Service discovery,
/// which the devices of a process share, gets through unless nothing does. May be used from any thread.
package final class DeviceLink: Sendable {
  /// As seen from the device.
  enum Direction: Sendable { case out, into }

  private struct State {
    var network = DeviceNetwork()
    var out = DatagramLink()
    var into = DatagramLink()
    var onChange: [@Sendable (_ isCut: Bool) -> Void] = []
  }

  private let state = Mutex(State())
  private let bad = Atomic(false)

  package init() {}

  /// How it is now.
  var network: DeviceNetwork { state.withLock(\.network) }

  /// What is injected into it.
  func inject(_ fault: DeviceNetwork.Fault) {
    let (isCut, handlers) = state.withLock { state in
      state.network.inject(fault)
      bad.store(state.network != DeviceNetwork(), ordering: .relaxed)
      if fault == .heal { (state.out, state.into) = (DatagramLink(), DatagramLink()) }
      return (state.network.isCut, state.onChange)
    }
    for handler in handlers { handler(isCut) }
  }

  /// Whether anything is wrong with it: asked for each datagram, and cheap.
  var isBad: Bool { bad.load(ordering: .relaxed) }

  /// Whether nothing gets through.
  var isCut: Bool { network.isCut }

  /// Tells whenever something has befallen it, on the thread of who did it.
  func onChange(_ handler: @escaping @Sendable (_ isCut: Bool) -> Void) {
    state.withLock { $0.onChange.append(handler) }
  }

  /// What becomes of a datagram that is given to it now.
  /// - Returns: in how much time its copies are through; empty: it is lost.
  func carry(_ size: Int, _ direction: Direction, at now: Instant) -> [Duration] {
    state.withLock { state in
      guard !state.network.isPartitioned else { return [] }
      guard let conditions = state.network.conditions else { return [.zero] }
      return direction == .out
        ? state.out.carry(size, conditions, at: now) : state.into.carry(size, conditions, at: now)
    }
  }
}
