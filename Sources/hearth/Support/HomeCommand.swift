import ArgumentParser
import HearthHome
import HomeText
import Hub
import MatterModel
import Runtime

/// Options to open a home in this process.
protocol HomeOpening {
  var global: GlobalOptions { get }
  var network: NetworkOptions { get }
}

extension HomeOpening {
  var output: Output { global.output }

  /// Returns the options to open the home.
  /// - Parameter timeout: the timeout of each request if --timeout is not given.
  func options(timeout: Duration = .seconds(10)) throws -> HomeController.Options {
    var options = HomeController.Options(state: try global.stateDirectory, logger: global.logger)
    options.interfaces = try network.interfaces(options.state)
    options.address = try network.address
    options.discovery = network.mdns
    if network.addressBook != nil {
      options.addresses = try network.book().addresses(in: try StoredNames(options.state).registry())
    }
    options.timeout = network.timeout?.duration ?? timeout
    options.simulation = LocalSimulation(directory: options.state.run)
    return options
  }
}

/// Options of the commands that own the home while they run.
struct OwnerOptions: ParsableArguments, HomeOpening, Sendable {
  @OptionGroup var global: GlobalOptions
  @OptionGroup var network: NetworkOptions

  /// Opens the home as its owner, runs the body, and closes the home. Waits while another process owns it.
  func withHome<R>(_ body: (Home) async throws -> R) async throws -> R {
    guard try HubOptions.joined(global) == nil else {
      throw HomeError(.accessDenied, "not available through a hub; run the command on the hub's machine")
    }
    let options = try options()
    if let status = try? await HubReport.withHub(global, { try await $0.hubStatus }), status.isHub {
      throw HomeError(
        .badArguments,
        "process \(status.process) is the hub of the home in \(options.state.root); see `hearth hub status`")
    }
    return try await output.reportingWaits { try await Home(owning: options).beforeClosing(body) }
  }
}

/// Options of the commands that communicate with devices.
struct HomeOptions: ParsableArguments, HomeOpening, Sendable {
  @OptionGroup var global: GlobalOptions
  @OptionGroup var network: NetworkOptions
  @OptionGroup var hub: HubOptions

  /// Opens the home, runs the body, and closes the home.
  func withHome<R>(
    timeout: Duration = .seconds(10), _ body: (Home) async throws -> R
  ) async throws -> R {
    try await withHome(try options(timeout: timeout), body)
  }

  /// Does the same with the given options. Prints a note for each long wait.
  func withHome<R>(_ options: HomeController.Options, _ body: (Home) async throws -> R) async throws -> R {
    try await output.reportingWaits { try await open(options).beforeClosing(body) }
  }

  /// Does the same for a body that runs until it is interrupted or standard output is closed.
  ///
  /// Both cancel the body. Then the home is closed, which ends its subscriptions and the running deliveries to observers.
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
          await Output.waitForWriteFailure()
          try Task.checkCancellation()
          throw ProcessExit.success.error
        }
        group.addTask { try await body(session) }
        if hub.isUsed(global) {
          group.addTask { throw try await session.refusal() ?? CancellationError() as any Error }
        }
        defer { group.cancelAll() }
        guard let result = try await group.next() ?? nil else { throw CancellationError() }
        return result
      }
    }
  }

  private func open(_ options: HomeController.Options) async throws -> Home {
    guard var client = try hub.client(global) else {
      let home = try await Home(options)
      do { try await checkInterfaces(options, home) } catch {
        await home.close()
        throw error
      }
      return home
    }
    guard network.at == nil, network.addressBook == nil else {
      throw HomeError(.badArguments, "--at and --address-book can't be combined with a hub")
    }
    client.timeout = options.timeout
    if !network.named.isEmpty { client.direct?.controller.interfaces = options.interfaces }
    client.direct?.controller.discovery = options.discovery
    return try await Home(through: client)
  }

  /// Checks that --interface selects the interfaces of the process that owns the home, which it can't change.
  private func checkInterfaces(_ options: HomeController.Options, _ home: Home) async throws {
    guard home.owner == nil, !network.named.isEmpty else { return }
    let status = try await home.hubStatus
    guard Set(status.interfaces) != Set(options.interfaces.names) else { return }
    throw HomeError(
      .badArguments,
      "--interface: process \(status.process) owns the home and uses "
        + (status.interfaces.isEmpty ? "loopback only" : status.interfaces.joined(separator: ", "))
        + "; end it, or use its interfaces")
  }

  /// Reads the names of the home, with its groups, from the hub or the database.
  func registry() async throws -> HomeRegistry {
    if let client = try hub.client(global) {
      return try await output.reportingWaits { try await Home(through: client).beforeClosing { await $0.registry } }
    }
    return try StoredNames(try global.stateDirectory).registry()
  }

  /// Checks that --at is used with one node only.
  func check(_ devices: [DeviceRecord]) throws {
    guard network.at == nil || Set(devices.map(\.nodeID)).count <= 1 else {
      throw HomeError(.badArguments, "--at: expected one device, found \(devices.count)")
    }
  }
}

