package import MatterModel

extension ClusterCatalogue {
  /// Returns the names of the tags that the modes of a cluster may have; empty for a cluster that does not derive from
  /// Mode Base. Application Clusters § 1.10.
  package static func modeTags(of cluster: ClusterID) -> [UInt64: String] { modeTags[cluster] ?? [:] }
}
