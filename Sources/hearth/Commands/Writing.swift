import ArgumentParser
import Home
import MatterModel
import MatterProtocol

/// `hearth write`.
struct Write: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write attributes.",
    discussion: """
      PATH=VALUE, or PATH VALUE, any number of times. For example:
        hearth write kitchen/lamp.levelControl.onLevel=50%
        hearth write kitchen/lamp.basicInformation.nodeLabel 'Ceiling'
      Values are numbers, names, texts, [lists], {structures: as, in: JSON}, or null.
      """)
  @OptionGroup var home: HomeOptions
  @Flag(help: "Values are the wire's.") var raw = false
  @Argument(help: ArgumentHelp("What to write, and what into it.", valueName: "path=value")) var assignments: [String]

  func run() async throws {
    let registry = try await home.registry()
    // Several only where they are behind one bridge.
    var devices: [(device: DeviceRecord, count: Int)] = []
    var writes: [AttributeWrite] = []
    var isTimed = false
    for (text, value) in try Self.pairs(assignments) {
      for path in try registry.paths(text) {
        guard let cluster = path.cluster, let element = path.element else {
          throw HomeError(.badArguments, "“\(text)”: what is written needs a cluster and an attribute, * won't do")
        }
        let endpoint = path.endpoint ?? path.target.device.mainEndpoint
        let device = registry.part(endpoint, of: path.target.device)
        guard devices.first.map({ $0.device.nodeID == device.nodeID }) ?? true else {
          throw HomeError(.badArguments, "one write is for one device")
        }
        if let index = devices.firstIndex(where: { $0.device.id == device.id }) {
          devices[index].count += 1
        } else {
          devices.append((device, 1))
        }
        let info = ElementNames.info(AttributeID(element), of: cluster)
        if info?.quality.contains(.timed) == true { isTimed = true }
        let encoded = try AttributeUnits.parse(
          value, cluster: cluster, attribute: AttributeID(element), raw: raw, named: text)
        writes.append(AttributeWrite(path.attributePath, value: encoded))
      }
    }
    guard var written = devices.first?.device else { throw HomeError(.badArguments, "there is nothing to write") }
    written.label = devices.map(\.device.label).joined(separator: ", ")
    try await home.withHome { [written, writes, isTimed] session in
      try await session.write(written, writes, isTimed: isTimed)
    }
    try home.report(
      devices.map { device, count in
        let text = "\(device.label): written"
        return TargetResult(
          device: device, result: .success((device.jsonNames.adding("written", .integer(count)), text)))
      })
  }

  /// Takes `PATH=VALUE` and `PATH VALUE` apart.
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
          throw HomeError(.badArguments, "“\(argument)” has no value; write \(argument)=VALUE")
        }
        pairs.append((argument, arguments[index + 1]))
        index += 2
      }
    }
    return pairs
  }
}

/// `hearth invoke`.
struct Invoke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Invoke a command.",
    discussion: """
      PATH is kitchen/lamp.levelControl.moveToLevel or by numbers 5/1/8/0. Fields are field=value, or one {…} as in JSON; \
      those left out are null, empty or zero where that is allowed. For example:
        hearth invoke kitchen/lamp.levelControl.moveToLevel level=128 transitionTime=10
      """)
  @OptionGroup var home: HomeOptions
  @Argument(help: "The command.") var path: String
  @Argument(parsing: .remaining, help: ArgumentHelp("Its fields.", valueName: "field=value")) var fields: [String] = []

  func run() async throws {
    let paths = try await home.registry().paths(path, .command)
    guard paths.count == 1, let path = paths.first, let cluster = path.cluster, let element = path.element,
      let endpoint = path.endpoint
    else { throw HomeError(.badArguments, "“\(path)”: a command is invoked on one device, * won't do") }
    let commandPath = CommandPath(endpoint: endpoint, cluster: cluster, command: CommandID(element))
    let info = ElementNames.command(commandPath)
    let encoded = try CommandFields.encode(fields, info)
    let device = path.target.device
    try await home.withHome { session in
      let answer = try await session.invoke(
        device, CommandData(commandPath, fields: encoded), isTimed: info?.quality.contains(.timed) == true)
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

/// A command's fields from the command line.
enum CommandFields {
  static func encode(_ arguments: [String], _ info: CommandInfo?) throws(HomeError) -> [UInt8] {
    let text: String
    if arguments.isEmpty {
      text = "{}"
    } else if arguments.count == 1, arguments[0].hasPrefix("{") {
      text = arguments[0]
    } else {
      var members: [String] = []
      for argument in arguments {
        guard let equals = argument.firstIndex(of: "=") else {
          throw HomeError(.badArguments, "“\(argument)” is no field; write field=value")
        }
        members.append("\(argument[..<equals]): \(argument[argument.index(after: equals)...])")
      }
      text = "{" + members.joined(separator: ", ") + "}"
    }
    let schema = info?.request ?? .any
    do throws(ValueTextError) {
      return try schema.parse(text: completed(text, schema))
    } catch {
      throw HomeError(.badArguments, "\(info.map { camelCase($0.name) } ?? "the command"): \(error)", cause: error)
    }
  }

  /// Adds what may be left out: a nullable field is null, a bitmap is empty.
  private static func completed(_ text: String, _ schema: Schema) -> String {
    guard case .structure(let members) = schema, text.hasPrefix("{"), text.hasSuffix("}") else { return text }
    let body = text.dropFirst().dropLast()
    let named = Set(
      body.split(separator: ",").compactMap { $0.split(separator: ":").first }.map { SpokenName($0) })
    let missing = members.filter { !$0.isOptional && !named.contains(SpokenName($0.name)) }.compactMap { member in
      switch member.schema {
      case .nullable: "\(member.name): null"
      case .bitmap: "\(member.name): 0"
      default: nil as String?
      }
    }
    guard !missing.isEmpty else { return text }
    let isEmpty = body.allSatisfy(\.isWhitespace)
    return "{" + (isEmpty ? "" : body + ", ") + missing.joined(separator: ", ") + "}"
  }
}
