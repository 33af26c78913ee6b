import ArgumentParser
import Foundation
import Glibc
import Home
import Hub
import MatterCrypto
import MatterProtocol

/// Options that select a hub.
protocol HubArguments: ParsableArguments, Sendable {
  /// The routes to the hub; empty to open the home directly.
  var hubs: [String] { get }
  /// Returns the options of a hub client, or nil to open the home directly.
  func client(_ global: GlobalOptions) throws -> HubClient.Options?
}

/// No hub: the home is always opened directly.
struct NoHubOptions: HubArguments {
  var hubs: [String] { [] }
  func client(_ global: GlobalOptions) -> HubClient.Options? { nil }
}

/// The options --hub and --token.
struct HubOptions: HubArguments {
  @Option(
    name: .customLong("hub"),
    help: ArgumentHelp(
      "Connect to the hub at this socket or HOST:PORT; repeatable for alternative routes to the same home, nearest first.",
      discussion: "“here” is the hub of this state directory.", valueName: "socket|host:port"))
  var hubs: [String] = []

  @Option(help: ArgumentHelp("The token for the hub. Default: HEARTH_TOKEN.", valueName: "token"))
  var token: String?

  func client(_ global: GlobalOptions) throws -> HubClient.Options? {
    guard !hubs.isEmpty else {
      guard token == nil else { throw HomeError(.badArguments, "--token requires --hub") }
      return nil
    }
    let state = try global.stateDirectory
    return try Self.client(try hubs.map { try Self.route($0, state) }, global, token: token)
  }

  static func client(
    _ routes: [HubRoute], _ global: GlobalOptions, token: String? = nil
  ) throws -> HubClient.Options {
    var options = HubClient.Options(routes: routes, name: "hearth \(getpid())", logger: global.logger)
    options.token = token ?? ProcessInfo.processInfo.environment["HEARTH_TOKEN"]
    return options
  }

  /// Parses a route: `here`, the path of a socket, which contains a slash, or HOST:PORT.
  static func route(_ text: String, _ state: StateDirectory) throws(HomeError) -> HubRoute {
    if text == "here" { return .local(.socket(state.hubSocket)) }
    if text.contains("/") { return .local(.socket(URL(filePath: text).standardizedFileURL.path)) }
    let address = try HostAndPort.split(text)
    let target = HubAddress.host(address.host, port: Int(address.port))
    // Private addresses are on the local network.
    return try HostAndPort.resolve(text).ip.isPrivate ? .local(target) : .remote(target)
  }
}

extension IPAddress {
  /// Whether the address is not reachable from the internet: loopback, link-local or private. RFC 1918, 4193, 6890.
  fileprivate var isPrivate: Bool {
    let text = "\(self)"
    let parts = text.split(separator: ".").compactMap { UInt8($0) }
    if parts.count == 4 {
      return switch (parts[0], parts[1]) {
      case (10, _), (127, _), (192, 168), (169, 254): true
      case (172, let second): (16...31).contains(second)
      default: false
      }
    }
    let lower = text.lowercased()
    return lower.hasPrefix("fc") || lower.hasPrefix("fd") || lower.hasPrefix("fe80:") || text == "::1"
  }
}

/// Access to the names of the home, in its database or through a hub.
struct Names {
  let global: GlobalOptions
  let hub: any HubArguments

  /// The home without the values of its devices.
  func state() async throws -> HomeState {
    guard let options = try hub.client(global) else { return try StoredNames(try global.stateDirectory).state() }
    return try await global.output.reportingWaits { try await Home(through: options).beforeClosing { await $0.state } }
  }

  /// Returns the future ids of paired devices whose descriptions have not been read yet; empty with a hub.
  func awaited() throws -> [String] { hub.hubs.isEmpty ? try StoredNames(try global.stateDirectory).awaited() : [] }

  /// Applies edits to the names.
  /// - Parameter edits: returns the edits for the current home, and a value for the caller.
  /// - Returns: the value for the caller, and the result of each edit.
  func edit<R: Sendable>(
    _ edits: @Sendable (HomeState) throws(HomeError) -> ([HomeEdit], R)
  ) async throws -> (R, [HomeEdit.Result]) {
    guard let options = try hub.client(global) else {
      return try StoredNames(try global.stateDirectory).change { state throws(HomeError) in
        let (wanted, own) = try edits(state)
        let (changes, results) = try state.changes(doing: wanted, SystemRandomSource())
        return (changes, (own, results))
      }
    }
    return try await global.output.reportingWaits {
      try await Home(through: options).beforeClosing { home in
        let (wanted, own) = try edits(await home.state)
        let results = try await home.perform(wanted)
        return (own, results)
      }
    }
  }
}
