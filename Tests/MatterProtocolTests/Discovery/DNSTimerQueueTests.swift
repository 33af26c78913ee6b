import MatterCrypto
import Testing

@testable import MatterProtocol

extension DNSBrowser {
  /// Compares the timer queue and the indexes with values computed from the complete state.
  fileprivate func check(_ seed: UInt64, at now: Instant) {
    let deadlines =
      browses.values.map(\.nextQuery) + instances.values.compactMap(\.deadline) + hosts.values.compactMap(\.deadline)
    #expect(nextDeadline == deadlines.min(), "seed \(seed) at \(now)")
    var pointing: [DNSName: Set<CacheKey>] = [:]
    var reported: [BrowseID: Set<CacheKey>] = [:]
    for (key, instance) in instances {
      for name in instance.pointers.keys { pointing[name, default: []].insert(key) }
      for id in instance.reported.keys { reported[id, default: []].insert(key) }
    }
    #expect(self.pointing == pointing, "seed \(seed) at \(now)")
    #expect(browses.mapValues(\.reported).filter { !$0.value.isEmpty } == reported, "seed \(seed) at \(now)")
  }
}

/// During any sequence of publishing, withdrawing, searching, stopping, losing and removing, the next deadline is the
/// earliest of all timers. It is checked after every packet and timer, so few seeds reach thousands of states.
@Test(arguments: 1...4 as ClosedRange<UInt64>)
func reportsEarliestDeadline(_ seed: UInt64) {
  var random = SeededRandomSource(seed: seed)
  var link = VirtualLink(hosts: 3, seed: seed)
  link.lossPercent = UInt64.random(in: 0...40, using: &random)
  let services: [MatterService] = (1...6).map { .lamp($0) } + (11...16).map { .node($0, fabric: $0 % 2) }
  let queries: [DiscoveryQuery] =
    [.commissionable(), .commissionable(.instance(0xA000_0000_0000_0002)), .commissionable(.vendor(0xFFF1))]
    + [.operational(compressedFabricID: nil, nodeID: nil), .operational(compressedFabricID: 1, nodeID: 11)]
    + [.operational(compressedFabricID: 1, nodeID: nil), .operational(compressedFabricID: 0, nodeID: 12)]
  var searches: [BrowseID] = []
  for _ in 0..<60 {
    let host = Int.random(in: 0...1, using: &random)
    switch Int.random(in: 0...9, using: &random) {
    case 0...2: link.hosts[host].responder.publish(services.randomElement(using: &random) ?? .lamp(), at: link.now)
    case 3:
      if let service = services.randomElement(using: &random) {
        link.hosts[host].responder.withdraw(
          service.kind, silently: Bool.random(using: &random), at: link.now)
      }
    case 4...6:
      searches.append(link.hosts[2].browser.browse(queries.randomElement(using: &random) ?? queries[0], at: link.now))
    case 7:
      if let index = searches.indices.randomElement(using: &random) {
        link.hosts[2].browser.stop(searches.remove(at: index))
      }
    case 8: link.hosts[2].browser.queryAgain(searches.randomElement(using: &random), at: link.now)
    default: link.hosts[2].browser.forget(VirtualLink.interface, at: link.now)
    }
    link.hosts[2].browser.advance(to: link.now)
    link.run(for: .milliseconds([1, 30, 900, 20_000, 400_000].randomElement(using: &random) ?? 1)) { link in
      link.hosts[2].browser.check(seed, at: link.now)
      return false
    }
    link.hosts[2].browser.advance(to: link.now)
    link.hosts[2].browser.check(seed, at: link.now)
  }
}
