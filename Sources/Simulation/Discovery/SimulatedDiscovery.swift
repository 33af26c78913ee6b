public import MatterProtocol
internal import Runtime

/// DNS-SD without DNS: matches the services that hosts publish with the queries of other hosts, after a delay.
///
/// Announcements and goodbyes take the latency of the link to each browser. A browser that starts later queries for
/// published services, which takes the latency of both directions. A slow link delays delivery, and a lost announcement
/// is repeated, see `CachedService`.
///
/// A service whose host lost its power is not withdrawn; browsers lose it when its records expire, as on a real
/// network.
public struct SimulatedDiscovery: Sendable {
  /// A published service. An object, since each refresh looks at all of them, for each browser.
  final class Publication: Sendable {
    let host: HostID
    /// The position in the sequence of all announcements and queries.
    let number: Int
    /// The last announcement with a change; a publisher that restarts counts as a change.
    let announcement: CachedService.Announcement

    var service: MatterService { announcement.service }

    init(_ announcement: CachedService.Announcement, by host: HostID, number: Int) {
      (self.announcement, self.host, self.number) = (announcement, host, number)
    }
  }
  /// A query of a host.
  private struct Browser: Sendable {
    let host: HostID
    let query: DiscoveryQuery
    /// The position in the same sequence as publications: the browser has to query for those with a lower number.
    let number: Int
    /// The matching services, in the order of discovery.
    var services: [(source: HostID, kind: MatterService.Kind, cached: CachedService)] = []

    /// Returns the index of a published service, adding an entry if needed.
    /// - Parameter likely: the index at which it is looked for first.
    mutating func slot(of kind: MatterService.Kind, by host: HostID, likely: Int) -> Int {
      if likely < services.count, services[likely].source == host, services[likely].kind == kind { return likely }
      if let slot = services.indices.first(where: { services[$0].source == host && services[$0].kind == kind }) {
        return slot
      }
      services.append((host, kind, CachedService()))
      return services.count - 1
    }
  }

  /// The delay from a publication to the browsers, and from a query to its answers, over a perfect link.
  public var latency: Duration = .milliseconds(20)

  /// Addresses that a host announces before its own although it can't be reached there: of a family that its router
  /// does not carry, or of an interface that is down.
  public var deadAddresses: [HostID: [IPAddress]] = [:]

  private(set) var publications: [Publication] = []
  private var browsers: [Browser] = []
  private var lastNumber = 0
  /// Whether browsers may have to be updated.
  private var isStale = true
  private var networkVersion = -1
  /// The time of the next arrival, repetition or expiry.
  private(set) var nextDeadline: Instant?

  private mutating func nextNumber() -> Int {
    isStale = true
    lastNumber += 1
    return lastNumber
  }

  // MARK: Hosts

  mutating func publish(
    _ service: MatterService, by host: HostID, addresses: [IPAddress], _ network: inout SimulatedNetwork,
    at now: Instant
  ) {
    var service = service
    if service.addresses.isEmpty { service.addresses = deadAddresses[host, default: []] + addresses }
    let index = publications.firstIndex { $0.host == host && $0.service.kind == service.kind }
    let number = nextNumber()
    var announcement = CachedService.Announcement(service, number: number)
    if let index {
      // An unchanged service is sent only to browsers that have not received it.
      let old = publications[index]
      if old.service == service { announcement = old.announcement }
      publications[index] = Publication(announcement, by: host, number: number)
      // Browsers whose query no longer matches lose the service.
      sendGoodbye(service.kind, by: host, &network, at: now) { !$0.matches(service) }
    } else {
      publications.append(Publication(announcement, by: host, number: number))
    }
  }

  /// Announces the services of a host again after a change of its addresses.
  mutating func moved(_ host: HostID, to new: [IPAddress]) {
    let number = nextNumber()
    for index in publications.indices where publications[index].host == host {
      var service = publications[index].service
      service.addresses = deadAddresses[host, default: []] + new
      publications[index] = Publication(
        CachedService.Announcement(service, number: number), by: host, number: number)
    }
  }

  /// Withdraws a service with a goodbye: browsers that receive it lose the service, all others when its records expire.
  mutating func withdraw(_ service: MatterService, by host: HostID, _ network: inout SimulatedNetwork, at now: Instant)
  {
    guard let index = publications.firstIndex(where: { $0.host == host && $0.service.kind == service.kind }) else {
      return
    }
    isStale = true
    publications.remove(at: index)
    sendGoodbye(service.kind, by: host, &network, at: now) { _ in true }
  }

