import MatterProtocol
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Runtime

/// Delivery of discovery events to searches.
@Suite struct DiscoveryCoreTests {
  /// A provider that reports a cached service inside `browse`.
  private final class CachingProvider: DiscoveryProvider {
    static let service = MatterService(
      kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540, text: [])
    private let report: (ProviderEvent) -> Void
    init(_ report: @escaping (ProviderEvent) -> Void) { self.report = report }

    func browse(_: DiscoveryQuery, as browse: ServiceDiscovery.Browse) {
      report(.found(browse, Self.service, on: InterfaceID(rawValue: 1)))
    }
    func publish(_: MatterService) {}
    func withdraw(_: MatterService, silently _: Bool) {}
    func stop(_: ServiceDiscovery.Browse) {}
    func follow(_: [NetworkInterface]) {}
    func close() {}
  }

  /// The caller may share the loop with discovery, and has no search ID before `browse` returns.
  @Test(.timeLimit(.minutes(10))) func deliversCachedServiceAfterBrowseReturns() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let events = Mutex<[ServiceDiscovery.Event]>([])
    let early = try await loop.submit {
      let core = DiscoveryCore(logger: quiet)
      core.add { CachingProvider($0) }
      core.browse(.commissionable(), as: .init(number: 1), on: loop) { event in events.withLock { $0.append(event) } }
      return events.withLock(\.count)
    }.get()
    #expect(early == 0)
    try await loop.submit {}.get()
    #expect(events.withLock(\.self) == [.found(CachingProvider.service)])
  }
}
