import ArgumentParser
import HearthHome
import HomeText
import MatterModel
import MatterProtocol

/// `hearth read`.
struct Read: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Read attributes.",
    discussion: """
      A path is kitchen/lamp.levelControl.currentLevel, or NODE/ENDPOINT/CLUSTER/ATTRIBUTE with numbers, such as 5/1/8/0. \
      An endpoint may follow the device: strip.2.onOff.onOff. Without one, the first that has the attribute is read. \
      * is a wildcard. A target alone reads all its attributes.
      """)
  @OptionGroup var home: HomeOptions
  @Flag(help: "Print encoded values, without units.") var raw = false
  @Argument(help: "The paths to read.") var paths: [String]

  func run() async throws {
    try await home.withHome { session in
      let registry = await session.registry
      let groups = PathGroup.groups(try paths.flatMap { try registry.paths($0) }, in: registry)
      try home.check(groups.map(\.device))
      let results = await groups.concurrentMap { one in
        await Result { () async throws(HomeError) in try await session.read(one.device, one.paths) }
      }
      try print(groups, results, await session.state)
    }
  }

  private func print(
    _ groups: [PathGroup], _ results: [Result<ReassembledReport, HomeError>], _ state: HomeState
  ) throws {
    var values: [JSON] = []
    var lines: [[String]] = []
    var failures: [HomeError] = []
    for (group, result) in zip(groups, results) {
      switch result {
      case .success(let report):
        for attribute in report.attributes {
          let value = AttributeValue(
            group.device(of: attribute.path.endpoint), attribute.path, attribute.value, raw: raw,
            levels: state.levels(of: group.device.nodeID, on: attribute.path.endpoint))
          values.append(value.json)
          lines.append([value.pathText, value.text])
        }
        // The device returns a status for a wildcard path only if the whole path fails.
        for status in report.statuses where status.status.code != .success {
          failures.append(AttributeValue.refusal(group.device(of: status.path.endpoint), status))
        }
      case .failure(let error): failures.append(error)
      }
    }
    let count = groups.reduce(0) { $0 + $1.paths.count }
    if count == 1, let failure = failures.first, values.isEmpty { throw failure }
    if !home.output.json {
      if count == 1, lines.count == 1, groups.first?.paths.first?.isWildcard == false {
        home.output.text(lines[0][1])
      } else {
        var table = Table("PATH", "VALUE")
        table.rows = lines
        if !lines.isEmpty { home.output.text(table.text) }
      }
      for failure in failures { home.output.failure(failure) }
    }
    guard let first = failures.first else {
      if values.isEmpty {
        throw HomeError(.notFound, "no attribute matches \(paths.map { "“\($0)”" }.joined(separator: ", "))")
      }
      if home.output.json { home.output.result(count == 1 && values.count == 1 ? values[0] : .array(values), "") }
      return
    }
    let code: HomeError.Code =
      values.isEmpty && failures.allSatisfy { $0.code == first.code } ? first.code : .partlyFailed
    if home.output.json {
      let error =
        failures.count == 1 && code == first.code
        ? first : HomeError(code, "\(failures.count) of the paths could not be read")
      home.output.partialResult(values, error, failures)
    }
    throw ProcessExit(code).error
  }
}

/// Formats an attribute value with its name.
struct AttributeValue {
  let device: DeviceRecord
  let path: ConcreteAttributePath
  let value: [UInt8]
  let raw: Bool
  let levels: LevelRange

  /// - Parameter levels: the level range of the device.
  init(
    _ device: DeviceRecord, _ path: ConcreteAttributePath, _ value: [UInt8], raw: Bool, levels: LevelRange = .standard
  ) {
    (self.device, self.path, self.value, self.raw, self.levels) = (device, path, value, raw, levels)
  }

  /// A path that commands accept: `Kitchen/Lamp/1.levelControl.currentLevel`.
  var pathText: String { "\(device.fullName)/\(path.endpoint).\(ElementNames.attribute(path))" }

  /// The value as text, with its unit unless `raw` is set.
  var text: String {
    let text = ElementNames.schema(path).text(of: value)
    return raw ? text : AttributeUnits.text(path, value, levels: levels) ?? text
  }

  var json: JSON {
    var object: JSON = [
      "device": .string(device.name), "nodeID": .string("\(device.nodeID.rawValue)"),
      "endpoint": .int(path.endpoint.rawValue),
      "cluster": .string(ElementNames.cluster(path.cluster)),
      "attribute": .string(ElementNames.attribute(path.attribute, of: path.cluster)),
      "path": .string(
        "\(device.id)/\(path.endpoint.rawValue)/\(path.cluster.rawValue)/\(path.attribute.rawValue)"),
      "value": .encoded(ElementNames.schema(path).json(of: value)),
    ]
    if !raw { object = object.adding("text", .string(text)) }
    return object
  }

  /// Returns the error for the status that a device returned instead of a value.
  static func refusal(_ device: DeviceRecord, _ status: AttributeStatus) -> HomeError {
    var error = HomeError(status.status, of: status.path.cluster)
    error.message = "\(ElementNames.text(status.path)): \(error.message)"
    return error.about(device)
  }
}
