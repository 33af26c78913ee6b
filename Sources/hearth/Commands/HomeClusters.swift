import ArgumentParser
import Foundation
import HearthHome
import MakersClusters
import MatterClusters
import MatterModel

extension HomeCommands {
  /// `hearth home clusters`.
  struct Clusters: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "clusters", abstract: "Manage the stored clusters of manufacturers.",
      discussion: """
        A file declares one cluster, in the language of docs/catalogue.md, or is a definition file with `clusters:`. \
        Commands and hubs with the same state directory accept and print the names of its elements; running processes \
        load them at their next start. Without a subcommand, the clusters are listed. For example:
          hearth home clusters add acme.cluster
          hearth read fan.acmeFan.speed
        """,
      subcommands: [ListClusters.self, AddClusters.self, RemoveClusters.self], defaultSubcommand: ListClusters.self)
  }

  struct ListClusters: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the clusters.")
    @OptionGroup var options: GlobalOptions

    func run() throws {
      let clusters = try options.stateDirectory.loadClusters(options.logger)
      var table = Table("CLUSTER", "ID")
      for cluster in clusters { table.add(cluster.name, "\(cluster.id)") }
      options.output.result(
        .array(clusters.map(\.json)),
        clusters.isEmpty ? "none" : table.text)
    }
  }

  struct AddClusters: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Add clusters, in place of those with the same names.")
    @OptionGroup var options: GlobalOptions
    @Argument(
      help: ArgumentHelp("Declarations (.cluster) or definition files (.yaml).", valueName: "file"),
      completion: .file(extensions: ["cluster", "yaml", "yml"]))
    var files: [String]

    func run() throws {
      let clusters = try files.flatMap(NamedFile.clusters)
      let state = try options.stateDirectory
      for cluster in clusters { try state.store(cluster) }
      options.output.result(
        .array(clusters.map(\.json)),
        "added \(clusters.map(\.name).joined(separator: ", "))")
    }
  }

  struct RemoveClusters: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a cluster.")
    @OptionGroup var options: GlobalOptions
    @Argument(help: "The name.") var name: String

    func run() throws {
      try options.stateDirectory.removeCluster(named: name)
      options.output.result(["name": .string(name)], "removed \(name)")
    }
  }
}

extension MakersCluster {
  fileprivate var json: JSON { ["id": .int(id.rawValue), "name": .string(name)] }
}
