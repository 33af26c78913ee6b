internal import MatterProtocol
internal import Synchronization

/// Which of several networks each machine of a home in real time is in, and who publishes what. There is a router between them:
/// datagrams pass it, service discovery does not.
final class RealNetworks: Sendable {
  private struct State {
    /// By machine; those that are not named are in the home's own.
    var places: [ObjectIdentifier: String] = [:]
    var publishers: [MatterService.Kind: ObjectIdentifier] = [:]
  }

  private let state = Mutex(State())

  func place(_ machine: FaultyMachine, in network: String?) {
    state.withLock { $0.places[ObjectIdentifier(machine)] = network }
  }

  func publishes(_ service: MatterService.Kind, _ machine: FaultyMachine) {
    state.withLock { $0.publishers[service] = ObjectIdentifier(machine) }
  }

  /// Whether a machine finds a service by service discovery.
  func isFound(_ service: MatterService.Kind, by machine: FaultyMachine) -> Bool {
    state.withLock { state in
      state.publishers[service].flatMap { state.places[$0] } == state.places[ObjectIdentifier(machine)]
    }
  }
}
