public import MatterCrypto

/// Answers multicast DNS queries for any number of Matter services on any number of hosts. RFC 6762, RFC 6763.
///
/// Sans-IO: the driver passes in packets and the time. After every call it drains `nextOutput()`, sends the packets in
/// order, and reads `nextDeadline` again. To shut down, the driver withdraws all services and drains once more:
/// goodbyes are not delayed.
///
/// The responder does not probe: instance names contain a random number, or the ids of fabric and node (Matter Core §
/// 4.3.1, § 4.3.2), and host names contain 40 random bits. Conflicts are reported nevertheless. On a conflict of a host
/// name, the services on the host are held back and announced again later, unless the owner publishes them with another
/// host name first.
public struct DNSResponder: Sendable {
  /// The options of a responder.
  public struct Options: Hashable, Sendable {
    /// How long services are held back after a conflict of their host name, and the minimum interval between two
    /// announcements that defend an instance name.
    public var conflictPause = Duration.seconds(60)
    /// The maximum number of packets that an answer sends at once; further packets follow after `burstPause`.
    public var burst = 16
    /// The pause between two bursts of an answer.
    public var burstPause = Duration.milliseconds(20)
    /// The family of each interface that carries multicast in one family only.
    public var onlyFamilies: [InterfaceID: IPFamily] = [:]
    public init() {}
  }

  /// An event for the owner.
  public enum Event: Hashable, Sendable {
    /// Another host uses the instance name. The responder defends the name by announcing the service again.
    case conflict(MatterService.Kind)
    /// Another host uses the host name. The services on it are withdrawn and held back.
    case hostConflict(String, [MatterService.Kind])
  }

  /// Counts of ignored packets by reason.
  public struct Counters: Hashable, Sendable {
    /// Packets that can't be decoded as DNS messages.
    public var malformed = 0
    /// Messages with an error code or another opcode than a standard query.
    public var notOrdinary = 0
    /// Answers that were dropped because too many were pending.
    public var overloaded = 0
  }

  /// A published service with its derived names and records.
  struct Published: Sendable {
    let service: MatterService
    let instance: DNSName
    let host: DNSName
    let pointers: [DNSName]
    var phase = Phase.initial
    /// The time of the next announcement; nil if none is pending.
    var nextStep: Instant?
    /// The time at which the instance name was last defended.
    var lastDefense = Instant(nanoseconds: .min / 2)

    /// Whether queries for the service are answered.
    var isOurs: Bool { phase != .heldBack }
  }

  /// The announcement phase of a service.
  enum Phase: Hashable, Sendable {
    /// Another host uses the host name: queries are not answered until the next step, which announces the service
    /// again.
    case heldBack
    /// Queries are answered, and `left` announcements remain.
    case announcing(left: Int)

    static let initial = Self.announcing(left: 2)
  }

  /// An announcement of a service at a time.
  struct Step: Comparable, Sendable {
    let time: Instant
    let sequence: UInt64

    static func < (left: Step, right: Step) -> Bool { left.time < right.time }
  }

  /// The index entry of a name. Sequence numbers increase monotonically, so each list is sorted.
  struct NameEntry: Sendable {
    /// The services that the name points to.
    var pointers: [UInt64] = []
    /// The service with this instance name.
    var instance: UInt64?
    /// The services on the host with this name.
    var hosted: [UInt64] = []
    /// The service types to enumerate, with their numbers of services.
    var types: [DNSName: Int] = [:]

    var isEmpty: Bool { pointers.isEmpty && instance == nil && hosted.isEmpty && types.isEmpty }
  }

