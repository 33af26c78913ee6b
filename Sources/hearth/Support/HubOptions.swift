import ArgumentParser
import Foundation
import Glibc
import Home
import Hub
import MatterCrypto
import MatterProtocol

/// Where to look at the home from.
protocol HubArguments: ParsableArguments, Sendable {
  /// Empty: from here.
  var hubs: [String] { get }
  /// Nil: the home is here.
  func client(_ global: GlobalOptions) throws -> HubClient.Options?
}

/// From here only.
struct NoHubOptions: HubArguments {
  var hubs: [String] { [] }
  func client(_ global: GlobalOptions) -> HubClient.Options? { nil }
}

/// Where to look at the home from: from here, or through a hub.
struct HubOptions: HubArguments {
  @Option(
    name: .customLong("hub"),
    help: ArgumentHelp(
      "Go through the hub at this socket or HOST:PORT; again for other ways to the same home, the nearest first.",
      discussion: "“here” is the hub of this state directory.", valueName: "socket|host:port"))
  var hubs: [String] = []

  @Option(help: ArgumentHelp("The invitation to the hub. Default: HEARTH_TOKEN.", valueName: "token"))
  var token: String?

  func client(_ global: GlobalOptions) throws -> HubClient.Options? {
    guard !hubs.isEmpty else {
      guard token == nil else { throw HomeError(.badArguments, "--token is for a hub; say which with --hub") }
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

  /// A text with a slash is a socket.
  static func route(_ text: String, _ state: StateDirectory) throws(HomeError) -> HubRoute {
    if text == "here" { return .local(.socket(state.hubSocket)) }
    if text.contains("/") { return .local(.socket(URL(filePath: text).standardizedFileURL.path)) }
    let address = try HostAndPort.split(text)
    let target = HubAddress.host(address.host, port: Int(address.port))
    // What is no public address is on our own network.
    return try HostAndPort.resolve(text).ip.isPrivate ? .local(target) : .remote(target)
  }
}

extension IPAddress {
  /// Whether it is of this machine or of a network that the internet does not reach. RFC 1918, 4193, 6890.
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

/// Who knows the names of the home, and changes them: its database, or a hub.
struct Names {
  let global: GlobalOptions
  let hub: any HubArguments

  /// The home without the values of its devices.
  func state() async throws -> HomeState {
    guard let options = try hub.client(global) else { return try StoredNames(try global.stateDirectory).state() }
    return try await global.output.tellingWaits { try await Home(through: options).beforeClosing { await $0.state } }
  }

  /// The ids that devices will have that were paired and have not told yet what they are; a hub tells of none.
  func awaited() throws -> [String] { hub.hubs.isEmpty ? try StoredNames(try global.stateDirectory).awaited() : [] }

  /// - Parameters:
  ///   - edits: gets the home, says what is to be done and what it has to say itself.
  ///   - body: gets that, and what came of each edit.
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
    return try await global.output.tellingWaits {
      try await Home(through: options).beforeClosing { home in
        let (wanted, own) = try edits(await home.state)
        let results = try await home.perform(wanted)
        return (own, results)
      }
    }
  }
}
