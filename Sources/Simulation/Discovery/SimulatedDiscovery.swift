public import MatterProtocol

/// DNS-SD without DNS: what hosts publish is matched with what others browse for, some time later.
///
/// What is found over a slow link is heard later by its latency and jitter, if there still is a way at the end of it. What a link loses
/// is not heard: an announcement or an answer is said again after 1 s, 3 s, 7 s and so on, as long as there is something to say, and
/// over the link as it is then; a goodbye, which is said once, is not.
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
    /// What it has heard, and believes.
    var known: [MatterService.Kind: MatterService] = [:]
    /// What it is to hear next.
    var coming: [MatterService.Kind: News] = [:]
    /// What is known or coming, in the order in which it was found.
    var order: [MatterService.Kind] = []
    /// When it is forgotten what can't be reached any more.
    var forgotten: [MatterService.Kind: Instant] = [:]

    /// What it believes when all has arrived that is on its way.
    func latest(_ kind: MatterService.Kind) -> MatterService? {
      if case .underWay(_, let service) = coming[kind] { service } else { known[kind] }
    }
  }
  /// Something that a browser has not heard yet.
  private enum News: Sendable {
    /// On its way, as the delivery of this number; no service: that there is none any more.
    case underWay(UInt64, MatterService?)
    /// Lost, to be said again by this host at a time, and if it is lost once more then behind a pause.
    case lost(MatterService, by: HostID, again: Instant, pause: Duration)
  }
  /// News on its way to a browser.
  struct Delivery: Sendable {
    let arrival: Instant
    let sequence: UInt64
    let host: HostID
    let query: DiscoveryQuery
    let kind: MatterService.Kind
    /// Who said it; nil: the browser's own host, as records expire.
    let source: HostID?
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
  /// When something is said again that was lost.
  private var firstRepetition: Instant?
  /// What a host has heard last of a service: of what is older it hears nothing any more.
  private var heard: [Hearing: UInt64] = [:]

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
    let knowing = Set(browsers.filter { $0.latest(service.kind) != nil }.map(\.host)).sorted()
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
      || firstRepetition.map { $0 <= now } ?? false
  }

  /// Sends news to the browsers whose view has changed, and again what was lost.
  mutating func refresh(_ network: inout SimulatedNetwork, at now: Instant) {
    if let expiry = firstExpiry, expiry <= now {
      publications.removeAll { $0.expiry.map { $0 <= now } ?? false }
      isStale = true
    }
    if isStale || networkVersion != network.version {
      isStale = false
      networkVersion = network.version
      firstExpiry = publications.compactMap(\.expiry).min()
      for index in browsers.indices { look(index, &network, at: now) }
    }
    repeatLost(&network, at: now)
  }

  /// Looks what there is for a browser, and tells it what is new.
  private mutating func look(_ index: Int, _ network: inout SimulatedNetwork, at now: Instant) {
    let browser = browsers[index]
    var visible: [MatterService.Kind: MatterService] = [:]
    var order: [MatterService.Kind] = []
    var sources: [MatterService.Kind: HostID] = [:]
    for publication in publications where publication.host != browser.host {
      guard publication.unaware?.contains(browser.host) ?? true else { continue }
      let kind = publication.service.kind
      // What is known stays known while its host is out of reach, until it expires.
      let isReachable = publication.expiry == nil && isHeard(publication.host, by: browser.host, network)
      var known = browser.latest(kind)
      if isReachable {
        browsers[index].forgotten[kind] = nil
      } else if known != nil {
        let until = browser.forgotten[kind] ?? now + recordLifetime
        browsers[index].forgotten[kind] = until
        if until <= now { known = nil }
        if until > now { firstExpiry = .earlier(firstExpiry, until) }
      }
      guard let seen = isReachable ? publication.service : known, browser.query.matches(seen) else { continue }
      if visible.updateValue(seen, forKey: seen.kind) == nil { order.append(seen.kind) }
      sources[seen.kind] = isReachable ? publication.host : nil
    }
    guard visible != browser.known || !browser.coming.isEmpty else { return }
    for kind in browser.order where visible[kind] == nil {
      if let gone = browser.latest(kind) {
        browsers[index].coming[kind] = .underWay(nextSequence, nil)
        send(.serviceLost(gone), kind, from: nil, to: browser, at: now)
      } else if case .lost = browser.coming[kind] {
        browsers[index].coming[kind] = nil
      }
    }
    for kind in order {
      guard let service = visible[kind] else { continue }
      if browser.latest(kind) == service {
        // What was to be said again is not so any more, or there is nobody who could.
        if case .lost = browser.coming[kind] { browsers[index].coming[kind] = nil }
        continue
      }
      guard let source = sources[kind] else { continue }
      if case .lost(service, source, _, _) = browser.coming[kind] { continue }
      say(service, by: source, to: index, ifLost: .seconds(1), &network, at: now)
    }
    browsers[index].order = order
  }

  /// Says again what was lost, where its time has come.
  private mutating func repeatLost(_ network: inout SimulatedNetwork, at now: Instant) {
    firstRepetition = nil
    for index in browsers.indices where !browsers[index].coming.isEmpty {
      for kind in browsers[index].order {
        if case .lost(let service, let source, let again, let pause) = browsers[index].coming[kind], again <= now {
          say(service, by: source, to: index, ifLost: pause, &network, at: now)
        }
        if case .lost(_, _, let again, _) = browsers[index].coming[kind] {
          firstRepetition = .earlier(firstRepetition, again)
        }
      }
    }
  }

  /// - Parameter pause: how long it is until it is said again, if the link loses it.
  private mutating func say(
    _ service: MatterService, by source: HostID, to index: Int, ifLost pause: Duration,
    _ network: inout SimulatedNetwork, at now: Instant
  ) {
    let browser = browsers[index]
    guard !network.losesPacket(from: source, to: browser.host) else {
      let next = min(pause * 2, .seconds(3600))
      browsers[index].coming[service.kind] = .lost(service, by: source, again: now + pause, pause: next)
      return
    }
    browsers[index].coming[service.kind] = .underWay(nextSequence, service)
    let delay = network.delayOfPacket(from: source, to: browser.host)
    send(.serviceFound(service), service.kind, from: source, to: browser, in: delay, at: now)
  }

  private mutating func send(
    _ input: Input, _ kind: MatterService.Kind, from source: HostID?, to browser: Browser, in delay: Duration = .zero,
    at now: Instant
  ) {
    flying.insert(
      Delivery(
        arrival: now + latency + delay, sequence: nextSequence, host: browser.host, query: browser.query, kind: kind,
        source: source, input: input))
    nextSequence += 1
  }

  /// When something happens next.
  var nextArrival: Instant? { .earlier(flying.first?.arrival, .earlier(firstExpiry, firstRepetition)) }

  /// - Parameter end: those from this sequence on are for another time.
  mutating func nextDelivery(at now: Instant, before end: UInt64, _ network: SimulatedNetwork) -> Delivery? {
    while let first = flying.first, first.arrival <= now, first.sequence < end {
      _ = flying.removeFirst()
      if arrives(first, network) { return first }
    }
    return nil
  }

  /// Writes down what a browser hears.
  /// - Returns: whether its host does: not where there is no way any more at the end of it, nor behind what is newer.
  private mutating func arrives(_ delivery: Delivery, _ network: SimulatedNetwork) -> Bool {
    let (kind, hearing) = (delivery.kind, Hearing(host: delivery.host, kind: delivery.kind))
    let index = browsers.firstIndex { $0.host == delivery.host && $0.query == delivery.query }
    var isAwaited = false
    if let index, case .underWay(delivery.sequence, _) = browsers[index].coming[kind] {
      browsers[index].coming[kind] = nil
      isAwaited = true
    }
    if let source = delivery.source, !isHeard(source, by: delivery.host, network) {
      isStale = true
      return false
    }
    let isNew = delivery.sequence >= heard[hearing] ?? 0
    guard isNew || isAwaited else { return false }
    if let index {
      if case .serviceFound(let service) = delivery.input {
        browsers[index].known[kind] = service
        if !browsers[index].order.contains(kind) { browsers[index].order.append(kind) }
      } else {
        browsers[index].known[kind] = nil
      }
      // It knows something that it was not looked at with.
      if !isAwaited { isStale = true }
    }
    if isNew { heard[hearing] = delivery.sequence }
    return isNew
  }
}

extension SimulatedDiscovery.Delivery: Comparable {
  static func < (left: Self, right: Self) -> Bool { (left.arrival, left.sequence) < (right.arrival, right.sequence) }
  static func == (left: Self, right: Self) -> Bool { left.sequence == right.sequence }
}