  public var options: Options
  var random: any RandomSource
  public private(set) var interfaces: [InterfaceID: [IPAddress]] = [:]
  var services: [UInt64: Published] = [:]
  var index: [DNSName: NameEntry] = [:]
  /// The addresses before the last change, so that a delayed announcement of this responder is not taken for a
  /// conflict.
  private(set) var previousAddresses: Set<IPAddress> = []
  /// The pending announcements. Entries whose time is not the service's next step are stale.
  var steps = EventHeap<Step>()
  private var lastSequence: UInt64 = 0
  /// The time of the last announcement, or the time until which announcements are delayed. Services published in quick
  /// succession are thus announced together.
  var lastStep = Instant(nanoseconds: .min / 2)
  /// The time of the last conflict of a host name.
  var lastConflict = Instant(nanoseconds: .min / 2)
  private static let stepPause = Duration.milliseconds(10)

  var pending: [PendingAnswers] = []
  var deferred: [DeferredQuery] = []
  var history = MulticastHistory()
  var outbox = OutputQueue<DNSOutput>(keptCapacity: 64)
  var events: [Event] = []
  public internal(set) var counters = Counters()

  public init(random: any RandomSource, options: Options = Options()) {
    self.random = random
    self.options = options
  }

  /// The published services in the order of publication.
  var published: [MatterService] { services.sorted { $0.key < $1.key }.map(\.value.service) }

  /// Sets the interfaces and their addresses, and announces the services again if they changed.
  public mutating func setInterfaces(_ interfaces: [InterfaceID: [IPAddress]], at now: Instant) {
    guard interfaces != self.interfaces else { return }
    previousAddresses = Set(self.interfaces.values.joined())
    self.interfaces = interfaces
    history = MulticastHistory()
    for sequence in services.keys where services[sequence]?.isOurs == true {
      services[sequence]?.phase = .initial
      schedule(sequence, at: now)
    }
    advance(to: now)
  }

  /// Publishes a service, or replaces the one with the same instance name.
  public mutating func publish(_ service: MatterService, at now: Instant) {
    let instance = service.kind.instanceName
    lastSequence += 1
    let sequence = lastSequence
    // Names that other services have share their storage.
    let new = service.pointerNames.map { name in index.index(forKey: name).map { index[$0].key } ?? name }
    let host = DNSName(service.hostName)
    if let old = index[instance]?.instance, let previous = services[old] {
      if previous.service == service { return }
      if previous.isOurs {
        let gone = previous.pointers.filter { !new.contains($0) }.map {
          DNSRecord($0, .ptr(previous.instance), ttl: 0)
        }
        goodbye(gone, hosts: previous.host == host ? [] : soleHost(of: old))
      }
      forget(old)
    }
    services[sequence] = Published(
      service: service, instance: instance, host: host, pointers: new)
    for pointer in new { index[pointer, default: NameEntry()].pointers.append(sequence) }
    index[instance, default: NameEntry()].instance = sequence
    index[host, default: NameEntry()].hosted.append(sequence)
    for name in service.enumeratedNames {
      index[MatterServiceNames.enumeration, default: NameEntry()].types[name, default: 0] += 1
    }
    schedule(sequence, at: max(now, lastStep + Self.stepPause))
    advance(to: now)
  }

  /// Withdraws a service with a goodbye. Does nothing if it isn't published.
  /// - Parameter silently: Whether to omit the goodbye, as if the host had lost power.
  public mutating func withdraw(_ kind: MatterService.Kind, silently: Bool = false, at now: Instant) {
    let instance = kind.instanceName
    guard let sequence = index[instance]?.instance, let service = services[sequence] else { return }
    if service.isOurs, !silently {
      var records = service.pointers.map { DNSRecord($0, .ptr(instance), ttl: 0) }
      records += [
        DNSRecord(instance, service.srv, ttl: 0, cacheFlush: true),
        DNSRecord(instance, .txt(service.service.textStrings), ttl: 0, cacheFlush: true),
      ]
      goodbye(records, hosts: soleHost(of: sequence))
    }
    forget(sequence)
    advance(to: now)
  }

  /// Withdraws the service with the instance name of `service`.
  mutating func withdraw(_ service: MatterService, at now: Instant) { withdraw(service.kind, at: now) }

