package import ClusterLanguage
internal import MatterClusters
package import MatterModel

/// A manufacturer's cluster that is declared while the program runs, in the language of the catalogue.
///
///     let fan = try MakersCluster(text, file: "acme.cluster")
///     let cluster = ClusterCatalogue.add(fan)
package struct MakersCluster: Sendable, Hashable {
  /// The declaration.
  package let text: String
  package let id: ClusterID
  package let name: String
  let revision: UInt16
  let quality: Quality
  package let features: [Feature]
  package let elements: [ElementInfo]
  /// What the commands do, in order.
  package let effects: [CommandID: [ClusterEffect]]

  /// Parses a declaration.
  /// - Parameters:
  ///   - file: the name of the file, for errors.
  ///   - offset: the number of lines of the file above the declaration.
  package init(_ text: String, file: String, offset: Int = 0) throws(CatalogueError) {
    let cluster = try ClusterParser.makersCluster(text, file: file, offset: offset)
    var builder = MakersClusterBuilder(cluster)
    try builder.build()
    (self.text, name, quality) = (text, cluster.name, builder.quality(cluster.qualities))
    id = ClusterID(try builder.number(cluster.id, in: 0...Int(UInt32.max), "the id", cluster.line))
    revision = try builder.number(cluster.revision, in: 1...65535, "the revision", cluster.line)
    (features, elements, effects) = (builder.features, builder.elements, builder.effects)
    guard id.vendor.map({ (1...0xFFF4).contains($0) }) == true else {
      throw cluster.line.error(
        "\(id): not an id of a manufacturer's cluster; expected the vendor and FC00 to FFFE, such as 0xFFF1FC00")
    }
    if let standard = ClusterCatalogue.standard.first(where: { NormalizedName($0.name) == NormalizedName(name) }) {
      throw cluster.line.error("\(name): the name of cluster \(standard.id); expected another name")
    }
  }

  package static func == (left: Self, right: Self) -> Bool { left.id == right.id && left.text == right.text }
  package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