  private mutating func sendGoodbye(
    _ kind: MatterService.Kind, by host: HostID, _ network: inout SimulatedNetwork, at now: Instant,
    to isReceiver: (DiscoveryQuery) -> Bool
  ) {
    for index in browsers.indices where isReceiver(browsers[index].query) {
      let listener = browsers[index].host
      guard network.reaches(listener, host) else { continue }
      for slot in browsers[index].services.indices
      where browsers[index].services[slot].source == host && browsers[index].services[slot].kind == kind {
        browsers[index].services[slot].cached.goodbye(at: now) { [latency] in
          network.packetDelay(from: host, to: listener).map { latency + $0 }
        }
      }
    }
  }

  mutating func browse(_ query: DiscoveryQuery, by host: HostID) {
    guard !browsers.contains(where: { $0.host == host && $0.query == query }) else { return }
    browsers.append(Browser(host: host, query: query, number: nextNumber()))
  }

  mutating func stopBrowsing(_ query: DiscoveryQuery, by host: HostID) {
    browsers.removeAll { $0.host == host && $0.query == query }
  }

  /// Removes the publications and queries of a host without a goodbye.
  mutating func lostPower(_ host: HostID) {
    isStale = true
    browsers.removeAll { $0.host == host }
    publications.removeAll { $0.host == host }
  }

  // MARK: Browsers

  /// Whether a refresh may have an effect.
  func isDue(networkVersion version: Int) -> Bool { isStale || networkVersion != version }

  /// Sends each browser the announcements that are new to it, and repeats lost ones.
  mutating func refresh(_ network: inout SimulatedNetwork, at now: Instant) {
    isStale = false
    networkVersion = network.version
    for index in browsers.indices { update(index, &network, at: now) }
    setDeadline()
  }

  private mutating func setDeadline() {
    nextDeadline = nil
    // By index: iterating copies every entry.
    for index in browsers.indices {
      for slot in browsers[index].services.indices {
        nextDeadline = .earlier(nextDeadline, browsers[index].services[slot].cached.nextDeadline)
      }
    }
  }

  private mutating func update(_ index: Int, _ network: inout SimulatedNetwork, at now: Instant) {
    let (host, query, number) = (browsers[index].host, browsers[index].query, browsers[index].number)
    var isPresent = Array(repeating: false, count: browsers[index].services.count)
    var slot = -1
    for publication in publications where publication.host != host && query.matches(publication.service) {
      let (source, isAsked) = (publication.host, publication.number < number)
      guard network.reaches(host, source), !isAsked || network.carries(from: host, to: source) else { continue }
      slot = browsers[index].slot(of: publication.service.kind, by: source, likely: slot + 1)
      if slot < isPresent.count { isPresent[slot] = true } else { isPresent.append(true) }
      browsers[index].services[slot].cached.look(publication.announcement, at: now) { [latency] in
        let question = isAsked ? network.packetDelay(from: host, to: source) : .zero
        guard let question, let answer = network.packetDelay(from: source, to: host) else { return nil }
        return latency + question + answer
      }
    }
    for slot in isPresent.indices where !isPresent[slot] {
      browsers[index].services[slot].cached.look(nil, at: now) { nil }
    }
    browsers[index].services.removeAll { $0.cached.isOver }
  }

  /// Returns the events that are due, with the receiving hosts.
  mutating func receive(until now: Instant, _ network: SimulatedNetwork) -> [(
    host: HostID, event: ServiceDiscovery.Event
  )] {
    var all: [(HostID, ServiceDiscovery.Event)] = []
    for index in browsers.indices {
      let host = browsers[index].host
      for slot in browsers[index].services.indices {
        guard let due = browsers[index].services[slot].cached.nextDeadline, due <= now else { continue }
        let hasWay = network.reaches(host, browsers[index].services[slot].source)
        all += browsers[index].services[slot].cached.receive(until: now, hasWay: hasWay).map { (host, $0) }
      }
    }
    setDeadline()
    // Lost announcements that are due are repeated by the next refresh.
    if let next = nextDeadline, next <= now { isStale = true }
    return all
  }
}

extension SimulatedNetwork {
  /// Returns whether DNS-SD from `source` reaches `host`, over a family that both have.
  fileprivate func reaches(_ host: HostID, _ source: HostID) -> Bool {
    carries(from: source, to: host) && isMulticastReceived(source, by: host) && shareFamily(source, host)
  }
}
