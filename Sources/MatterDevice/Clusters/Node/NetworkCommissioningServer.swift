internal import MatterClusters
internal import MatterModel

extension RootNode {
  /// Over Ethernet there is one network, which the node is on. Matter Core § 11.9.
  static func networkCommissioning(_ configuration: DeviceConfiguration) -> ClusterServer {
    let id = OctetString(Array(configuration.networkName.utf8.prefix(32)))
    return ClusterServer(NetworkCommissioning.self, features: [NetworkCommissioning.ethernetNetworkInterface])
      .initial(NetworkCommissioning.maxNetworks, 1)
      .initial(NetworkCommissioning.networks, [.init(networkID: id, connected: true)])
      // Who reads this has come over the network.
      .initial(NetworkCommissioning.lastNetworkingStatus, .value(.success))
      .initial(NetworkCommissioning.lastNetworkID, .value(id))
      .onWrite(NetworkCommissioning.interfaceEnabled) { _, isEnabled throws(StatusError) in
        // The only way in would be gone.
        guard isEnabled else { throw StatusError(.invalidAction) }
      }
  }
}
