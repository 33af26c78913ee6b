public import MatterCrypto

/// One search for services; given out by ``DNSBrowser/browse(_:at:)``.
public struct BrowseID: Hashable, Comparable, Sendable {
  let number: UInt64
  public static func < (left: BrowseID, right: BrowseID) -> Bool { left.number < right.number }
}

/// What a browser found out. A service is told for each interface that it was heard on.
public enum BrowseEvent: Hashable, Sendable {
  /// A service with all that is needed to talk to it: port, TXT record and at least one address.
  case found(BrowseID, MatterService, on: InterfaceID)
  /// The same instance with another port, host, TXT record or other addresses; or as it was, announced without having been
  /// asked for: its node may have begun anew. RFC 6762 § 8.3.
  case updated(BrowseID, MatterService, on: InterfaceID)
  /// The service said goodbye, or was not heard again before its records ran out.
  case lost(BrowseID, MatterService, on: InterfaceID)
}

/// Looks for Matter services by multicast DNS and keeps watch over those found. RFC 6762 § 5.2, § 10, RFC 6763 § 4.
///
/// Without I/O: packets and time come in, packets, events and the next deadline come out. After every call, drain
/// `nextOutput()` and `nextEvent()`, and ask for `nextDeadline` again. A response is taken from any address and port
/// that the driver passes in; whether the sender is on the link is for the driver to judge.
public struct DNSBrowser: Sendable {
  /// Where it asks, and how.
  public struct Options: Hashable, Sendable {
    /// The interfaces to query, each told what was heard on it. Empty: one query for all, told what was heard on any.
    public var interfaces: [InterfaceID] = []
    /// Whether each query is given out a second time for the driver's unicast targets.
    public var sendsDirect = false
    /// Whether the first query asks for unicast answers, which come sooner. Not to be set where the driver shares port
    /// 5353 with another program of this host, which might get them instead. RFC 6762 § 15.1.
    public var asksForUnicast = true
    /// Most instances kept, those of all interfaces together; more are not looked at.
    public var maximumInstances = 4096
    /// Most addresses kept of one host.
    public var maximumAddresses = 16
    public init() {}
  }

  /// What was not acted on, by reason.
  public struct Counters: Hashable, Sendable {
    /// Packets that are no DNS messages.
    public var malformed = 0
    /// Messages that are no responses, or carry an error or another operation.
    public var notOrdinary = 0
    /// Records beyond the cache's bounds.
    public var overflowed = 0
  }

  struct Browse: Sendable {
    let target: DiscoveryQuery.Target
    /// The name under which the search is filed: of the pointers or of the instance.
    let name: DNSName
    var nextQuery: Instant
    /// Until the query after the next one.
    var interval = Duration.seconds(1)
    var isFirst = true
    /// The instances that it was told of.
    var reported: Set<CacheKey> = []
    /// For when it stands in the agenda; nil: it does not.
    var planned: Instant?

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
  /// The searches under each name, oldest first.
  var searches: [DNSName: [BrowseID]] = [:]
  var instances: [CacheKey: CachedInstance] = [:]
  var hosts: [CacheKey: CachedHost] = [:]
  /// The instances that have a pointer under each name.
  var pointing: [DNSName: Set<CacheKey>] = [:]
  /// Where anything was heard that is kept; a few at most.
  var heardOn: Set<InterfaceID> = []
  /// Instances to look at again because something about them has changed.
  var dirty: Set<CacheKey> = []
  /// When somebody asked last for all instances of a type on an interface, so that what comes then is an answer.
  var askedForAll: [CacheKey: Instant] = [:]
  var agenda = DNSAgenda()
  var outbox = OutputQueue()
  private var events: [BrowseEvent] = []
  private var eventHead = 0
  public internal(set) var counters = Counters()
  private var lastNumber: UInt64 = 0

  /// The longest time between two queries of a search. RFC 6762 § 5.2.
  static let longestInterval = Duration.seconds(3600)

