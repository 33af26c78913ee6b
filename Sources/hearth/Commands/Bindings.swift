import ArgumentParser
import HearthHome
import HomeText
import MatterClusters
import MatterModel

/// Arguments of `bind` and `unbind`.
struct BindingArguments: ParsableArguments {
  @Option(help: "Restrict to this cluster; repeatable.") var cluster: [String] = []
  @Argument(help: "The controlling device: DEVICE or DEVICE/ENDPOINT.", completion: .device) var source: String
  @Argument(help: "The controlled device: DEVICE or DEVICE/ENDPOINT.", completion: .device) var target: String?

  /// Returns the clusters of --cluster, or nil if the option was not given.
  func clusters() throws(HomeError) -> [ClusterID]? {
    var result: [ClusterID] = []
    for name in cluster {
      guard let id = try HomeRegistry.cluster(name) else {
        throw HomeError(.badArguments, "--cluster: * is not a cluster; omit the option for all clusters")
      }
      result.append(id)
    }
    return result.isEmpty ? nil : result
  }
}

/// `hearth bind`.
struct Bind: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bind", abstract: "Bind a device, such as a switch, to another one that it controls directly.",
    discussion: """
      Writes the bindings of the controlling device and an access control entry on the controlled one, for all clusters \
      that both support or for those of --cluster. Without a second device, lists the bindings of the first.
      """)
  @OptionGroup var home: HomeOptions
  @Flag(help: "Write the access control list even if this home loses access to the controlled device.") var force =
    false
  @OptionGroup var arguments: BindingArguments

  func run() async throws {
    try await home.withHome { session in
      let registry = await session.registry
      let source = try registry.resolve(arguments.source)
      guard let target = arguments.target else {
        let entries = try await session.bindings(of: source)
        var table = Table("ENDPOINT", "CONTROLS", "CLUSTER")
        for entry in entries {
          table.add("\(entry.source)", BindingReport.target(entry, registry), BindingReport.cluster(entry))
        }
        return home.output.result(.array(entries.map(BindingReport.json)), table.text)
      }
      let far = try registry.resolve(target)
      let change = try await session.bind(source, to: far, clusters: try arguments.clusters(), force: force)
      let words = change.entries.map { "\(BindingReport.target($0, registry)) (\(BindingReport.cluster($0)))" }
      home.output.result(
        BindingReport.json(change, source.device),
        "\(source.device.label) "
          + (words.isEmpty ? "already has these bindings" : "now controls \(words.joined(separator: ", "))"))
    }
  }
}

/// `hearth unbind`.
struct Unbind: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unbind", abstract: "Remove the bindings between two devices.",
    discussion: "Removing the last binding also removes the access control entry on the controlled device.")
  @OptionGroup var home: HomeOptions
  @OptionGroup var arguments: BindingArguments

  func validate() throws {
    guard arguments.target != nil else { throw ValidationError("missing the controlled device") }
  }

  func run() async throws {
    try await home.withHome { session in
      let registry = await session.registry
      let source = try registry.resolve(arguments.source)
      let change = try await session.unbind(
        source, from: try registry.resolve(arguments.target ?? ""), clusters: try arguments.clusters())
      let words = change.entries.map { "\(BindingReport.target($0, registry)) (\(BindingReport.cluster($0)))" }
      home.output.result(
        BindingReport.json(change, source.device),
        "\(source.device.label) no longer controls \(words.joined(separator: ", "))")
    }
  }
}

/// Formats bindings as text and JSON.
enum BindingReport {
  static func target(_ entry: BindingEntry, _ registry: HomeRegistry) -> String {
    if let group = entry.target.group { return "group \(group.rawValue)" }
    guard let node = entry.target.node else { return "nothing" }
    let name = registry.device(node)?.fullName ?? "node \(node.rawValue)"
    return entry.target.endpoint.map { "\(name)/\($0)" } ?? name
  }

  static func cluster(_ entry: BindingEntry) -> String {
    entry.target.cluster.map { ElementNames.cluster($0) } ?? "all clusters"
  }

  static func json(_ entry: BindingEntry) -> JSON {
    [
      "sourceEndpoint": .int(entry.source.rawValue),
      "nodeID": entry.target.node.map { .string("\($0.rawValue)") } ?? .null,
      "group": .optional(entry.target.group?.rawValue),
      "endpoint": .optional(entry.target.endpoint?.rawValue),
      "cluster": entry.target.cluster.map { .string(ElementNames.cluster($0)) } ?? .null,
    ]
  }

  static func json(_ change: BindingChange, _ device: DeviceRecord) -> JSON {
    device.jsonNames.adding("bindings", .array(change.entries.map(json)))
      .adding("accessChanged", .bool(change.accessChanged))
  }
}
