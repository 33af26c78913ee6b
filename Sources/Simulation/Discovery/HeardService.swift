package import MatterProtocol
package import Runtime

/// What one host knows of one service of another, and how news of it get there: in virtual time and in real time.
///
/// What is announced and gets lost is said again after 1 s, 3 s, 7 s and so on, over the link as it is then, as long as it is so. A
/// goodbye is said once. What is known and not within earshot any more, goodbye or not, is believed until its records expire.
///
/// Somebody else has the link and the time: call ``look(_:at:way:)`` when either end is different, ``hear(until:hasWay:)`` when
/// something may have arrived, and both again at ``nextDeadline``.
package struct HeardService: Sendable {
  /// How long what nobody refreshes is believed: the lifetime of host and service records. RFC 6762 § 10.
  package static let recordLifetime = Duration.seconds(120)

  /// A service as it was announced. Who begins anew announces the same as before, and that is news.
  private struct Announcement: Equatable {
    let service: MatterService
    let number: Int
  }

  /// What its host takes to be there.
  private var known: Announcement?
  /// What was said to it last, whether or not it has heard that; nil: nothing, or goodbye.
  private var said: Announcement?
  /// What it will hear of that, in order; nil: goodbye.
  private var underWay: [(arrival: Instant, news: Announcement?)] = []
  /// When that is said again, as it was lost, and how long after that.
  private var repetition: (at: Instant, pause: Duration)?
  /// When it is forgotten.
  private var expiry: Instant?

  package init() {}

  /// Whether there is nothing to know, and nothing on its way.
  var isOver: Bool { known == nil && said == nil && underWay.isEmpty }

  /// When there is something to hear or to say next.
  package var nextDeadline: Instant? { .earlier(underWay.first?.arrival, .earlier(repetition?.at, expiry)) }

  /// Takes in what there is within earshot.
  /// - Parameters:
  ///   - service: what is published there; nil: nothing is, or it is out of earshot.
  ///   - number: another one when it is announced anew, be it as it was.
  ///   - way: how long what is said now takes; nil: it gets lost.
  package mutating func look(
    _ service: MatterService?, announced number: Int = 0, at now: Instant, way: () -> Duration?
  ) {
    guard let service else {
      if repetition != nil { (said, repetition) = (underWay.isEmpty ? known : underWay.last?.news, nil) }
      // Also where the news are still under way: nobody says then that it is gone.
      if known != nil || !underWay.isEmpty, expiry == nil { expiry = now + Self.recordLifetime }
      return
    }
    expiry = nil
    var pause = Duration.seconds(1)
    let announcement = Announcement(service: service, number: number)
    if announcement == said {
      guard let due = repetition, due.at <= now else { return }
      pause = due.pause
    }
    (said, repetition) = (announcement, nil)
    guard let time = way() else {
      repetition = (now + pause, min(pause * 2, .seconds(3600)))
      return
    }
    send(announcement, at: now + time)
  }

  /// Its publisher, which is within earshot, takes it back.
  /// - Parameter way: as in ``look(_:at:way:)``.
  package mutating func goodbye(at now: Instant, way: () -> Duration?) {
    guard known != nil || !underWay.isEmpty, let time = way() else { return }
    (said, repetition) = (nil, nil)
    send(nil, at: now + time)
  }

  /// Its records are over, as somebody knows who kept them: to be heard at once.
  package mutating func expire(at now: Instant) {
    if known != nil || !underWay.isEmpty { expiry = now }
  }

  private mutating func send(_ news: Announcement?, at arrival: Instant) {
    // What comes behind this is older, and not heard any more.
    underWay.removeAll { $0.arrival > arrival }
    underWay.append((arrival, news))
  }

  /// What its host hears by now.
  /// - Parameter hasWay: whether there is a way at the end of the way; where not, nothing arrives.
  package mutating func hear(until now: Instant, hasWay: Bool) -> [ServiceDiscovery.Event] {
    var events: [ServiceDiscovery.Event] = []
    while let next = underWay.first, next.arrival <= now {
      underWay.removeFirst()
      if hasWay {
        if let event = believe(next.news) { events.append(event) }
      } else if underWay.isEmpty {
        said = known
      }
    }
    if let expiry, expiry <= now {
      if underWay.isEmpty { said = nil }
      if let event = believe(nil) { events.append(event) }
    }
    return events
  }

  private mutating func believe(_ news: Announcement?) -> ServiceDiscovery.Event? {
    defer { known = news }
    if news == nil { expiry = nil }
    return news == known ? nil : news.map { .found($0.service) } ?? known.map { .lost($0.service) }
  }
}