/// The result of a command for one of several targets.
struct TargetResult: Sendable {
  var device: DeviceRecord
  var result: Result<(json: JSON, text: String), HomeError>
}

extension TargetResult {
  var isSuccess: Bool { if case .success = result { true } else { false } }

  /// Performs the work for a device.
  init(_ device: DeviceRecord, _ work: @Sendable () async throws -> (json: JSON, text: String)) async {
    self.device = device
    do {
      result = .success(try await work())
    } catch {
      result = .failure(HomeError(error).about(device))
    }
  }
}

extension HomeOptions {
  /// Runs the body for all targets concurrently, and prints the results.
  /// - Parameter cluster: the cluster that selects devices of a wildcard, a room or a group.
  /// - Throws: the error of a single target; exit code 10 if some of several targets failed.
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
    try await forEach(items: { try await resolve($0).map { ($0.device, $0) } }, body)
  }

  /// The same with each item that `resolve` returns, and its device.
  func forEach<Item: Sendable>(
    items resolve: (Home) async throws -> [(device: DeviceRecord, item: Item)],
    _ body: @escaping @Sendable (Home, Item) async throws -> (json: JSON, text: String)
  ) async throws {
    let results = try await withHome { session in
      let items = try await resolve(session)
      try check(items.map(\.device))
      return await items.concurrentMap { device, item in
        await TargetResult(device) { try await body(session, item) }
      }
    }
    try report(results)
  }

  /// Prints the results: the object or the error of a single target, or a list for several targets.
  /// - Parameter whole: the error code if any target failed; nil: the common one of all targets, or exit code 10.
  /// - Throws: the error of a single target; exit code 10 if some of several targets failed.
  func report(_ results: [TargetResult], failingWith whole: HomeError.Code? = nil) throws {
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
    guard let code = failures.isEmpty ? nil : whole ?? Self.code(of: failures, among: results.count) else {
      if output.json { output.result(.array(entries), "") }
      return
    }
    if output.json {
      let error = HomeError(code, "\(failures.count) of \(results.count) targets failed")
      let object: JSON = ["ok": false, "error": Output.object(error), "data": .array(entries)]
      output.text(object.description)
    }
    throw ProcessExit(code).error
  }

  /// Returns the common error code of all targets, `partlyFailed` for different outcomes, or nil if no target failed.
  static func code(of failures: [HomeError], among count: Int) -> HomeError.Code? {
    guard let first = failures.first else { return nil }
    return failures.count == count && failures.allSatisfy { $0.code == first.code } ? first.code : .partlyFailed
  }
}

extension DeviceRecord {
  /// The keys that identify a device in all results.
  var jsonNames: JSON {
    ["id": .string(id), "nodeID": .string("\(nodeID.rawValue)"), "name": .string(name), "room": .optional(room)]
  }
}
