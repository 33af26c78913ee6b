import ArgumentParser
import HearthHome
import HomeText
import MatterModel
import MatterProtocol

/// `hearth write`.
struct Write: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "write", abstract: "Write attributes.",
    discussion: """
      Takes one or more pairs PATH=VALUE or PATH VALUE. The path of a room or a group stands for all of its devices that have \
      the cluster. For example:
        hearth write kitchen/lamp.levelControl.onLevel=50%
        hearth write kitchen.levelControl.onLevel=50% hall/lamp.levelControl.onLevel=20%
        hearth write kitchen/lamp.basicInformation.nodeLabel 'Ceiling'
      Values are numbers, names, texts, [lists], {structures: as, in: JSON}, or null; temperatures are degrees (21.5C), levels \
      percentages. A number without a unit is the encoded value. Attributes that are not known by name take typed values:
        hearth write 5/1/0xFFF1FC00/0=i16:-500
      \(TypedValue.help)
      """)
  @OptionGroup var home: HomeOptions
  @Flag(help: "Take values as encoded, without units.") var raw = false
  @Flag(name: .customLong("timed"), help: "Write as a timed interaction; clusters known by name need no option.")
  var isTimed = false
  @Argument(help: ArgumentHelp("The attributes and their values.", valueName: "path=value")) var assignments: [String]

  func run() async throws {
    let registry = try await home.registry()
    var writes: [DeviceWrite] = []
    for (text, value) in try Self.pairs(assignments) {
      for path in try registry.paths(text) {
        guard let cluster = path.cluster, let element = path.element else {
          throw HomeError(.badArguments, "“\(text)”: expected a cluster and an attribute without wildcards")
        }
        let endpoint = path.endpoint ?? path.target.device.mainEndpoint
        let device = registry.part(endpoint, of: path.target.device)
        let written = WrittenValue(
          name: text, text: value, path: path.attributePath, cluster: cluster, attribute: AttributeID(element))
        // Reports a wrong value before the home is opened.
        _ = try written.write(raw: raw, levels: .standard)
        if let index = writes.firstIndex(where: { $0.device.source.id == device.source.id }) {
          writes[index].values.append(written)
        } else {
          writes.append(DeviceWrite(device: device, values: [written]))
        }
      }
    }
    guard !writes.isEmpty else { throw HomeError(.badArguments, "nothing to write; expected PATH=VALUE") }
    let (isTimed, raw) = (isTimed, raw)
    try await home.forEach(items: { [writes] _ in writes.map { ($0.device, $0) } }) { session, write in
      let (device, state) = (write.device, await session.state)
      let writes = try write.values.map { value throws(HomeError) in
        try value.write(
          raw: raw, levels: state.levels(of: device.nodeID, on: value.path.endpoint ?? device.mainEndpoint))
      }
      try await session.write(device, writes, isTimed: isTimed || write.needsTimed)
      return (device.jsonNames.adding("written", .int(writes.count)), "\(device.label): written")
    }
  }

  /// Parses pairs `PATH=VALUE` and `PATH VALUE`.
  static func pairs(_ arguments: [String]) throws(HomeError) -> [(path: String, value: String)] {
    var pairs: [(String, String)] = []
    var index = 0
    while index < arguments.count {
      let argument = arguments[index]
      if let equals = argument.firstIndex(of: "=") {
        pairs.append((String(argument[..<equals]), String(argument[argument.index(after: equals)...])))
        index += 1
      } else {
        guard index + 1 < arguments.count else {
          throw HomeError(.badArguments, "“\(argument)”: missing value; write \(argument)=VALUE")
        }
        pairs.append((argument, arguments[index + 1]))
        index += 2
      }
    }
    return pairs
  }
}

/// The syntax of values for attributes and fields that are not known by name.
private enum TypedValue {
  static let help = """
    Types are u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, bool, str, and hex for octets. Without a type, it is inferred from \
    the value.
    """
}

/// A value of `hearth write`, before the level range of the device is known.
private struct WrittenValue: Sendable {
  /// The path as the user wrote it.
  var name: String
  var text: String
  var path: AttributePath
  var cluster: ClusterID
  var attribute: AttributeID

  func write(raw: Bool, levels: LevelRange) throws(HomeError) -> AttributeWrite {
    let value = try AttributeUnits.parse(
      text, cluster: cluster, attribute: attribute, raw: raw, named: name, levels: levels)
    return AttributeWrite(path, value: value)
  }
}

/// The values that `hearth write` writes to one device.
private struct DeviceWrite: Sendable {
  var device: DeviceRecord
  var values: [WrittenValue]

