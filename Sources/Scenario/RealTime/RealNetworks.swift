internal import MatterCrypto
internal import MatterProtocol
internal import Runtime
internal import Simulation
internal import Synchronization

/// The networks of the machines of a home in real time: the faults of each machine, the publisher of each service and
/// the sender at each address. It decides about a datagram as a ``/Simulation/SimulatedNetwork`` does, at the same
/// two moments: when it is sent, and again when it arrives.
final class RealNetworks: Sendable {
  /// A link between two machines; `from` is nil for an unknown sender.
  fileprivate struct Link: Hashable {
    let from: ObjectIdentifier?
    let to: ObjectIdentifier
  }

  /// The publication of a service.
  fileprivate struct Publication {
    let publisher: ObjectIdentifier
    /// The sequence number among all announcements and questions.
    var number: Int
    /// Whether it was withdrawn with a goodbye.
    var sentGoodbye = false
  }

  fileprivate struct State {
    /// The faults by machine; a machine without an entry has none.
    var faults: [ObjectIdentifier: MachineFaults] = [:]
    var publications: [MatterService.Kind: Publication] = [:]
    var lastNumber = 0
    /// The machines by the addresses they send from.
    var senders: [SocketAddress: ObjectIdentifier] = [:]
    /// The address of 127.0.0.0/8 that was assigned last.
    var lastAddress: UInt32 = 0x7F00_0001
    var names: [ObjectIdentifier: String] = [:]
    /// The queues of the links.
    var links: [Link: DatagramLink] = [:]

    subscript(machine: ObjectIdentifier?) -> MachineFaults { machine.flatMap { faults[$0] } ?? MachineFaults() }

    mutating func nextNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state = Mutex(State())
  /// Called for each lost datagram with the names of sender and receiver, if known, and the reason.
  let onLoss: @Sendable (String?, String?, LossReason) -> Void

  init(onLoss: @escaping @Sendable (String?, String?, LossReason) -> Void = { _, _, _ in }) { self.onLoss = onLoss }

  // MARK: Faults

  /// Injects a fault around a machine.
  func inject(_ machine: RealMachine, _ fault: NetworkFault) {
    let id = ObjectIdentifier(machine)
    state.withLock { state in
      state.faults[id, default: MachineFaults()].inject(fault)
      if fault == .heal { state.links = state.links.filter { $0.key.from != id && $0.key.to != id } }
    }
  }

  func faults(of machine: RealMachine) -> MachineFaults { state.withLock { $0[ObjectIdentifier(machine)] } }

  // MARK: Datagrams

  /// Registers the addresses that a machine sends from.
  func registerSender(at addresses: [SocketAddress], _ machine: RealMachine) {
    state.withLock { state in
      for address in addresses { state.senders[address] = ObjectIdentifier(machine) }
      state.names[ObjectIdentifier(machine)] = machine.name
    }
  }

  /// Returns the name of the machine that sends from an address.
  func name(at address: SocketAddress) -> String? {
    state.withLock { state in state.senders[address].flatMap { state.names[$0] } }
  }

  /// Assigns a machine an unused address of 127.0.0.0/8, at which it will announce its services again. The loopback
  /// interface has the whole range.
  func newAddress(for machine: RealMachine) -> IPAddress {
    state.withLock { state in
      for (service, publication) in state.publications
      where publication.publisher == ObjectIdentifier(machine) && !publication.sentGoodbye {
        let number = state.nextNumber()
        state.publications[service]?.number = number
      }
      state.lastAddress += 1
      return .v4(state.lastAddress)
    }
  }

  /// Returns whether a datagram to the destination leaves the machine.
  func leaves(_ machine: RealMachine, to destination: IPAddress) -> Bool {
    let faults = faults(of: machine)
    return !faults.isMute && !faults.familiesOff.contains(destination.family)
      && (faults.hasMulticast || !destination.isMulticast)
  }

  /// Decides about a datagram that was just sent to a machine.
  /// - Parameters:
  ///   - source: the sender's address.
  ///   - isMulticast: whether it was sent to a group.
  /// - Returns: the delays after which its copies arrive, and the reason if it is lost.
  func arrivals(
    of size: Int, from source: SocketAddress, to machine: RealMachine, isMulticast: Bool, at now: Instant
  ) -> (delays: [Duration], loss: LossReason?) {
    state.withLock { state in
      let link = Link(from: state.senders[source], to: ObjectIdentifier(machine))
      let (sender, receiver) = (state[link.from], state[link.to])
      guard !receiver.isDeaf, !receiver.familiesOff.contains(source.ip.family),
        !isMulticast || sender.hasMulticast && receiver.hasMulticast && sender.place == receiver.place
      else { return ([], isMulticast ? .multicast : .partition) }
      guard let conditions = sender.conditions(toward: receiver) else { return ([.zero], nil) }
      let delays = state.links[link, default: DatagramLink()].carry(size, conditions, at: now)
      let isTooLong = conditions.maximumDatagramSize > 0 && size > conditions.maximumDatagramSize
      return (delays, delays.isEmpty ? isTooLong ? .tooLong : .link : nil)
    }
  }

  /// Returns whether the route still exists when a datagram arrives. A fault that has healed in the meantime has no effect.
  func reaches(_ machine: RealMachine, from source: SocketAddress) -> Bool {
    state.withLock { state in
      let (sender, receiver) = (state[state.senders[source]], state[ObjectIdentifier(machine)])
      return !sender.isMute && !receiver.isDeaf && !receiver.familiesOff.contains(source.ip.family)
    }
  }

  // MARK: Service discovery

  /// Records that a machine announces a service.
  func recordPublication(of service: MatterService.Kind, by machine: RealMachine) {
    state.withLock { state in
      state.publications[service] = Publication(publisher: ObjectIdentifier(machine), number: state.nextNumber())
    }
  }

  /// Records that a service is withdrawn with a goodbye.
  func recordGoodbye(for service: MatterService.Kind) {
    state.withLock { $0.publications[service]?.sentGoodbye = true }
  }

  /// Returns whether a service was withdrawn with a goodbye; otherwise its records expire.
  func sentGoodbye(for service: MatterService.Kind) -> Bool {
    state.withLock { $0.publications[service]?.sentGoodbye ?? false }
  }

  /// Records that a machine sends a question.
  /// - Returns: the sequence number of the question.
  func recordQuestion() -> Int { state.withLock { $0.nextNumber() } }

  /// Returns whether a machine can find a service by service discovery, over any family that both ends have.
  /// - Parameter question: the number of the machine's question. A service that was announced before it is found only
  ///   if the question arrives.
  func isFound(_ service: MatterService.Kind, by machine: RealMachine, question: Int = 0) -> Bool {
    state.withLock { state in
      let (publication, finder) = (state.publications[service], ObjectIdentifier(machine))
      let (there, here) = (state[publication?.publisher], state[finder])
      guard there.place == here.place else { return false }
      if publication?.publisher == finder { return true }
      let isAsked = publication.map { $0.number < question } ?? false
      return there.isVisible && here.seesOthers && (!isAsked || here.isVisible && there.seesOthers)
        && !there.familiesOff.union(here.familiesOff).isSuperset(of: IPFamily.allCases)
        && there.conditions(toward: here)?.carriesNothing != true
    }
  }

  /// Returns a service with the addresses that the machine resolves: those of the families its publisher has. If the
  /// publisher has moved and both ends have IPv4, only its IPv4 address, as the IPv6 address is the same as before.
  func resolved(_ service: MatterService, to machine: RealMachine) -> MatterService {
    state.withLock { state in
      let there = state[state.publications[service.kind]?.publisher].familiesOff
      var service = service
      service.addresses.removeAll { there.contains($0.family) }
      let others = service.addresses.filter { $0.family == .v4 && $0 != .loopback4 }
      if !others.isEmpty, !state[ObjectIdentifier(machine)].familiesOff.contains(.v4) { service.addresses = others }
      return service
    }
  }

  /// Returns the delay of an announcement sent now to a machine; nil if it is lost.
  /// - Parameter question: as for ``isFound(_:by:question:)``; adds the delay of the question. 0 for an unsolicited
  ///   announcement.
  func announcementDelay(of service: MatterService.Kind, to machine: RealMachine, question: Int) -> Duration? {
    state.withLock { state in
      let finder = ObjectIdentifier(machine)
      guard let publication = state.publications[service], publication.publisher != finder else { return .zero }
      guard let conditions = state[publication.publisher].conditions(toward: state[finder]) else { return .zero }
      var (time, random) = (Duration.zero, SystemRandomSource())
      for _ in 0..<(publication.number < question ? 2 : 1) {
        if conditions.loss.happens(&random) { return nil }
        time += conditions.delay(&random)
      }
      return time
    }
  }
}
