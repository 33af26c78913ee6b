internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Synchronization

/// The service discovery of a device whose link can be cut: then it neither publishes nor finds services. No goodbye is
/// sent if that can be avoided (Avahi always sends one), so that other nodes keep its services until their records
/// expire. May be called from any thread.
final class LinkedDiscovery: NodeDiscovery {
  private struct Publication {
    let service: MatterService
    let owner: (any EventLoop)?
    let onConflict: (@Sendable (ServiceConflict) -> Void)?
  }

  private struct Search {
    let query: DiscoveryQuery
    let owner: any EventLoop
    let handler: @Sendable (ServiceDiscovery.Event) -> Void
    /// The search of the underlying discovery; nil while the link is cut.
    var browse: ServiceDiscovery.Browse?
  }

  private struct State {
    var publications: [MatterService.Kind: Publication] = [:]
    var searches: [UInt64: Search] = [:]
    var lastSearch: UInt64 = 0
    var isCut: Bool
  }

  private let discovery: any NodeDiscovery
  private let state: Mutex<State>

  init(_ discovery: any NodeDiscovery, _ link: DeviceLink) {
    self.discovery = discovery
    state = Mutex(State(isCut: link.isCut))
    link.onChange { [weak self] in self?.update(isCut: $0) }
  }

  private func update(isCut: Bool) {
    state.withLock { state in
      guard state.isCut != isCut else { return }
      state.isCut = isCut
      for publication in state.publications.values {
        if isCut { discovery.withdraw(publication.service, silently: true) } else { announce(publication) }
      }
      for (number, search) in state.searches {
        if let browse = search.browse { discovery.stop(browse) }
        state.searches[number]?.browse = isCut ? nil : startSearch(search)
      }
    }
  }

  private func announce(_ publication: Publication) {
    discovery.publish(publication.service, on: publication.owner, onConflict: publication.onConflict)
  }

  private func startSearch(_ search: Search) -> ServiceDiscovery.Browse {
    // The underlying discovery may report cached services at once. Deliver later, not under the lock: handlers may call
    // back.
    discovery.browse(search.query, on: search.owner) { [owner = search.owner, handler = search.handler] event in
      owner.execute { handler(event) }
    }
  }

  // MARK: NodeDiscovery

  func publish(
    _ service: MatterService, on owner: (any EventLoop)?, onConflict: (@Sendable (ServiceConflict) -> Void)?
  ) {
    state.withLock { state in
      let publication = Publication(service: service, owner: owner, onConflict: onConflict)
      state.publications[service.kind] = publication
      if !state.isCut { announce(publication) }
    }
  }

  func withdraw(_ service: MatterService, silently: Bool) {
    state.withLock { state in
      guard state.publications.removeValue(forKey: service.kind) != nil, !state.isCut else { return }
      discovery.withdraw(service, silently: silently)
    }
  }

  func browse(
    _ query: DiscoveryQuery, on owner: any EventLoop, _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
  ) -> ServiceDiscovery.Browse {
    state.withLock { state in
      state.lastSearch += 1
      var search = Search(query: query, owner: owner, handler: handler)
      if !state.isCut { search.browse = startSearch(search) }
      state.searches[state.lastSearch] = search
      return ServiceDiscovery.Browse(number: state.lastSearch)
    }
  }

  func stop(_ browse: ServiceDiscovery.Browse) {
    state.withLock { state in
      if let browse = state.searches.removeValue(forKey: browse.number)?.browse { discovery.stop(browse) }
    }
  }

  @discardableResult func stop() -> EventLoopFuture<Void> { discovery.stop() }
}
