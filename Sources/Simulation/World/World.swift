public import MatterProtocol
internal import Runtime
internal import Synchronization

/// A simulated home: hosts with engines, a network and service discovery between them, on virtual time.
///
/// Nothing happens but in ``step()``, which jumps to whatever is due next. The same seed and the same calls give the same
/// ``trace``, byte for byte, in each process.
///
/// It is not thread-safe: a world belongs to whoever runs it.
public final class World {
  /// What everything that is drawn in it is drawn from.
  public let seed: UInt64
  public internal(set) var clock = SimulatedClock()
  /// The links between hosts, and the datagrams on their way.
  public var network: SimulatedNetwork
  /// The services that are announced, and who looks for them.
  public var discovery = SimulatedDiscovery()
  public var trace = Trace()
  /// How many steps may be made while time stands still, before it is called a livelock.
  public var maximumStepsWithoutProgress = 10_000
  /// How many effects an engine may have at one time.
  public var maximumEffects = 100_000

  private var members: [any WorldMember] = []
  private var schedule = Schedule()
  private var actions = EventHeap<Action>()
  private var nextAction = 0
  private var stepsWithoutProgress = 0
  private var conditions: [Condition] = []
  /// Those who want to know when something happens next.
  private var curious: [(Instant?) -> Void] = []
  /// What somebody waits for who is not among the conditions, by number.
  private var named: [Int: String] = [:]
  private var lastNamed = 0

  /// What is to be done at a time.
  private struct Action: Comparable, Sendable {
    let at: Instant
    let sequence: Int
    let body: Confined<(World) -> Void>

    static func < (left: Self, right: Self) -> Bool { (left.at, left.sequence) < (right.at, right.sequence) }
    static func == (left: Self, right: Self) -> Bool { left.sequence == right.sequence }
  }

  /// Somebody who waits.
  private struct Condition {
    let number: Int
    let what: String
    let deadline: Instant
    let isMet: (World) -> Bool
    let then: (Bool) -> Void
  }
  var fault: SimulationError?
  /// Called at the end of each step, for whoever looks at what must not happen even for a moment.
  public var afterStep: (() -> Void)?
  /// Called for each datagram that does not arrive.
  public var onLoss: ((LostDatagram) -> Void)?
  let escape = EscapeFlag()
  /// What the sources of hosts, of machines and of the network drew.
  let draws: DrawTally

  public init(seed: UInt64) {
    self.seed = seed
    draws = DrawTally()
    network = SimulatedNetwork(seed: seed, draws)
  }

  /// Where time stands.
  public var now: Instant { clock.now }

  // MARK: Hosts

  /// Adds a host and starts its engine.
  /// - Parameters:
  ///   - describe: makes of an event what the trace has of it; must be the same in each process.
  ///   - boot: makes the engine, at the start and again whenever power comes back.
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

  /// Adds a machine, for whatever runs on a ``Machine``.
  /// - Parameter addresses: nil: one of its own of either family, IPv6 first.
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

  /// Another one for each host.
  private func memberSeed(_ id: HostID) -> UInt64 { seed &* 0x1_0000_01B3 &+ UInt64(id.rawValue) }

