package import MatterProtocol
package import NIOCore
package import Runtime
internal import Synchronization

/// The service discovery of a machine with network faults, which may hide its services from other machines, or those
/// of others from it. No goodbye is sent for a hidden service if that can be avoided (Avahi always sends one), so that
/// other machines keep it until its records expire. May be called from any thread.
package final class ImpairedDiscovery: NodeDiscovery {
  private struct Publication {
    let service: MatterService
    let owner: (any EventLoop)?
    let onConflict: (@Sendable (ServiceConflict) -> Void)?
    /// The service as the underlying discovery announces it; nil while it is hidden.
    var announced: MatterService?
  }

  private struct Search {
    typealias Handler = @Sendable (ServiceDiscovery.Event) -> Void

    let query: DiscoveryQuery
    let owner: any EventLoop
    let handler: Handler
    var impairment: (any SearchImpairment)?
    /// The search of the underlying discovery; nil while the machine sees no others.
    var browse: ServiceDiscovery.Browse?
    var timer: Scheduled<Void>?
  }

  private struct State {
    /// One for each kind. A list of few, which takes less memory than a dictionary.
    var publications: [Publication] = []
    var searches: [UInt64: Search] = [:]
    var lastSearch: UInt64 = 0
  }

  private let discovery: any NodeDiscovery
  private let impairment: any NetworkImpairment
  private let state = Mutex(State())

  package init(_ discovery: any NodeDiscovery, _ impairment: any NetworkImpairment) {
    (self.discovery, self.impairment) = (discovery, impairment)
    impairment.opened(self)
  }

  // MARK: Faults

  /// Hides or announces the published services, and stops or restarts the searches, as the faults require.
  package func update() {
    let searches = state.withLock { state in
      for index in state.publications.indices { announce(&state.publications[index], again: false) }
      for (number, var search) in state.searches {
        startOrStop(&search, number)
        state.searches[number] = search
      }
      return state.searches
    }
    for (number, search) in searches where search.impairment != nil {
      search.owner.execute { [weak self] in self?.process(nil, number) }
    }
  }

  /// Announces a service, or hides it.
  /// - Parameter again: whether to announce it even if it is unchanged.
  private func announce(_ publication: inout Publication, again: Bool) {
    let new = impairment.announcement(of: publication.service)
    if let new {
      if again || new != publication.announced {
        discovery.publish(new, on: publication.owner, onConflict: publication.onConflict)
      }
    } else if let announced = publication.announced {
      discovery.withdraw(announced, silently: true)
    }
    publication.announced = new
  }

  /// Starts a search, or stops it while the machine sees no others. Services then have to be found again.
  private func startOrStop(_ search: inout Search, _ number: UInt64) {
    guard (search.browse != nil) != impairment.seesOthers else { return }
    search.impairment?.restart()
    if let browse = search.browse {
      discovery.stop(browse)
      search.browse = nil
    } else {
      search.browse = discovery.browse(search.query, on: search.owner) { [weak self, owner = search.owner] event in
        // The underlying discovery may report cached services at once. Deliver later, not under the lock: handlers may
        // call back.
        owner.execute { [weak self] in self?.process(event, number) }
      }
    }
  }

  /// Reports the events of a search that are due, and schedules the next ones. Belongs to the loop of the search.
  /// - Parameter event: an event of the underlying discovery.
  private func process(_ event: ServiceDiscovery.Event?, _ number: UInt64) {
    let (events, handler) = state.withLock { state -> ([ServiceDiscovery.Event], Search.Handler?) in
      guard let search = state.searches[number] else { return ([], nil) }
      let now = Instant(nanoseconds: Int64(clamping: search.owner.now.uptimeNanoseconds))
      guard let (events, deadline) = state.searches[number]?.impairment?.process(event, at: now) else {
        return (event.map { [$0] } ?? [], search.handler)
      }
      search.timer?.cancel()
      state.searches[number]?.timer = deadline.map { deadline in
        search.owner.scheduleTask(in: .nanoseconds((deadline - now).nanoseconds)) { [weak self] in
          self?.process(nil, number)
        }
      }
      return (events, search.handler)
    }
    for event in events { handler?(event) }
  }

  // MARK: NodeDiscovery

  package func publish(
    _ service: MatterService, on owner: (any EventLoop)?, onConflict: (@Sendable (ServiceConflict) -> Void)?
  ) {
    guard impairment.takesEffect() else { return }
    state.withLock { state in
      impairment.recordPublication(of: service.kind)
      let known = state.publications.firstIndex { $0.service.kind == service.kind }
      var publication = Publication(
        service: service, owner: owner, onConflict: onConflict,
        announced: known.flatMap { state.publications[$0].announced })
      announce(&publication, again: true)
      if let known { state.publications[known] = publication } else { state.publications.append(publication) }
    }
  }

  package func withdraw(_ service: MatterService, silently: Bool) {
    let isSilent = !impairment.takesEffect() || silently
    state.withLock { state in
      guard let known = state.publications.firstIndex(where: { $0.service.kind == service.kind }),
        state.publications.remove(at: known).announced != nil
      else { return }
      if !isSilent { impairment.recordGoodbye(for: service.kind) }
      discovery.withdraw(service, silently: isSilent)
    }
  }

  package func browse(
    _ query: DiscoveryQuery, on owner: any EventLoop, _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
  ) -> ServiceDiscovery.Browse {
    let takesEffect = impairment.takesEffect()
    return state.withLock { state in
      state.lastSearch += 1
      if takesEffect {
        var search = Search(query: query, owner: owner, handler: handler, impairment: impairment.makeSearch())
        startOrStop(&search, state.lastSearch)
        state.searches[state.lastSearch] = search
      }
      return ServiceDiscovery.Browse(number: state.lastSearch)
    }
  }

  package func stop(_ browse: ServiceDiscovery.Browse) {
    let isLast = state.withLock { state in
      guard let search = state.searches.removeValue(forKey: browse.number) else { return false }
      search.timer?.cancel()
      if let browse = search.browse { discovery.stop(browse) }
      return !state.searches.values.contains { $0.query == search.query }
    }
    if isLast { _ = impairment.takesEffect() }
  }

  package func follow(_ interfaces: [NetworkInterface]) { discovery.follow(interfaces) }

  @discardableResult package func stop() -> EventLoopFuture<Void> { discovery.stop() }
}
