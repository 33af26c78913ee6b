package import MatterProtocol
internal import Runtime
internal import Synchronization

/// The link between one device and all other nodes on a real network, for fault injection: it can be cut, or impair
/// datagrams. Service discovery, which the devices of a process share, is affected only by a cut. May be used from any
/// thread.
package final class DeviceLink: NetworkImpairment {
  private struct State {
    var network = DeviceNetwork()
    var out = DatagramLink()
    var into = DatagramLink()
    var discoveryUpdates: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  /// Whether the link has a fault; checked for each datagram.
  private let faulty = Atomic(false)

  package init() {}

  /// The present faults.
  var network: DeviceNetwork { state.withLock(\.network) }

  /// Injects a fault into the link.
  func inject(_ fault: DeviceNetwork.Fault) {
    let updates = state.withLock { state in
      state.network.inject(fault)
      faulty.store(state.network != DeviceNetwork(), ordering: .relaxed)
      if fault == .heal { (state.out, state.into) = (DatagramLink(), DatagramLink()) }
      return state.discoveryUpdates
    }
    for update in updates { update() }
  }

  /// Whether nothing gets through.
  var isCut: Bool { network.isCut }

  // MARK: NetworkImpairment

  package func delays(
    of bytes: [UInt8], _ direction: DatagramDirection, at now: @autoclosure () -> Instant
  ) -> [Duration]? {
    guard faulty.load(ordering: .relaxed) else { return nil }
    let now = now()
    return state.withLock { state in
      guard !state.network.isPartitioned else { return [] }
      guard let conditions = state.network.conditions else { return nil }
      return switch direction {
      case .outgoing: state.out.carry(bytes.count, conditions, at: now)
      case .incoming: state.into.carry(bytes.count, conditions, at: now)
      }
    }
  }

  package func getsThrough(_: DatagramDirection) -> Bool { !isCut }

  package func opened(_ discovery: ImpairedDiscovery) {
    state.withLock { $0.discoveryUpdates.append { [weak discovery] in discovery?.update() } }
  }

  package var seesOthers: Bool { !isCut }
  package func announcement(of service: MatterService) -> MatterService? { isCut ? nil : service }
}