  /// Whether an attribute requires a timed interaction.
  var needsTimed: Bool {
    values.contains { ElementNames.info($0.attribute, of: $0.cluster)?.quality.contains(.timed) == true }
  }
}

/// A command of `hearth invoke` for one endpoint of a device.
private struct InvokedCommand: Hashable, Sendable {
  var device: DeviceRecord
  var endpoint: EndpointID
  var cluster: ClusterID
  var command: CommandID

  var path: CommandPath { CommandPath(endpoint: endpoint, cluster: cluster, command: command) }
  var info: CommandInfo? { ElementNames.command(path) }

  /// Returns the commands of a path: one, or one for each endpoint with the cluster if the path names none.
  static func all(_ path: ElementPath, in registry: HomeRegistry, named text: String) throws(HomeError) -> [Self] {
    guard let cluster = path.cluster, let element = path.element else {
      throw HomeError(.badArguments, "“\(text)”: expected a cluster and a command without wildcards")
    }
    let endpoints = if let named = path.endpoint { [named] } else { try path.target.endpoints(serving: cluster) }
    return endpoints.map {
      Self(
        device: registry.part($0, of: path.target.device), endpoint: $0, cluster: cluster, command: CommandID(element))
    }
  }
}

/// `hearth invoke`.
struct Invoke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "invoke", abstract: "Invoke a command.",
    discussion: """
      PATH is kitchen/lamp.levelControl.moveToLevel or by numbers 5/1/8/0; several paths, or that of a room or a group, invoke \
      the command of all these devices. Fields are field=value, or one {…} as in JSON; omitted fields are null, empty or zero \
      where that is allowed. Numbers without a unit are raw values. For example:
        hearth invoke kitchen/lamp.levelControl.moveToLevel level=40% transitionTime=2s
        hearth invoke hall/thermostat.thermostat.setpointRaiseLower mode=Heat amount=0.5C
        hearth invoke kitchen.identify.identify hall/lamp.identify.identify identifyTime=10
      Commands that are not known by name take field numbers with typed values:
        hearth invoke 5/1/0xFFF1FC00/1 0=i16:500 1=str:hello --timed
      \(TypedValue.help)
      """)
  @OptionGroup var home: HomeOptions
  @Flag(name: .customLong("timed"), help: "Invoke as a timed interaction; commands known by name need no option.")
  var isTimed = false
  @Flag(help: "Read numbers as raw values, without units.") var raw = false
  @Argument(help: "The command.") var path: String
  @Argument(
    parsing: .remaining,
    help: ArgumentHelp("More commands, followed by the fields.", valueName: "path… field=value"))
  var arguments: [String] = []

  func run() async throws {
    let more = arguments.prefix { !$0.hasPrefix("{") && !$0.contains("=") && HomeRegistry.isPath($0) }
    let fields = Array(arguments.dropFirst(more.count))
    let registry = try await home.registry()
    var commands: [InvokedCommand] = []
    for text in [path] + more {
      for path in try registry.paths(text, .command) {
        for command in try InvokedCommand.all(path, in: registry, named: text) where !commands.contains(command) {
          // Reports a wrong field before the home is opened.
          _ = try CommandFields.encode(fields, command.info, of: command.cluster, raw: raw)
          commands.append(command)
        }
      }
    }
    let (isTimed, raw, isOne) = (isTimed, raw, commands.count == 1)
    try await home.forEach(items: { [commands] _ in commands.map { ($0.device, $0) } }) { session, command in
      let (device, info) = (command.device, command.info)
      let levels = await session.state.levels(of: device.nodeID, on: command.endpoint)
      let encoded = try CommandFields.encode(fields, info, of: command.cluster, raw: raw, levels: levels)
      let answer = try await session.invoke(
        device, CommandData(command.path, fields: encoded), isTimed: isTimed || info?.quality.contains(.timed) == true)
      let name =
        "\(ElementNames.cluster(command.cluster)).\(ElementNames.command(command.command, of: command.cluster))"
      let schema = answer.map { ElementNames.response($0.path.command, of: command.cluster) } ?? .any
      let json = device.jsonNames.adding("endpoint", .int(command.endpoint.rawValue))
        .adding("command", .string(name)).adding("status", "SUCCESS")
        .adding("response", answer?.fields.map { .encoded(schema.json(of: $0)) } ?? .null)
      guard let text = answer?.fields.map({ schema.text(of: $0) }) else {
        return (json, "\(device.label): \(name) done")
      }
      return (json, isOne ? text : "\(device.label): \(text)")
    }
  }
}