  /// A unique local address, and Matter's port.
  static func address(of id: HostID) -> SocketAddress {
    SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: UInt64(id.rawValue) + 1, scope: 0), port: 5540)
  }

  /// A private address: there is one for each of 16 million hosts.
  private static func address4(of id: HostID) -> IPAddress {
    .v4(0x0A00_0001 + UInt32(truncatingIfNeeded: id.rawValue))
  }

  /// Does something at a time to come.
  public func at(_ instant: Instant, _ body: @escaping (World) -> Void) {
    actions.insert(Action(at: max(instant, now), sequence: nextAction, body: Confined(body)))
    nextAction += 1
  }

  /// Calls back once, when a condition holds after a step, or at the end of the time.
  /// - Parameter number: to end the wait by.
  func wait(
    for what: String, until deadline: Instant, number: Int, _ isMet: @escaping (World) -> Bool,
    _ then: @escaping (Bool) -> Void
  ) {
    if isMet(self) { return then(true) }
    conditions.append(Condition(number: number, what: what, deadline: deadline, isMet: isMet, then: then))
  }

  /// A number for ``wait(for:until:number:_:_:)``.
  func nextWait() -> Int {
    lastNamed += 1
    return lastNamed
  }

  /// Ends a wait: whoever waited is told that it did not come.
  func cancelWait(_ number: Int) {
    guard let index = conditions.firstIndex(where: { $0.number == number }) else { return }
    conditions.remove(at: index).then(false)
  }

  /// What is waited for: what has been waited for the longest comes first.
  public var waits: [String] { named.sorted { $0.key < $1.key }.map(\.value) + conditions.map(\.what) }

  /// Somebody begins to wait.
  /// - Returns: the number to end it by.
  func beginWait(_ what: String) -> Int {
    lastNamed += 1
    named[lastNamed] = what
    return lastNamed
  }

  func endWait(_ number: Int) { named[number] = nil }

  /// Whoever waits for a condition does so no longer, and is told that it did not come.
  func giveUpWaiting() {
    let over = conditions
    conditions = []
    for condition in over { condition.then(false) }
  }

  /// Time stood still for too long, and what kept it so has been ended.
  func forgetLivelock() { (stepsWithoutProgress, fault) = (0, nil) }

  /// Cuts the power of all hosts and machines but one.
  func cutPower(exceptOf survivor: HostID) { for member in members where member.id != survivor { member.cutPower() } }

  /// Leaves a note in the trace.
  public func note(_ text: String) { trace.add(.note, nil, at: now, text) }

  // MARK: Time

  /// When something happens next, nil if nothing ever will.
  public var nextWakeUp: Instant? {
    settle()
    var next = Instant?.earlier(network.nextArrival, discovery.nextDeadline)
    next = .earlier(next, actions.first?.at)
    for condition in conditions { next = .earlier(next, condition.deadline) }
    return .earlier(next, schedule.first)
  }

  /// A member may have another deadline than before.
  func touch(_ id: HostID) { schedule.touch(id.rawValue) }

  /// Asks those for their deadlines who may have another one.
  private func settle() {
    if escape.isRaised.exchange(false, ordering: .acquiringAndReleasing) {
      for index in members.indices { schedule.touch(index) }
    }
    while let index = schedule.nextTouched() { schedule.set(members[index].nextDeadline, of: index) }
  }

  /// Jumps to what happens next, and lets it happen.
  /// - Returns: false if nothing is left to happen.
  /// - Throws: ``SimulationError/livelock(at:steps:host:)`` if time stands still for too long.
  @discardableResult
  public func step() throws(SimulationError) -> Bool { try step(before: nil) }

  /// - Parameter end: when the time is over; nil: it never is.
  func step(before end: Instant?) throws(SimulationError) -> Bool {
    try throwFault()
    // Hosts may have been told something since the last step, and partitions may have changed.
    refreshDiscovery()
    tellNext()
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
    settle()
    for index in schedule.takeDue(at: now) where members[index].nextDeadline.map({ $0 <= now }) ?? false {
      members[index].advance()
    }
    lookAtConditions()
    afterStep?()
    trace.add(draws: draws.count, draws.digest, at: now)
    try throwFault()
    return true
  }

  /// Tells when something happens next, once: as soon as all is known that comes of what happens now. Nil: nothing ever will.
  func tellNext(_ then: @escaping (Instant?) -> Void) { curious.append(then) }

  private func tellNext() {
    if curious.isEmpty { return }
    let (next, told) = (nextWakeUp, curious)
    curious = []
    for tell in told { tell(next) }
  }

  private func throwFault() throws(SimulationError) {
    guard let fault else { return }
    self.fault = nil
    throw fault
  }

  /// Throws where the code on a machine waits in vain, as far as can be told: nothing has happened to it for longer than its
  /// timeout, it has no timer, nothing is to be done at a time to come, and no timer of anybody waits that is longer than that.
  func checkProgress(of machine: SimulatedMachine, _ timeout: Duration) throws(SimulationError) {
    let last = machine.eventLoop.lastWork
    guard now - last > timeout, machine.eventLoop.nextDeadline == nil, actions.isEmpty, conditions.isEmpty,
      !members.contains(where: { $0.hasTimer(longerThan: timeout) })
    else { return }
    throw .noProgress(at: now, since: last, waiting: waits)
  }

  /// Runs until this time; the clock stands there then.
  public func run(until end: Instant) throws(SimulationError) {
    _ = try run(until: end) { false }
  }

  /// Lets time go on by so much.
  /// - Throws: ``SimulationError/livelock(at:steps:host:)`` where it does not go on.
  public func run(for time: Duration) throws(SimulationError) { try run(until: now + time) }

  /// Runs until the condition holds, at most for `time`.
  /// - Returns: whether it does.
  @discardableResult
  public func run(for time: Duration, until condition: () -> Bool) throws(SimulationError) -> Bool {
    try run(until: now + time, condition)
  }

  private func run(until end: Instant, _ condition: () -> Bool) throws(SimulationError) -> Bool {
    if condition() { return true }
    try throwFault()
    while true {
      // What was to happen may not be to happen any more.
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
    // What they add for now comes in the next step.
    let end = nextAction
    while let first = actions.first, first.at <= now, first.sequence < end {
      _ = actions.removeFirst()
      first.body.value(self)
    }
  }

  private func lookAtConditions() {
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
    // Answers that are there at once, where nothing takes any time, come in the next step: else there would be no end of it.
    let end = network.nextSequence
    while let datagram = network.nextDatagram(at: now, before: end) {
      let receiver = members[datagram.receiver.rawValue]
      // It may have lost its power or its address, or the way there, while this was on its way.
      let reason: LossReason? =
        if !receiver.isPowered {
          .powerOff
        } else if !network.isConnected(datagram.sender, to: datagram.receiver) {
          .partition
        } else if !network.isThere(receiver.id, at: datagram.destination) {
          .noSuchAddress
        } else {
          nil
        }
      if let reason {
        _ = network.lose(datagram.packet, reason)
        reportLoss(from: datagram.sender, to: receiver.id, reason)
        trace.add(.lost, receiver.id, at: now, packet: datagram.packet, bytes: datagram.bytes, nil, reason)
      } else {
        trace.add(.received, receiver.id, at: now, packet: datagram.packet, bytes: datagram.bytes, datagram.from)
        receiver.take(.datagram(datagram.bytes, from: datagram.from), to: datagram.destination)
      }
    }
  }

  /// Reports a datagram that its sender could not get away.
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
    for (host, event) in discovery.hear(until: now, network) {
      let member = members[host.rawValue]
      guard member.isPowered else { continue }
      switch event {
      case .found(let service):
        trace.add(.found, host, at: now, StableDescription.of(service))
        member.take(.serviceFound(service), to: nil)
      case .lost(let service):
        trace.add(.disappeared, host, at: now, StableDescription.of(service.kind))
        member.take(.serviceLost(service), to: nil)
      }
    }
  }
}
