import MatterCrypto
import Testing

@testable import MatterProtocol

/// On a conflict of its host name, a host publishes its services with another host name. RFC 6762 § 9.
@Suite struct DNSHostConflictTests {
  private let taken = "B6A1F0C3D2E4.local"
  private let names = SeededRandomSource(seed: 77)
  private var lamp: MatterService { .lamp(1, host: taken) }

  /// Returns the random host names in the order in which they are drawn.
  private func drawn(_ count: Int) -> [String] {
    var names = names
    return (0..<count).map { _ in MatterService.hostName(drawnFrom: &names) }
  }

  /// Host 0 changes its name, host 1 has the same name, host 2 browses.
  private func link() -> VirtualLink {
    var link = VirtualLink(hosts: 3)
    link.hosts[0].names = names
    _ = link.hosts[2].browser.browse(.commissionable(), at: link.now)
    _ = link.hosts[2].browser.browse(.operational(compressedFabricID: 0x2906_C908_D115_D362, nodeID: 9), at: link.now)
    return link
  }

  private func otherService(on host: String) -> MatterService {
    var service = MatterService.node(9)
    service.hostName = host
    return service
  }

  /// Returns a service as last reported to host 2.
  private func seen(_ kind: MatterService.Kind, _ link: VirtualLink) -> MatterService? {
    var seen: MatterService?
    for event in link.hosts[2].events {
      switch event {
      case .found(_, let service, _), .updated(_, let service, _): if service.kind == kind { seen = service }
      case .lost(_, let service, _): if service.kind == kind { seen = nil }
      }
    }
    return seen
  }

  private func expectBothSeen(_ link: VirtualLink, lampOn host: String) throws {
    let ours = try #require(seen(lamp.kind, link))
    #expect(ours.hostName == host)
    #expect(Set(ours.addresses) == [link.hosts[0].v4, link.hosts[0].v6])
    let theirs = try #require(seen(otherService(on: taken).kind, link))
    #expect(theirs.hostName == taken)
    #expect(Set(theirs.addresses) == [link.hosts[1].v4, link.hosts[1].v6])
  }

  /// Returns the targets of the SRV records that a host sent, without goodbyes.
  private func targets(of host: Int, in link: VirtualLink) -> Set<DNSName> {
    let answers = link.sent.filter { $0.host == host }.compactMap(\.message).filter(\.isResponse)
      .flatMap { $0.answers + $0.additionals }
    return Set(answers.compactMap { if case .srv(_, _, _, let target) = $0.data, $0.ttl > 0 { target } else { nil } })
  }

  @Test func drawsNamesOfTwelveHexDigits() {
    let names = drawn(20)
    #expect(Set(names).count == 20)
    for name in names {
      #expect(name.hasSuffix(".local") && name.utf8.count == 18)
      #expect(name.prefix(12).allSatisfy { ("0"..."9").contains($0) || ("A"..."F").contains($0) })
    }
  }

  @Test("finds both hosts after a name conflict, with at least one renamed", arguments: [0, 3] as [Int64])
  func moves(after seconds: Int64) throws {
    var link = link()
    link.hosts[1].names = SeededRandomSource(seed: 78)
    link.hosts[1].responder.publish(otherService(on: taken), at: link.now)
    link.run(for: .seconds(seconds))
    link.hosts[0].responder.publish(lamp, at: link.now)
    // A second service on the same host is also moved.
    link.hosts[0].responder.publish(.lamp(2, host: taken), at: link.now)
    link.run(for: .seconds(8))
    #expect(!(link.hosts[0].conflicts + link.hosts[1].conflicts).isEmpty)
    let ours = try #require(seen(lamp.kind, link))
    #expect(Set(ours.addresses) == [link.hosts[0].v4, link.hosts[0].v6])
    #expect(seen(MatterService.lamp(2).kind, link)?.hostName == ours.hostName)
    let theirs = try #require(seen(otherService(on: taken).kind, link))
    #expect(Set(theirs.addresses) == [link.hosts[1].v4, link.hosts[1].v6])
    #expect(ours.hostName != theirs.hostName)
    #expect(link.sent.count < 100, "\(link.sent.count)")
  }

  @Test func movesAnnouncedServiceWithGoodbye() throws {
    var link = link()
    link.hosts[0].responder.publish(lamp, at: link.now)
    link.run(for: .seconds(5))
    #expect(seen(lamp.kind, link)?.hostName == taken)
    let before = link.sent.count
    // The other host had the name on another network, which is now connected.
    link.hosts[1].responder.publish(otherService(on: taken), at: link.now)
    link.run(for: .seconds(8))
    #expect(link.hosts[0].conflicts == [.hostConflict(taken, [lamp.kind])])
    try expectBothSeen(link, lampOn: drawn(1)[0])

    let goodbyes = link.sent.dropFirst(before).filter { $0.host == 0 }.compactMap(\.message).flatMap(\.answers)
      .filter { $0.ttl == 0 }
    let srv = DNSRecordData.srv(priority: 0, weight: 0, port: lamp.port, target: DNSName(taken))
    #expect(goodbyes.contains { $0.name == lamp.kind.instanceName && $0.data == srv })
    let addresses = goodbyes.filter { $0.name == DNSName(taken) }
    #expect(Set(addresses.map(\.data)) == [DNSRecordData(link.hosts[0].v4), DNSRecordData(link.hosts[0].v6)])
    // The addresses of the other host must stay in the caches.
    #expect(addresses.allSatisfy { !$0.cacheFlush })
  }

  @Test("sends a goodbye for the old host when a service moves without a conflict") func movesByItself() throws {
    var link = link()
    link.hosts[0].responder.publish(lamp, at: link.now)
    link.run(for: .seconds(5))
    let before = link.sent.count
    var moved = lamp
    moved.hostName = "0242AC110002.local"
    link.hosts[0].responder.publish(moved, at: link.now)
    link.run(for: .seconds(5))
    let messages = link.sent.dropFirst(before).filter { $0.host == 0 }.compactMap(\.message)
    #expect(messages.flatMap(\.answers).contains { $0.name == DNSName(taken) && $0.ttl == 0 })
    #expect(seen(lamp.kind, link)?.hostName == "0242AC110002.local")
  }
}
