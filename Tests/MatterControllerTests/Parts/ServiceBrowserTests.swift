import MatterProtocol
import Testing

@testable import MatterController

@Suite struct ServiceBrowserTests {
  private let node = DiscoveryQuery.operational(compressedFabricID: 1, nodeID: 2)
  private let all = DiscoveryQuery.operational(compressedFabricID: nil, nodeID: nil)
  private let v4 = IPAddress.v4(0xC0A8_0105)
  private let otherV4 = IPAddress.v4(0xC0A8_0106)

  private func service(_ addresses: [IPAddress] = [.loopback6], port: UInt16 = 5540) -> MatterService {
    MatterService(
      kind: .operational(compressedFabricID: 1, nodeID: 2), hostName: "000000000001", port: port, addresses: addresses)
  }

  private func commissionable(_ instance: UInt64) -> MatterService {
    MatterService(kind: .commissionable(instance: instance), hostName: "000000000001", port: 5540)
  }

  @Test("starts a query with its first user and stops it with its last") func countsUsers() {
    var browser = ServiceBrowser()
    let starts = [browser.start(node), browser.start(node), browser.start(all)]
    #expect(starts == [true, false, true])
    let stops = [browser.stop(node), browser.stop(node), browser.stop(node), browser.stop(all)]
    #expect(stops == [false, true, false, true])
    let restart = browser.start(node)
    #expect(restart)
  }

  @Test func keepsServicesWhileAQueryMatches() {
    var browser = ServiceBrowser()
    #expect(!browser.isBrowsed(service()))
    _ = browser.start(node)
    _ = browser.start(all)
    #expect(browser.isBrowsed(service()) && !browser.isBrowsed(commissionable(1)))
    _ = browser.update(service())
    _ = browser.stop(node)
    #expect(browser.known(all) == [service()] && browser.known(node) == [service()])
    _ = browser.stop(all)
    #expect(browser.known(all).isEmpty && browser.known(node).isEmpty)
  }

  @Test("drops the service of a node with the only query for it") func dropsServiceOfNode() {
    var browser = ServiceBrowser()
    _ = browser.start(node)
    _ = browser.update(service())
    _ = browser.stop(node)
    #expect(browser.known(node).isEmpty)
  }

  @Test func returnsPreviousService() {
    var browser = ServiceBrowser()
    _ = browser.start(node)
    let first = browser.update(service())
    let second = browser.update(service([v4]))
    #expect(first == nil && second == service())
    #expect(browser.known(node) == [service([v4])])
    browser.remove(service())
    #expect(browser.known(node).isEmpty)
  }

  @Test func returnsServicesInFixedOrder() {
    var browser = ServiceBrowser()
    _ = browser.start(.commissionable(.any))
    for instance in [7, 3, 0x10, 1] as [UInt64] { _ = browser.update(commissionable(instance)) }
    #expect(browser.known(.commissionable(.any)) == [1, 3, 7, 0x10].map { commissionable($0) })
    #expect(browser.known(.commissionable(.instance(3))) == [commissionable(3)])
  }

  @Test("replaces the address of a session only if it was announced before and no longer is") func replacesAddress() {
    let old = service([.loopback6, v4])
    let session = SocketAddress(v4, port: 5540)
    // The same address family is preferred.
    let moved = service([.loopback6, otherV4], port: 6000)
    #expect(moved.replacement(for: session, after: old) == SocketAddress(otherV4, port: 6000))
    #expect(service([.loopback6], port: 6000).replacement(for: session, after: old)?.ip == .loopback6)
    #expect(service([v4]).replacement(for: session, after: old) == nil, "still announced")
    #expect(moved.replacement(for: SocketAddress(v4, port: 1), after: old) == nil, "never announced")
    #expect(service([], port: 6000).replacement(for: session, after: old) == nil, "no address")
  }
}
