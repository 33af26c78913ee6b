import MatterClusters
import MatterModel

extension AttributeCatalogue {
  /// The attributes of the standard. Several thousand names, so created once.
  static let standard: AttributeCatalogue = {
    var catalogue = AttributeCatalogue(clusters: ClusterCatalogue.standard)
    catalogue.checksIntegers = false
    return catalogue
  }()

  /// The same with the clusters of manufacturers that this process knows.
  static var all: AttributeCatalogue {
    var catalogue = standard
    for cluster in ClusterCatalogue.added { catalogue.add(cluster) }
    return catalogue
  }
}

extension HomeDefinition {
  /// Reads definition files like `load(files:catalogue:)` with the catalogue of all clusters, and checks that each
  /// device has the attributes with initial values.
  /// - Parameters:
  ///   - shard: the part of the home that this process runs.
  ///   - open: reads the files of behaviors.
  /// - Throws: ``DefinitionError`` with all problems.
  public static func load(
    simulating files: [(name: String, text: String)], ignoring ignored: [String] = [], for shard: Shard = .whole,
    opening open: @escaping FileReader = HomeDefinition.refuseFile
  ) throws(DefinitionError) -> HomeDefinition {
    let home = try load(files: files, catalogue: .standard, ignoring: ignored, for: shard, opening: open)
    var seen: Set<SourceMark> = []
    let all = home.devices.flatMap(DeviceAssembly.problems) + roomProblems(home) + expressionProblems(home)
    let problems = all.filter { seen.insert($0.mark).inserted }
    guard problems.isEmpty else { throw DefinitionError(problems: problems) }
    return home
  }

  /// Returns the problems of behaviors that follow a room without a temperature.
  private static func roomProblems(_ home: HomeDefinition) -> [DefinitionProblem] {
    let devices = home.devices + home.devices.flatMap(\.bridged)
    let rooms = devices.filter(\.kind.conditionsRoom).compactMap(\.room)
    let known = Set(rooms.map { $0.lowercased() })
    return devices.flatMap(\.behaviors).compactMap { behavior in
      guard case .room(let name, _) = behavior.course, !known.contains(name.lowercased()) else { return nil }
      return DefinitionProblem(
        at: behavior.attribute.valueMark, found: "room “\(name)”",
        expected: "a room with a thermostat, a heat pump or a room air conditioner",
        suggestions: NearestName.suggestions(for: name, in: rooms))
    }
  }

  /// Returns the problems of expressions: unknown devices and attributes, and attributes that depend on themselves.
  private static func expressionProblems(_ home: HomeDefinition) -> [DefinitionProblem] {
    guard home.devices.contains(where: { !([$0] + $0.bridged).allSatisfy(\.expressions.isEmpty) }) else { return [] }
    let index = DeviceIndex(home.devices)
    var problems: [DefinitionProblem] = []
    // With `count`, several devices have the same attributes and operands.
    var targets: Set<SourceMark> = []
    var operands: [AttributeExpression.Operand: SharedAttributes.Key?] = [:]
    func key(of operand: AttributeExpression.Operand) -> SharedAttributes.Key? {
      guard let other = index.find(operand.device)?.device else {
        problems.append(unknown(operand, in: index))
        return nil
      }
      guard DeviceAssembly.notesChanges(of: operand.attribute, other) else {
        problems.append(missing(operand.attribute, of: other, named: operand.device + "."))
        return nil
      }
      return SharedAttributes.Key(operand.attribute, of: other)
    }
    var links: [(key: SharedAttributes.Key, operand: AttributeExpression.Operand, from: SharedAttributes.Key)] = []
    for device in index.entries.map(\.device) {
      for (attribute, expression) in device.expressions {
        if let attribute, targets.insert(attribute.mark).inserted,
          !DeviceAssembly.notesChanges(of: attribute, device)
        {
          problems.append(missing(attribute, of: device))
        }
        let own = attribute.flatMap { SharedAttributes.Key($0, of: device) }
        for operand in expression.operands {
          let other = operands[operand] ?? key(of: operand)
          operands[operand] = .some(other)
          if let own, let other { links.append((other, operand, own)) }
        }
      }
    }
    return problems + (cycle(links).map { [$0] } ?? [])
  }

  /// - Parameter name: the text before the attribute.
  private static func missing(
    _ attribute: InitialValue, of device: DeviceDefinition, named name: String = ""
  ) -> DefinitionProblem {
    let units = DeviceAssembly.units(of: device)
    // Perhaps another endpoint has it.
    let other = units.indices.lazy
      .map { position in
        var other = attribute
        other.endpoint = EndpointID(UInt16(clamping: position + 1))
        return other
      }
      .first { DeviceAssembly.notesChanges(of: $0, device) }
    return DefinitionProblem(
      at: attribute.mark, found: name + attribute.path,
      expected: "an attribute that the device has, and that is not computed at each read"
        + DeviceAssembly.endpointHint(attribute.endpoint, among: units),
      suggestions: other.map { [name + $0.path] } ?? [])
  }

  private static func unknown(_ operand: AttributeExpression.Operand, in index: DeviceIndex) -> DefinitionProblem {
    DefinitionProblem(
      at: operand.mark, found: "device “\(operand.device)”",
      expected: "a device of the home: room/name, or the name if it is unique",
      suggestions: NearestName.suggestions(for: operand.device, in: index.entries.map(\.device.path)))
  }

  /// Returns the problem of an attribute that depends on itself; nil if none does.
  /// - Parameter links: Each attribute that an expression names, and the attribute that follows the expression.
  private static func cycle(
    _ links: [(key: SharedAttributes.Key, operand: AttributeExpression.Operand, from: SharedAttributes.Key)]
  ) -> DefinitionProblem? {
    let linked = Dictionary(grouping: links, by: \.from)
    var done: Set<SharedAttributes.Key> = []
    for start in links.map(\.from) where !done.contains(start) {
      var path = [start]
      var onPath: Set = [start]
      while let last = path.last {
        guard let next = linked[last]?.first(where: { linked[$0.key] != nil && !done.contains($0.key) }) else {
          done.insert(last)
          onPath.remove(last)
          path.removeLast()
          continue
        }
        guard onPath.insert(next.key).inserted else {
          return DefinitionProblem(
            at: next.operand.mark, found: next.operand.text, expected: "an attribute that does not follow this one")
        }
        path.append(next.key)
      }
    }
    return nil
  }
}
