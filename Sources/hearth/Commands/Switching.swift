import ArgumentParser
import HearthHome
import HomeText
import MatterClusters
import MatterModel

/// Targets of `on`, `off` and `toggle`.
struct TargetArguments: ParsableArguments {
  @Argument(
    help:
      "The targets: room/name, a name or its beginning, a room, group:NAME, a node id, NODE/ENDPOINT, or * for all.",
    completion: .device)
  var targets: [String]
}

/// `hearth on`.
struct On: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "on", abstract: "Switch devices on.")
  @OptionGroup var home: HomeOptions
  @OptionGroup var arguments: TargetArguments
  func run() async throws { try await home.turn(arguments.targets, .on) }
}

/// `hearth off`.
struct Off: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "off", abstract: "Switch devices off.")
  @OptionGroup var home: HomeOptions
  @OptionGroup var arguments: TargetArguments
  func run() async throws { try await home.turn(arguments.targets, .off) }
}

/// `hearth toggle`.
struct Toggle: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "toggle", abstract: "Toggle devices.")
  @OptionGroup var home: HomeOptions
  @OptionGroup var arguments: TargetArguments
  func run() async throws { try await home.turn(arguments.targets, .toggle) }
}

extension HomeOptions {
  fileprivate func turn(_ targets: [String], _ action: SwitchAction) async throws {
    try await forEach({ try await $0.targets(targets, accepting: action) }) { session, target in
      let parts = try await session.turn(target, action)
      let states = parts.map { $0.isOn == true }
      var json = target.device.jsonNames.adding("endpoint", .optional(parts.first?.endpoint.rawValue))
        .adding("onOff", .bool(states.first == true))
      if parts.count > 1 {
        json = json.adding(
          "endpoints",
          .array(parts.map { ["endpoint": .int($0.endpoint.rawValue), "onOff": .bool($0.isOn == true)] }))
      }
      let words = Set(states).count == 1 ? [states[0]] : states
      return (json, "\(target.device.label): \(words.map { $0 ? "on" : "off" }.joined(separator: ", "))")
    }
  }
}

/// `hearth level`.
struct Level: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "level", abstract: "Set the level of devices, and switch them on or off accordingly.",
    discussion: """
      The last argument is the level: a percentage of the device's MaxLevel, such as 40%, or 0 to 254 with --raw.
      """)
  @OptionGroup var home: HomeOptions
  @Option(help: ArgumentHelp("The transition time, such as 2s.", valueName: "time")) var over: TimeSpan?
  @Flag(help: "Take the level as encoded: 0 to 254.") var raw = false
  @Argument(help: ArgumentHelp("The targets, followed by the level.", valueName: "target… level"))
  var arguments: [String]

  func validate() throws {
    guard arguments.count >= 2 else {
      throw ValidationError("expected TARGET… LEVEL, such as: hearth level kitchen/lamp 40%")
    }
  }

  func run() async throws {
    let level = try WantedLevel(text: arguments[arguments.count - 1], raw: raw)
    let tenths = try over.map { try $0.duration.transitionTime() }
    let isRaw = raw
    try await home.forEach(Array(arguments.dropLast()), serving: LevelControl.id) { session, target in
      let parts = try await session.dim(target, to: level, over: tenths)
      let (part, reached, percent) = (parts[0], parts[0].level ?? 0, parts[0].percent ?? 0)
      return (
        target.device.jsonNames.adding("endpoint", .int(part.endpoint.rawValue))
          .adding("currentLevel", .int(reached)).adding("level", .int(percent)),
        "\(target.device.label): \(reached == 0 ? "off" : isRaw ? "\(reached)" : "\(percent)%")"
      )
    }
  }
}

/// `hearth color`.
struct Color: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "color", abstract: "Set the color or color temperature of lights.",
    discussion: """
      The last argument is the color: red, green and blue such as '#ff8800' (quoted, because # starts a comment), or a color \
      temperature such as 2700K. The brightness does not change. A light that is off uses the color when it is switched on.
      """)
  @OptionGroup var home: HomeOptions
  @Option(help: ArgumentHelp("The transition time, such as 2s.", valueName: "time")) var over: TimeSpan?
  @Argument(help: ArgumentHelp("The targets, followed by the color.", valueName: "target… color"))
  var arguments: [String]

  func validate() throws {
    guard arguments.count >= 2 else {
      throw ValidationError("expected TARGET… COLOR, such as: hearth color kitchen/lamp 2700K")
    }
  }

  func run() async throws {
    let color = try LightColor(text: arguments[arguments.count - 1])
    let tenths = try over.map { try $0.duration.transitionTime() } ?? 0
    let texts = Array(arguments.dropLast())
    try await home.forEach({ try await $0.targets(texts, showing: color) }) { session, target in
      let part = try await session.color(target, color, over: tenths)
      let shown = (part.color ?? color).description
      return (
        target.device.jsonNames.adding("endpoint", .int(part.endpoint.rawValue)).adding("color", .string(shown)),
        "\(target.device.label): \(shown)"
      )
    }
  }
}
