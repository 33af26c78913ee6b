import ArgumentParser
import Foundation
import HearthHome
import Logging
import MakersClusters
import MatterClusters
import MatterProtocol
import Runtime
import Synchronization

/// Options of all commands.
struct GlobalOptions: ParsableArguments {
  @Flag(name: .customLong("json"), help: "Print JSON: one object, or one per line for streams.")
  var json = false

  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "The state directory. Default: $HEARTH_STATE, otherwise hearth in the user's state directory.", valueName: "dir"),
    completion: .directory)
  var state: String?

  @Flag(name: .shortAndLong, help: "Print more on standard error; repeat for more details.")
  var verbose: Int

  @Flag(name: .shortAndLong, help: "Print only errors on standard error.")
  var quiet = false

  @Option(
    name: .customLong("clusters"),
    help: ArgumentHelp(
      "A declaration or a definition file with clusters of manufacturers, in addition to those of the home; repeatable.",
      discussion: "`hearth home clusters add` stores them in the home.", valueName: "file"),
    completion: .file(extensions: ["cluster", "yaml", "yml"]))
  var clusters: [String] = []

  /// The options of the parsed command.
  static let parsed = Mutex<GlobalOptions?>(nil)

  func validate() { Self.parsed.withLock { $0 = self } }

  /// Adds the clusters of the home and those of --clusters to the catalogue.
  func loadClusters() throws {
    _ = try? namedDirectory.loadClusters(logger)
    for cluster in try clusters.flatMap(NamedFile.clusters) { ClusterCatalogue.add(cluster) }
  }

  var output: Output { Output(json: json, isQuiet: quiet, verbosity: verbose) }

  /// The directory of --state, or the default directory. Logs warnings about its permissions.
  var stateDirectory: StateDirectory {
    get throws {
      let directory = try namedDirectory
      // An insecure directory is an error only of the commands that open the home.
      try? directory.check(logger)
      return directory
    }
  }

  private var namedDirectory: StateDirectory {
    get throws {
      guard let state else {
        return try StateDirectory.standard(environment: ProcessInfo.processInfo.environment)
      }
      guard !state.isEmpty else { throw HomeError(.badArguments, "--state: expected the name of a directory") }
      let path = URL(filePath: state).standardizedFileURL.path
      if let file = Self.file(in: path) {
        throw HomeError(.badArguments, "--state: \(file) is a file; expected a directory")
      }
      return StateDirectory(path)
    }
  }

  /// Returns the path, or its nearest existing parent, if that is not a directory.
  private static func file(in path: String) -> String? {
    var (path, isDirectory) = (path, ObjCBool(false))
    while !FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
      let parent = (path as NSString).deletingLastPathComponent
      guard parent != path else { return nil }
      path = parent
    }
    return isDirectory.boolValue ? nil : path
  }

  /// A logger that writes to standard error.
  var logger: Logger {
    var logger = Logger(label: "hearth") { ShownLog(StreamLogHandler.standardError(label: $0)) }
    logger.logLevel = quiet ? .error : verbose >= 3 ? .trace : verbose == 2 ? .debug : verbose == 1 ? .info : .warning
    return logger
  }
}

/// Options of commands that use the network.
struct NetworkOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The time to wait for each device.", valueName: "time"))
  var timeout: TimeSpan?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "The network interfaces to use: names, or 'all' for the local network.",
      discussion: """
        Default: HEARTH_INTERFACE (names separated by blanks or commas), otherwise the interfaces of the home \
        (`hearth home interface`), otherwise loopback only.
        """, valueName: "name"))
  var interface: [String] = []

  @Option(
    help: ArgumentHelp(
      "The address of the device, without discovery: HOST:PORT or [IPv6]:PORT.", valueName: "host:port"))
  var at: String?

  @Option(
    help: ArgumentHelp(
      "The DNS-SD browser: auto (Avahi if its daemon is running, otherwise builtin), avahi, builtin, or off.",
      discussion:
        "The loopback interface always uses builtin, because Avahi does not work there. With off, addresses are those "
        + "of --at and --address-book, and the last known address of each device."))
  var mdns: ServiceDiscovery.Mode = .auto

  @Option(
    help: ArgumentHelp(
      "A file with the addresses of devices, one line each: “kitchen/ceiling: 192.168.1.20:5540”.",
      discussion: "A device is a name, a node id, or “discriminator 3840” for a device to pair; # starts a comment.",
      valueName: "file"),
    completion: .file())
  var addressBook: String?

  /// The interfaces of --interface or of the environment; empty if neither is given.
  var named: [String] { Self.named(interface) }

  /// Returns the interfaces of an option, or those of the environment.
  static func named(_ interface: [String]) -> [String] {
    interface.isEmpty ? names(ProcessInfo.processInfo.environment["HEARTH_INTERFACE"] ?? "") : interface
  }

  static func names(_ text: String) -> [String] { text.split { $0.isWhitespace || $0 == "," }.map(String.init) }

  /// Returns the named interfaces, or those stored in the home if none are named.
  func interfaces(_ state: StateDirectory) throws(HomeError) -> InterfaceSelection {
    guard named.isEmpty else { return InterfaceSelection(names: named) }
    let stored = try StoredNames(state).interfaces()
    do throws(HomeError) { return InterfaceSelection(names: try Self.existing(stored)) } catch {
      var error = error
      error.message = "the home's interfaces: \(error.message); `hearth home interface NAME` sets others"
      throw error
    }
  }

  /// Returns the names.
  /// - Throws: `badArguments` if the host does not have all of these interfaces.
  static func existing(_ names: [String]) throws(HomeError) -> [String] {
    guard !names.isEmpty, !names.contains("all") else { return names }
    do throws(NetworkError) { _ = try NetworkInterfaces.select(.named(names)) } catch {
      throw HomeError(.badArguments, "\(error)", cause: error)
    }
    return names
  }

  /// The address of --at.
  var address: MatterProtocol.SocketAddress? {
    get throws { try at.map { try HostAndPort.resolve($0) } }
  }

  /// Reads the file of --address-book; without it, returns an empty book.
  func book() throws(HomeError) -> AddressBook { try AddressBook(file: addressBook) }
}
