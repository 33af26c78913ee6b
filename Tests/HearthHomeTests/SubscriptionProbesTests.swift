import MatterModel
import MatterProtocol
import Testing

@testable import HomeControl

@Suite struct SubscriptionProbesTests {
  @Test func returnsDueProbesTheEarliestFirst() {
    func time(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }
    var probes = SubscriptionProbes()
    for (node, seconds) in [(1, 3), (2, 1), (3, 1), (4, 9)] as [(NodeID, Int)] {
      probes[node] = SubscriptionProbe(since: .zero, due: time(seconds))
    }
    #expect(probes.due(at: time(3)).map(\.node) == [2, 3, 1] && probes.nextDeadline == time(1))
    probes[2]?.due = time(4)
    probes[3] = nil
    #expect(probes.due(at: time(4)).map(\.node) == [1, 2] && probes.nextDeadline == time(3))
    for node in [1, 2, 4] as [NodeID] { probes[node] = nil }
    #expect(probes.isEmpty && probes.nextDeadline == nil)
  }
}
