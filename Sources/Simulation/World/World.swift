public import MatterProtocol
internal import Runtime
internal import Synchronization

/// A simulated home on virtual time: hosts with engines, and a network and service discovery between them.
///
/// Everything happens in ``step()``, which advances to the next event. The same seed and the same calls give the same
/// ``trace``, byte for byte, in every process.
///
/// Not thread-safe: a world is confined to the thread that runs it.
public final class World {
  /// The seed of all random draws.
  public let seed: UInt64
  let clock = SimulatedClock()
  /// The links between hosts and the datagrams in flight.
  public var network: SimulatedNetwork
  /// The published services and the queries for them.
  public var discovery = SimulatedDiscovery()
  public var trace = Trace()
  /// The number of steps without time advancing that counts as a livelock.
  public var maximumStepsWithoutProgress = 10_000
  /// The maximum number of effects of an engine at one time.
  public var maximumEffects = 100_000

  private var members: [any WorldMember] = []
  private var schedule = Schedule()
  private var actions = EventHeap<Action>()
  private var nextAction = 0
  private var stepsWithoutProgress = 0
  private var conditions: [Condition] = []
  /// Observers of the time of the next event.
  private var nextEventObservers: [(Instant?) -> Void] = []
  /// Pending operations that are not conditions, by number.
  private var named: [Int: String] = [:]
  private var lastNamed = 0

  /// A scheduled action.
  private struct Action: Comparable, Sendable {
    let at: Instant
    let sequence: Int
    let body: Confined<(World) -> Void>

    static func < (left: Self, right: Self) -> Bool { (left.at, left.sequence) < (right.at, right.sequence) }
    static func == (left: Self, right: Self) -> Bool { left.sequence == right.sequence }
  }

  /// A pending wait for a condition.
  private struct Condition {
    let number: Int
    let what: String
    let deadline: Instant
    let isMet: (World) -> Bool
    let then: (Bool) -> Void
  }
  var fault: SimulationError?
  /// Called at the end of each step, to check invariants.
  public var afterStep: (() -> Void)?
  /// Called for each lost datagram.
  public var onLoss: ((LostDatagram) -> Void)?
  let escape = EscapeFlag()
  /// The draws of all sources: hosts, machines and the network.
  let draws: DrawTally

  public init(seed: UInt64) {
    self.seed = seed
    draws = DrawTally()
    network = SimulatedNetwork(seed: seed, draws)
  }

  /// The present virtual time.
  public var now: Instant { clock.now }

  // MARK: Hosts

  /// Adds a host and starts its engine.
  /// - Parameters:
  ///   - describe: describes an event for the trace; must be the same in every process.
  ///   - boot: creates the engine, at the start and whenever power is restored.
  public func add<E: Engine>(
    _ name: String, address: SocketAddress? = nil, describe: ((E.Event) -> String)? = nil,
    boot: @escaping (Boot) -> E
  ) -> SimulatedHost<E> {
    let id = HostID(members.count)
    let host = SimulatedHost(
      id: id, name: name, address: address ?? Self.address(of: id), seed: memberSeed(id),
      world: self, describe: describe, boot: boot)
    members.append(host)
    schedule.add()
    host.powerOn()
    discovery.refresh(&network, at: now)
    return host
  }

  /// Adds a machine, for code that runs on a `Machine`.
  /// - Parameter addresses: the addresses; nil for one of each family, IPv6 first.
  public func addMachine(
    _ name: String, addresses: [IPAddress]? = nil, clock: MachineClock = MachineClock()
  ) -> SimulatedMachine {
    let id = HostID(members.count)
    let machine = SimulatedMachine(
      id: id, name: name, addresses: addresses ?? [Self.address(of: id).ip, Self.address4(of: id)],
      seed: memberSeed(id), clock: clock,
      world: self)
    members.append(machine)
    schedule.add()
    return machine
  }

  /// A different seed for each host.
  private func memberSeed(_ id: HostID) -> UInt64 { seed &* 0x1_0000_01B3 &+ UInt64(id.rawValue) }

