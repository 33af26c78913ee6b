import MatterCrypto

/// Where something was heard, and its name.
struct CacheKey: Hashable, Comparable, Sendable {
  let interface: InterfaceID
  let name: DNSName

  static func < (left: CacheKey, right: CacheKey) -> Bool {
    left.interface == right.interface ? left.name < right.name : left.interface < right.interface
  }
}

/// How long a record is good for, and when to ask for it again. RFC 6762 § 5.2.
struct Lifetime: Hashable, Sendable {
  var received: Instant
  var ttl: UInt32
  var expires: Instant
  /// When to ask again; nil once all tries are used up, or after a goodbye.
  var refresh: Instant?
  private var step: Int
  private var jitter: Int64

  /// The parts of the life, in hundredths, after which the record is asked for again.
  private static let marks: [Int64] = [80, 85, 90, 95]
  /// Gone records linger for this long, in case they come back at once. RFC 6762 § 10.1.
  static let grace = Duration.seconds(1)

  /// - Parameter isPointer: pointers are asked for first, as their answer brings the other records with it. With
  ///   the short lives that a unicast answer gives, all of a service's records would be due together otherwise.
  init(_ ttl: UInt32, at now: Instant, isPointer: Bool, random: inout any RandomSource) {
    received = now
    self.ttl = ttl
    if ttl == 0 {
      expires = now + Self.grace
      step = Self.marks.count
      jitter = 0
    } else {
      // A day is long enough for anything that can be asked for again.
      let life = Int64(min(ttl, 86_400))
      expires = now + .seconds(life)
      step = !isPointer && ttl <= 30 ? 1 : 0
      let word: UInt64 = random.next()
      // Up to 2 % of the life, in milliseconds.
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
    // Rounded up to a quarter of a second, so that many records are asked for in one packet.
    let milliseconds = (life * 10 * Self.marks[step] + jitter + 249) / 250 * 250
    refresh = received + .milliseconds(milliseconds)
    step += 1
  }

  /// Whether it is time to ask again; plans the next time.
  mutating func takeRefresh(at now: Instant) -> Bool {
    guard let due = refresh, due <= now else { return false }
    while let due = refresh, due <= now {
      _ = due
      planRefresh()
    }
    return expires > now
  }

  /// The record is gone: it ends soon, and is not asked for.
  mutating func end(at now: Instant) {
    expires = min(expires, now + Self.grace)
    refresh = nil
    step = Self.marks.count
  }

  /// The later of two lives: a short-lived unicast copy takes nothing from a record heard by multicast.
  func merged(with newer: Lifetime) -> Lifetime {
    newer.ttl > 0 && newer.ttl <= DNSResponder.legacyTTL && expires > newer.expires && refresh != nil ? self : newer
  }

  /// When something has to be done about it.
  var next: Instant { min(refresh ?? expires, expires) }

  /// Seconds left if that is more than half of its life: what can be told as a known answer.
  func knownTTL(at now: Instant) -> UInt32? {
    let left = (expires - now).milliseconds / 1000
    return refresh != nil && left * 2 > Int64(ttl) ? UInt32(clamping: left) : nil
  }
}

/// What is known about an instance on an interface.
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
  /// Under which names that are searched a pointer to it was heard.
  var pointers: [DNSName: Lifetime] = [:]
  var service: Service?
  var text: Text?
  /// When somebody asked for it last.
  var askedAt: Instant?
  /// When something of it was told last.
  var toldAt: Instant?
  /// Somebody is about to announce it. RFC 6762 § 8.1.
  var isProbed = false
  /// It was heard again although nobody had asked, and that is not told yet.
  var isAnnounced = false
  /// What each search was told.
  var reported: [BrowseID: MatterService] = [:]
  /// How often its missing records were asked for, and when they are next.
  var attempts = 0
  var nextAttempt: Instant?
  /// For when it stands in the agenda; nil: it does not.
  var planned: Instant?

  static let maximumAttempts = 8

  var deadline: Instant? {
    var earliest = nextAttempt
    for lifetime in pointers.values { earliest = .earlier(earliest, lifetime.next) }
    earliest = .earlier(earliest, service?.lifetime.next)
    return .earlier(earliest, text?.lifetime.next)
  }
}

/// What is known about a host on an interface. Kept while an instance runs on it.
struct CachedHost: Sendable {
  var addresses: [IPAddress: Lifetime] = [:]
  var instances: Set<DNSName> = []
  /// For when it stands in the agenda; nil: it does not.
  var planned: Instant?

  var deadline: Instant? { addresses.values.map(\.next).min() }

  /// The addresses in the order of their worth: IPv6 beyond the link, IPv6 on the link, IPv4.
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
