public import MatterCrypto

/// Identifies a search started with ``DNSBrowser/browse(_:at:)``.
public struct BrowseID: Hashable, Comparable, Sendable {
  let number: UInt64
  public static func < (left: BrowseID, right: BrowseID) -> Bool { left.number < right.number }
}

/// A result of a browser. Services are reported per interface.
public enum BrowseEvent: Hashable, Sendable {
  /// A service was resolved: port, TXT record and at least one address.
  case found(BrowseID, MatterService, on: InterfaceID)
  /// The port, host, TXT record or addresses of an instance changed; or the unchanged instance was announced without a
  /// query, because its node may have restarted. RFC 6762 § 8.3.
  case updated(BrowseID, MatterService, on: InterfaceID)
  /// The service sent a goodbye, or its records expired.
  case lost(BrowseID, MatterService, on: InterfaceID)
}

/// Browses for Matter services by multicast DNS and monitors those found. RFC 6762 § 5.2, § 10, RFC 6763 § 4.
///
/// Sans-IO: the driver passes in packets and the time. After every call it drains `nextOutput()` and `nextEvent()`, and
/// reads `nextDeadline` again. Responses are accepted from any address and port; the driver must check that the sender
/// is on the link.
public struct DNSBrowser: Sendable {
  /// The options of a browser.
  public struct Options: Hashable, Sendable {
    /// The interfaces to query, each with its own known answers. Empty: one query for all interfaces, with the known
    /// answers of all.
    public var interfaces: [InterfaceID] = []
    /// Whether each query is also sent to the driver's unicast targets.
    public var sendsDirect = false
    /// Whether the first query requests unicast responses, which arrive sooner. Must be false if the driver shares port
    /// 5353 with another program of this host, which might receive them instead. RFC 6762 § 15.1.
    public var asksForUnicast = true
    /// The maximum number of cached instances on all interfaces; further instances are ignored.
    public var maximumInstances = 32_768
    /// The maximum number of cached addresses per host.
    public var maximumAddresses = 16
    public init() {}
  }

  /// Counts of ignored input by reason.
  public struct Counters: Hashable, Sendable {
    /// Packets that can't be decoded as DNS messages.
    public var malformed = 0
    /// Messages with an error code or another opcode than a standard query.
    public var notOrdinary = 0
    /// Records beyond the limits of the cache.
    public var overflowed = 0
  }

  struct Browse: Sendable {
    let target: DiscoveryQuery.Target
    /// The name that the search is indexed by: that of the pointers or of the instance.
    let name: DNSName
    var nextQuery: Instant
    /// The interval between the next query and the one after it.
    var interval = Duration.seconds(1)
    var isFirst = true
    /// The instances reported to the search.
    var reported: Set<CacheKey> = []
    /// The time of the valid entry in the timer queue; nil if there is none.
    var scheduled: Instant?

    init(_ query: DiscoveryQuery, at now: Instant) {
      target = query.target
      name =
        switch target {
        case .pointers(let name): name
        case .instance(let kind): kind.instanceName
        }
      nextQuery = now
    }
  }

  public var options: Options
  var random: any RandomSource
  var browses: [BrowseID: Browse] = [:]
  /// The searches by name, oldest first.
  var searches: [DNSName: [BrowseID]] = [:]
  var instances: [CacheKey: CachedInstance] = [:]
  var hosts: [CacheKey: CachedHost] = [:]
  /// The instances that have a pointer, by the name of the pointer.
  var pointing: [DNSName: Set<CacheKey>] = [:]
  /// The interfaces on which a cached instance was received.
  var knownInterfaces: Set<InterfaceID> = []
  /// Changed instances, whose events are not emitted yet.
  var dirty: Set<CacheKey> = []
  /// The time of the last query for a service type on an interface, to distinguish answers from announcements.
  var typeQueriedAt: [CacheKey: Instant] = [:]
  var timers = DNSTimerQueue()
  var outbox = OutputQueue<DNSOutput>(keptCapacity: 64)
  private var events: [BrowseEvent] = []
  private var eventHead = 0
  public internal(set) var counters = Counters()
  private var lastNumber: UInt64 = 0

  /// The maximum interval between two queries of a search. RFC 6762 § 5.2.
  static let longestInterval = Duration.seconds(3600)

  public init(random: any RandomSource, options: Options = Options()) {
    self.random = random
    self.options = options
  }

