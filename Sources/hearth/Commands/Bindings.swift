import ArgumentParser
import Home
import MatterClusters
import MatterModel

/// What `bind` and `unbind` take.
struct BindingArguments: ParsableArguments {
  @Option(help: "Only this cluster; any number of times.") var cluster: [String] = []
  @Argument(help: "What controls: a device, or DEVICE/ENDPOINT.", completion: .device) var source: String
  @Argument(help: "What is controlled: a device, or DEVICE/ENDPOINT.", completion: .device) var target: String?

  /// Nil where none was named.
  func clusters() throws(HomeError) -> [ClusterID]? {
    var result: [ClusterID] = []
    for name in cluster {
      guard let id = try HomeRegistry.cluster(name) else { throw HomeError(.badArguments, "* is no cluster to bind") }
      result.append(id)
    }
    return result.isEmpty ? nil : result
  }
}

/// `hearth bind`.
struct Bind: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let one device control another, as a switch does a lamp, without this home in between.",
    discussion: """
      The lamp is told to obey the switch, and the switch what to control: all clusters that the one controls and the other \
      has, or those that --cluster names. With only one device its bindings are listed.
      """)
  @OptionGroup var home: LocalHomeOptions
  @Flag(help: "Even if nobody here could change the lamp any more.") var force = false
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
          + (words.isEmpty ? "controls that already" : "now controls \(words.joined(separator: ", "))"))
    }
  }
}

/// `hearth unbind`.
struct Unbind: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "End what `hearth bind` began.",
    discussion: "With its last binding the one also loses the right to control the other.")
  @OptionGroup var home: LocalHomeOptions
  @OptionGroup var arguments: BindingArguments

  func validate() throws {
    guard arguments.target != nil else { throw ValidationError("say what it shall no longer control") }
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

/// Bindings to be shown.
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
      "sourceEndpoint": .integer(entry.source.rawValue),
      "nodeID": entry.target.node.map { .string("\($0.rawValue)") } ?? .null,
      "group": entry.target.group.map { .integer($0.rawValue) } ?? .null,
      "endpoint": entry.target.endpoint.map { .integer($0.rawValue) } ?? .null,
      "cluster": entry.target.cluster.map { .string(ElementNames.cluster($0)) } ?? .null,
    ]
  }

  static func json(_ change: BindingChange, _ device: DeviceRecord) -> JSON {
    device.jsonNames.adding("bindings", .array(change.entries.map(json)))
      .adding("accessChanged", .bool(change.accessChanged))
  }
}
