public import MatterProtocol

/// DNS-SD without DNS: what hosts publish is matched with what others browse for, some time later.
///
/// What is found over a slow link is heard later by its latency and jitter. What a link loses is not heard: an announcement or an answer comes with one of its repetitions, after 1 s, 3 s, 7 s and so on,
/// and a goodbye, which is said once, not at all.
///
/// A service whose host lost its power is not taken back; browsers lose it when its records expire, as on a real network.
public struct SimulatedDiscovery: Sendable {
  struct Publication: Sendable {
    let host: HostID
    var service: MatterService
    /// When browsers will take it for gone; nil as long as its host is there to refresh it.
    var expiry: Instant?
    /// Those who did not hear that it was taken back, and go on believing in it; nil: it was not.
    var unaware: Set<HostID>?
  }
  private struct Browser: Sendable {
    let host: HostID
    let query: DiscoveryQuery
    var known: [MatterService.Kind: MatterService] = [:]
    /// What is known, in the order in which it was found.
    var order: [MatterService.Kind] = []
    /// When it is forgotten what can't be reached any more.
    var forgotten: [MatterService.Kind: Instant] = [:]
  }
  /// News on its way to a browser.
  struct Delivery: Sendable {
    let arrival: Instant
    let sequence: UInt64
    let host: HostID
    let kind: MatterService.Kind
    let input: Input
  }

  /// From a publication to those who browse already, and from a question to its answers, over a perfect link.
  public var latency: Duration = .milliseconds(20)
  /// How long what a silent host published is believed: the lifetime of host and service records.
  public var recordLifetime: Duration = .seconds(120)

  /// Addresses that a host tells before its own although nobody reaches it there: of a family that its router does not carry,
  /// or of an interface that is down.
  public var deadAddresses: [HostID: [IPAddress]] = [:]

  private(set) var publications: [Publication] = []
  /// Whether browsers may have to be told something.
  private var isStale = true
  private var networkVersion = -1
  /// When the first record expires that nobody refreshes any more.
  private var firstExpiry: Instant?
  private var browsers: [Browser] = []
  private var flying = EventHeap<Delivery>()
  private(set) var nextSequence: UInt64 = 0
  /// News that are on their way for longer, because of what was lost: what comes after them takes their place.
  private var late: [Hearing: UInt64] = [:]
  private var outdated: Set<UInt64> = []

  private struct Hearing: Hashable {
    let host: HostID
    let kind: MatterService.Kind
  }

  // MARK: What hosts do

  mutating func publish(_ service: MatterService, by host: HostID, addresses: [IPAddress]) {
    isStale = true
    var service = service
    if service.addresses.isEmpty { service.addresses = deadAddresses[host, default: []] + addresses }
    if let index = publications.firstIndex(where: { $0.host == host && $0.service.kind == service.kind }) {
      publications[index].service = service
      publications[index].expiry = nil
      publications[index].unaware = nil
    } else {
      publications.append(Publication(host: host, service: service))
    }
  }

  /// A host has another address: its responder announces what it published with that.
  mutating func moved(_ host: HostID, to new: [IPAddress]) {
    isStale = true
    for index in publications.indices where publications[index].host == host && publications[index].expiry == nil {
      publications[index].service.addresses = deadAddresses[host, default: []] + new
    }
  }

  /// A host says goodbye with a service: whoever hears it forgets it, and all others do when its records expire.
  mutating func withdraw(_ service: MatterService, by host: HostID, _ network: inout SimulatedNetwork, at now: Instant)
  {
    guard let index = publications.firstIndex(where: { $0.host == host && $0.service.kind == service.kind }) else {
      return
    }
    isStale = true
    let knowing = Set(browsers.filter { $0.known[service.kind] != nil }.map(\.host)).sorted()
    let unaware = knowing.filter {
      !isHeard(host, by: $0, network) || network.losesPacket(from: host, to: $0)
    }
    if unaware.isEmpty {
      publications.remove(at: index)
    } else {
      publications[index].unaware = Set(unaware)
      publications[index].expiry = now + recordLifetime
      firstExpiry = .earlier(firstExpiry, now + recordLifetime)
    }
  }

  /// Whether DNS-SD of one host gets to another: over either family, if both have it.
  private func isHeard(_ host: HostID, by other: HostID, _ network: SimulatedNetwork) -> Bool {
    network.carries(from: host, to: other) && network.isHeard(host, by: other)
      && IPFamily.allCases.contains { network.has(host, $0) && network.has(other, $0) }
  }

  mutating func browse(_ query: DiscoveryQuery, by host: HostID) {
    guard !browsers.contains(where: { $0.host == host && $0.query == query }) else { return }
    isStale = true
    browsers.append(Browser(host: host, query: query))
  }

  mutating func stopBrowsing(_ query: DiscoveryQuery, by host: HostID) {
    browsers.removeAll { $0.host == host && $0.query == query }
  }

