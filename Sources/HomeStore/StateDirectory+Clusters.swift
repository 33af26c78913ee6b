internal import Foundation
package import HomeModel
package import Logging
package import MakersClusters
internal import MatterClusters

/// The clusters of manufacturers that are stored in a state directory, each in a file with its name.
extension StateDirectory {
  private var clusters: String { root + "/clusters" }

  private func file(of cluster: String) -> String { "\(clusters)/\(cluster).cluster" }

  /// The names of the stored clusters, sorted.
  private var clusterNames: [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: clusters)) ?? []
    return files.filter { $0.hasSuffix(".cluster") }.map { String($0.dropLast(".cluster".count)) }.sorted()
  }

  /// Adds the stored clusters to the catalogue. Logs a warning for a file that is not valid.
  /// - Returns: the clusters, sorted by name.
  @discardableResult
  package func loadClusters(_ logger: Logger) -> [MakersCluster] {
    clusterNames.compactMap { name in
      do {
        let path = file(of: name)
        guard let data = try Files.read(path) else { return nil }
        let cluster = try MakersCluster(String(decoding: data, as: UTF8.self), file: path)
        ClusterCatalogue.add(cluster)
        return cluster
      } catch {
        logger.warning("\(error); `hearth home clusters remove` removes it")
        return nil
      }
    }
  }

  /// Stores a cluster, in place of one with the same name.
  package func store(_ cluster: MakersCluster) throws(HomeError) {
    try Files.replace(file(of: cluster.name), withSecret: Data(cluster.text.utf8))
    ClusterCatalogue.add(cluster)
  }

  /// Removes a stored cluster.
  /// - Throws: `notFound` if there is no such cluster.
  package func removeCluster(named name: String) throws(HomeError) {
    let names = clusterNames
    guard let found = names.first(where: { NormalizedName($0) == NormalizedName(name) }) else {
      throw HomeError.unknown("there is no cluster “\(name)”", name, in: names)
    }
    do { try FileManager.default.removeItem(atPath: file(of: found)) } catch {
      throw HomeError(.internalError, "\(file(of: found)) can't be removed: \(error.localizedDescription)")
    }
  }
}
