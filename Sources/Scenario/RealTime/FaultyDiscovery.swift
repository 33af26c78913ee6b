internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Simulation
internal import Synchronization

/// Service discovery as one machine has it: it may be out of the others' sight, and they out of its own.
final class FaultyDiscovery: NodeDiscovery {
  private struct Publication {
    var service: MatterService
    let owner: (any EventLoop)?
    let onConflict: (@Sendable (ServiceConflict) -> Void)?
  }

  private struct Search {
    typealias Handler = @Sendable (ServiceDiscovery.Event) -> Void

    let query: DiscoveryQuery
    /// As the networks count it.
    let question: Int
    let owner: any EventLoop
    let handler: Handler
    /// As the discovery beneath knows it; nil while nothing can be seen.
    var browse: ServiceDiscovery.Browse?
    var services: [MatterService.Kind: Sighting] = [:]
  }

  /// One service, as one search knows it.
  private struct Sighting {
    /// What the discovery beneath says of it.
    var published: MatterService?
    /// How often it said so.
    var announcements = 0
    var heard = HeardService()
    var timer: Scheduled<Void>?
  }

  private struct State {
    var publications: [MatterService.Kind: Publication] = [:]
    var searches: [UInt64: Search] = [:]
    var lastSearch: UInt64 = 0
    var isSeen = true
    var sees = true
    var familiesOff: Set<IPFamily> = []
    var isOpen = true
  }

  private let discovery: any NodeDiscovery
  private let machine: FaultyMachine
  private let state = Mutex(State())

  init(_ discovery: any NodeDiscovery, _ machine: FaultyMachine) {
    (self.discovery, self.machine) = (discovery, machine)
  }

  var isOpen: Bool { state.withLock(\.isOpen) }

  // MARK: Faults

  /// Hides what it publishes, or shows it; stops its searches, or begins them anew. Nobody is told goodbye: what others know of
  /// it they believe until its records expire.
  func follow(_ faults: MachineFaults) {
    state.withLock { state in
      let (wasSeen, oldFamilies) = (state.isSeen, state.familiesOff)
      (state.isSeen, state.familiesOff) = (faults.isSeen, faults.familiesOff)
      for publication in state.publications.values {
        if faults.isSeen {
          if !wasSeen || oldFamilies != faults.familiesOff { announce(publication, state) }
        } else if wasSeen {
          discovery.withdraw(publication.service, silently: true)
        }
      }
      guard state.sees != faults.sees else { return }
      state.sees = faults.sees
      for number in state.searches.keys { restart(number, &state) }
    }
    lookAgain()
  }

  /// Others are in other networks than before, or it is itself: what is found there is told, and what is not found any more
  /// is believed until its records expire.
  func lookAgain() {
    for (number, search) in state.withLock(\.searches) {
      search.owner.execute { [weak self] in for kind in search.services.keys { self?.look(kind, number) } }
    }
  }

  /// Begins a search anew, or ends it where nothing can be seen: what was seen has to be seen again.
  private func restart(_ number: UInt64, _ state: inout State) {
    guard let search = state.searches[number] else { return }
    if let browse = search.browse { discovery.stop(browse) }
    for kind in search.services.keys { state.searches[number]?.services[kind]?.published = nil }
    state.searches[number]?.browse = state.sees ? start(search, number) : nil
  }

  private func start(_ search: Search, _ number: UInt64) -> ServiceDiscovery.Browse {
    // Told on the owner's loop, and never while we are locked.
    discovery.browse(search.query, on: search.owner) { [weak self, owner = search.owner] event in
      owner.execute { [weak self] in
        switch event {
        case .found(let service):
          self?.look(service.kind, number) {
            $0.published = service
            $0.announcements += 1
          }
        case .lost(let service): self?.look(service.kind, number, isLost: true) { $0.published = nil }
        }
      }
    }
  }

