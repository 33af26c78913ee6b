import ArgumentParser
import Foundation
import Glibc
import HearthHome
import Hub
import MatterCrypto
import MatterProtocol
import Runtime

/// The options that select a hub, which take the place of the invitation that the state directory has joined.
struct HubOptions: ParsableArguments, Sendable {
  @Option(
    name: .customLong("hub"),
    help: ArgumentHelp(
      "Connect to the hub at this address; repeatable for alternative routes to the same home, nearest first.",
      discussion: """
        A socket, HOST:PORT with --fingerprint, or a wss URL of a reverse proxy; “here” is the hub of this state directory. \
        Not needed after `hearth hub join`.
        """, valueName: "address"))
  var hubs: [String] = []

  @Option(help: ArgumentHelp("The token for the hub. Default: HEARTH_TOKEN.", valueName: "token"))
  var token: String?

  @Option(
    help: ArgumentHelp(
      "The SHA-256 of the certificate of the hub at HOST:PORT, as `hearth hub status` prints it.",
      valueName: "hexadecimal"))
  var fingerprint: String?

  @Option(
    help: ArgumentHelp(
      "The certificate authorities of wss URLs (PEM). Default: those of the system.", valueName: "file"),
    completion: .file())
  var caFile: String?

  /// Whether the home is opened through a hub.
  func isUsed(_ global: GlobalOptions) -> Bool { !hubs.isEmpty || Self.hasJoined(global) }

  private static func hasJoined(_ global: GlobalOptions) -> Bool {
    (try? global.stateDirectory).map { HubInvitation.isStored(in: $0) } ?? false
  }

  /// Returns the options of a hub client, or nil to open the home directly.
  func client(_ global: GlobalOptions) throws -> HubClient.Options? {
    guard !hubs.isEmpty else {
      guard token == nil, fingerprint == nil, caFile == nil else {
        throw HomeError(.badArguments, "--token, --fingerprint and --ca-file require --hub")
      }
      return try Self.joined(global)
    }
    let state = try global.stateDirectory
    var options = try Self.client(try hubs.map { try Self.route($0, state) }, global, token: token)
    options.trust.fingerprint = try fingerprint.map { try CertificateFingerprint($0) }
    options.trust.authorities = caFile
    return options
  }

  /// Returns the options of the invitation that the state directory has joined, or nil.
  static func joined(_ global: GlobalOptions) throws(HomeError) -> HubClient.Options? {
    let state: StateDirectory
    do { state = try global.stateDirectory } catch { throw HomeError(error) }
    return try HubClient.Options(joinedIn: state, logger: global.logger)
  }

  static func client(
    _ routes: [HubRoute], _ global: GlobalOptions, token: String? = nil
  ) throws -> HubClient.Options {
    var options = HubClient.Options(routes: routes, name: "hearth \(getpid())", logger: global.logger)
    options.token = token ?? ProcessInfo.processInfo.environment["HEARTH_TOKEN"]
    return options
  }

  /// Parses a route: `here`, a wss URL, the path of a socket, which contains a slash, or HOST:PORT.
  static func route(_ text: String, _ state: StateDirectory) throws(HomeError) -> HubRoute {
    if text == "here" { return .local(.socket(state.hubSocket)) }
    if text.contains("://") { return HubRoute(try HubAddress(text)) }
    if text.contains("/") { return .local(.socket(URL(filePath: text).standardizedFileURL.path)) }
    let address = try HostAndPort.split(text, standard: nil)
    let target = HubAddress.host(address.host, port: Int(address.port))
    // A name that can't be resolved is an error of its route only.
    guard let found = try? HostAndPort.resolve(text) else { return HubRoute(target) }
    // Private addresses are on the local network.
    return found.ip.isPrivate ? .local(target) : .remote(target)
  }
}

/// Access to the names of the home, in its database or through a hub.
struct Names {
  let global: GlobalOptions
  let hub: HubOptions

  /// The home without the values of its devices.
  func state() async throws -> HomeState {
    guard let options = try hub.client(global) else { return try StoredNames(try global.stateDirectory).state() }
    return try await global.output.reportingWaits { try await Home(through: options).beforeClosing { await $0.state } }
  }

  /// Applies edits to the names.
  /// - Parameter edits: returns the edits for the current home, and a value for the caller.
  /// - Returns: the value for the caller, and the result of each edit.
  func edit<R: Sendable>(
    _ edits: @Sendable (HomeState) throws(HomeError) -> ([HomeEdit], R)
  ) async throws -> (R, [HomeEdit.Result]) {
    try await global.withHome(through: try hub.client(global)) { home in
      let (wanted, own) = try edits(await home.state)
      let results = try await home.perform(wanted)
      return (own, results)
    }
  }
}

extension GlobalOptions {
  /// Opens the home for a body that communicates with no device, and closes it afterward.
  /// - Parameter client: the options of a hub client; nil: the hub that the state directory has joined, if any.
  func withHome<R>(through client: HubClient.Options? = nil, _ body: (Home) async throws -> R) async throws -> R {
    try await output.reportingWaits {
      if let client = try client ?? HubOptions.joined(self) {
        return try await Home(through: client).beforeClosing(body)
      }
      var options = HomeController.Options(state: try stateDirectory, logger: logger)
      options.discovery = .off
      return try await Home(options).beforeClosing(body)
    }
  }
}
