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
    /// What can't be found any more, each since the moment that has this number.
    var doubts: [MatterService.Kind: UInt64] = [:]
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
  func lookAgain() { state.withLock { state in for number in state.searches.keys { restart(number, &state) } } }

  private func restart(_ number: UInt64, _ state: inout State) {
    guard let search = state.searches[number] else { return }
    if let browse = search.browse { discovery.stop(browse) }
    for kind in search.known.keys {
      if state.sees, machine.networks.isFound(kind, by: machine) {
        state.searches[number]?.doubts[kind] = nil
      } else if search.doubts[kind] == nil {
        state.lastNews += 1
        let doubt = state.lastNews
        state.searches[number]?.doubts[kind] = doubt
        search.owner.scheduleTask(in: Self.recordLifetime) { [weak self] in self?.expire(kind, doubt, number) }
      }
    }
    state.searches[number]?.browse = state.sees ? start(search, number) : nil
  }

  private func start(_ search: Search, _ number: UInt64) -> ServiceDiscovery.Browse {
    // Told on the owner's loop, and never while we are locked.
    discovery.browse(search.query, on: search.owner) { [weak self, owner = search.owner] event in
      owner.execute { [weak self] in self?.hear(event, number, on: owner) }
    }
  }

  /// What comes over a slow link is heard later. What one loses is not: an announcement is said again after 1 s, 3 s, 7 s and so
  /// on, over the link as it is then; a goodbye, which is said once, is not, and what it was about is believed until its records
  /// expire.
  private func hear(_ event: ServiceDiscovery.Event, _ number: UInt64, on owner: any EventLoop) {
    let kind = event.kind
    let news = state.withLock { state in
      state.lastNews += 1
      state.searches[number]?.late[kind] = state.lastNews
      return state.lastNews
    }
    say(event, news, number, on: owner, ifLost: .seconds(1))
  }

  /// - Parameters:
  ///   - news: its number: what comes after it takes its place.
  ///   - pause: how long it is until it is said again, if the link loses it.
  private func say(
    _ event: ServiceDiscovery.Event, _ news: UInt64, _ number: UInt64, on owner: any EventLoop, ifLost pause: TimeAmount
  ) {
    let kind = event.kind
    let isLost = machine.networks.losesPacket(about: kind, to: machine)
    let delay = TimeAmount.nanoseconds(machine.networks.delayOfPacket(about: kind, to: machine).nanoseconds)
    switch event {
    case .found where isLost:
      after(pause, news, kind, number, on: owner) { [owner] discovery in
        discovery.say(event, news, number, on: owner, ifLost: min(pause * 2, .hours(1)))
      }
    case .lost where isLost: after(Self.recordLifetime, news, kind, number, on: owner) { $0.take(event, number) }
    case .found, .lost:
      guard delay > .zero else { return take(event, number) }
      after(delay, news, kind, number, on: owner) { $0.take(event, number) }
    }
  }

  /// Does something later, unless there is something newer to say of the service by then.
  private func after(
    _ time: TimeAmount, _ news: UInt64, _ kind: MatterService.Kind, _ number: UInt64, on owner: any EventLoop,
    _ body: @escaping @Sendable (FaultyDiscovery) -> Void
  ) {
    owner.scheduleTask(in: time) { [weak self] in
      guard let self, state.withLock({ $0.searches[number]?.late[kind] }) == news else { return }
      body(self)
    }
  }

  private func take(_ event: ServiceDiscovery.Event, _ number: UInt64) {
    let handler = state.withLock { state -> (@Sendable (ServiceDiscovery.Event) -> Void)? in
      guard let search = state.searches[number] else { return nil }
      switch event {
      case .found(let service):
        guard machine.networks.isFound(service.kind, by: machine) else { return nil }
        state.searches[number]?.known[service.kind] = service
        state.searches[number]?.doubts[service.kind] = nil
      case .lost(let service):
        guard state.searches[number]?.known.removeValue(forKey: service.kind) != nil else { return nil }
        state.searches[number]?.doubts[service.kind] = nil
      }
      return search.handler
    }
    handler?(event)
  }

  /// Forgets what could not be found for so long.
  private func expire(_ kind: MatterService.Kind, _ doubt: UInt64, _ number: UInt64) {
    let service = state.withLock { state in
      state.searches[number].flatMap { $0.doubts[kind] == doubt ? $0.known[kind] : nil }
    }
    if let service { take(.lost(service), number) }
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

extension ServiceDiscovery.Event {
  /// The service that it is about.
  fileprivate var kind: MatterService.Kind {
    switch self {
    case .found(let service), .lost(let service): service.kind
    }
  }
}
