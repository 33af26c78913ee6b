import ArgumentParser
import Home
import MatterClusters
import MatterModel
import MatterProtocol

/// `hearth scene`.
struct Scene: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Store and recall scenes.",
    discussion: """
      A scene is the state of one or more devices under a name of at most 16 bytes. The devices store it themselves, so that a \
      recall is one short command for each. For example:
        hearth scene store Evening den/lamp den/strip
        hearth scene recall evening
      Without devices, all those of the home that can have scenes are meant.
      """,
    subcommands: [Store.self, Recall.self, List.self, Remove.self])

  struct Store: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Store the present state of devices as a scene.")
    @OptionGroup var home: HomeOptions
    @Option(help: ArgumentHelp("How long a recall takes, as 2s.", valueName: "time")) var over: TimeSpan?
    @Argument(help: "The scene's name.") var name: String
    @Argument(help: "The devices.", completion: .device) var targets: [String] = []

    func run() async throws {
      let transition = over?.duration.milliseconds ?? 0
      guard let transition = UInt32(exactly: transition), transition <= 60_000_000 else {
        throw HomeError(.badArguments, "--over: a recall takes at most 60000 s")
      }
      let name = name
      try await home.withScenes(targets) { session, targets in
        let number = try await session.sceneNumber(for: name, on: targets)
        return { target in
          try await session.storeScene(name, number: number, of: target, transition: transition)
        }
      }
    }
  }

  struct Recall: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Bring devices into the state of a scene.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The scene's name or number.") var name: String
    @Argument(help: "The devices. Default: all that have the scene.", completion: .device) var targets: [String] = []

    func run() async throws {
      let name = name
      try await home.withScenes(targets, skipsMissing: targets.isEmpty) { session, _ in
        { target in try await session.recallScene(name, of: target) }
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the scenes of devices.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The devices.", completion: .device) var targets: [String] = []

    func run() async throws {
      try await home.withHome { session in
        let targets = try home.sceneTargets(targets, await session.registry)
        var table = Table("DEVICE", "NUMBER", "SCENE", "TRANSITION")
        var rows: [JSON] = []
        for target in targets {
          for scene in try await session.scenes(of: target) {
            table.add(
              "\(target.device.fullName)/\(scene.endpoint)", "\(scene.number)", scene.name.isEmpty ? "–" : scene.name,
              TimeSpan.text(.milliseconds(Int64(scene.transitionTime))))
            rows.append(scene.json(target.device))
          }
        }
        home.output.result(.array(rows), rows.isEmpty ? "" : table.text)
        if rows.isEmpty { home.output.progress("no scenes; store one with `hearth scene store NAME`") }
      }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Remove a scene from devices.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The scene's name or number.") var name: String
    @Argument(help: "The devices. Default: all that have the scene.", completion: .device) var targets: [String] = []

    func run() async throws {
      let name = name
      try await home.withScenes(targets, skipsMissing: targets.isEmpty) { session, _ in
        { target in try await session.removeScene(name, of: target) }
      }
    }
  }
}

extension HomeOptions {
  typealias SceneWork = @Sendable (Target) async throws -> [StoredScene]

  /// The devices that texts name; all that can have scenes if there are none.
  fileprivate func sceneTargets(_ texts: [String], _ registry: HomeRegistry) throws -> [Target] {
    var targets = try registry.resolve(all: texts, serving: ScenesManagement.id)
    if texts.isEmpty {
      targets = registry.devices.filter { $0.endpoint(serving: ScenesManagement.id) != nil }.map { Target($0) }
      guard !targets.isEmpty else { throw HomeError(.notFound, "no device of the home can have scenes") }
    }
    try check(targets.map(\.device))
    return targets
  }

  /// Does something with scenes of devices at the same time, and prints the results.
  /// - Parameter skipsMissing: whether devices without the scene are left out, as long as one has it.
  fileprivate func withScenes(
    _ texts: [String], skipsMissing: Bool = false, _ prepare: (Home, [Target]) async throws -> SceneWork
  ) async throws {
    let results = try await withHome { session in
      let targets = try sceneTargets(texts, await session.registry)
      let work = try await prepare(session, targets)
      return await withTaskGroup(of: (Int, TargetResult).self) { group in
        for (index, target) in targets.enumerated() {
          group.addTask {
            let result: Result<(json: JSON, text: String), HomeError>
            do {
              let scenes = try await work(target)
              let names = Set(scenes.map { $0.name.isEmpty ? "scene \($0.number)" : $0.name }).sorted()
              let json = scenes.first?.json(target.device) ?? target.device.jsonNames
              result = .success((json, "\(target.device.label): \(names.joined(separator: ", "))"))
            } catch {
              result = .failure(HomeError(error).about(target.device))
            }
            return (index, TargetResult(device: target.device, result: result))
          }
        }
        var all: [(Int, TargetResult)] = []
        for await one in group { all.append(one) }
        return all.sorted { $0.0 < $1.0 }.map(\.1)
      }
    }
    let found = results.filter { if case .failure(let error) = $0.result { error.code != .notFound } else { true } }
    try report(skipsMissing && !found.isEmpty ? found : results)
  }
}

extension StoredScene {
  fileprivate func json(_ device: DeviceRecord) -> JSON {
    device.jsonNames.adding("endpoint", .integer(endpoint.rawValue)).adding("scene", .integer(number))
      .adding("sceneName", .optional(name.isEmpty ? nil : name))
      .adding("transitionMilliseconds", .integer(transitionTime))
  }
}
