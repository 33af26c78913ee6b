package import MatterProtocol
package import Runtime

/// One host's cache entry of a service of another host, and the propagation of its announcements, in virtual and in
/// real time.
///
/// A lost announcement is repeated after 1 s, 3 s, 7 s and so on, under the conditions of the link at that time, while
/// the service is unchanged. A goodbye is sent once. A cached service that is no longer reachable, with or without a
/// goodbye, expires with its records.
///
/// The owner supplies the link and the time: call ``look(_:at:way:)`` when the publisher or the link has changed,
/// ``receive(until:hasWay:)`` when an announcement may have arrived, and both again at ``nextDeadline``.
package struct CachedService: Sendable {
  /// The lifetime of host and service records without a refresh. RFC 6762 § 10.
  package static let recordLifetime = Duration.seconds(120)

  /// An announced service. A publisher that restarts sends the same service again under another number, which is
  /// reported. An object, since many entries have the same announcement.
  package final class Announcement: Equatable, Sendable {
    package let service: MatterService
    let number: Int

    /// - Parameter number: changes when the service is announced again, even unchanged.
    package init(_ service: MatterService, number: Int) { (self.service, self.number) = (service, number) }

    package static func == (left: Announcement, right: Announcement) -> Bool {
      left === right || (left.number == right.number && left.service == right.service)
    }
  }

  /// The announcement in the host's cache.
  private var known: Announcement?
  /// The last announcement sent, whether or not it has arrived; nil for none or a goodbye.
  private var lastSent: Announcement?
  /// The announcements on their way, in order; nil for a goodbye.
  private var inFlight: [(arrival: Instant, announcement: Announcement?)] = []
  /// When a lost announcement is sent again, and the interval to the repetition after that.
  private var retransmission: (at: Instant, pause: Duration)?
  /// When the cached service expires.
  private var expiry: Instant?

  package init() {}

  /// Whether the entry is empty and nothing is on its way.
  var isOver: Bool { known == nil && lastSent == nil && inFlight.isEmpty }

  /// The time of the next arrival, repetition or expiry.
  package var nextDeadline: Instant? { .earlier(inFlight.first?.arrival, .earlier(retransmission?.at, expiry)) }

  /// Updates the entry with the records that the host can receive at present.
  /// - Parameters:
  ///   - announcement: the published service; nil if none is published or the publisher is unreachable.
  ///   - way: returns the transmission time of an announcement sent now; nil if it is lost.
  package mutating func look(_ announcement: Announcement?, at now: Instant, way: () -> Duration?) {
    guard let announcement else {
      if retransmission != nil {
        (lastSent, retransmission) = (inFlight.isEmpty ? known : inFlight.last?.announcement, nil)
      }
      // Also if an announcement is still on its way: no goodbye follows it.
      if known != nil || !inFlight.isEmpty, expiry == nil { expiry = now + Self.recordLifetime }
      return
    }
    expiry = nil
    var pause = Duration.seconds(1)
    if lastSent == announcement {
      guard let due = retransmission, due.at <= now else { return }
      pause = due.pause
    }
    (lastSent, retransmission) = (announcement, nil)
    guard let time = way() else {
      retransmission = (now + pause, min(pause * 2, .seconds(3600)))
      return
    }
    send(announcement, at: now + time)
  }

  /// Sends the goodbye of a reachable publisher.
  /// - Parameter way: see ``look(_:at:way:)``.
  package mutating func goodbye(at now: Instant, way: () -> Duration?) {
    guard known != nil || !inFlight.isEmpty, let time = way() else { return }
    (lastSent, retransmission) = (nil, nil)
    send(nil, at: now + time)
  }

  /// Expires the records at once, on request of an owner that tracks their lifetime.
  package mutating func expire(at now: Instant) {
    if known != nil || !inFlight.isEmpty { expiry = now }
  }

  private mutating func send(_ announcement: Announcement?, at arrival: Instant) {
    // Later arrivals were sent earlier; they are superseded.
    inFlight.removeAll { $0.arrival > arrival }
    inFlight.append((arrival, announcement))
  }

  /// Applies the announcements that have arrived.
  /// - Parameter hasWay: whether the publisher is reachable; if not, nothing arrives.
  package mutating func receive(until now: Instant, hasWay: Bool) -> [ServiceDiscovery.Event] {
    var events: [ServiceDiscovery.Event] = []
    while let next = inFlight.first, next.arrival <= now {
      inFlight.removeFirst()
      if hasWay {
        if let event = apply(next.announcement) { events.append(event) }
      } else if inFlight.isEmpty {
        lastSent = known
      }
    }
    if let expiry, expiry <= now {
      if inFlight.isEmpty { lastSent = nil }
      if let event = apply(nil) { events.append(event) }
    }
    return events
  }

  private mutating func apply(_ announcement: Announcement?) -> ServiceDiscovery.Event? {
    defer { known = announcement }
    if announcement == nil { expiry = nil }
    return announcement == known ? nil : announcement.map { .found($0.service) } ?? known.map { .lost($0.service) }
  }
}
