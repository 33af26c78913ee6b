internal import MatterProtocol
internal import Runtime
internal import Simulation
internal import VirtualDevices

/// The services that one search of a machine finds: announcements take the delay of the link or are lost, and records
/// that are not refreshed expire.
struct CachedServices: SearchImpairment {
  private struct Entry {
    /// The service as the underlying discovery reports it.
    var published: MatterService?
    /// The number of reports by the underlying discovery.
    var announcements = 0
    var heard = CachedService()
  }

  private let machine: RealMachine
  /// The number of the search's question, as counted by ``RealNetworks``.
  private let question: Int
  private var entries: [MatterService.Kind: Entry] = [:]

  init(of machine: RealMachine) { (self.machine, question) = (machine, machine.networks.recordQuestion()) }

  mutating func restart() { for kind in entries.keys { entries[kind]?.published = nil } }

  mutating func process(
    _ event: ServiceDiscovery.Event?, at now: Instant
  ) -> (events: [ServiceDiscovery.Event], deadline: Instant?) {
    var lost: MatterService.Kind?
    switch event {
    case .found(let service):
      entries[service.kind, default: Entry()].published = service
      entries[service.kind, default: Entry()].announcements += 1
    case .lost(let service):
      entries[service.kind, default: Entry()].published = nil
      lost = service.kind
    case nil: break
    }
    var events: [ServiceDiscovery.Event] = []
    for (kind, var entry) in entries {
      events += update(&entry, kind, isLost: kind == lost, at: now)
      entries[kind] = entry
    }
    return (events, entries.values.lazy.compactMap(\.heard.nextDeadline).min())
  }

  /// Updates the entry of a service, and returns the events that have arrived by now.
  /// - Parameter isLost: whether the underlying discovery has lost the service just now, by a goodbye or by expiry.
  private func update(
    _ entry: inout Entry, _ kind: MatterService.Kind, isLost: Bool, at now: Instant
  ) -> [ServiceDiscovery.Event] {
    let networks = machine.networks
    let isFound = machine.seesOthers && networks.isFound(kind, by: machine, question: question)
    let events = entry.heard.receive(until: now, hasWay: isFound)
    if isLost, isFound {
      if networks.sentGoodbye(for: kind) {
        entry.heard.goodbye(at: now) { networks.announcementDelay(of: kind, to: machine, question: 0) }
      } else {
        entry.heard.expire(at: now)
      }
    }
    let published = isFound ? entry.published.map { networks.resolved($0, to: machine) } : nil
    let announcement = published.map { CachedService.Announcement($0, number: entry.announcements) }
    entry.heard.look(announcement, at: now) {
      networks.announcementDelay(of: kind, to: machine, question: question)
    }
    return events + entry.heard.receive(until: now, hasWay: isFound)
  }
}
