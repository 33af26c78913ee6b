public import MatterCrypto

/// Answers multicast DNS queries for any number of Matter services of any number of hosts. RFC 6762, RFC 6763.
///
/// Without I/O: packets and time come in, packets and the next deadline come out. After every call, drain
/// `nextOutput()` until it is nil, send what it gives in that order, and ask for `nextDeadline` again. To shut down,
/// withdraw everything and drain once more: goodbyes are given out at once.
///
/// No name is probed: names of services contain a random number, or the identifiers of fabric and node (Matter Core § 4.3.1,
/// § 4.3.2); names of hosts are drawn from 40 random bits. A conflict is reported all the same. Services on a host whose name another
/// host has are held back and announced again later, unless the owner publishes them on a host of another name before.
public struct DNSResponder: Sendable {
  /// How long it gives way, and how much it sends at once.
  public struct Options: Hashable, Sendable {
    /// How long the services on a host are held back whose name another host has, and the least time between two announcements in
    /// defense of an instance name.
    public var conflictPause = Duration.seconds(60)
    /// Most packets given out in one go by one answer; more follow after `burstPause`.
    public var burst = 16
    /// Between the packets of an answer, once there were ``burst`` of them.
    public var burstPause = Duration.milliseconds(20)
    public init() {}
  }

  /// Something for the owner to know.
  public enum Event: Hashable, Sendable {
    /// Another host uses this instance name. The name is defended: the service is announced again.
    case conflict(MatterService.Kind)
    /// Another host uses this host name: these services on it are withdrawn and held back.
    case hostConflict(String, [MatterService.Kind])
  }

  /// Packets that were not acted on, by reason.
  public struct Counters: Hashable, Sendable {
    /// Packets that are no DNS messages.
    public var malformed = 0
    /// Messages that are no queries, or carry an error or another operation.
    public var notOrdinary = 0
    /// Queries that came while too many answers were waiting.
    public var overloaded = 0
  }

  /// A published service with what is made from it once.
  struct Published: Sendable {
    let service: MatterService
    let instance: DNSName
    let host: DNSName
    let pointers: [DNSName]
    let text: [[UInt8]]
    var phase: Phase
    /// When what the phase waits for is due.
    var nextStep: Instant
    /// When the instance name was last defended against another host.
    var defended = Instant(nanoseconds: .min / 2)

    /// Whether the service is answered.
    var isOurs: Bool { phase != .heldBack }
  }

  /// Whether a service is answered, and what is to be sent of it.
  enum Phase: Hashable, Sendable {
    /// Another host has the name of its host: it is announced again in the next step.
    case heldBack
    /// It is answered, and still to be announced as often.
    case announcing(left: Int)

    static let begun = Self.announcing(left: 2)
  }

  /// What stands under a name. Sequence numbers only grow, so each list is sorted.
  struct NameEntry: Sendable {
    /// Services that this name points to.
    var pointers: [UInt64] = []
    /// The service whose instance name it is.
    var instance: UInt64?
    /// Services that run on the host of this name.
    var hosted: [UInt64] = []
    /// Service types to enumerate, with how many services each has.
    var types: [DNSName: Int] = [:]

    var isEmpty: Bool { pointers.isEmpty && instance == nil && hosted.isEmpty && types.isEmpty }
  }

  public var options: Options
  var random: any RandomSource
  public private(set) var interfaces: [InterfaceID: [IPAddress]] = [:]
  var services: [UInt64: Published] = [:]
  var index: [DNSName: NameEntry] = [:]
  /// The addresses before the last change: an announcement of ours that is received late is no conflict.
  private(set) var formerAddresses: Set<IPAddress> = []
  /// Services with an announcement to come.
  var unsettled: Set<UInt64> = []
  /// When the first of them is due, or sooner.
  var earliestStep: Instant?
  private var lastSequence: UInt64 = 0
  /// When announcements went out last, or the time until which they are held back: services published one right after the other
  /// share packets.
  var lastStep = Instant(nanoseconds: .min / 2)
  /// When a host name was given up last.
  var lastConflict = Instant(nanoseconds: .min / 2)
  private static let stepPause = Duration.milliseconds(10)

  var pending: [PendingAnswers] = []
  var deferred: [DeferredQuery] = []
  var history = MulticastHistory()
  var outbox = OutputQueue()
  var events: [Event] = []
  public internal(set) var counters = Counters()

  public init(random: any RandomSource, options: Options = Options()) {
    self.random = random
    self.options = options
  }

  /// The services published, in the order in which they were.
  public var published: [MatterService] { services.sorted { $0.key < $1.key }.map(\.value.service) }

  /// Says which interfaces there are and which addresses each has. New addresses are announced.
  public mutating func setInterfaces(_ interfaces: [InterfaceID: [IPAddress]], at now: Instant) {
    guard interfaces != self.interfaces else { return }
    formerAddresses = Set(self.interfaces.values.joined())
    self.interfaces = interfaces
    history = MulticastHistory()
    for sequence in services.keys where services[sequence]?.isOurs == true {
      services[sequence]?.phase = .begun
      schedule(sequence, at: now)
    }
    advance(to: now)
  }

