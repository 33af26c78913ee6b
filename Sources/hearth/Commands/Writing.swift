import ArgumentParser
import HearthHome
import HomeText
import MatterModel
import MatterProtocol

/// `hearth write`.
struct Write: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write attributes.",
    discussion: """
      Takes one or more pairs PATH=VALUE or PATH VALUE. For example:
        hearth write kitchen/lamp.levelControl.onLevel=50%
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
    // More than one only if all are behind the same bridge.
    var devices: [(device: DeviceRecord, count: Int)] = []
    var values: [WrittenValue] = []
    for (text, value) in try Self.pairs(assignments) {
      for path in try registry.paths(text, isForOne: true) {
        guard let cluster = path.cluster, let element = path.element else {
          throw HomeError(.badArguments, "“\(text)”: expected a cluster and an attribute without wildcards")
        }
        let endpoint = path.endpoint ?? path.target.device.mainEndpoint
        let device = registry.part(endpoint, of: path.target.device)
        guard devices.first.map({ $0.device.nodeID == device.nodeID }) ?? true else {
          throw HomeError(.badArguments, "attributes of several nodes; write to each of them separately")
        }
        if let index = devices.firstIndex(where: { $0.device.id == device.id }) {
          devices[index].count += 1
        } else {
          devices.append((device, 1))
        }
        let written = WrittenValue(
          name: text, text: value, path: path.attributePath, cluster: cluster, attribute: AttributeID(element))
        // Reports a wrong value before the home is opened.
        _ = try written.write(raw: raw, levels: .standard)
        values.append(written)
      }
    }
    guard var written = devices.first?.device else {
      throw HomeError(.badArguments, "nothing to write; expected PATH=VALUE")
    }
    written.label = devices.map(\.device.label).joined(separator: ", ")
    let isTimed =
      isTimed
      || values.contains { ElementNames.info($0.attribute, of: $0.cluster)?.quality.contains(.timed) == true }
    try await home.withHome { [written, values, isTimed, raw] session in
      let state = await session.state
      let writes = try values.map { value throws(HomeError) in
        try value.write(
          raw: raw, levels: state.levels(of: written.nodeID, on: value.path.endpoint ?? written.mainEndpoint))
      }
      try await session.write(written, writes, isTimed: isTimed)
    }
    try home.report(
      devices.map { device, count in
        let text = "\(device.label): written"
        return TargetResult(
          device: device, result: .success((device.jsonNames.adding("written", .integer(count)), text)))
      })
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

/// `hearth invoke`.
struct Invoke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Invoke a command.",
    discussion: """
      PATH is kitchen/lamp.levelControl.moveToLevel or by numbers 5/1/8/0. Fields are field=value, or one {…} as in JSON; \
      omitted fields are null, empty or zero where that is allowed. Numbers without a unit are raw values. For example:
        hearth invoke kitchen/lamp.levelControl.moveToLevel level=40% transitionTime=2s
        hearth invoke hall/thermostat.thermostat.setpointRaiseLower mode=Heat amount=0.5C
      Commands that are not known by name take field numbers with typed values:
        hearth invoke 5/1/0xFFF1FC00/1 0=i16:500 1=str:hello --timed
      \(TypedValue.help)
      """)
  @OptionGroup var home: HomeOptions
  @Flag(name: .customLong("timed"), help: "Invoke as a timed interaction; commands known by name need no option.")
  var isTimed = false
  @Flag(help: "Read numbers as raw values, without units.") var raw = false
  @Argument(help: "The command.") var path: String
  @Argument(parsing: .remaining, help: ArgumentHelp("The fields.", valueName: "field=value")) var fields: [String] = []

  func run() async throws {
    let paths = try await home.registry().paths(path, .command, isForOne: true)
    guard paths.count == 1, let path = paths.first, let cluster = path.cluster, let element = path.element,
      let endpoint = path.endpoint
    else { throw HomeError(.badArguments, "“\(path)”: expected a command of one device, without wildcards") }
    let commandPath = CommandPath(endpoint: endpoint, cluster: cluster, command: CommandID(element))
    let info = ElementNames.command(commandPath)
    // Before the home is opened.
    _ = try CommandFields.encode(fields, info, of: cluster, raw: raw)
    let device = path.target.device
    let isTimed = isTimed
    try await home.withHome { session in
      let levels = await session.state.levels(of: device.nodeID, on: endpoint)
      let encoded = try CommandFields.encode(fields, info, of: cluster, raw: raw, levels: levels)
      let answer = try await session.invoke(
        device, CommandData(commandPath, fields: encoded), isTimed: isTimed || info?.quality.contains(.timed) == true)
      let name = "\(ElementNames.cluster(cluster)).\(ElementNames.command(commandPath.command, of: cluster))"
      let schema = answer.map { ElementNames.response($0.path.command, of: cluster) } ?? .any
      let json = device.jsonNames.adding("endpoint", .integer(endpoint.rawValue)).adding("command", .string(name))
        .adding("status", "SUCCESS")
        .adding("response", answer?.fields.map { .encoded(schema.json(of: $0)) } ?? .null)
      home.output.result(
        json, answer?.fields.map { schema.text(of: $0) } ?? "\(device.label): \(name) done")
    }
  }
}
