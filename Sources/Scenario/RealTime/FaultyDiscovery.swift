internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Synchronization

/// Service discovery as one machine has it: it may be out of the others' sight, and they out of its own.
final class FaultyDiscovery: NodeDiscovery {
  private struct Publication {
    var service: MatterService
    let owner: (any EventLoop)?
    let onConflict: (@Sendable (ServiceConflict) -> Void)?
  }

  private struct Search {
    let query: DiscoveryQuery
    let owner: any EventLoop
    let handler: @Sendable (ServiceDiscovery.Event) -> Void
    /// As the discovery beneath knows it; nil while nothing can be seen.
    var browse: ServiceDiscovery.Browse?
    /// What was found.
    var known: [MatterService.Kind: MatterService] = [:]
    /// What is on its way for longer, because some of it was lost: what comes after it takes its place.
    var late: [MatterService.Kind: UInt64] = [:]
  }

  /// How long what can't be found any more is believed: the lifetime of host and service records.
  private static let recordLifetime = TimeAmount.seconds(120)

  private struct State {
    var publications: [MatterService.Kind: Publication] = [:]
    var searches: [UInt64: Search] = [:]
    var lastSearch: UInt64 = 0
    var lastNews: UInt64 = 0
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
  }

  /// Others are in other networks than before, or it is itself: what is found there is told, and what is not found any more
  /// is believed until its records expire.
  func lookAgain() {
    state.withLock { state in
      for (number, search) in state.searches {
        restart(number, &state)
        for kind in search.known.keys where !machine.networks.isFound(kind, by: machine) {
          search.owner.scheduleTask(in: Self.recordLifetime) { [weak self] in self?.expire(kind, number) }
        }
      }
    }
  }

  private func restart(_ number: UInt64, _ state: inout State) {
    guard let search = state.searches[number] else { return }
    if let browse = search.browse { discovery.stop(browse) }
    state.searches[number]?.browse = state.sees ? start(search, number) : nil
  }

  private func start(_ search: Search, _ number: UInt64) -> ServiceDiscovery.Browse {
    // Told on the owner's loop, and never while we are locked.
    discovery.browse(search.query, on: search.owner) { [weak self, owner = search.owner] event in
      owner.execute { [weak self] in self?.hear(event, number, on: owner) }
    }
  }

  /// What comes over a slow link is heard later, and what one loses still later: an announcement comes with one of its repetitions, after 1 s, 3 s, 7 s and so on; a
  /// goodbye, which is said once, does not, and what it was about is believed until its records expire.
  private func hear(_ event: ServiceDiscovery.Event, _ number: UInt64, on owner: any EventLoop) {
    let kind: MatterService.Kind
    var delay: TimeAmount
    switch event {
    case .found(let service):
      kind = service.kind
      delay = .nanoseconds(machine.networks.delayOfPacket(about: kind, to: machine).nanoseconds)
      var pause = TimeAmount.seconds(1)
      while delay < .hours(1), machine.networks.losesPacket(about: kind, to: machine) {
        delay = delay + pause
        pause = pause * 2
      }
    case .lost(let service):
      kind = service.kind
      delay =
        machine.networks.losesPacket(about: kind, to: machine)
        ? Self.recordLifetime
        : .nanoseconds(machine.networks.delayOfPacket(about: kind, to: machine).nanoseconds)
    }
    let news = state.withLock { state in
      state.lastNews += 1
      state.searches[number]?.late[kind] = state.lastNews
      return state.lastNews
    }
    guard delay > .zero else { return take(event, number) }
    owner.scheduleTask(in: delay) { [weak self] in
      guard let self, state.withLock({ $0.searches[number]?.late[kind] }) == news else { return }
      take(event, number)
    }
  }

  private func take(_ event: ServiceDiscovery.Event, _ number: UInt64) {
    let handler = state.withLock { state -> (@Sendable (ServiceDiscovery.Event) -> Void)? in
      guard let search = state.searches[number] else { return nil }
      switch event {
      case .found(let service):
        guard machine.networks.isFound(service.kind, by: machine) else { return nil }
        state.searches[number]?.known[service.kind] = service
      case .lost(let service):
        guard state.searches[number]?.known.removeValue(forKey: service.kind) != nil else { return nil }
      }
      return search.handler
    }
    handler?(event)
  }

  /// Forgets what could not be found for so long, unless it can by now.
  private func expire(_ kind: MatterService.Kind, _ number: UInt64) {
    guard !machine.networks.isFound(kind, by: machine),
      let service = state.withLock({ $0.searches[number]?.known[kind] })
    else { return }
    take(.lost(service), number)
  }

  /// A node is reached at another port.
  func move(from old: UInt16, to new: UInt16) {
    state.withLock { state in
      for (kind, publication) in state.publications where publication.service.port == old {
        state.publications[kind]?.service.port = new
        if let moved = state.publications[kind], state.isSeen { announce(moved, state) }
      }
    }
  }

  private func announce(_ publication: Publication, _ state: borrowing State) {
    var service = publication.service
    if !state.familiesOff.isEmpty, service.addresses.isEmpty {
      // The loopback interface has one address of either family.
      service.addresses = [.loopback6, .loopback4].filter { !state.familiesOff.contains($0.family) }
    }
    discovery.publish(service, on: publication.owner, onConflict: publication.onConflict)
  }

  // MARK: NodeDiscovery

  func publish(
    _ service: MatterService, on owner: (any EventLoop)?, onConflict: (@Sendable (ServiceConflict) -> Void)?
  ) {
    guard machine.takesEffect() else { return }
    state.withLock { state in
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
      discovery.withdraw(service, silently: silently || !takesEffect)
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
      state.searches[number] = Search(query: query, owner: owner, handler: handler, browse: nil)
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
