import ArgumentParser
import HearthHome
import HomeText
import MatterClusters
import MatterModel
import MatterProtocol

/// `hearth scene`.
struct Scene: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scene", abstract: "Store and recall scenes.",
    discussion: """
      A scene is the state of one or more devices under a name of at most 16 bytes. The devices store it themselves, so a \
      recall is one short command for each device. For example:
        hearth scene store Evening den/lamp den/strip
        hearth scene recall evening
      Without devices, the commands apply to all devices that support scenes.
      """,
    subcommands: [Store.self, Recall.self, List.self, Remove.self])

  struct Store: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "store", abstract: "Store the current state of devices as a scene.")
    @OptionGroup var home: HomeOptions
    @Option(help: ArgumentHelp("The transition time of a recall, such as 2s.", valueName: "time")) var over: TimeSpan?
    @Argument(help: "The name of the scene.") var name: String
    @Argument(help: "The devices.", completion: .device) var targets: [String] = []

    func run() async throws {
      let transition = over?.duration.milliseconds ?? 0
      guard let transition = UInt32(exactly: transition), transition <= 60_000_000 else {
        throw HomeError(.badArguments, "--over: expected at most 60000 s")
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
    static let configuration = CommandConfiguration(commandName: "recall", abstract: "Recall a scene.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The name or number of the scene.") var name: String
    @Argument(help: "The devices. Default: all that have the scene.", completion: .device) var targets: [String] = []

    func run() async throws {
      let name = name
      try await home.withScenes(targets, skipsMissing: targets.isEmpty) { session, _ in
        { target in try await session.recallScene(name, of: target) }
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the scenes of devices.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The devices.", completion: .device) var targets: [String] = []

    func run() async throws {
      let results = try await home.withHome { session in
        try await home.sceneTargets(targets, session.registry).concurrentMap { target in
          let scenes: Result<[StoredScene], HomeError> = await Result { () async throws(HomeError) in
            try await session.scenes(of: target)
          }
          return (device: target.device, scenes: scenes)
        }
      }
      var table = Table("DEVICE", "NUMBER", "SCENE", "TRANSITION")
      var rows: [JSON] = []
      var failures: [HomeError] = []
      for (device, scenes) in results {
        do throws(HomeError) {
          for scene in try scenes.get() {
            table.add(
              "\(device.fullName)/\(scene.endpoint)", "\(scene.number)", scene.name.isEmpty ? "–" : scene.name,
              TimeSpan.text(.milliseconds(Int64(scene.transitionTime))))
            rows.append(scene.json(device))
          }
        } catch {
          failures.append(error.about(device))
        }
      }
      if results.count == 1, let failure = failures.first { throw failure }
      guard let code = HomeOptions.code(of: failures, among: results.count) else {
        home.output.result(.array(rows), rows.isEmpty ? "" : table.text)
        if rows.isEmpty { home.output.progress("no scenes; store one with `hearth scene store NAME`") }
        return
      }
      if home.output.json {
        let error = HomeError(code, "\(failures.count) of \(results.count) targets failed")
        home.output.partialResult(rows, error, failures)
      } else {
        if !rows.isEmpty { home.output.text(table.text) }
        for failure in failures { home.output.failure(failure) }
      }
      throw ProcessExit(code).error
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a scene from devices.")
    @OptionGroup var home: HomeOptions
    @Argument(help: "The name or number of the scene.") var name: String
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

  /// Resolves the devices; without texts, returns all devices that support scenes.
  fileprivate func sceneTargets(_ texts: [String], _ registry: HomeRegistry) throws -> [Target] {
    var targets = try registry.resolve(all: texts, serving: ScenesManagement.id)
    if texts.isEmpty {
      targets = registry.devices.filter { $0.endpoint(serving: ScenesManagement.id) != nil }.map { Target($0) }
      guard !targets.isEmpty else { throw HomeError(.notFound, "no device supports scenes") }
    }
    try check(targets.map(\.device))
    return targets
  }

  /// Runs an operation on the scenes of all devices concurrently, and prints the results.
  /// - Parameter skipsMissing: whether devices without the scene are omitted if at least one device has it.
  fileprivate func withScenes(
    _ texts: [String], skipsMissing: Bool = false, _ prepare: (Home, [Target]) async throws -> SceneWork
  ) async throws {
    let results = try await withHome { session in
      let targets = try sceneTargets(texts, await session.registry)
      let work = try await prepare(session, targets)
      return await targets.concurrentMap { target in
        await TargetResult(target.device) {
          let scenes = try await work(target)
          let names = Set(scenes.map { $0.name.isEmpty ? "scene \($0.number)" : $0.name }).sorted()
          let json = scenes.first?.json(target.device) ?? target.device.jsonNames
          return (json, "\(target.device.label): \(names.joined(separator: ", "))")
        }
      }
    }
    let found = results.filter { if case .failure(let error) = $0.result { error.code != .notFound } else { true } }
    try report(skipsMissing && !found.isEmpty ? found : results)
  }
}

extension StoredScene {
  fileprivate func json(_ device: DeviceRecord) -> JSON {
    device.jsonNames.adding("endpoint", .int(endpoint.rawValue)).adding("scene", .int(number))
      .adding("sceneName", .optional(name.isEmpty ? nil : name))
      .adding("transitionMilliseconds", .int(transitionTime))
  }
}
