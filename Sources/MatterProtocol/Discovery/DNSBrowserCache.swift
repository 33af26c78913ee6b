import MatterCrypto

/// A name on an interface.
struct CacheKey: Hashable, Comparable, Sendable {
  let interface: InterfaceID
  let name: DNSName

  static func < (left: CacheKey, right: CacheKey) -> Bool {
    left.interface == right.interface ? left.name < right.name : left.interface < right.interface
  }
}

/// The expiry and refresh times of a cached record. RFC 6762 § 5.2.
struct Lifetime: Hashable, Sendable {
  var received: Instant
  var ttl: UInt32
  var expires: Instant
  /// The time of the next refresh query; nil after the last one, or after a goodbye.
  var refresh: Instant?
  private var step: Int
  private var jitter: Int64

  /// The percentages of the TTL at which the record is queried again.
  private static let marks: [Int64] = [80, 85, 90, 95]
  /// The time from a goodbye until the record expires, in case it is announced again at once. RFC 6762 § 10.1.
  static let goodbyeDelay = Duration.seconds(1)

  /// The order in which the records of a service are refreshed: the response to a query for a pointer, or for a service
  /// record, includes the following ones, so that these need no query of their own.
  enum Order: Int { case pointer, service, address }

  init(_ ttl: UInt32, at now: Instant, _ order: Order, random: inout any RandomSource) {
    received = now
    self.ttl = ttl
    if ttl == 0 {
      expires = now + Self.goodbyeDelay
      step = Self.marks.count
      jitter = 0
    } else {
      // At most a day, because records can be queried again.
      let life = Int64(min(ttl, 86_400))
      expires = now + .seconds(life)
      // Pointers usually have a longer TTL than the others, except in unicast responses with a short one for all.
      step = ttl <= 30 ? order.rawValue : max(0, order.rawValue - 1)
      let word: UInt64 = random.next()
      // Up to 2 % of the TTL, in milliseconds.
      jitter = Int64(word % UInt64(life * 20 + 1))
    }
    planRefresh()
  }

  private mutating func planRefresh() {
    guard step < Self.marks.count else {
      refresh = nil
      return
    }
    let life = Int64(min(ttl, 86_400))
    // Rounded up to 250 ms, so that a packet queries many records.
    let milliseconds = (life * 10 * Self.marks[step] + jitter + 249) / 250 * 250
    refresh = received + .milliseconds(milliseconds)
    step += 1
  }

  /// Returns whether a refresh query is due, and schedules the next one.
  mutating func takeRefresh(at now: Instant) -> Bool {
    guard let due = refresh, due <= now else { return false }
    while let due = refresh, due <= now {
      _ = due
      planRefresh()
    }
    return expires > now
  }

  /// Handles a goodbye: the record expires after ``goodbyeDelay`` and is not refreshed.
  mutating func end(at now: Instant) {
    expires = min(expires, now + Self.goodbyeDelay)
    refresh = nil
    step = Self.marks.count
  }

  /// Returns the newer lifetime, unless it is that of a short-lived unicast copy of a record that was received by
  /// multicast.
  func merged(with newer: Lifetime) -> Lifetime {
    newer.ttl > 0 && newer.ttl <= DNSResponder.legacyTTL && expires > newer.expires && refresh != nil ? self : newer
  }

  /// The time of the next refresh or of the expiry.
  var next: Instant { min(refresh ?? expires, expires) }

  /// The remaining TTL in seconds for a known answer; nil if it is not more than half of the original TTL.
  func knownTTL(at now: Instant) -> UInt32? {
    let left = (expires - now).milliseconds / 1000
    return refresh != nil && left * 2 > Int64(ttl) ? UInt32(clamping: left) : nil
  }
}

/// The cached records of an instance on an interface.
struct CachedInstance: Sendable {
  struct Service: Sendable {
    var lifetime: Lifetime
    var port: UInt16
    var host: DNSName
  }
  struct Text: Sendable {
    var lifetime: Lifetime
    var strings: [[UInt8]]
  }

  let kind: MatterService.Kind
  /// The pointers to the instance, by the searched name that has the pointer.
  var pointers: [DNSName: Lifetime] = [:]
  var service: Service?
  var text: Text?
  /// The time of the last query for the instance, from any host.
  var queriedAt: Instant?
  /// The time of the last event about the instance.
  var reportedAt: Instant?
  /// Whether a host has probed for the name, so that an announcement follows. RFC 6762 § 8.1.
  var isProbed = false
  /// Whether an unsolicited announcement was received that is not reported yet.
  var isAnnounced = false
  /// The service last reported to each search.
  var reported: [BrowseID: MatterService] = [:]
  /// The number of queries for missing records, and the time of the next one.
  var attempts = 0
  var nextAttempt: Instant?
  /// The time of the valid entry in the timer queue; nil if there is none.
  var scheduled: Instant?

  static let maximumAttempts = 8

  var deadline: Instant? {
    var earliest = nextAttempt
    for lifetime in pointers.values { earliest = .earlier(earliest, lifetime.next) }
    earliest = .earlier(earliest, service?.lifetime.next)
    return .earlier(earliest, text?.lifetime.next)
  }
}

/// The cached addresses of a host on an interface. Kept while the host has an instance.
struct CachedHost: Sendable {
  var addresses: [IPAddress: Lifetime] = [:]
  var instances: Set<DNSName> = []
  /// The time of the valid entry in the timer queue; nil if there is none.
  var scheduled: Instant?

  var deadline: Instant? { addresses.values.map(\.next).min() }

  /// The addresses in the order of preference: routable IPv6, link-local IPv6, IPv4.
  var sorted: [IPAddress] {
    func rank(_ address: IPAddress) -> (Int, [UInt8]) {
      (address.isIPv6 ? (address.isLinkLocal ? 1 : 0) : 2, address.bytes)
    }
    return addresses.keys.sorted { left, right in
      let (a, b) = (rank(left), rank(right))
      return a.0 == b.0 ? a.1.lexicographicallyPrecedes(b.1) : a.0 < b.0
    }
  }
}
