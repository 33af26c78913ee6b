import ArgumentParser
import HearthHome
import MatterClusters
import MatterModel

/// `hearth schema`.
struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Print the known clusters and device types with all their elements.",
    discussion: "To print some clusters only, name them: hearth schema onOff 0x0300 --json")
  @OptionGroup var options: GlobalOptions
  @Argument(help: ArgumentHelp("Clusters, by name or number. Default: all.", valueName: "cluster"))
  var clusters: [String] = []

  func run() throws {
    let chosen = clusters.isEmpty ? ClusterCatalogue.all : try clusters.map(Self.cluster)
    var data: JSON = [
      "specificationVersion": .string(SpecificationVersion.text),
      "clusters": .array(chosen.map { SchemaReport.json($0) }),
    ]
    if clusters.isEmpty { data = data.adding("deviceTypes", .array(DeviceTypes.all.map { SchemaReport.json($0) })) }
    options.output.result(data, chosen.map(SchemaReport.text).joined(separator: "\n"))
  }

  private static func cluster(_ name: String) throws -> any Cluster.Type {
    if let cluster = ClusterCatalogue.cluster(named: name) { return cluster }
    throw HomeError.unknown("unknown cluster “\(name)”", name, in: ClusterCatalogue.all.map { $0.name })
  }
}
