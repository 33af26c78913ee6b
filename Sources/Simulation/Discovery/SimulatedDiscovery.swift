public import MatterProtocol
internal import Runtime

/// DNS-SD without DNS: what hosts publish is matched with what others browse for, some time later.
///
/// An announcement and a goodbye take the way to those who browse; whoever browses for what is published already asks for it, which
/// takes the way there and the answer's way back. What is longer over a slow link is heard later, what a link loses is said again: see
/// ``HeardService``.
///
/// A service whose host lost its power is not taken back; browsers lose it when its records expire, as on a real network.
public struct SimulatedDiscovery: Sendable {
  struct Publication: Sendable {
    let host: HostID
    var service: MatterService
    /// Where it stands among all that was announced and asked.
    var number: Int
    /// Who begins anew announces what he announced before as another: the ``number`` of its first.
    var announcement: Int
  }
  /// One question of one host.
  private struct Browser: Sendable {
    let host: HostID
    let query: DiscoveryQuery
    /// As that of a publication: it must ask for those with a lower one.
    let number: Int
    /// What there is to know, in the order in which it was found.
    var services: [(source: HostID, kind: MatterService.Kind, heard: HeardService)] = []

    /// Where it has what a host published; a new place if there is none.
    mutating func place(of kind: MatterService.Kind, by host: HostID) -> Int {
      if let place = services.firstIndex(where: { $0.source == host && $0.kind == kind }) { return place }
      services.append((host, kind, HeardService()))
      return services.count - 1
    }
  }

  /// From a publication to those who browse already, and from a question to its answers, over a perfect link.
  public var latency: Duration = .milliseconds(20)

  /// Addresses that a host tells before its own although nobody reaches it there: of a family that its router does not carry,
  /// or of an interface that is down.
  public var deadAddresses: [HostID: [IPAddress]] = [:]

  private(set) var publications: [Publication] = []
  private var browsers: [Browser] = []
  private var lastNumber = 0
  /// Whether browsers may have to be told something.
  private var isStale = true
  private var networkVersion = -1
  /// When something is heard or said next.
  private(set) var nextDeadline: Instant?

  private mutating func nextNumber() -> Int {
    isStale = true
    lastNumber += 1
    return lastNumber
  }

  // MARK: What hosts do

  mutating func publish(
    _ service: MatterService, by host: HostID, addresses: [IPAddress], _ network: inout SimulatedNetwork,
    at now: Instant
  ) {
    var service = service
    if service.addresses.isEmpty { service.addresses = deadAddresses[host, default: []] + addresses }
    let index = publications.firstIndex { $0.host == host && $0.service.kind == service.kind }
    let number = nextNumber()
    var new = Publication(host: host, service: service, number: number, announcement: number)
    if let index {
      // The same again is no news, but for who has not heard it.
      if publications[index].service == service { new.announcement = publications[index].announcement }
      publications[index] = new
      // Who does not look for what it is now is told that it is not any more what it was.
      sayGoodbye(service.kind, by: host, &network, at: now) { !$0.matches(service) }
    } else {
      publications.append(new)
    }
  }

  /// A host has another address: its responder announces what it published with that.
  mutating func moved(_ host: HostID, to new: [IPAddress]) {
    let number = nextNumber()
    for index in publications.indices where publications[index].host == host {
      publications[index].service.addresses = deadAddresses[host, default: []] + new
      publications[index].number = number
      publications[index].announcement = number
    }
  }

  /// A host says goodbye with a service: whoever hears it forgets it, and all others do when its records expire.
  mutating func withdraw(_ service: MatterService, by host: HostID, _ network: inout SimulatedNetwork, at now: Instant)
  {
    guard let index = publications.firstIndex(where: { $0.host == host && $0.service.kind == service.kind }) else {
      return
    }
    isStale = true
    publications.remove(at: index)
    sayGoodbye(service.kind, by: host, &network, at: now) { _ in true }
  }

  private mutating func sayGoodbye(
    _ kind: MatterService.Kind, by host: HostID, _ network: inout SimulatedNetwork, at now: Instant,
    to isMeant: (DiscoveryQuery) -> Bool
  ) {
    for index in browsers.indices where isMeant(browsers[index].query) {
      let listener = browsers[index].host
      guard network.hears(listener, host) else { continue }
      for place in browsers[index].services.indices
      where browsers[index].services[place].source == host && browsers[index].services[place].kind == kind {
        browsers[index].services[place].heard.goodbye(at: now) { [latency] in
          network.takesPacket(from: host, to: listener).map { latency + $0 }
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

  /// A host went without a goodbye.
  mutating func lostPower(_ host: HostID) {
    isStale = true
    browsers.removeAll { $0.host == host }
    publications.removeAll { $0.host == host }
  }

  // MARK: What browsers hear

  /// Whether there may be something to say.
  func isDue(networkVersion version: Int) -> Bool { isStale || networkVersion != version }

  /// Says to each browser what is new to it, and again what was lost.
  mutating func refresh(_ network: inout SimulatedNetwork, at now: Instant) {
    isStale = false
    networkVersion = network.version
    for index in browsers.indices { look(index, &network, at: now) }
    setDeadline()
  }

  private mutating func setDeadline() {
    nextDeadline = browsers.lazy.flatMap(\.services).compactMap(\.heard.nextDeadline).min()
  }

  private mutating func look(_ index: Int, _ network: inout SimulatedNetwork, at now: Instant) {
    let (host, query, number) = (browsers[index].host, browsers[index].query, browsers[index].number)
    var isThere = Array(repeating: false, count: browsers[index].services.count)
    for publication in publications where publication.host != host && query.matches(publication.service) {
      let (source, isAsked) = (publication.host, publication.number < number)
      guard network.hears(host, source), !isAsked || network.carries(from: host, to: source) else { continue }
      let place = browsers[index].place(of: publication.service.kind, by: source)
      if place < isThere.count { isThere[place] = true } else { isThere.append(true) }
      browsers[index].services[place].heard.look(
        publication.service, announced: publication.announcement, at: now
      ) { [latency] in
        let question = isAsked ? network.takesPacket(from: host, to: source) : .zero
        guard let question, let answer = network.takesPacket(from: source, to: host) else { return nil }
        return latency + question + answer
      }
    }
    for place in isThere.indices where !isThere[place] {
      browsers[index].services[place].heard.look(nil, at: now) { nil }
    }
    browsers[index].services.removeAll(where: \.heard.isOver)
  }

  /// What is heard by now, and by whom.
  mutating func hear(until now: Instant, _ network: SimulatedNetwork) -> [(host: HostID, event: ServiceDiscovery.Event)]
  {
    guard let due = nextDeadline, due <= now else { return [] }
    var all: [(HostID, ServiceDiscovery.Event)] = []
    for index in browsers.indices {
      let host = browsers[index].host
      for place in browsers[index].services.indices {
        let hasWay = network.hears(host, browsers[index].services[place].source)
        all += browsers[index].services[place].heard.hear(until: now, hasWay: hasWay).map { (host, $0) }
      }
    }
    setDeadline()
    // What is due still is to be said again.
    if let next = nextDeadline, next <= now { isStale = true }
    return all
  }
}

extension SimulatedNetwork {
  /// Whether DNS-SD of one host gets to another: over either family, if both have it.
  fileprivate func hears(_ host: HostID, _ source: HostID) -> Bool {
    carries(from: source, to: host) && isHeard(source, by: host)
      && IPFamily.allCases.contains { has(source, $0) && has(host, $0) }
  }
}