  public init(random: any RandomSource, options: Options = Options()) {
    self.random = random
    self.options = options
  }

  /// Starts a search. What is known already is told at once, and a query goes out.
  public mutating func browse(_ query: DiscoveryQuery, at now: Instant) -> BrowseID {
    lastNumber += 1
    let id = BrowseID(number: lastNumber)
    let browse = Browse(query, at: now)
    browses[id] = browse
    searches[browse.name, default: []].append(id)
    dirty.formUnion(concerned(by: browse))
    plan(.browse(id), at: now)
    advance(to: now)
    return id
  }

  /// The instances that are kept for a search, and others that are looked for under the same name.
  private func concerned(by browse: Browse) -> Set<CacheKey> {
    var keys = pointing[browse.name] ?? []
    for interface in heardOn {
      let key = CacheKey(interface: interface, name: browse.name)
      if instances[key] != nil { keys.insert(key) }
    }
    return keys
  }

  /// Ends a search. Nothing more is told about it.
  public mutating func stop(_ id: BrowseID) {
    guard let browse = browses.removeValue(forKey: id) else { return }
    searches[browse.name]?.removeAll { $0 == id }
    let isLast = searches[browse.name]?.isEmpty ?? true
    for key in browse.reported { instances[key]?.reported[id] = nil }
    guard isLast else { return }
    searches[browse.name] = nil
    for key in concerned(by: browse).sorted() {
      instances[key]?.pointers[browse.name] = nil
      dropIfUnwanted(key)
    }
    pointing[browse.name] = nil
  }

  /// Asks again now, for one search or for all, and starts over with the short intervals.
  public mutating func queryAgain(_ id: BrowseID? = nil, at now: Instant) {
    for key in id.map({ [$0] }) ?? Array(browses.keys) {
      browses[key]?.nextQuery = now
      browses[key]?.interval = .seconds(1)
      browses[key]?.isFirst = true
      plan(.browse(key), at: now)
    }
    advance(to: now)
  }

  /// Forgets what was heard on an interface, because it is gone.
  public mutating func forget(_ interface: InterfaceID, at now: Instant) {
    for key in instances.keys where key.interface == interface {
      for name in instances[key]?.pointers.keys.sorted() ?? [] { removePointer(name, of: key) }
      setService(nil, of: key)
      instances[key]?.text = nil
      dirty.insert(key)
    }
    settle(at: now)
  }

  /// The services that a search has found and not lost, on which interface.
  public func found(_ id: BrowseID) -> [(service: MatterService, interface: InterfaceID)] {
    (browses[id]?.reported ?? []).sorted().compactMap { key in
      instances[key]?.reported[id].map { ($0, key.interface) }
    }
  }

  /// A datagram came in; queries are ignored.
  public mutating func handle(packet: [UInt8], from source: SocketAddress, on interface: InterfaceID, at now: Instant) {
    do throws(DNSError) {
      handle(try DNSMessage(packet), from: source, on: interface, at: now)
    } catch {
      counters.malformed += 1
      advance(to: now)
    }
  }

  /// The same with a message that the driver has read already, for a socket shared with a responder.
  public mutating func handle(
    _ message: DNSMessage, from source: SocketAddress, on interface: InterfaceID, at now: Instant
  ) {
    if !message.isOrdinary {
      counters.notOrdinary += 1
    } else if browses.isEmpty {
      // Nobody wants to know.
    } else if message.isResponse {
      learn(message.answers, message.additionals, on: interface, at: now)
      settle(at: now)
    } else if message.authorities.isEmpty {
      noteAsked(message.questions, on: interface, at: now)
    } else {
      // One with authorities asks only whether a name is taken.
      noteProbe(message.authorities, on: interface)
    }
    advance(to: now)
  }

  /// When `advance(to:)` has something to do next, or may have.
  public var nextDeadline: Instant? { agenda.first?.time }

  /// The next packet to send.
  public mutating func nextOutput() -> DNSOutput? { outbox.next() }

  /// The next thing found out.
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
