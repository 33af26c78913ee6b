internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

extension RootNode {
  /// The counters at the last reset.
  private struct Reset: Sendable {
    var received: UInt64 = 0
    var sent: UInt64 = 0
    var at: Instant?
  }

  /// Counts the node's own packets. A virtual device has no link-layer counters. Matter Core § 11.16.
  static let ethernetDiagnostics: ClusterServer = {
    typealias Ethernet = EthernetNetworkDiagnostics
    return ClusterServer(Ethernet.self, features: [Ethernet.packetCounts])
      .onRead(Ethernet.packetRxCount) { context in
        context.node.traffic.received &- context[scratch: Reset.self, default: Reset()].received
      }
      .onRead(Ethernet.packetTxCount) { context in
        context.node.traffic.sent &- context[scratch: Reset.self, default: Reset()].sent
      }
      .onRead(Ethernet.timeSinceReset) { context in
        let begin = context[scratch: Reset.self]?.at ?? context.startedAt
        return UInt64(clamping: (context.now - begin).milliseconds)
      }
      .on(Ethernet.resetCounts) { context, _ in
        let traffic = context.node.traffic
        context[scratch: Reset.self] = Reset(received: traffic.received, sent: traffic.sent, at: context.now)
      }
  }()
}
