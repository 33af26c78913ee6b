internal import MatterProtocol
internal import NIOCore
internal import Runtime

/// The DNS-SD of a ``SimulatedMachine``, for all of its processes.
final class SimulatedServices: NodeDiscovery, @unchecked Sendable {
  // Unchecked: confined to the world's thread.

  private unowned let machine: SimulatedMachine
  private var number: UInt64 = 0
  private var searches: [(browse: ServiceDiscovery.Browse, query: DiscoveryQuery, handler: Handler)] = []
  /// The services last reported to the searches.
  private var known: [MatterService] = []

  init(_ machine: SimulatedMachine) { self.machine = machine }

  private typealias Handler = @Sendable (ServiceDiscovery.Event) -> Void

  /// Does nothing: the services follow the machine's addresses by themselves.
  func follow(_ interfaces: [NetworkInterface]) {}

  func forget() {
    searches = []
    known = []
  }

  func publish(
    _ service: MatterService, on owner: (any EventLoop)?, onConflict: (@Sendable (ServiceConflict) -> Void)?
  ) {
    guard machine.takesEffect() else { return }
    machine.world.trace.add(.published, machine.id, at: machine.world.now, StableDescription.of(service))
    machine.world.discovery.publish(
      service, by: machine.id, addresses: machine.addresses, &machine.world.network, at: machine.world.now)
  }

  func withdraw(_ service: MatterService, silently: Bool) {
    // Without power, the goodbye is omitted and the records expire.
    guard !silently, machine.takesEffect() else { return }
    machine.world.trace.add(.withdrawn, machine.id, at: machine.world.now, StableDescription.of(service.kind))
    machine.world.discovery.withdraw(service, by: machine.id, &machine.world.network, at: machine.world.now)
  }

  func browse(
    _ query: DiscoveryQuery, on owner: any EventLoop, _ handler: @escaping @Sendable (ServiceDiscovery.Event) -> Void
  ) -> ServiceDiscovery.Browse {
    number += 1
    let browse = ServiceDiscovery.Browse(number: number)
    guard machine.takesEffect() else { return browse }
    let isNew = !searches.contains { $0.query == query }
    searches.append((browse, query, handler))
    if isNew {
      machine.world.trace.add(.browsing, machine.id, at: machine.world.now, StableDescription.of(query))
      machine.world.discovery.browse(query, by: machine.id)
    }
    // The world reports a known service only once, so deliver the ones that other searches have found.
    for service in known where query.matches(service) { owner.execute { handler(.found(service)) } }
    return browse
  }

  func stop(_ browse: ServiceDiscovery.Browse) {
    guard let index = searches.firstIndex(where: { $0.browse == browse }) else { return }
    let query = searches.remove(at: index).query
    guard !searches.contains(where: { $0.query == query }), machine.takesEffect() else { return }
    machine.world.trace.add(.stoppedBrowsing, machine.id, at: machine.world.now, StableDescription.of(query))
    machine.world.discovery.stopBrowsing(query, by: machine.id)
    known.removeAll { service in !searches.contains { $0.query.matches(service) } }
  }

  func stop() -> EventLoopFuture<Void> {
    for search in searches { stop(search.browse) }
    return machine.eventLoop.makeSucceededVoidFuture()
  }

  private func forget(_ kind: MatterService.Kind) {
    // By index: iterating copies every service.
    if let index = known.indices.first(where: { known[$0].kind == kind }) { known.remove(at: index) }
  }

  /// Delivers an event to the matching searches.
  func handle(_ input: Input) {
    switch input {
    case .serviceFound(let service):
      // Without a matching search, the loss of the service would not be reported.
      guard searches.contains(where: { $0.query.matches(service) }) else { return }
      forget(service.kind)
      known.append(service)
      for search in searches where search.query.matches(service) { search.handler(.found(service)) }
    case .serviceLost(let service):
      forget(service.kind)
      for search in searches where search.query.matches(service) { search.handler(.lost(service)) }
    case .datagram, .serviceConflict: break
    }
  }
}
