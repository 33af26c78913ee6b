internal import ClusterLanguage
internal import Foundation

/// Generates Swift declarations from the catalogue of clusters and device types.
///
///     CatalogueGenerator clusters|traits OUTPUT-DIRECTORY FILE…
///
/// `clusters` writes the declarations of the module MatterClusters, `traits` those of HearthHome. `CataloguePlugin` has the
/// list of outputs.
@main enum CatalogueGenerator {
  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws {
    guard arguments.count > 2, let mode = Mode(rawValue: arguments[0]) else {
      throw CatalogueError(
        file: "CatalogueGenerator", line: 0,
        message: "arguments: missing; expected clusters or traits, a directory, files")
    }
    let files = try arguments.dropFirst(2).map { path in
      (path, try String(contentsOf: URL(filePath: path), encoding: .utf8))
    }
    let outputs = try outputs(of: mode, parse(files))
    for (name, text) in outputs.sorted(by: { $0.key < $1.key }) {
      let url = URL(filePath: arguments[1]).appending(path: name)
      // The modules that import an unchanged file are not compiled again.
      guard (try? String(contentsOf: url, encoding: .utf8)) != text else { continue }
      try Data(text.utf8).write(to: url)
    }
  }

  enum Mode: String {
    case clusters, traits
  }

  /// Parses the bases, then the clusters, and then the device types, each of which refers to the former.
  static func parse(_ files: [(path: String, text: String)]) throws(CatalogueError) -> Catalogue {
    var catalogue = Catalogue()
    var bases: [String: [SourceLine]] = [:]
    for file in files where file.path.hasSuffix(".base") {
      let name = file.path.split(separator: "/").last?.dropLast(5) ?? ""
      bases[String(name)] = SourceLine.lines(of: file.text, file: file.path)
    }
    for file in files where file.path.hasSuffix(".cluster") {
      try ClusterParser.parse(file.text, file: file.path, bases: bases, into: &catalogue)
    }
    for file in files where file.path.hasSuffix(".devices") {
      try DeviceTypeParser.parse(file.text, file: file.path, into: &catalogue)
    }
    return catalogue
  }

  /// Returns the generated files by name.
  static func outputs(of mode: Mode, _ catalogue: Catalogue) throws(CatalogueError) -> [String: String] {
    guard mode == .clusters else {
      return [
        "TraitNames+Generated.swift": TraitWriter.names(catalogue),
        "TraitCommands+Generated.swift": try TraitWriter.commands(catalogue),
      ]
    }
    var outputs = [
      "Catalogue+Generated.swift": DeclarationWriter.list(catalogue),
      "DeviceTypes+Generated.swift": DeclarationWriter.deviceTypes(catalogue),
      "Types+Generated.swift": try DeclarationWriter.types(in: catalogue),
      "Units+Generated.swift": try DeclarationWriter.units(in: catalogue),
    ]
    for cluster in catalogue.clusters {
      outputs["\(cluster.name)+Generated.swift"] = try DeclarationWriter.cluster(cluster, in: catalogue)
    }
    return outputs
  }
}
