import MatterProtocol
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import Runtime

/// What was found is told to who looks for it.
@Suite struct DiscoveryCoreTests {
  /// Knows a service already when it is asked for.
  private final class Knowing: DiscoveryProvider {
    static let service = MatterService(
      kind: .commissionable(instance: 7), hostName: "0011223344FF", port: 5540, text: [])
    private let tell: (DiscoveryNews) -> Void
    init(_ tell: @escaping (DiscoveryNews) -> Void) { self.tell = tell }

    func browse(_: DiscoveryQuery, as browse: ServiceDiscovery.Browse) {
      tell(.heard(browse, Self.service, on: InterfaceID(rawValue: 1)))
    }
    func publish(_: MatterService) {}
    func withdraw(_: MatterService, silently _: Bool) {}
    func stop(_: ServiceDiscovery.Browse) {}
    func queryAgain() {}
    func follow(_: [NetworkInterface]) {}
    func close() {}
  }

  /// Also to who shares the loop with discovery: that one does not know its search before `browse` has returned.
  @Test(.timeLimit(.minutes(10))) func whatIsKnownIsToldWhenTheSearchHasBegun() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let told = Mutex<[ServiceDiscovery.Event]>([])
    let early = try await loop.submit {
      let core = DiscoveryCore(logger: quiet)
      core.add { Knowing($0) }
      core.browse(.commissionable(), as: .init(number: 1), on: loop) { event in told.withLock { $0.append(event) } }
      return told.withLock(\.count)
    }.get()
    #expect(early == 0)
    try await loop.submit {}.get()
    #expect(told.withLock(\.self) == [.found(Knowing.service)])
  }
}
