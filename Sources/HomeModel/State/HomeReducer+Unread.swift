internal import MatterClusters
internal import MatterProtocol

// Descriptions that violate the data model for a while.
extension HomeReducer {
  /// Whether a list of a Descriptor cluster has become invalid. The last valid one is kept, because a device without its
  /// description would lose its name and room.
  func isViolation(_ new: AttributeData, _ old: [UInt8]?) -> Bool {
    guard Topology.isList(new.path), let old else { return false }
    return !Topology.isValid(new.path.attribute, new.value) && Topology.isValid(new.path.attribute, old)
  }

  /// Notes the endpoints that the node lists without a description, or with new clusters without values. A subscription
  /// may never report them: they haven't changed on a node that lists them again.
  func noteUnread(_ topology: Topology, _ values: NodeValues, of node: NodeID, _ update: inout HomeUpdate) {
    var unread = topology.undescribed
    var known: [EndpointID: DeviceEndpoint] = [:]
    for endpoint in state.sources(of: node).lazy.flatMap(\.endpoints) { known[endpoint.id] = endpoint }
    for endpoint in topology.sources.lazy.flatMap(\.endpoints) {
      let isNew = endpoint.servers.contains {
        values[endpoint.id, $0] == nil && known[endpoint.id]?.servers.contains($0) != true
      }
      if isNew { unread.insert(endpoint.id) }
    }
    if !unread.isEmpty { update.unread[node, default: []].formUnion(unread) }
  }
}
