import ArgumentParser
import Foundation
import HearthHome
import VirtualDevices

/// `hearth sim add`.
struct SimAdd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add devices behind a running bridge.",
    discussion: """
      The devices stay until the bridge is stopped; the definition file doesn't change. A device that was behind the bridge \
      before has the same endpoint and unique id again. For example:
        hearth sim add Bridge Spot --type 'on/off light' --room Hall
      """)
  @OptionGroup var options: SimOptions
  @Argument(help: "The bridge.") var bridge: String
  @Argument(help: "The names of the devices.") var names: [String]
  @Option(help: ArgumentHelp("The type of the devices; `hearth types` lists them.", valueName: "type")) var type: String
  @Option(help: ArgumentHelp("The room of the devices.", valueName: "room")) var room: String?

  func validate() throws {
    if let name = names.repeated { throw ValidationError("“\(name)” is named twice; expected each device once") }
  }

  func run() async throws {
    try await options.withDevices { running in
      let entry = try running.resolve(bridge)
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      for (index, name) in names.enumerated() {
        var fields = ["name": name, "type": type]
        fields["room"] = room
        // JSON is also YAML, and quotes all characters.
        let text = String(decoding: try encoder.encode(fields), as: UTF8.self)
        do {
          try await running.send(.add(device: entry.path, entry: text), to: entry)
        } catch {
          let added = names.prefix(index)
          if !added.isEmpty { options.output.note("hearth: only added \(added.joined(separator: ", "))") }
          throw error
        }
      }
      options.output.result(["bridge": .string(entry.path), "added": .texts(names)], "")
    }
  }
}

/// `hearth sim remove`.
struct SimRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove devices from a running bridge.",
    discussion: """
      The devices are back when the bridge is started again with its definition file. Their endpoints are not used for other \
      devices. For example:
        hearth sim remove Bridge Spot
      """)
  @OptionGroup var options: SimOptions
  @Argument(help: "The bridge.") var bridge: String
  @Argument(help: "The devices behind it.") var devices: [String]

  func run() async throws {
    try await options.withDevices { running in
      let entry = try running.resolve(bridge)
      let targets = try devices.map { try running.resolve($0) }
      for target in targets where target.node.path != entry.path || target.path == entry.path {
        throw HomeError(.notFound, "is not behind “\(entry.path)”", device: target.path)
      }
      if let path = targets.map(\.path).repeated {
        throw HomeError(.badArguments, "“\(path)” is named twice; expected each device once")
      }
      for target in targets { try await running.send(.remove(device: target.path), to: target) }
      options.output.result(
        ["bridge": .string(entry.path), "removed": .array(targets.map { .string($0.path) })], "")
    }
  }
}

extension [String] {
  /// The first text that is in the list before, ignoring case; nil if all differ.
  fileprivate var repeated: String? {
    var known: Set<String> = []
    return first { !known.insert($0.lowercased()).inserted }
  }
}
