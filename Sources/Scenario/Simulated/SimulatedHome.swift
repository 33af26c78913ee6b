internal import Foundation
public import Home
public import Logging
internal import MatterController
internal import MatterModel
public import MatterProtocol
internal import Runtime
public import Simulation
public import VirtualDevices

/// The devices of a definition and a home that follows them, each on a machine of its own, in a simulated world.
///
/// They are the very devices and the very home of `hearth run` and of ``Home/Home``; only what they run on is simulated.
public actor SimulatedHome {
  public nonisolated let definition: HomeDefinition
  /// The world they are in.
  public nonisolated let simulation: SimulatedWorld
  /// The machine that the home runs on.
  public nonisolated let hub: SimulatedMachine
  /// The devices, and what each one runs on.
  var parts: [(device: VirtualDevice, machine: SimulatedMachine)] = []
  /// Machines of second administrators who want more than their share.
  var rivals: [SimulatedMachine] = []
  /// Those of them who stay for what they got.
  var guests: [CompetingSubscriptions] = []
  /// Second administrators who stay.
  var others: [OtherHome] = []
  /// What is wrong with the network around a machine.
  var faults: [HostID: MachineFaults] = [:]
  var machines: [SimulatedMachine] { [hub] + parts.map(\.machine) + rivals + others.map(\.machine) }
  nonisolated let directory: String
  nonisolated let options: SimulatedHomeOptions
  private(set) var opened: Home?
  /// Who writes down what the home says.
  private var scribe: HomeListener?

  public nonisolated var unownedExecutor: UnownedSerialExecutor { simulation.unownedExecutor }

  private init(_ definition: HomeDefinition, _ options: SimulatedHomeOptions, in simulation: SimulatedWorld) async {
    (self.definition, self.options, self.simulation) = (definition, options, simulation)
    hub = await simulation.perform { $0.addMachine("hub") }
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-\(UUID().uuidString)").path
  }

  /// Starts all devices and opens the home.
  /// - Throws: what a device or the home has against it.
  static func start(
    _ definition: HomeDefinition, _ options: SimulatedHomeOptions, in simulation: SimulatedWorld
  ) async throws -> SimulatedHome {
    let hubs = DeviceNames(definition).hubs
    guard hubs.isEmpty else { throw DefinitionError(problems: hubs) }
    let home = await SimulatedHome(definition, options, in: simulation)
    do {
      try await home.startDevices()
      try await simulation.naming("the home to open") { try await home.open() }
      if options.isPaired { try await simulation.naming("all devices to be paired") { try await home.pairAll() } }
    } catch {
      await home.close()
      throw error
    }
    return home
  }

  private func startDevices() throws {
    let world = simulation.world.value
    for device in definition.devices {
      let machine = world.addMachine(device.path)
      var surroundings = VirtualDevice.Surroundings(
        machine: machine, discovery: machine.openDiscovery(), loop: machine.eventLoop, interfaces: .all,
        directory: "device", logger: options.logger)
      surroundings.defect = options.defect
      let started = try VirtualDevice(
        device, port: device.port ?? 5540, random: machine.makeRandom(), in: surroundings)
      parts.append((started, machine))
      prepareForPowerCut(machine, started)
    }
  }

  /// Ends the device when its machine loses its power.
  func prepareForPowerCut(_ machine: SimulatedMachine, _ device: VirtualDevice) {
    machine.onPowerCut = [{ device.cutPower() }]
  }

  // MARK: The home

  /// The home, as it is open now.
  /// - Throws: ``HomeError`` while it is not.
  public var home: Home {
    get throws(HomeError) {
      guard let opened else { throw HomeError(.unreachable, "the home is not open: its machine has no power") }
      return opened
    }
  }

  /// Opens the home, on what its machine has stored.
  func open() async throws(HomeError) {
    let home = try await Home(homeOptions(hub, directory))
    let controller = try home.controller
    // It may have lost its power again while it opened.
    guard hub.isPowered else { return controller.abandon() }
    opened = home
    hub.onPowerCut = [
      { [weak self] in
        controller.abandon()
        self?.assumeIsolated { $0.opened = nil }
      }
    ]
    scribe?.close()
    scribe = await writeDown(home)
    do throws(HomeError) { try await home.follow() } catch { if hub.isPowered { throw error } }
  }

  nonisolated func homeOptions(_ machine: SimulatedMachine, _ directory: String) -> HomeController.Options {
    var options = HomeController.Options(state: StateDirectory(directory), logger: options.logger)
    options.access = .exclusive
    options.interfaces = .all
    options.discovery = .builtin
    options.machine = machine
    options.following = self.options.following
    options.clouds = self.options.clouds
    options.defect = self.options.defect
    return options
  }

  /// Commissions every device, one after another, and waits until the home has reached them.
  public func pairAll() async throws { try await pair(definition.devices) }

  /// The same with some of the devices.
  func pair(_ devices: [DeviceDefinition]) async throws {
    for device in devices { try await pairDevice(device.path) }
    let home = try home
    let ids = Set(try await home.devices().list().map(\.id))
    await simulation.naming("\(devices.count) devices to be online") {
      await home.waitForConnectivity(of: ids, timeout: .seconds(60))
    }
  }

  /// Commissions a device by its passcode, under the name and in the room of its definition.
  /// - Throws: ``HomeError``
  @discardableResult
  public func pairDevice(_ device: String) async throws(HomeError) -> PairedDevice {
    let definition = try find(device).device.definition
    let request = CommissioningRequest(
      passcode: definition.passcode, target: .discriminator(.long(definition.discriminator)))
    let home = try home
    let onStep = (options.pairings ?? options.timeline)?.beginPairing(device, at: now)
    return try await simulation.naming("\(device) to be commissioned by the home on \(hub.name)") {
      () throws(HomeError) in
      try await home.pair(
        request, name: definition.name, room: definition.room, onStep: onStep ?? { _, _ in })
    }
  }

  /// Ends the home in good order.
  func close() async {
    scribe?.close()
    await opened?.close()
    opened = nil
    for other in others { await other.home?.close() }
    for guest in guests { await guest.home.close() }
    guests = []
    PassingHomes.remove(below: directory)
    try? FileManager.default.removeItem(atPath: directory)
  }
}

/// How a simulated home is set up.
public struct SimulatedHomeOptions: Sendable {
  /// Whether all devices are commissioned when it begins.
  public var isPaired = true
  /// How the home follows its devices.
  public var following = HomeConfiguration()
  /// How the home asks the clouds that it has accounts at; on its own, none answers.
  public var clouds: CloudOptions
  /// A fault that is built into the devices and the home, for tests of tests.
  public var defect: SeededDefect?
  /// How long the body may wait without anything happening to it, while nothing is to come at a time of its own: then the run
  /// is stopped.
  public var timeout = Simulation.usualTimeout
  /// Whether the trace has its entries, not only their digest: they take memory. For ``simulate(_:seed:limit:_:_:)``, which
  /// gives the trace to its caller.
  public var keepsTrace = true
  /// Where it is written down what happens, if anybody wants to know.
  var timeline: Timeline?
  /// Where pairings are written down, if not there: of a scenario all the rest is its player's to tell.
  var pairings: Timeline?
  public var logger = Logger(label: "hearth") { _ in SwiftLogNoOpLogHandler() }

  /// As a test has it that wants nothing else.
  public init() {
    clouds = CloudOptions()
    clouds.transport = NoClouds()
  }
}

/// There is no internet in a simulation.
private struct NoClouds: CloudTransport {
  func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply {
    throw CloudTransportError.unreachable("there is no way to the internet")
  }
}
