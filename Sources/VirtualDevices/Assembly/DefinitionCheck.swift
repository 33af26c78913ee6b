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
  /// - Parameter open: reads the files of behaviors.
  /// - Throws: ``DefinitionError`` with all problems.
  public static func load(
    simulating files: [(name: String, text: String)], ignoring ignored: [String] = [],
    opening open: @escaping FileReader = HomeDefinition.refuseFile
  ) throws(DefinitionError) -> HomeDefinition {
    let home = try load(files: files, catalogue: .standard, ignoring: ignored, opening: open)
    var seen: Set<SourceMark> = []
    let problems = (home.devices.flatMap(DeviceAssembly.problems) + roomProblems(home)).filter {
      seen.insert($0.mark).inserted
    }
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
}
