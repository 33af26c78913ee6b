internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Simulation
internal import Synchronization

/// Service discovery of one machine, with faults: the machine may be invisible to others, or see none of them.
final class FaultyDiscovery: NodeDiscovery {
  private struct Publication {
    var service: MatterService
    let owner: (any EventLoop)?
    let onConflict: (@Sendable (ServiceConflict) -> Void)?
  }

  private struct Search {
    typealias Handler = @Sendable (ServiceDiscovery.Event) -> Void

    let query: DiscoveryQuery
    /// The number of its question, as counted by ``RealNetworks``.
    let question: Int
    let owner: any EventLoop
    let handler: Handler
    /// The search in the underlying discovery; nil while the machine receives no multicast.
    var browse: ServiceDiscovery.Browse?
    var services: [MatterService.Kind: SearchedService] = [:]
  }

  /// The state of one service in one search.
  private struct SearchedService {
    /// The service as the underlying discovery reports it.
    var published: MatterService?
    /// The number of reports by the underlying discovery.
    var announcements = 0
    var heard = HeardService()
    var timer: Scheduled<Void>?
  }

  private struct State {
    var publications: [MatterService.Kind: Publication] = [:]
    var searches: [UInt64: Search] = [:]
    var lastSearch: UInt64 = 0
    var isVisible = true
    var seesOthers = true
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

  /// Hides or announces the published services, and stops or restarts the searches, as the faults require. No goodbye
  /// is sent, so that other machines keep their records until they expire.
  func apply(_ faults: MachineFaults) {
    state.withLock { state in
      let (wasVisible, oldFamilies) = (state.isVisible, state.familiesOff)
      (state.isVisible, state.familiesOff) = (faults.isVisible, faults.familiesOff)
      for publication in state.publications.values {
        if faults.isVisible {
          if !wasVisible || oldFamilies != faults.familiesOff { announce(publication, state) }
        } else if wasVisible {
          discovery.withdraw(publication.service, silently: true)
        }
      }
      guard state.seesOthers != faults.seesOthers else { return }
      state.seesOthers = faults.seesOthers
      for number in state.searches.keys { restart(number, &state) }
    }
    updateSearches()
  }

  /// Updates all services after a machine has changed networks: reports services that are newly found, and keeps
  /// those no longer found until their records expire.
  func updateSearches() {
    for (number, search) in state.withLock(\.searches) {
      search.owner.execute { [weak self] in for kind in search.services.keys { self?.update(kind, number) } }
    }
  }

  /// Restarts a search, or stops it while the machine receives no multicast. Services have to be found again.
  private func restart(_ number: UInt64, _ state: inout State) {
    guard let search = state.searches[number] else { return }
    if let browse = search.browse { discovery.stop(browse) }
    for kind in search.services.keys { state.searches[number]?.services[kind]?.published = nil }
    state.searches[number]?.browse = state.seesOthers ? start(search, number) : nil
  }

  private func start(_ search: Search, _ number: UInt64) -> ServiceDiscovery.Browse {
    // The handler runs on the owner's loop, never while the lock is held.
    discovery.browse(search.query, on: search.owner) { [weak self, owner = search.owner] event in
      owner.execute { [weak self] in
        switch event {
        case .found(let service):
          self?.update(service.kind, number) {
            $0.published = service
            $0.announcements += 1
          }
        case .lost(let service): self?.update(service.kind, number, isLost: true) { $0.published = nil }
        }
      }
    }
  }

  /// Updates the state of a service, reports what has arrived by now, and schedules the next update. Belongs to the
  /// loop of the search.
  /// - Parameters:
  ///   - isLost: whether the underlying discovery has lost the service, by a goodbye or by expiry.
  ///   - change: updates the state with the event of the underlying discovery.
  private func update(
    _ kind: MatterService.Kind, _ number: UInt64, isLost: Bool = false,
    _ change: (inout SearchedService) -> Void = { _ in }
  ) {
    let (events, handler) = state.withLock { state -> ([ServiceDiscovery.Event], Search.Handler?) in
      guard let search = state.searches[number] else { return ([], nil) }
      var searched = search.services[kind] ?? SearchedService()
      change(&searched)
      let now = Instant(nanoseconds: Int64(clamping: search.owner.now.uptimeNanoseconds))
      let (networks, question) = (machine.networks, search.question)
      let isFound = state.seesOthers && networks.isFound(kind, by: machine, question: question)
      var events = searched.heard.hear(until: now, hasWay: isFound)
      if isLost, isFound {
        if networks.sentGoodbye(for: kind) {
          searched.heard.goodbye(at: now) { [machine] in networks.announcementDelay(of: kind, to: machine, question: 0)
          }
        } else {
          searched.heard.expire(at: now)
        }
      }
      let published = isFound ? searched.published.map { networks.resolved($0, to: machine) } : nil
      searched.heard.look(published, announced: searched.announcements, at: now) { [machine] in
        networks.announcementDelay(of: kind, to: machine, question: question)
      }
      events += searched.heard.hear(until: now, hasWay: isFound)
      searched.timer?.cancel()
      searched.timer = searched.heard.nextDeadline.map { next in
        search.owner.scheduleTask(in: .nanoseconds((next - now).nanoseconds)) { [weak self] in
          self?.update(kind, number)
        }
      }
      state.searches[number]?.services[kind] = searched
      return (events, search.handler)
    }
    for event in events { handler?(event) }
  }

  /// Announces the services of a port again after the machine has moved to another port and address.
  func move(from old: UInt16, to new: UInt16) {
    state.withLock { state in
      for (kind, publication) in state.publications where publication.service.port == old {
        machine.networks.recordPublication(of: kind, by: machine)
        state.publications[kind]?.service.port = new
        if let moved = state.publications[kind], state.isVisible { announce(moved, state) }
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
    // The node only knows its initial port.
    service.port = machine.port(ofNodeFrom: service.port)
    state.withLock { [service] state in
      machine.networks.recordPublication(of: service.kind, by: machine)
      let publication = Publication(service: service, owner: owner, onConflict: onConflict)
      state.publications[service.kind] = publication
      if state.isVisible { announce(publication, state) }
    }
  }

  func withdraw(_ service: MatterService, silently: Bool) {
    let takesEffect = machine.takesEffect()
    state.withLock { state in
      guard state.publications.removeValue(forKey: service.kind) != nil, state.isVisible else { return }
      let sendsGoodbye = takesEffect && !silently
      if sendsGoodbye { machine.networks.recordGoodbye(for: service.kind) }
      discovery.withdraw(service, silently: !sendsGoodbye)
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
        query: query, question: machine.networks.recordQuestion(), owner: owner, handler: handler)
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
