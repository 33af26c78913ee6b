import ArgumentParser
import Foundation
import Home
import Logging
import MatterProtocol
import Runtime

/// What every command takes.
struct GlobalOptions: ParsableArguments {
  @Flag(name: .customLong("json"), help: "Print JSON: one object, or one a line for streams.")
  var json = false

  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "Where all that lasts is kept. Default: $HEARTH_STATE, else the user's directory for that.", valueName: "dir"),
    completion: .directory)
  var state: String?

  @Flag(name: .shortAndLong, help: "Say more on standard error; twice for still more.")
  var verbose: Int

  @Flag(name: .shortAndLong, help: "Say nothing on standard error but errors.")
  var quiet = false

  var output: Output { Output(json: json, isQuiet: quiet, verbosity: verbose) }

  /// The directory that was said, else the standard one. Logs warnings about its permissions.
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
      guard !state.isEmpty else { throw HomeError(.badArguments, "--state needs the name of a directory") }
      let path = URL(filePath: state).standardizedFileURL.path
      var isDirectory: ObjCBool = true
      guard !FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) || isDirectory.boolValue else {
        throw HomeError(.badArguments, "--state names a directory, and \(path) is a file")
      }
      return StateDirectory(path)
    }
  }

  /// A logger that writes to standard error.
  var logger: Logger {
    var logger = Logger(label: "hearth") { ShownLog(StreamLogHandler.standardError(label: $0)) }
    logger.logLevel = quiet ? .error : verbose >= 3 ? .trace : verbose == 2 ? .debug : verbose == 1 ? .info : .warning
    return logger
  }
}

/// What commands that talk to the network take.
struct NetworkOptions: ParsableArguments {
  @Option(help: ArgumentHelp("How long to wait for each device.", valueName: "time"))
  var timeout: TimeSpan?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "Which interfaces to use: names, or 'all' for the local network.",
      discussion: """
        Default: HEARTH_INTERFACE, names with blanks or commas between them; else those of the home's first `hearth pair` with \
        this option; else loopback only.
        """, valueName: "name"))
  var interface: [String] = []

  @Option(help: ArgumentHelp("Where the device is, without discovery: HOST:PORT, [IPv6]:PORT.", valueName: "host:port"))
  var at: String?

  @Option(
    help: ArgumentHelp(
      "Who looks for devices: auto (Avahi where its daemon answers, else hearth itself), avahi, builtin, or off.",
      discussion:
        "On the loopback interface it is always hearth itself: Avahi does not work there. With off, say where "
        + "devices are with --at or --address-book; a device is also tried where it was last."))
  var mdns: DiscoveryMode = .auto

  @Option(
    help: ArgumentHelp(
      "A file that says where devices are: a line for each, as “kitchen/ceiling: 192.168.1.20:5540”.",
      discussion: "A device is a name, a node id, or “discriminator 3840” for one to be paired; # begins a comment.",
      valueName: "file"),
    completion: .file())
  var addressBook: String?

  /// The interfaces that were named, here or in the environment; empty: none were.
  var named: [String] {
    interface.isEmpty ? Self.names(ProcessInfo.processInfo.environment["HEARTH_INTERFACE"] ?? "") : interface
  }

  static func names(_ text: String) -> [String] { text.split { $0.isWhitespace || $0 == "," }.map(String.init) }

  /// The interfaces that were named, else those that the home remembers.
  func interfaces(_ state: StateDirectory) throws(HomeError) -> InterfaceSelection {
    guard named.isEmpty else { return InterfaceSelection(names: named) }
    let stored = try StoredNames(state).interfaces()
    do throws(HomeError) { return InterfaceSelection(names: try Self.existing(stored)) } catch {
      var error = error
      error.message = "the home's interfaces: \(error.message); `hearth home interface NAME` sets others"
      throw error
    }
  }

  /// The names, if the host has interfaces of all of them.
  static func existing(_ names: [String]) throws(HomeError) -> [String] {
    guard !names.isEmpty, !names.contains("all") else { return names }
    do throws(NetworkError) { _ = try NetworkInterfaces.select(.named(names)) } catch {
      throw HomeError(.badArguments, "\(error)", cause: error)
    }
    return names
  }

  /// The address given with --at.
  var address: MatterProtocol.SocketAddress? {
    get throws { try at.map { try HostAndPort.resolve($0) } }
  }

  /// What stands in the file given with --address-book.
  func book() throws(HomeError) -> AddressBook { try AddressBook(file: addressBook) }
}

extension AddressBook {
  /// Reads the file of a command line; none says nothing.
  init(file: String?) throws(HomeError) {
    self.init()
    guard let file else { return }
    guard let data = FileManager.default.contents(atPath: file) else {
      throw HomeError(.notFound, "there is no file \(file) that can be read")
    }
    self = try AddressBook(parsing: String(decoding: data, as: UTF8.self), name: file) {
      (text: String) throws(HomeError) in try HostAndPort.resolve(text)
    }
  }
}
