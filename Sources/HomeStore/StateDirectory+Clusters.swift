internal import Foundation
package import HomeModel
package import Logging
package import MatterClusters
internal import MatterModel

/// The clusters of manufacturers that a state directory remembers, each as a file of its name.
extension StateDirectory {
  private var clusters: String { root + "/clusters" }

  private func file(of cluster: MakersCluster) -> String { "\(clusters)/\(cluster.name).cluster" }

  /// Adds the remembered clusters to the catalogue. A warning is logged for a file that is not valid.
  /// - Returns: the clusters, sorted by name.
  @discardableResult
  package func loadClusters(_ logger: Logger) -> [MakersCluster] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: clusters)) ?? []
    return names.sorted().filter { $0.hasSuffix(".cluster") }.compactMap { name in
      do {
        let path = "\(clusters)/\(name)"
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

  /// Remembers a cluster, in place of one with the same name.
  package func store(_ cluster: MakersCluster) throws(HomeError) {
    try Files.replace(file(of: cluster), withSecret: Data(cluster.text.utf8))
    ClusterCatalogue.add(cluster)
  }

  /// Forgets a cluster.
  /// - Throws: `notFound` if no such cluster is remembered.
  package func removeCluster(named name: String) throws(HomeError) {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: clusters)) ?? []
    let names = files.filter { $0.hasSuffix(".cluster") }.map { String($0.dropLast(8)) }
    guard let found = names.first(where: { NormalizedName($0) == NormalizedName(name) }) else {
      throw HomeError(
        .notFound, "no cluster “\(name)” is remembered", candidates: NearestName.suggestions(for: name, in: names))
    }
    do { try FileManager.default.removeItem(atPath: "\(clusters)/\(found).cluster") } catch {
      throw HomeError(.internalError, "\(clusters)/\(found).cluster can't be removed: \(error.localizedDescription)")
    }
  }
}