  /// A unique local address with Matter's port.
  static func address(of id: HostID) -> SocketAddress {
    SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: UInt64(id.rawValue) + 1, scope: 0), port: 5540)
  }

  /// A private address, for up to 16 million hosts.
  private static func address4(of id: HostID) -> IPAddress {
    .v4(0x0A00_0001 + UInt32(truncatingIfNeeded: id.rawValue))
  }

  /// Schedules an action.
  public func at(_ instant: Instant, _ body: @escaping (World) -> Void) {
    actions.insert(Action(at: max(instant, now), sequence: nextAction, body: Confined(body)))
    nextAction += 1
  }

  /// Calls `then` once, when a condition holds after a step, or at the deadline.
  /// - Parameter number: identifies the wait for ``cancelWait(_:)``.
  func wait(
    for what: String, until deadline: Instant, number: Int, _ isMet: @escaping (World) -> Bool,
    _ then: @escaping (Bool) -> Void
  ) {
    if isMet(self) { return then(true) }
    conditions.append(Condition(number: number, what: what, deadline: deadline, isMet: isMet, then: then))
  }

  /// Returns a number for ``wait(for:until:number:_:_:)``.
  func nextWait() -> Int {
    lastNamed += 1
    return lastNamed
  }

  /// Ends a wait with the result false.
  func cancelWait(_ number: Int) {
    guard let index = conditions.firstIndex(where: { $0.number == number }) else { return }
    conditions.remove(at: index).then(false)
  }

  /// The pending operations, the oldest first.
  var waits: [String] { named.sorted { $0.key < $1.key }.map(\.value) + conditions.map(\.what) }

  /// Registers a pending operation.
  /// - Returns: the number for ``endWait(_:)``.
  func beginWait(_ what: String) -> Int {
    lastNamed += 1
    named[lastNamed] = what
    return lastNamed
  }

  func endWait(_ number: Int) { named[number] = nil }

  /// Ends all waits for conditions with the result false.
  func cancelAllWaits() {
    let over = conditions
    conditions = []
    for condition in over { condition.then(false) }
  }

  /// Resets the livelock detection after its cause was stopped.
  func resetLivelock() { (stepsWithoutProgress, fault) = (0, nil) }

  /// Cuts the power of all hosts and machines except one.
  func cutPower(exceptOf survivor: HostID) { for member in members where member.id != survivor { member.cutPower() } }

  /// Returns whether datagrams of a size can get from one host to the other, see
  /// ``SimulatedNetwork/carries(_:from:to:)``. Does not copy the network.
  public func carries(_ size: Int? = nil, from: HostID, to: HostID) -> Bool {
    network.carries(size, from: from, to: to)
  }

  /// Adds a note to the trace.
  public func note(_ text: String) { trace.add(.note, nil, at: now, text) }

  // MARK: Time

  /// The time of the next event; nil if none is left.
  var nextWakeUp: Instant? {
    updateDeadlines()
    var next = Instant?.earlier(network.nextArrival, discovery.nextDeadline)
    next = .earlier(next, actions.first?.at)
    for condition in conditions { next = .earlier(next, condition.deadline) }
    return .earlier(next, schedule.first)
  }

  /// Marks the deadline of a member as changed.
  func touch(_ id: HostID) { schedule.touch(id.rawValue) }

  /// Updates the changed deadlines.
  private func updateDeadlines() {
    if escape.isRaised.exchange(false, ordering: .acquiringAndReleasing) {
      for index in members.indices { schedule.touch(index) }
    }
    schedule.update { members[$0].nextDeadline }
  }

  /// Advances to the next event and processes it.
  /// - Returns: false if no event is left.
  /// - Throws: ``SimulationError/livelock(at:steps:host:)`` after too many steps without time advancing.
  @discardableResult
  public func step() throws(SimulationError) -> Bool { try step(before: nil) }

  /// - Parameter end: the time limit; nil for none.
  func step(before end: Instant?) throws(SimulationError) -> Bool {
    try throwFault()
    // Services and partitions may have changed since the last step.
    refreshDiscovery()
    notifyNextEventObservers()
    guard let next = nextWakeUp else { return false }
    if let end, next > end {
      clock.advance(to: end)
      throw .timedOut(at: end, waiting: waits)
    }
    if clock.advance(to: next) { stepsWithoutProgress = 0 } else { stepsWithoutProgress += 1 }
    guard stepsWithoutProgress < maximumStepsWithoutProgress else {
      let busy = members.first { $0.nextDeadline.map { $0 <= now } ?? false }
      throw .livelock(at: now, steps: stepsWithoutProgress, host: busy?.name ?? "the network")
    }
    runActions()
    deliverDatagrams()
    refreshDiscovery()
    deliverServices()
    updateDeadlines()
    for index in schedule.takeDue(at: now) where members[index].nextDeadline.map({ $0 <= now }) ?? false {
      members[index].advance()
    }
    checkConditions()
    afterStep?()
    trace.add(draws: draws.count, draws.digest, at: now)
    try throwFault()
    return true
  }

  /// Calls `then` once with the time of the next event, as soon as the consequences of the present step are known; nil
  /// if none is left.
  func onNextEvent(_ then: @escaping (Instant?) -> Void) { nextEventObservers.append(then) }

  private func notifyNextEventObservers() {
    if nextEventObservers.isEmpty { return }
    let (next, observers) = (nextWakeUp, nextEventObservers)
    nextEventObservers = []
    for observer in observers { observer(next) }
  }

  private func throwFault() throws(SimulationError) {
    guard let fault else { return }
    self.fault = nil
    throw fault
  }

  /// Throws if no event can resume the code on a machine, as far as can be determined: it had no event for longer than
  /// the timeout and has no timer, no action is scheduled, and no member has a timer longer than the timeout.
  func checkProgress(of machine: SimulatedMachine, _ timeout: Duration) throws(SimulationError) {
    let last = machine.eventLoop.lastWork
    guard now - last > timeout, machine.eventLoop.nextDeadline == nil, actions.isEmpty, conditions.isEmpty,
      !members.contains(where: { $0.hasTimer(longerThan: timeout) })
    else { return }
    throw .noProgress(at: now, since: last, waiting: waits)
  }

  /// Runs until a time, to which the clock is set at the end.
  public func run(until end: Instant) throws(SimulationError) {
    _ = try run(until: end) { false }
  }

  /// Runs for a duration.
  /// - Throws: ``SimulationError/livelock(at:steps:host:)`` if time does not advance.
  public func run(for time: Duration) throws(SimulationError) { try run(until: now + time) }

  /// Runs until the condition holds, at most for `time`.
  /// - Returns: whether the condition holds.
  @discardableResult
  public func run(for time: Duration, until condition: () -> Bool) throws(SimulationError) -> Bool {
    try run(until: now + time, condition)
  }

  private func run(until end: Instant, _ condition: () -> Bool) throws(SimulationError) -> Bool {
    if condition() { return true }
    try throwFault()
    while true {
      // A change of the network may remove the next event.
      refreshDiscovery()
      guard let next = nextWakeUp, next <= end else { break }
      try step()
      if condition() { return true }
    }
    clock.advance(to: end)
    return false
  }

  // MARK: Parts of a step

  private func refreshDiscovery() {
    if discovery.isDue(networkVersion: network.version) { discovery.refresh(&network, at: now) }
  }

  private func runActions() {
    // Actions added for the present time run in the next step.
    let end = nextAction
    while let first = actions.first, first.at <= now, first.sequence < end {
      _ = actions.removeFirst()
      first.body.value(self)
    }
  }

  private func checkConditions() {
    if conditions.isEmpty { return }
    var left: [Condition] = []
    var over: [(Condition, Bool)] = []
    for condition in conditions {
      if condition.isMet(self) {
        over.append((condition, true))
      } else if condition.deadline <= now {
        over.append((condition, false))
      } else {
        left.append(condition)
      }
    }
    conditions = left
    for (condition, isMet) in over { condition.then(isMet) }
  }

  private func deliverDatagrams() {
    // Replies with the present arrival time are delivered in the next step, otherwise this loop might not end.
    let end = network.nextSequence
    while let datagram = network.nextDatagram(at: now, before: end) {
      let receiver = members[datagram.receiver.rawValue]
      // The receiver may have lost its power, its address or its link while the datagram was in flight.
      if let reason = receiver.isPowered ? network.lossOnArrival(of: datagram) : .powerOff {
        _ = network.lose(datagram.packet, reason)
        reportLoss(from: datagram.sender, to: receiver.id, reason)
        trace.add(.lost, receiver.id, at: now, packet: datagram.packet, bytes: datagram.bytes, nil, reason)
      } else {
        trace.add(.received, receiver.id, at: now, packet: datagram.packet, bytes: datagram.bytes, datagram.from)
        receiver.handle(.datagram(datagram.bytes, from: datagram.from), to: datagram.destination)
      }
    }
  }

  /// Reports a datagram that was lost on sending.
  func reportLoss(from sender: HostID, to destination: SocketAddress, _ reason: LossReason) {
    reportLoss(from: sender, to: network.host(at: destination), reason)
  }

  private func reportLoss(from sender: HostID, to receiver: HostID?, _ reason: LossReason) {
    guard let onLoss else { return }
    onLoss(
      LostDatagram(
        at: now, sender: members[sender.rawValue].name, receiver: receiver.map { members[$0.rawValue].name },
        reason: reason))
  }

  private func deliverServices() {
    guard let due = discovery.nextDeadline, due <= now else { return }
    for (host, event) in discovery.receive(until: now, network) {
      let member = members[host.rawValue]
      guard member.isPowered else { continue }
      switch event {
      case .found(let service):
        trace.add(.found, host, at: now, StableDescription.of(service))
        member.handle(.serviceFound(service), to: nil)
      case .lost(let service):
        trace.add(.disappeared, host, at: now, StableDescription.of(service.kind))
        member.handle(.serviceLost(service), to: nil)
      }
    }
  }
}
