/// Identifies a record of the responder. The data is looked up when the record is written.
struct RecordReference: Hashable, Sendable {
  let name: DNSName
  let type: DNSType
  /// The service of the record; 0 for the records of a host and for the enumeration of types.
  let sequence: UInt64
  /// The position in the enumeration of types; 0 otherwise.
  let position: Int

  init(_ name: DNSName, _ type: DNSType, _ sequence: UInt64 = 0, position: Int = 0) {
    self.name = name
    self.type = type
    self.sequence = sequence
    self.position = position
  }
}

/// Answers that wait for the random delay, or for the pause between two bursts.
struct PendingAnswers: Sendable {
  /// The destination and the header of a unicast answer.
  struct Unicast: Sendable {
    let destination: SocketAddress
    let id: UInt16
    /// The questions to repeat to a plain DNS resolver; nil for a multicast DNS querier. RFC 6762 § 6.7.
    let legacyQuestions: [DNSQuestion]?
  }

  private struct Member: Hashable {
    let service: UInt64
    let reference: RecordReference
  }

  let interface: InterfaceID
  let isIPv6: Bool
  let unicast: Unicast?
  /// Whether to also send records that were multicast within the last second, to defend a name against a probe.
  var ignoresHistory = false
  var due: Instant
  /// The time of the latest query for the answers.
  var requestedAt: Instant
  /// The answers grouped by service. Answers without a service form one group.
  private var groups: [(service: UInt64, references: [RecordReference])] = []
  private var positions: [UInt64: Int] = [:]
  private var members: Set<Member> = []
  private var firstGroup = 0
  /// The number of answers of the first group that are sent.
  private var sentOfFirst = 0
  /// The answers and additional records without a service that are sent.
  var sent: Set<RecordReference> = []

  init(interface: InterfaceID, isIPv6: Bool, unicast: Unicast?, due: Instant, requestedAt: Instant) {
    self.interface = interface
    self.isIPv6 = isIPv6
    self.unicast = unicast
    self.due = due
    self.requestedAt = requestedAt
  }

  var isEmpty: Bool { firstGroup >= groups.count }

  /// The service of the first group, 0 for records without a service, and the remaining answers of the group.
  var first: (service: UInt64, references: ArraySlice<RecordReference>)? {
    isEmpty ? nil : (groups[firstGroup].service, groups[firstGroup].references.dropFirst(sentOfFirst))
  }

  /// Appends a record to the group of its service.
  /// - Parameter service: The group, if other than that of the record's own service.
  mutating func append(_ reference: RecordReference, of service: UInt64? = nil) {
    let service = service ?? reference.sequence
    guard members.insert(Member(service: service, reference: reference)).inserted else { return }
    if let position = positions[service], position >= firstGroup {
      groups[position].references.append(reference)
    } else {
      positions[service] = groups.count
      groups.append((service, [reference]))
    }
  }

  /// Removes the first answers of the first group.
  mutating func removeFirst(_ count: Int) {
    sentOfFirst += count
    guard !isEmpty, sentOfFirst >= groups[firstGroup].references.count else { return }
    firstGroup += 1
    sentOfFirst = 0
  }
}

/// A query whose known answers continue in further packets. RFC 6762 § 7.2.
struct DeferredQuery: Sendable {
  let source: SocketAddress
  let interface: InterfaceID
  var message: DNSMessage
  var due: Instant
}

/// Records to withdraw.
struct Goodbye: Sendable {
  let records: [DNSRecord]
  /// The services whose host addresses are also withdrawn.
  let hosts: [DNSResponder.Published]
  /// Whether another host uses the host name, so that its addresses must not be flushed.
  var isHostNameForeign = false
}

/// The time of the last multicast of each record. A record is multicast at most once per second on each interface, and
/// a query for a unicast response gets one only if the record was multicast recently. RFC 6762 § 5.4, § 6.
struct MulticastHistory: Sendable {
  /// The times since a start.
  private struct Generation {
    let start: Instant
    /// Microseconds since the start, rounded up, by the hashes of record and interface. Two records with the same hash
    /// have the same time, so that one can be sent a second later or not at all; that is rare, and a fleet has hundreds of
    /// thousands of records.
    private var times: [UInt32: UInt32] = [:]

    init(start: Instant) { self.start = start }

    subscript(key: UInt32) -> Instant? {
      get { times[key].map { start + .microseconds(Int64($0)) } }
      set { times[key] = newValue.map { UInt32(clamping: (($0 - start).nanoseconds + 999) / 1000) } }
    }
  }

  private static func key(_ record: RecordReference, _ interface: InterfaceID, isIPv6: Bool) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(record)
    hasher.combine(interface)
    hasher.combine(isIPv6)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  static let pause = Duration.seconds(1)
  /// A quarter of the longest TTL.
  private static let memory = Duration.seconds(Int64(DNSResponder.otherTTL)) / 4

  private var current: Generation?
  private var previous: Generation?

  /// Returns the time of the last multicast of a record; nil if there was none recently.
  func last(_ record: RecordReference, _ pending: PendingAnswers) -> Instant? {
    let key = Self.key(record, pending.interface, isIPv6: pending.isIPv6)
    return current?[key] ?? previous?[key]
  }

  mutating func note(_ record: RecordReference, _ pending: PendingAnswers, at now: Instant) {
    // Two generations, so that outdated entries are discarded as a whole.
    if current.map({ now - $0.start >= Self.memory }) ?? true {
      previous = current
      current = Generation(start: now)
    }
    current?[Self.key(record, pending.interface, isIPv6: pending.isIPv6)] = now
  }

  /// Removes the records of a host, so that they can be multicast at once after a goodbye.
  mutating func clear(_ name: DNSName, on interfaces: [InterfaceID]) {
    for interface in interfaces {
      for isIPv6 in [false, true] {
        for type in [DNSType.a, .aaaa, .nsec] {
          let key = Self.key(RecordReference(name, type), interface, isIPv6: isIPv6)
          current?[key] = nil
          previous?[key] = nil
        }
      }
    }
  }
}