  /// Looks how it stands with a service now, tells what is heard of it, and comes back when there is more to hear. Belongs to the
  /// search's loop.
  /// - Parameters:
  ///   - isLost: whether the discovery beneath does not know it any more, which may be for either of two reasons.
  ///   - change: what is new about it.
  private func look(
    _ kind: MatterService.Kind, _ number: UInt64, isLost: Bool = false,
    _ change: (inout Sighting) -> Void = { _ in }
  ) {
    let (events, handler) = state.withLock { state -> ([ServiceDiscovery.Event], Search.Handler?) in
      guard let search = state.searches[number] else { return ([], nil) }
      var sighting = search.services[kind] ?? Sighting()
      change(&sighting)
      let now = Instant(nanoseconds: Int64(clamping: search.owner.now.uptimeNanoseconds))
      let (networks, question) = (machine.networks, search.question)
      let isFound = state.sees && networks.isFound(kind, by: machine, question: question)
      var events = sighting.heard.hear(until: now, hasWay: isFound)
      if isLost, isFound {
        if networks.saidGoodbye(to: kind) {
          sighting.heard.goodbye(at: now) { [machine] in networks.way(of: kind, to: machine, question: 0) }
        } else {
          sighting.heard.expire(at: now)
        }
      }
      let published = isFound ? sighting.published.map { networks.told($0, to: machine) } : nil
      sighting.heard.look(published, announced: sighting.announcements, at: now) { [machine] in
        networks.way(of: kind, to: machine, question: question)
      }
      events += sighting.heard.hear(until: now, hasWay: isFound)
      sighting.timer?.cancel()
      sighting.timer = sighting.heard.nextDeadline.map { next in
        search.owner.scheduleTask(in: .nanoseconds((next - now).nanoseconds)) { [weak self] in self?.look(kind, number)
        }
      }
      state.searches[number]?.services[kind] = sighting
      return (events, search.handler)
    }
    for event in events { handler?(event) }
  }

  /// A node is reached at another port, and at the machine's other address.
  func move(from old: UInt16, to new: UInt16) {
    state.withLock { state in
      for (kind, publication) in state.publications where publication.service.port == old {
        machine.networks.publishes(kind, machine)
        state.publications[kind]?.service.port = new
        if let moved = state.publications[kind], state.isSeen { announce(moved, state) }
      }
    }
  }

  private func announce(_ publication: Publication, _ state: borrowing State) {
    var service = publication.service
    if service.addresses.isEmpty, machine.address4 != .loopback4 || !state.familiesOff.isEmpty {
      service.addresses = [.loopback6, machine.address4].filter { !state.familiesOff.contains($0.family) }
    }
    discovery.publish(service, on: publication.owner, onConflict: publication.onConflict)
  }

  // MARK: NodeDiscovery

  func publish(
    _ service: MatterService, on owner: (any EventLoop)?, onConflict: (@Sendable (ServiceConflict) -> Void)?
  ) {
    guard machine.takesEffect() else { return }
    var service = service
    // The node knows the port that it began with.
    service.port = machine.port(ofWhoHad: service.port)
    state.withLock { [service] state in
      machine.networks.publishes(service.kind, machine)
      let publication = Publication(service: service, owner: owner, onConflict: onConflict)
      state.publications[service.kind] = publication
      if state.isSeen { announce(publication, state) }
    }
  }

  func withdraw(_ service: MatterService, silently: Bool) {
    let takesEffect = machine.takesEffect()
    state.withLock { state in
      guard state.publications.removeValue(forKey: service.kind) != nil, state.isSeen else { return }
      let saysGoodbye = takesEffect && !silently
      if saysGoodbye { machine.networks.saysGoodbye(to: service.kind) }
      discovery.withdraw(service, silently: !saysGoodbye)
    }
  }

  func browse(
    _ query: DiscoveryQuery, on owner: any EventLoop, _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
  ) -> ServiceDiscovery.Browse {
    let takesEffect = machine.takesEffect()
    return state.withLock { state in
      state.lastSearch += 1
      let number = state.lastSearch
      guard takesEffect else { return ServiceDiscovery.Browse(number: number) }
      state.searches[number] = Search(
        query: query, question: machine.networks.asks(), owner: owner, handler: handler)
      restart(number, &state)
      return ServiceDiscovery.Browse(number: state.lastSearch)
    }
  }

  func stop(_ browse: ServiceDiscovery.Browse) {
    let isLast = state.withLock { state in
      guard let search = state.searches.removeValue(forKey: browse.number) else { return false }
      if let browse = search.browse { discovery.stop(browse) }
      return !state.searches.values.contains { $0.query == search.query }
    }
    if isLast { _ = machine.takesEffect() }
  }

  func stop() -> EventLoopFuture<Void> {
    state.withLock { state in
      state.isOpen = false
      return discovery.stop()
    }
  }
}
