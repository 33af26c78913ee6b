internal import MatterCrypto
internal import MatterProtocol
internal import Runtime
internal import Simulation
internal import Synchronization

/// The networks that the machines of a home in real time are in: what was injected into each machine, who publishes what, and who sends from
/// where. It decides what becomes of a datagram as a ``/Simulation/SimulatedNetwork`` does, at the same two moments: when it is
/// sent, and again when it arrives.
final class RealNetworks: Sendable {
  /// The way from one machine to another; nil: somebody who is none of ours.
  fileprivate struct Link: Hashable {
    let from: ObjectIdentifier?
    let to: ObjectIdentifier
  }

  /// Who publishes a service.
  fileprivate struct Publication {
    let publisher: ObjectIdentifier
    /// Where it stands among all that was announced and asked.
    let number: Int
    /// Whether it was taken back aloud.
    var saidGoodbye = false
  }

  fileprivate struct State {
    /// By machine; nothing is wrong with those that are not named.
    var faults: [ObjectIdentifier: MachineFaults] = [:]
    var publications: [MatterService.Kind: Publication] = [:]
    var lastNumber = 0
    /// Who sends from where.
    var senders: [SocketAddress: ObjectIdentifier] = [:]
    /// The last one of 127.0.0.0/8 that a machine got.
    var lastAddress: UInt32 = 0x7F00_0001
    var names: [ObjectIdentifier: String] = [:]
    /// What they have been given to carry.
    var links: [Link: DatagramLink] = [:]

    subscript(machine: ObjectIdentifier?) -> MachineFaults { machine.flatMap { faults[$0] } ?? MachineFaults() }
  }

  private let state = Mutex(State())
  /// Called for each datagram that does not arrive: the names of its sender and receiver, where they are known, and the reason.
  private let onLoss: @Sendable (String?, String?, LossReason) -> Void

  init(onLoss: @escaping @Sendable (String?, String?, LossReason) -> Void = { _, _, _ in }) { self.onLoss = onLoss }

  // MARK: Faults

  /// - Returns: all that is wrong around the machine now.
  func inject(_ machine: FaultyMachine, _ fault: NetworkFault) -> MachineFaults {
    let id = ObjectIdentifier(machine)
    return state.withLock { state in
      var faults = state[id]
      faults.inject(fault)
      state.faults[id] = faults
      if fault == .heal { state.links = state.links.filter { $0.key.from != id && $0.key.to != id } }
      return faults
    }
  }

  func faults(of machine: FaultyMachine) -> MachineFaults { state.withLock { $0[ObjectIdentifier(machine)] } }

  // MARK: Datagrams

  func sends(from addresses: [SocketAddress], _ machine: FaultyMachine) {
    state.withLock { state in
      for address in addresses { state.senders[address] = ObjectIdentifier(machine) }
      state.names[ObjectIdentifier(machine)] = machine.name
    }
  }

  /// Reports a datagram that did not leave a machine.
  func loses(from machine: FaultyMachine, to destination: SocketAddress) {
    onLoss(machine.name, name(at: destination), destination.ip.isMulticast ? .multicast : .partition)
  }

  /// Reports a datagram that was sent to a machine and did not arrive.
  func loses(from source: SocketAddress, to machine: FaultyMachine, _ reason: LossReason) {
    onLoss(name(at: source), machine.name, reason)
  }

  private func name(at address: SocketAddress) -> String? {
    state.withLock { state in state.senders[address].flatMap { state.names[$0] } }
  }

  /// An address of the loopback interface that no machine of these networks has had: the host has all of 127.0.0.0/8.
  func newAddress() -> IPAddress {
    state.withLock { state in
      state.lastAddress += 1
      return .v4(state.lastAddress)
    }
  }

  /// Whether a machine has addresses of a family.
  func hasAddress(_ machine: FaultyMachine, of family: IPFamily) -> Bool {
    !faults(of: machine).familiesOff.contains(family)
  }

  /// Whether what a machine sends leaves it.
  func leaves(_ machine: FaultyMachine, to destination: IPAddress) -> Bool {
    let faults = faults(of: machine)
    return !faults.isMute && !faults.familiesOff.contains(destination.family)
      && (faults.hasMulticast || !destination.isMulticast)
  }

