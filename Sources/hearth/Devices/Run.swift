import ArgumentParser
import Dispatch
import Foundation
import Glibc
import HearthHome
import NIOCore
import NIOPosix
import OpenMetrics
import Runtime
import VirtualDevices

/// `hearth run`.
struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run virtual devices until interrupted.",
    discussion: "The state of the devices (fabrics, settings) is kept between runs unless --fresh is given.")

  @OptionGroup var options: GlobalOptions
  @Argument(
    help: ArgumentHelp("The definition files, such as devices/demo.yaml.", valueName: "file"),
    completion: .file(extensions: ["yaml", "yml"]))
  var files: [String]

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "The network interfaces to use: names, or 'all' for the local network. Default: loopback only.",
      valueName: "name"))
  var interface: [String] = []

  @Option(
    help: ArgumentHelp(
      "The DNS-SD responder: auto (Avahi if its daemon is running, otherwise builtin), avahi, builtin, or off.",
      discussion: "The loopback interface always uses builtin, because Avahi does not work there."))
  var mdns: ServiceDiscovery.Mode = .auto
  @Option(
    help: ArgumentHelp(
      "A file with the addresses of nodes that switches are bound to, one line each: “2: 192.168.1.20:5540”.",
      discussion: "The controller's address book can be used; lines that do not begin with a node id are ignored.",
      valueName: "file"),
    completion: .file())
  var addressBook: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("A seed for the same keys and certificates in each fresh run.", valueName: "n"),
    transform: SeedArguments.seed)
  var seed: UInt64?
  @Option(help: ArgumentHelp("The first UDP port for devices without one of their own.", valueName: "n"))
  var portBase: UInt16?
  @Option(
    help: ArgumentHelp(
      "A named pipe for the commands of the Matter SDK's test scripts, one JSON object in each line.",
      discussion: "It is created if it does not exist. A line that can't be performed is logged as an error.",
      valueName: "path"),
    completion: .file())
  var appPipe: String?
  @OptionGroup var metrics: MetricsOptions
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Run only this part of the devices, such as 1/4 for the first of four; the same devices on each host.",
      valueName: "i/n"),
    transform: SeedArguments.shard)
  var shard = Shard.whole
  @Flag(help: "Discard the stored state of the devices.") var fresh = false
  @Flag(inversion: .prefixedNo, help: "Resume subscriptions after a restart.") var resume = true
  @Flag(help: "Check the definition files and the options without starting devices.") var check = false
  @Option(help: ArgumentHelp("A file to write when all devices are up.", valueName: "file"), completion: .file())
  var readyFile: String?

  func run() async throws {
    try metrics.check()
    for file in [readyFile, appPipe].compactMap(\.self) { try NamedFile.checkWritable(file) }
    let (whole, home) = try definition()
    try checkPorts(whole)
    let state = try options.stateDirectory
    let registry = FleetRegistry.standard(environment: ProcessInfo.processInfo.environment)
    let clashes = DeviceClash.find(home, FleetRegistry.running(in: registry, and: state.run))
    for clash in clashes { options.output.progress("hearth: \(clash.warning)") }
    var fleetOptions = FleetOptions(devicesDirectory: state.devices, runDirectory: state.run)
    fleetOptions.interfaces = InterfaceSelection(names: interface)
    fleetOptions.discovery = mdns
    fleetOptions.seed = seed
    fleetOptions.portBase = portBase
    fleetOptions.shard = shard
    fleetOptions.isFresh = fresh
    fleetOptions.resumesSubscriptions = resume
    fleetOptions.appPipe = appPipe
    // Without the controller's registry, lines with names are ignored.
    fleetOptions.peers = try AddressBook(file: addressBook).addresses(in: HomeRegistry())
    if check {
      try checkNetwork()
      func count(bridges: Bool) -> Int {
        home.devices.reduce(0) { $0 + (($1.kind == .bridge) == bridges ? $1.bridged.count : 0) }
      }
      let (bridged, parts) = (count(bridges: true), count(bridges: false))
      return options.output.result(
        [
          "home": .string(home.name), "devices": .int(home.devices.count), "bridged": .int(bridged),
          "parts": .int(parts),
          "rooms": .texts(home.rooms), "clashes": .array(clashes.map(\.json)),
        ],
        "\(home.name): valid, \(Self.number(home.devices.count, "device"))"
          + (parts > 0 ? " with \(parts) parts" : "") + (bridged > 0 ? " and \(bridged) behind bridges" : ""))
    }
    // The definitions are not kept while the devices run.
    let name = home.name
    let stop = StopSignals()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
    defer { group.shutdownGracefully { _ in } }
    let fleet: Fleet
    do {
      fleet = try await Fleet.start(whole, fleetOptions, on: group, logger: options.logger)
    } catch {
      throw HomeError(starting: error)
    }
    if let registry { FleetRegistry.add(run: state.run, to: registry) }
    defer { if let registry { FleetRegistry.remove(from: registry) } }
    let result = await Result {
      try await metrics.serving(options.output, { (try? await fleet.metrics().families) ?? [] }) {
        let status = try await fleet.status()
        if options.json {
          options.output.result(VirtualDeviceReport.json(status.devices), "")
        } else {
          options.output.text(VirtualDeviceReport.table(status.devices))
          options.output.progress("\(name): \(Self.count(status.devices.count)) up; Ctrl-C stops them")
        }
        try NamedFile.writeReady(readyFile)
        return await stop.wait()
      }
    }
    await fleet.stop()
    // SIGTERM from a service manager is success; SIGINT has its own exit code.
    if try result.get() == SIGINT { throw ProcessExit.interrupted.error }
  }

  /// Checks that a port is left for each device.
  private func checkPorts(_ home: HomeDefinition) throws {
    guard let portBase else { return }
    guard let highest = home.highestPortBase else {
      throw HomeError(.badArguments, "--port-base: there are more devices than ports; omit the option")
    }
    guard portBase <= highest else {
      throw HomeError(
        .badArguments, "--port-base: too few ports are left from \(portBase) on; expected at most \(highest)")
    }
  }

  /// Checks the network options in the same way as a start.
  private func checkNetwork() throws {
    do {
      var discovery = ServiceDiscovery.Options(
        interfaces: try NetworkInterfaces.select(InterfaceSelection(names: interface)))
      discovery.mode = mdns
      try ServiceDiscovery.check(discovery)
    } catch {
      throw HomeError(starting: error)
    }
  }

  private static func number(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  private static func count(_ devices: Int) -> String { devices == 1 ? "1 device is" : "\(devices) devices are" }

  /// Returns the whole home, and the part that this process runs.
  private func definition() throws -> (whole: HomeDefinition, part: HomeDefinition) {
    let texts = try files.map { file in
      do {
        return (name: file, text: try TextFile.read(file))
      } catch {
        throw NamedFile.unusable(file, error)
      }
    }
    do throws(DefinitionError) {
      let whole = try HomeDefinition.load(simulating: texts, for: shard, opening: HomeDefinition.openFile)
      let part = try whole.part(shard)
      return (whole, part)
    } catch {
      throw HomeError(.badDefinition, "\(error)", cause: error)
    }
  }
}

extension HomeError {
  /// Creates the error for a failed start of devices.
  init(starting error: any Error) {
    let cause = (error as? FleetError)?.cause ?? error
    switch cause {
    case NetworkError.unknownInterface, NetworkError.unusableInterface, is ServiceDiscovery.Failure, is AppPipeError,
      is FleetCapacityError:
      self.init(.badArguments, "\(cause)", cause: cause)
    case let store as StoreError where store.code == .inUse: self.init(.badArguments, "\(error)", cause: cause)
    case NetworkError.portInUse:
      self.init(
        .internalError, "\(error); stop the process that uses it, or choose another port with --port-base or “port:”",
        cause: cause)
    case let system as CocoaError:
      self.init(
        .internalError,
        "\(system.filePath ?? "the state directory"): \(system.localizedDescription); "
          + "choose another directory with --state", cause: cause)
    default: self.init(.internalError, "\(error)", cause: cause)
    }
  }
}
