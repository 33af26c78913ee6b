internal import MatterProtocol
internal import Simulation
internal import Synchronization

/// Which of several networks each machine of a home in real time is in, who publishes what, and how much of it gets lost. There is
/// a router between the networks: datagrams for one machine pass it, service discovery and what is sent to groups does not.
final class RealNetworks: Sendable {
  fileprivate struct State {
    /// By machine; those that are not named are in the home's own.
    var places: [ObjectIdentifier: String] = [:]
    var losses: [ObjectIdentifier: Ratio] = [:]
    var publishers: [MatterService.Kind: ObjectIdentifier] = [:]
    /// Who sends from which port.
    var senders: [UInt16: ObjectIdentifier] = [:]
  }

  private let state = Mutex(State())

  func follow(_ faults: LinkFaults, of machine: FaultyMachine) {
    state.withLock { state in
      state.places[ObjectIdentifier(machine)] = faults.place
      state.losses[ObjectIdentifier(machine)] = faults.loss
    }
  }

  func publishes(_ service: MatterService.Kind, _ machine: FaultyMachine) {
    state.withLock { $0.publishers[service] = ObjectIdentifier(machine) }
  }

  func sends(from port: UInt16, _ machine: FaultyMachine) {
    state.withLock { $0.senders[port] = ObjectIdentifier(machine) }
  }

  /// Whether what is sent from a port to a group gets to a machine.
  func hears(_ machine: FaultyMachine, from port: UInt16) -> Bool {
    state.withLock { state in
      state.senders[port].flatMap { state.places[$0] } == state.places[ObjectIdentifier(machine)]
    }
  }

  /// Whether a machine finds a service by service discovery.
  func isFound(_ service: MatterService.Kind, by machine: FaultyMachine) -> Bool {
    state.withLock { state in
      let (publisher, finder) = (state.publishers[service], ObjectIdentifier(machine))
      guard publisher.flatMap({ state.places[$0] }) == state.places[finder] else { return false }
      return publisher == finder || !state.losses(publisher, finder).contains { $0.numerator >= $0.denominator }
    }
  }

  /// Whether a packet about a service gets lost on its way to a machine.
  func losesPacket(about service: MatterService.Kind, to machine: FaultyMachine) -> Bool {
    state.withLock { state in
      let (publisher, finder) = (state.publishers[service], ObjectIdentifier(machine))
      return publisher != finder && state.losses(publisher, finder).contains { $0.happens() }
    }
  }
}

extension RealNetworks.State {
  fileprivate func losses(_ publisher: ObjectIdentifier?, _ finder: ObjectIdentifier) -> [Ratio] {
    [publisher.flatMap { losses[$0] }, losses[finder]].compactMap(\.self)
  }
}