  /// Starts a search: reports cached services and sends a query.
  public mutating func browse(_ query: DiscoveryQuery, at now: Instant) -> BrowseID {
    lastNumber += 1
    let id = BrowseID(number: lastNumber)
    let browse = Browse(query, at: now)
    browses[id] = browse
    searches[browse.name, default: []].append(id)
    dirty.formUnion(relevantInstances(for: browse))
    schedule(.browse(id), at: now)
    advance(to: now)
    return id
  }

  /// Returns the cached instances that match the name of a search.
  private func relevantInstances(for browse: Browse) -> Set<CacheKey> {
    var keys = pointing[browse.name] ?? []
    for interface in knownInterfaces {
      let key = CacheKey(interface: interface, name: browse.name)
      if instances[key] != nil { keys.insert(key) }
    }
    return keys
  }

  /// Ends a search. No further events are emitted for it.
  public mutating func stop(_ id: BrowseID) {
    guard let browse = browses.removeValue(forKey: id) else { return }
    searches[browse.name]?.removeAll { $0 == id }
    let isLast = searches[browse.name]?.isEmpty ?? true
    for key in browse.reported { instances[key]?.reported[id] = nil }
    guard isLast else { return }
    searches[browse.name] = nil
    for key in relevantInstances(for: browse).sorted() {
      instances[key]?.pointers[browse.name] = nil
      dropIfUnwanted(key)
    }
    pointing[browse.name] = nil
  }

  /// Sends the query of one search or of all again now, and restarts the back-off of its interval.
  public mutating func queryAgain(_ id: BrowseID? = nil, at now: Instant) {
    for key in id.map({ [$0] }) ?? Array(browses.keys) {
      browses[key]?.nextQuery = now
      browses[key]?.interval = .seconds(1)
      browses[key]?.isFirst = true
      schedule(.browse(key), at: now)
    }
    advance(to: now)
  }

  /// Removes everything that was learned on an interface, for use when the interface disappears.
  mutating func forget(_ interface: InterfaceID, at now: Instant) {
    for key in instances.keys where key.interface == interface {
      for name in instances[key]?.pointers.keys.sorted() ?? [] { removePointer(name, of: key) }
      setService(nil, of: key)
      instances[key]?.text = nil
      dirty.insert(key)
    }
    reportChanges(at: now)
  }

  /// Returns the services currently found by a search, with their interfaces.
  public func found(_ id: BrowseID) -> [(service: MatterService, interface: InterfaceID)] {
    (browses[id]?.reported ?? []).sorted().compactMap { key in
      instances[key]?.reported[id].map { ($0, key.interface) }
    }
  }

  /// Handles a received datagram.
  public mutating func handle(packet: [UInt8], from source: SocketAddress, on interface: InterfaceID, at now: Instant) {
    do throws(DNSError) {
      handle(try DNSMessage(packet), from: source, on: interface, at: now)
    } catch {
      counters.malformed += 1
      advance(to: now)
    }
  }

  /// Handles a decoded message, for a socket shared with a responder.
  public mutating func handle(
    _ message: DNSMessage, from source: SocketAddress, on interface: InterfaceID, at now: Instant
  ) {
    if !message.isOrdinary {
      counters.notOrdinary += 1
    } else if browses.isEmpty {
      // There is no search.
    } else if message.isResponse {
      learn(message.answers, message.additionals, on: interface, at: now)
      reportChanges(at: now)
    } else if message.authorities.isEmpty {
      recordQueries(message.questions, on: interface, at: now)
    } else {
      // A query with authority records is a probe.
      recordProbes(message.authorities, on: interface)
    }
    advance(to: now)
  }

  /// The time at which `advance(to:)` is due; nil if no timer is running.
  public var nextDeadline: Instant? { timers.first?.time }

  /// Returns the next packet to send, or nil if there is none.
  public mutating func nextOutput() -> DNSOutput? { outbox.next() }

  /// Returns the next event, or nil if there is none.
  public mutating func nextEvent() -> BrowseEvent? {
    guard eventHead < events.count else { return nil }
    defer {
      eventHead += 1
      if eventHead == events.count {
        events.removeAll()
        eventHead = 0
      }
    }
    return events[eventHead]
  }

  mutating func emit(_ event: BrowseEvent) { events.append(event) }
}
