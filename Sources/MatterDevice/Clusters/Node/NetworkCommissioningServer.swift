internal import MatterClusters
internal import MatterModel

extension RootNode {
  /// Network Commissioning for Ethernet: a single network, to which the node is connected. Matter Core § 11.9.
  static func networkCommissioning(_ configuration: DeviceConfiguration) -> ClusterServer {
    let id = OctetString(Array(configuration.networkName.utf8.prefix(32)))
    return
      ethernet
      .initial(NetworkCommissioning.networks, [.init(networkID: id, connected: true)])
      .initial(NetworkCommissioning.lastNetworkID, .value(id))
  }

  private static let ethernet = ClusterServer(
    NetworkCommissioning.self, features: [NetworkCommissioning.ethernetNetworkInterface]
  )
  .initial(NetworkCommissioning.maxNetworks, 1)
  // A client can only read this over the network, so connecting has succeeded.
  .initial(NetworkCommissioning.lastNetworkingStatus, .value(.success))
  .onWrite(NetworkCommissioning.interfaceEnabled) { _, isEnabled throws(StatusError) in
    // Disabling the only interface would make the node unreachable.
    guard isEnabled else { throw StatusError(.invalidAction) }
  }
}
