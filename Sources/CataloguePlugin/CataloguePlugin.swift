import Foundation
import PackagePlugin

/// Generates the declarations of the catalogue: in MatterClusters the clusters, in any other target their traits.
@main struct CataloguePlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
    let folder = context.package.directoryURL.appending(path: "Sources/MatterClusters/Clusters")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { ["cluster", "base", "devices"].contains($0.pathExtension) }.sorted { $0.path < $1.path }
    let isClusters = target.name == "MatterClusters"
    let names =
      isClusters
      ? ["Catalogue", "Units"]
        + files.filter { $0.pathExtension != "base" }.map { $0.deletingPathExtension().lastPathComponent }
      : ["TraitNames", "TraitCommands"]
    let output = context.pluginWorkDirectoryURL
    return [
      .buildCommand(
        displayName: "Generating \(isClusters ? "clusters" : "traits") of \(target.name)",
        executable: try context.tool(named: "CatalogueGenerator").url,
        arguments: [isClusters ? "clusters" : "traits", output.path] + files.map(\.path), inputFiles: files,
        outputFiles: names.map { output.appending(path: "\($0)+Generated.swift") })
    ]
  }
}