  /// What becomes of a datagram that was sent to a machine just now.
  /// - Parameters:
  ///   - source: where it comes from.
  ///   - isMulticast: whether it is for a group.
  /// - Returns: in how much time its copies arrive; where it is lost, the reason.
  func arrivals(
    of size: Int, from source: SocketAddress, to machine: FaultyMachine, isMulticast: Bool, at now: Instant
  ) -> (delays: [Duration], loss: LossReason?) {
    state.withLock { state in
      let link = Link(from: state.senders[source], to: ObjectIdentifier(machine))
      let (sender, receiver) = (state[link.from], state[link.to])
      guard !receiver.isDeaf, !receiver.familiesOff.contains(source.ip.family),
        !isMulticast || sender.hasMulticast && receiver.hasMulticast && sender.place == receiver.place
      else { return ([], isMulticast ? .multicast : .partition) }
      guard let conditions = sender.conditions(towards: receiver) else { return ([.zero], nil) }
      let delays = state.links[link, default: DatagramLink()].carry(size, conditions, at: now)
      let isTooLong = conditions.maximumDatagramSize > 0 && size > conditions.maximumDatagramSize
      return (delays, delays.isEmpty ? isTooLong ? .tooLong : .link : nil)
    }
  }

  /// Whether the way is there at the end of it: there may be a cut by then, or an address less. What was cut and is healed is there.
  func reaches(_ machine: FaultyMachine, from source: SocketAddress) -> Bool {
    state.withLock { state in
      let (sender, receiver) = (state[state.senders[source]], state[ObjectIdentifier(machine)])
      return !sender.isMute && !receiver.isDeaf && !receiver.familiesOff.contains(source.ip.family)
    }
  }

  // MARK: Service discovery

  /// A machine announces a service.
  func publishes(_ service: MatterService.Kind, _ machine: FaultyMachine) {
    state.withLock { state in
      state.lastNumber += 1
      state.publications[service] = Publication(publisher: ObjectIdentifier(machine), number: state.lastNumber)
    }
  }

  /// A machine takes a service back, and says so.
  func saysGoodbye(to service: MatterService.Kind) {
    state.withLock { $0.publications[service]?.saidGoodbye = true }
  }

  /// Whether it was said that a service is gone. Where not, who does not know it any more has had its records expire.
  func saidGoodbye(to service: MatterService.Kind) -> Bool {
    state.withLock { $0.publications[service]?.saidGoodbye ?? false }
  }

  /// A machine asks for services.
  /// - Returns: the number of the question.
  func asks() -> Int {
    state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
  }

  /// Whether a machine finds a service by service discovery: over either family, if both have it.
  /// - Parameter question: the number of what the machine asked: what was announced before is found where the question gets there.
  func isFound(_ service: MatterService.Kind, by machine: FaultyMachine, question: Int = 0) -> Bool {
    state.withLock { state in
      let (publication, finder) = (state.publications[service], ObjectIdentifier(machine))
      let (there, here) = (state[publication?.publisher], state[finder])
      guard there.place == here.place else { return false }
      if publication?.publisher == finder { return true }
      let isAsked = publication.map { $0.number < question } ?? false
      return there.isSeen && here.sees && (!isAsked || here.isSeen && there.sees)
        && !there.familiesOff.union(here.familiesOff).isSuperset(of: IPFamily.allCases)
        && there.conditions(towards: here)?.carriesNothing != true
    }
  }

  /// What a machine takes in of a service: the addresses of the families that its publisher has, whatever else is known still. Of
  /// one that has moved it is the IPv4 address alone, if both ends have that family: the IPv6 address is the same as before.
  func told(_ service: MatterService, to machine: FaultyMachine) -> MatterService {
    state.withLock { state in
      let there = state[state.publications[service.kind]?.publisher].familiesOff
      var service = service
      service.addresses.removeAll { there.contains($0.family) }
      let others = service.addresses.filter { $0.family == .v4 && $0 != .loopback4 }
      if !others.isEmpty, !state[ObjectIdentifier(machine)].familiesOff.contains(.v4) { service.addresses = others }
      return service
    }
  }

  /// How much longer news of a service take to a machine, as they are sent now; nil: they get lost.
  /// - Parameter question: as for ``isFound(_:by:question:)``: it takes its way, too. 0: nobody asked.
  func way(of service: MatterService.Kind, to machine: FaultyMachine, question: Int) -> Duration? {
    state.withLock { state in
      let finder = ObjectIdentifier(machine)
      guard let publication = state.publications[service], publication.publisher != finder else { return .zero }
      guard let conditions = state[publication.publisher].conditions(towards: state[finder]) else { return .zero }
      var (time, random) = (Duration.zero, SystemRandomSource())
      for _ in 0..<(publication.number < question ? 2 : 1) {
        if conditions.loss.happens(&random) { return nil }
        time += conditions.delay(&random)
      }
      return time
    }
  }
}