  /// Withdraws all services.
  public mutating func withdrawAll(at now: Instant) {
    for service in published { withdraw(service.kind, at: now) }
  }

  /// Handles a datagram received on the multicast or unicast socket of an interface. `source` determines the address
  /// family.
  public mutating func handle(packet: [UInt8], from source: SocketAddress, on interface: InterfaceID, at now: Instant) {
    do throws(DNSError) {
      handle(try DNSMessage(packet), from: source, on: interface, at: now)
    } catch {
      counters.malformed += 1
    }
  }

  /// Handles a decoded message, for a socket shared with a browser.
  public mutating func handle(
    _ message: DNSMessage, from source: SocketAddress, on interface: InterfaceID, at now: Instant
  ) {
    if !message.isOrdinary {
      counters.notOrdinary += 1
    } else if message.isResponse {
      detectConflicts(in: message, at: now)
    } else {
      detectProbes(in: message, at: now)
      answer(message, from: source, on: interface, at: now)
    }
    advance(to: now)
  }

  /// Sends the announcements and answers that are due.
  public mutating func advance(to now: Instant) {
    step(to: now)
    replayDeferred(at: now)
    flush(at: now)
  }

  /// The time at which `advance(to:)` is due; nil if no timer is running.
  public var nextDeadline: Instant? {
    var earliest = steps.first?.time
    for due in pending.lazy.map(\.due) { earliest = min(earliest ?? due, due) }
    for due in deferred.lazy.map(\.due) { earliest = min(earliest ?? due, due) }
    return earliest
  }

  /// Returns the next packet to send, or nil if there is none.
  public mutating func nextOutput() -> DNSOutput? {
    flushGoodbyes()
    return outbox.next()
  }

  /// Returns the next event, or nil if there is none.
  public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  var goodbyes: [Goodbye] = []

  // MARK: - Bookkeeping

  /// Schedules the next announcement of a service.
  mutating func schedule(_ sequence: UInt64, at instant: Instant) {
    services[sequence]?.nextStep = instant
    steps.insert(Step(time: instant, sequence: sequence))
  }

  /// Whether an announcement of a service is pending.
  func isUnannounced(_ sequence: UInt64) -> Bool { services[sequence]?.nextStep != nil }

  /// Returns the host of a service if no other service runs on it.
  private func soleHost(of sequence: UInt64) -> [Published] {
    guard let service = services[sequence], index[service.host]?.hosted == [sequence] else { return [] }
    return [service]
  }

  private mutating func forget(_ sequence: UInt64) {
    guard let service = services.removeValue(forKey: sequence) else { return }
    for pointer in service.pointers { update(pointer) { $0.pointers.removeSorted(sequence) } }
    update(service.instance) { $0.instance = nil }
    update(service.host) { $0.hosted.removeSorted(sequence) }
    update(MatterServiceNames.enumeration) { entry in
      for name in service.service.enumeratedNames {
        let left = (entry.types[name] ?? 1) - 1
        entry.types[name] = left > 0 ? left : nil
      }
    }
  }

  private mutating func update(_ name: DNSName, _ body: (inout NameEntry) -> Void) {
    guard let position = index.index(forKey: name) else { return }
    body(&index.values[position])
    if index.values[position].isEmpty { index.remove(at: position) }
  }
}

extension DNSResponder.Published {
  var srv: DNSRecordData { .srv(priority: 0, weight: 0, port: service.port, target: host) }
}

extension RandomSource {
  /// Returns a random delay.
  mutating func milliseconds(in range: ClosedRange<Int64>) -> Duration {
    let word: UInt64 = next()
    return .milliseconds(range.lowerBound + Int64(word % UInt64(range.upperBound - range.lowerBound + 1)))
  }
}

extension [UInt64] {
  /// Removes a number from a sorted list.
  fileprivate mutating func removeSorted(_ number: UInt64) {
    let index = insertionIndex(of: number)
    if index < count, self[index] == number { remove(at: index) }
  }
}
