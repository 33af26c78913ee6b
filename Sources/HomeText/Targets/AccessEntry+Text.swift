package import HearthHome
package import MatterClusters

extension AccessControl.AccessControlEntryStruct {
  /// Parses a subject outside of the home: a node id, or `tag:0xIIIIVVVV`.
  package static func subject(_ text: String) -> NodeID? {
    if text.hasPrefix("tag:0x"), let tag = UInt32(text.dropFirst(6), radix: 16) {
      return .tag(CASEAuthenticatedTag(tag))
    }
    return UInt64(text).map { NodeID($0) }.flatMap { $0.isOperational ? $0 : nil }
  }

  /// Returns the targets for the endpoints and the cluster. Without either it is null, which means the whole device.
  /// - Throws: ``HomeError`` `notFound` for an unknown cluster.
  package static func targets(
    endpoints: [UInt16], cluster name: String?
  ) throws(HomeError) -> Nullable<[AccessControl.AccessControlTargetStruct]> {
    let clusterID = try name.map { name throws(HomeError) in try HomeRegistry.cluster(name) } ?? nil
    let cluster = Nullable(clusterID)
    if endpoints.isEmpty && clusterID == nil { return .null }
    if endpoints.isEmpty { return .value([.init(cluster: cluster, endpoint: .null, deviceType: .null)]) }
    return .value(endpoints.map { .init(cluster: cluster, endpoint: .value(EndpointID($0)), deviceType: .null) })
  }
}
