import ArgumentParser
import Home
import Hub
import MatterModel

/// Options of the commands that also go through a hub.
typealias HomeOptions = HomeArguments<HubOptions>
/// Options of the commands that need the controller's keys.
typealias LocalHomeOptions = HomeArguments<NoHubOptions>

/// What the commands that talk to devices share.
struct HomeArguments<Hub: HubArguments>: ParsableArguments, Sendable {
  @OptionGroup var global: GlobalOptions
  @OptionGroup var network: NetworkOptions
  @OptionGroup var hub: Hub

  var output: Output { global.output }

  /// How to open the home.
  /// - Parameter timeout: for each request where --timeout does not say.
  func options(timeout: Duration = .seconds(10)) throws -> HomeController.Options {
    var options = HomeController.Options(state: try global.stateDirectory, logger: global.logger)
    options.interfaces = try network.interfaces(options.state)
    options.address = try network.address
    options.discovery = network.mdns.mode
    if network.addressBook != nil {
      options.addresses = try network.book().addresses(in: try StoredNames(options.state).registry())
    }
    options.timeout = network.timeout?.duration ?? timeout
    return options
  }

  /// Opens the home for a command that stores nothing in the controller's state, and closes it behind it.
  func withHome<R>(
    timeout: Duration = .seconds(10), _ body: (Home) async throws -> R
  ) async throws -> R {
    try await withHome(try options(timeout: timeout), body)
  }

  /// The same with options of the caller's. What it waits for is said where that takes long.
  func withHome<R>(_ options: HomeController.Options, _ body: (Home) async throws -> R) async throws -> R {
    try await output.tellingWaits { try await open(options).beforeClosing(body) }
  }

  /// The same for what goes on until it is interrupted, or nobody reads what it says: that ends the body as a cancelled task, and the
  /// home is closed in order. Its devices are told that nobody listens any more, and what it has begun to wake is ended.
  func withHomeUntilInterrupted<R: Sendable>(
    _ options: HomeController.Options, _ body: @escaping @Sendable (Home) async throws -> R
  ) async throws -> R {
    try await open(options).beforeClosing { session in
      try await withThrowingTaskGroup(of: R?.self) { group in
        group.addTask {
          _ = await StopSignals().wait()
          return nil
        }
        group.addTask {
          await Output.waitForLoss()
          try Task.checkCancellation()
          throw ProcessExit.success.error
        }
        group.addTask { try await body(session) }
        if !hub.hubs.isEmpty {
          group.addTask { throw try await session.refusal() ?? CancellationError() as any Error }
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() ?? nil else { throw CancellationError() }
        return result
      }
    }
  }

  private func open(_ options: HomeController.Options) async throws -> Home {
    guard var client = try hub.client(global) else { return try await Home(options) }
    guard network.at == nil, network.addressBook == nil else {
      throw HomeError(.badArguments, "--at and --address-book are for who goes to the devices; a hub knows its own way")
    }
    client.timeout = options.timeout
    return try await Home(through: client)
  }

  /// The home's names.
  func registry() async throws -> HomeRegistry {
    guard try hub.client(global) == nil else { return HomeRegistry(try await Names(global: global, hub: hub).state()) }
    return try StoredNames(try global.stateDirectory).registry()
  }

  /// Devices that --at can be meant for.
  func check(_ devices: [DeviceRecord]) throws {
    guard network.at == nil || Set(devices.map(\.nodeID)).count <= 1 else {
      throw HomeError(.badArguments, "--at says where one device is, but \(devices.count) are meant")
    }
  }
}

/// What came of a command for one of several targets.
struct TargetResult: Sendable {
  var device: DeviceRecord
  var result: Result<(json: JSON, text: String), HomeError>
}

extension HomeArguments {
  /// Does something with each target at the same time, and tells what came of it.
  /// - Throws: the error if there was one target; exit code 10 if some of several failed.
  /// - Parameter cluster: what a device must serve to be a target of a wildcard, a room or a group.
  func forEach(
    _ texts: [String], serving cluster: ClusterID,
    _ body: @escaping @Sendable (Home, Target) async throws -> (json: JSON, text: String)
  ) async throws {
    try await forEach({ try await $0.registry.resolve(all: texts, serving: cluster) }, body)
  }

  /// The same with each target that `resolve` returns.
  func forEach(
    _ resolve: (Home) async throws -> [Target],
    _ body: @escaping @Sendable (Home, Target) async throws -> (json: JSON, text: String)
  ) async throws {
    let results = try await withHome { session in
      let targets = try await resolve(session)
      try check(targets.map(\.device))
      return await withTaskGroup(of: (Int, TargetResult).self) { group in
        for (index, target) in targets.enumerated() {
          group.addTask {
            // See Reading.swift: the result is complete before the tuple is.
            let result: Result<(json: JSON, text: String), HomeError>
            do {
              result = .success(try await body(session, target))
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
    try report(results)
  }

  /// Prints the results. One target: its object or its error. Several: all of them, and 10 if some failed.
  func report(_ results: [TargetResult]) throws {
    if results.count == 1, let only = results.first {
      let success = try only.result.get()
      output.result(success.json, success.text)
      return
    }
    var entries: [JSON] = []
    var failures: [HomeError] = []
    for result in results {
      switch result.result {
      case .success(let success):
        entries.append(success.json.adding("ok", true))
        if !output.json { output.text(success.text) }
      case .failure(let error):
        failures.append(error)
        entries.append([
          "id": .string(result.device.id), "name": .string(result.device.name), "ok": false,
          "error": Output.object(error),
        ])
        if !output.json { output.failure(error) }
      }
    }
    guard let code = Self.code(of: failures, among: results.count) else {
      if output.json { output.result(.array(entries), "") }
      return
    }
    if output.json {
      let error = HomeError(code, "\(failures.count) of \(results.count) targets failed")
      let object: JSON = ["ok": false, "error": Output.object(error), "data": .array(entries)]
      output.text(object.text)
    }
    throw ProcessExit(code).error
  }

  /// What there is to say of all together: where all failed in the same way, that. Nil where none did.
  static func code(of failures: [HomeError], among count: Int) -> HomeError.Code? {
    guard let first = failures.first else { return nil }
    return failures.count == count && failures.allSatisfy { $0.code == first.code } ? first.code : .partlyFailed
  }
}

extension DeviceRecord {
  /// The keys that name a device in every answer.
  var jsonNames: JSON {
    ["id": .string(id), "nodeID": .string("\(nodeID.rawValue)"), "name": .string(name), "room": .optional(room)]
  }
}