  /// Publishes a service, or replaces what was published under the same instance name.
  public mutating func publish(_ service: MatterService, at now: Instant) {
    let instance = service.kind.instanceName
    lastSequence += 1
    let sequence = lastSequence
    let new = service.pointerNames
    let host = DNSName(service.hostName)
    if let old = index[instance]?.instance, let previous = services[old] {
      if previous.service == service { return }
      if previous.isOurs {
        let gone = previous.pointers.filter { !new.contains($0) }.map {
          DNSRecord($0, .ptr(previous.instance), ttl: 0)
        }
        goodbye(gone, hosts: previous.host == host ? [] : hostsLeft(by: old))
      }
      forget(old)
    }
    services[sequence] = Published(
      service: service, instance: instance, host: host, pointers: new, text: service.textStrings,
      phase: .begun, nextStep: max(now, lastStep + Self.stepPause))
    for pointer in new { index[pointer, default: NameEntry()].pointers.append(sequence) }
    index[instance, default: NameEntry()].instance = sequence
    index[host, default: NameEntry()].hosted.append(sequence)
    for name in service.enumeratedNames {
      index[MatterServiceNames.enumeration, default: NameEntry()].types[name, default: 0] += 1
    }
    schedule(sequence, at: max(now, lastStep + Self.stepPause))
    advance(to: now)
  }

  /// Stops publishing a service and says goodbye to it. Does nothing where it isn't published.
  /// - Parameter silently: says no goodbye, as if the service's host had lost its power.
  public mutating func withdraw(_ kind: MatterService.Kind, silently: Bool = false, at now: Instant) {
    let instance = kind.instanceName
    guard let sequence = index[instance]?.instance, let service = services[sequence] else { return }
    if service.isOurs, !silently {
      var records = service.pointers.map { DNSRecord($0, .ptr(instance), ttl: 0) }
      records += [
        DNSRecord(instance, service.srv, ttl: 0, cacheFlush: true),
        DNSRecord(instance, .txt(service.text), ttl: 0, cacheFlush: true),
      ]
      goodbye(records, hosts: hostsLeft(by: sequence))
    }
    forget(sequence)
    advance(to: now)
  }

  /// Withdraws what is published under the instance name of `service`.
  public mutating func withdraw(_ service: MatterService, at now: Instant) { withdraw(service.kind, at: now) }

  /// Withdraws everything.
  public mutating func withdrawAll(at now: Instant) {
    for service in published { withdraw(service.kind, at: now) }
  }

  /// A datagram came in on an interface's multicast or unicast socket. Whether it came over IPv6 is in `source`.
  public mutating func handle(packet: [UInt8], from source: SocketAddress, on interface: InterfaceID, at now: Instant) {
    do throws(DNSError) {
      handle(try DNSMessage(packet), from: source, on: interface, at: now)
    } catch {
      counters.malformed += 1
    }
  }

  /// The same with a message that the driver has read already, for a socket shared with a browser.
  public mutating func handle(
    _ message: DNSMessage, from source: SocketAddress, on interface: InterfaceID, at now: Instant
  ) {
    if !message.isOrdinary {
      counters.notOrdinary += 1
    } else if message.isResponse {
      noticeConflicts(in: message, at: now)
    } else {
      noticeProbes(in: message, at: now)
      answer(message, from: source, on: interface, at: now)
    }
    advance(to: now)
  }

  /// Time has passed: sends what is due.
  public mutating func advance(to now: Instant) {
    step(to: now)
    replayDeferred(at: now)
    flush(at: now)
  }

  /// When `advance(to:)` has something to do next.
  public var nextDeadline: Instant? {
    var earliest = earliestStep
    for due in pending.lazy.map(\.due) { earliest = min(earliest ?? due, due) }
    for due in deferred.lazy.map(\.due) { earliest = min(earliest ?? due, due) }
    return earliest
  }

  /// The next packet to send.
  public mutating func nextOutput() -> DNSOutput? {
    flushGoodbyes()
    return outbox.next()
  }

  /// The next thing to know.
  public mutating func nextEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

  var goodbyes: [Goodbye] = []

  // MARK: - Bookkeeping

  /// Sets when a service's next announcement is due.
  mutating func schedule(_ sequence: UInt64, at instant: Instant) {
    services[sequence]?.nextStep = instant
    unsettled.insert(sequence)
    earliestStep = min(earliestStep ?? instant, instant)
  }

  /// The host of a service, if no other service runs on it.
  private func hostsLeft(by sequence: UInt64) -> [Published] {
    guard let service = services[sequence], index[service.host]?.hosted == [sequence] else { return [] }
    return [service]
  }

  private mutating func forget(_ sequence: UInt64) {
    guard let service = services.removeValue(forKey: sequence) else { return }
    unsettled.remove(sequence)
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
  /// A random delay.
  mutating func milliseconds(in range: ClosedRange<Int64>) -> Duration {
    let word: UInt64 = next()
    return .milliseconds(range.lowerBound + Int64(word % UInt64(range.upperBound - range.lowerBound + 1)))
  }
}

extension [UInt64] {
  /// Removes a number from a sorted list.
  fileprivate mutating func removeSorted(_ number: UInt64) {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    if low < count, self[low] == number { remove(at: low) }
  }
}