  /// A host went without a goodbye.
  mutating func lostPower(_ host: HostID, at now: Instant) {
    isStale = true
    browsers.removeAll { $0.host == host }
    for index in publications.indices where publications[index].host == host && publications[index].expiry == nil {
      publications[index].expiry = now + recordLifetime
      firstExpiry = .earlier(firstExpiry, now + recordLifetime)
    }
  }

  // MARK: What browsers see

  /// Whether the view of a browser may have changed.
  func isDue(networkVersion version: Int, at now: Instant) -> Bool {
    isStale || networkVersion != version || firstExpiry.map { $0 <= now } ?? false
  }

  /// Sends news to the browsers whose view has changed.
  mutating func refresh(_ network: inout SimulatedNetwork, at now: Instant) {
    if let expiry = firstExpiry, expiry <= now {
      publications.removeAll { $0.expiry.map { $0 <= now } ?? false }
      isStale = true
    }
    guard isStale || networkVersion != network.version else { return }
    isStale = false
    networkVersion = network.version
    firstExpiry = publications.compactMap(\.expiry).min()
    for index in browsers.indices {
      let browser = browsers[index]
      var visible: [MatterService.Kind: MatterService] = [:]
      var order: [MatterService.Kind] = []
      var sources: [MatterService.Kind: HostID] = [:]
      for publication in publications where publication.host != browser.host {
        guard publication.unaware?.contains(browser.host) ?? true else { continue }
        // What is known stays known while its host is out of reach, until it expires.
        let isReachable = publication.expiry == nil && isHeard(publication.host, by: browser.host, network)
        var known = browser.known[publication.service.kind]
        if isReachable {
          browsers[index].forgotten[publication.service.kind] = nil
        } else if let kind = known?.kind {
          let until = browser.forgotten[kind] ?? now + recordLifetime
          browsers[index].forgotten[kind] = until
          if until <= now { known = nil }
          if until > now { firstExpiry = .earlier(firstExpiry, until) }
        }
        guard let seen = isReachable ? publication.service : known, browser.query.matches(seen) else { continue }
        if visible.updateValue(seen, forKey: seen.kind) == nil { order.append(seen.kind) }
        sources[seen.kind] = publication.host
      }
      guard visible != browser.known else { continue }
      for kind in browser.order where visible[kind] == nil {
        if let gone = browser.known[kind] { deliver(.serviceLost(gone), kind, to: browser.host, at: now) }
      }
      for kind in order {
        guard let service = visible[kind], browser.known[kind] != service else { continue }
        var delay = Duration.zero
        if let source = sources[kind] {
          delay = repetition(from: source, to: browser.host, &network)
          delay += network.delayOfPacket(from: source, to: browser.host)
        }
        deliver(.serviceFound(service), kind, to: browser.host, in: delay, at: now)
      }
      browsers[index].known = visible
      browsers[index].order = order
    }
  }

  /// How long it takes until one of the repetitions of an announcement, or of a question, gets through.
  private func repetition(from host: HostID, to other: HostID, _ network: inout SimulatedNetwork) -> Duration {
    var time = Duration.zero
    var pause = Duration.seconds(1)
    // The bound is for those who lose nearly everything.
    for _ in 0..<1000 {
      guard network.losesPacket(from: host, to: other) else { break }
      time += pause
      pause = min(pause * 2, .seconds(3600))
    }
    return time
  }

  private mutating func deliver(
    _ input: Input, _ kind: MatterService.Kind, to host: HostID, in delay: Duration = .zero, at now: Instant
  ) {
    let hearing = Hearing(host: host, kind: kind)
    if !late.isEmpty, let old = late.removeValue(forKey: hearing) { outdated.insert(old) }
    if delay > .zero { late[hearing] = nextSequence }
    flying.insert(
      Delivery(arrival: now + latency + delay, sequence: nextSequence, host: host, kind: kind, input: input))
    nextSequence += 1
  }

  /// When something happens next.
  var nextArrival: Instant? { .earlier(flying.first?.arrival, firstExpiry) }

  /// - Parameter end: those from this sequence on are for another time.
  mutating func nextDelivery(at now: Instant, before end: UInt64) -> Delivery? {
    while let first = flying.first, first.arrival <= now, first.sequence < end {
      _ = flying.removeFirst()
      if !outdated.isEmpty, outdated.remove(first.sequence) != nil { continue }
      let hearing = Hearing(host: first.host, kind: first.kind)
      if !late.isEmpty, late[hearing] == first.sequence { late[hearing] = nil }
      return first
    }
    return nil
  }
}

extension SimulatedDiscovery.Delivery: Comparable {
  static func < (left: Self, right: Self) -> Bool { (left.arrival, left.sequence) < (right.arrival, right.sequence) }
  static func == (left: Self, right: Self) -> Bool { left.sequence == right.sequence }
}
