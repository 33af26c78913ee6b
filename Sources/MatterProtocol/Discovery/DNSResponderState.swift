/// One record that the responder has, by what identifies it. Data is looked up when the record is written.
struct RecordReference: Hashable, Sendable {
  let name: DNSName
  let type: DNSType
  /// The service it belongs to; 0 for the records of a host and for the enumeration of types.
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

/// Answers that wait to be sent: for the random delay, or for the pause between two bursts of packets.
struct PendingAnswers: Sendable {
  /// What is special about a unicast answer.
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
  /// Whether to send even what has been multicast within the last second: in defence against a probe.
  var ignoresHistory = false
  var due: Instant
  /// When the last of the answers was asked for.
  var since: Instant
  /// Answers grouped by service. Those about no service are one group.
  private var groups: [(service: UInt64, references: [RecordReference])] = []
  private var positions: [UInt64: Int] = [:]
  private var members: Set<Member> = []
  private var firstGroup = 0
  /// Answers of the first group that are sent.
  private var sentOfFirst = 0
  /// Answers and additional records that are sent.
  var sent: Set<RecordReference> = []

  init(interface: InterfaceID, isIPv6: Bool, unicast: Unicast?, due: Instant, since: Instant) {
    self.interface = interface
    self.isIPv6 = isIPv6
    self.unicast = unicast
    self.due = due
    self.since = since
  }

  var isEmpty: Bool { firstGroup >= groups.count }

  /// The service of the first group, 0 for records of no service; and the answers of that group that are still to be sent.
  var first: (service: UInt64, references: ArraySlice<RecordReference>)? {
    isEmpty ? nil : (groups[firstGroup].service, groups[firstGroup].references.dropFirst(sentOfFirst))
  }

  /// - Parameter service: the service whose packet the record belongs to, where that isn't the record's own.
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

/// A query whose known answers go on in further packets. RFC 6762 § 7.2.
struct DeferredQuery: Sendable {
  let source: SocketAddress
  let interface: InterfaceID
  var message: DNSMessage
  var due: Instant
}

/// Records that are no longer true.
struct Goodbye: Sendable {
  let records: [DNSRecord]
  /// Services whose host is gone with them, for its addresses.
  let hosts: [DNSResponder.Published]
  /// Whether the host's name is somebody else's now: then the other addresses under it stay.
  var isHostOthers = false
}

/// When each record was last multicast, for as long as that matters: a record goes out at most once a second on
/// each interface, and who asks for it by himself gets it by himself only if all others have it already.
/// RFC 6762 § 5.4, § 6.
struct MulticastHistory: Sendable {
  private struct Key: Hashable {
    let interface: InterfaceID
    let isIPv6: Bool
    let record: RecordReference
  }

  static let pause = Duration.seconds(1)
  /// A quarter of the longest TTL.
  private static let memory = Duration.seconds(Int64(DNSResponder.otherTTL)) / 4

  private var current: [Key: Instant] = [:]
  private var previous: [Key: Instant] = [:]
  private var rotated: Instant?

  /// When the record was multicast last; nil where that is too long ago to matter.
  func last(_ record: RecordReference, _ pending: PendingAnswers) -> Instant? {
    let key = Key(interface: pending.interface, isIPv6: pending.isIPv6, record: record)
    return current[key] ?? previous[key]
  }

  mutating func note(_ record: RecordReference, _ pending: PendingAnswers, at now: Instant) {
    // Two generations: one is thrown away whole once all of it is too old.
    if now - (rotated ?? Instant(nanoseconds: .min / 2)) >= Self.memory {
      previous = current
      current = [:]
      rotated = now
    }
    current[Key(interface: pending.interface, isIPv6: pending.isIPv6, record: record)] = now
  }

  /// Lets a host's records go out at once, because a goodbye has just contradicted them.
  mutating func clear(_ name: DNSName, on interfaces: [InterfaceID]) {
    for interface in interfaces {
      for isIPv6 in [false, true] {
        for type in [DNSType.a, .aaaa, .nsec] {
          let key = Key(interface: interface, isIPv6: isIPv6, record: RecordReference(name, type))
          current[key] = nil
          previous[key] = nil
        }
      }
    }
  }
}

/// First in, first out, without moving what waits.
struct OutputQueue: Sendable {
  private var outputs: [DNSOutput] = []
  private var head = 0

  mutating func append(_ output: DNSOutput) { outputs.append(output) }

  mutating func next() -> DNSOutput? {
    guard head < outputs.count else { return nil }
    defer {
      head += 1
      if head == outputs.count {
        outputs.removeAll(keepingCapacity: outputs.count <= 64)
        head = 0
      }
    }
    return outputs[head]
  }
}
