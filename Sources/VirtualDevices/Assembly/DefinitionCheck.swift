import MatterClusters
import MatterModel

extension HomeDefinition {
  /// Some thousand names: made once.
  private static let catalogue = AttributeCatalogue(clusters: ClusterCatalogue.all)

  /// Reads definition files as ``load(files:catalogue:)`` does, knowing all clusters, and checks that each device has a place
  /// for the attributes that are given values.
  /// - Throws: ``DefinitionError`` with all that is wrong.
  public static func load(
    simulating files: [(name: String, text: String)], ignoring ignored: [String] = []
  ) throws(DefinitionError) -> HomeDefinition {
    let home = try load(files: files, catalogue: catalogue, ignoring: ignored)
    var seen: Set<SourceMark> = []
    let problems = home.devices.flatMap(DeviceAssembly.problems).filter { seen.insert($0.value.mark).inserted }
      .map { value, expected in
        DefinitionProblem(
          at: value.mark, found: "\(value.endpoint).\(value.cluster).\(value.attribute)", expected: expected,
          suggestions: [])
      }
    guard problems.isEmpty else { throw DefinitionError(problems: problems) }
    return home
  }
}
