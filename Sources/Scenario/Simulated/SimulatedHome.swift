internal import Foundation
public import HearthHome
public import Logging
internal import MatterController
internal import MatterModel
internal import MatterProtocol
internal import Runtime
public import Simulation
public import VirtualDevices

/// The devices of a definition and a home that subscribes to them, each on a machine of its own, in a simulated world.
///
/// Devices and home run the same code as `hearth run` and `Home`; only their machines are simulated.
public actor SimulatedHome {
  public nonisolated let definition: HomeDefinition
  nonisolated let names: DeviceNames
  /// The world of all machines.
  public nonisolated let simulation: SimulatedWorld
  /// The machine that runs the home.
  public nonisolated let hub: SimulatedMachine
  /// The devices and their machines.
  private(set) var parts: [(device: VirtualDevice, machine: SimulatedMachine)] = []
  /// The positions in ``parts`` by the path of the device.
  private(set) var positions: [String: Int] = [:]
  /// The machines of competing controllers.
  var competitors: [SimulatedMachine] = []
  /// Subscriptions that competing controllers keep open.
  var heldSubscriptions: [CompetingSubscriptions] = []
  /// Other homes with the same devices.
  var others: [OtherHome] = []
  /// The last comparison of each device with a home, by the unique ID of the device.
  var comparisons: [String: ValueComparison] = [:]
  /// The network faults by machine.
  var faults: [HostID: MachineFaults] = [:]
  var machines: [SimulatedMachine] { [hub] + parts.map(\.machine) + competitors + others.map(\.machine) }
  nonisolated let directory: String
  nonisolated let options: SimulatedHomeOptions
  private(set) var opened: Home?
  /// Records the changes of the home.
  private var recorder: HomeListener?

  public nonisolated var unownedExecutor: UnownedSerialExecutor { simulation.unownedExecutor }

  private init(
    _ definition: HomeDefinition, _ names: DeviceNames, _ options: SimulatedHomeOptions, in simulation: SimulatedWorld
  ) async {
    (self.definition, self.names, self.options, self.simulation) = (definition, names, options, simulation)
    hub = await simulation.perform { $0.addMachine("hub") }
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-\(UUID().uuidString)").path
  }

  /// Starts all devices and opens the home.
  /// - Throws: the error of a device or of the home.
  static func start(
    _ definition: HomeDefinition, _ options: SimulatedHomeOptions, in simulation: SimulatedWorld
  ) async throws -> SimulatedHome {
    let names = DeviceNames(definition)
    let hubs = names.hubs
    guard hubs.isEmpty else { throw DefinitionError(problems: hubs) }
    let home = await SimulatedHome(definition, names, options, in: simulation)
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
    let rooms = Rooms(of: definition.devices)
    for device in definition.devices {
      let machine = world.addMachine(device.path)
      var environment = VirtualDevice.Environment(
        machine: machine, discovery: machine.openDiscovery(), loop: machine.eventLoop, interfaces: .all,
        directory: "device", logger: options.logger)
      environment.rooms = rooms
      if let defect = options.defect { environment.configure = { defect.install(in: &$0) } }
      let started = try VirtualDevice(
        device, port: device.port ?? 5540, random: machine.makeRandom(), in: environment)
      positions[device.path] = parts.count
      parts.append((started, machine))
      prepareForPowerCut(machine, started)
    }
  }

  /// Has the device end when the power of its machine is cut.
  func prepareForPowerCut(_ machine: SimulatedMachine, _ device: VirtualDevice) {
    machine.onPowerCut = [{ device.cutPower() }]
  }

  // MARK: The home

  /// The open home.
  /// - Throws: `HomeError` while it is not open.
  public var home: Home {
    get throws(HomeError) {
      guard let opened else { throw HomeError(.unreachable, "the home is not open: its machine has no power") }
      return opened
    }
  }

  /// Opens the home with the state that its machine has stored.
  func open() async throws(HomeError) {
    let home = try await Home(homeOptions(hub, directory))
    let controller = try home.controller
    // The power may have been cut again while the home opened.
    guard hub.isPowered else { return controller.abandon() }
    opened = home
    hub.onPowerCut = [
      { [weak self] in
        controller.abandon()
        self?.assumeIsolated { $0.opened = nil }
      }
    ]
    recorder?.close()
    recorder = await recordChanges(of: home)
    do throws(HomeError) { try await home.follow() } catch { if hub.isPowered { throw error } }
  }

  nonisolated func homeOptions(_ machine: SimulatedMachine, _ directory: String) -> HomeController.Options {
    var options = HomeController.Options(state: StateDirectory(directory), logger: options.logger)
    options.interfaces = .all
    options.discovery = .builtin
    options.machine = machine
    options.following = self.options.following
    options.clouds = self.options.clouds
    if let defect = self.options.defect { options.configure = { defect.install(in: &$0, &$1) } }
    return options
  }

  /// Commissions all devices one by one, and waits until they are online.
  public func pairAll() async throws { try await pair(definition.devices) }

  /// Commissions devices one by one, and waits until they are online.
  func pair(_ devices: [DeviceDefinition]) async throws {
    for device in devices { try await pairDevice(device.path) }
    let home = try home
    let ids = Set(try await home.devices().list().map(\.id))
    await simulation.naming("\(devices.count) devices to be online") {
      await home.waitForConnectivity(of: ids, timeout: .seconds(60))
    }
  }

  /// Commissions a device with its setup code, under the name and in the room of its definition.
  /// - Throws: `HomeError`
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

  /// Closes the home and deletes its files.
  func close() async {
    recorder?.close()
    await opened?.close()
    opened = nil
    for other in others { await other.home?.close() }
    for held in heldSubscriptions { await held.home.close() }
    heldSubscriptions = []
    InMemoryHomes.remove(below: directory)
    try? FileManager.default.removeItem(atPath: directory)
  }
}

/// What is set up before the body of a simulated home runs, and its limits.
public struct SimulatedHomeOptions: Sendable {
  /// Whether all devices are commissioned before the body begins.
  public var isPaired = true
  /// The configuration of the home's subscriptions.
  public var following = HomeConfiguration()
  /// The options for cloud accounts; by default no cloud is reachable.
  public var clouds: CloudOptions
  /// A seeded defect of the devices and the home, for tests of the tests.
  public var defect: SeededDefect?
  /// The time after which a run is ended if the body waits and nothing happens to it, unless an event is scheduled
  /// for a later time.
  public var timeout = VirtualTime.usualTimeout
  /// Whether the trace keeps its entries, not only its digest; they take memory. Used by
  /// ``simulate(_:seed:limit:_:_:)``, which returns the trace.
  public var keepsTrace = true
  /// Records all events, if set.
  var timeline: Timeline?
  /// Records pairings only, for scenarios, whose runner records the other events.
  var pairings: Timeline?
  public var logger = Logger(label: "hearth") { _ in SwiftLogNoOpLogHandler() }

  /// Creates the default options.
  public init() {
    clouds = CloudOptions()
    clouds.transport = NoClouds()
  }
}

/// A transport without internet access.
private struct NoClouds: CloudTransport {
  func post(_ body: [UInt8], to address: String, token: String, limit: Int) async throws -> CloudReply {
    throw CloudTransportError.unreachable("there is no way to the internet")
  }
}
