internal import Foundation
internal import HearthHome
internal import Logging
internal import MatterController
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import Simulation
internal import Synchronization
internal import VirtualDevices

/// The devices of a definition and a home that subscribes to them, on the loopback interface and the real clock.
actor RealHome: Stage {
  private struct Part {
    let device: NIOLoopBound<VirtualDevice>
    let definition: DeviceDefinition
    let machine: RealMachine

    /// Restores the machine's power, and has the device end when it is cut.
    func restorePower(on loop: any EventLoop) {
      machine.restorePower()
      machine.onPowerCut { [device] in loop.execute { device.value.cutPower() } }
    }
  }

  private let definition: HomeDefinition
  /// The record of pairings.
  private let timeline: Timeline
  private let directory: String
  private let hub: RealMachine
  private let networks: RealNetworks
  private let discovery: any NodeDiscovery
  private let loop: any EventLoop
  private let logger = Logger(label: "hearth") { _ in SwiftLogNoOpLogHandler() }
  private var parts: [Part] = []
  /// The machines of competing controllers.
  private var competitors: [RealMachine] = []
  /// Subscriptions that competing controllers keep open.
  private var heldSubscriptions: [CompetingSubscriptions] = []
  private var opened: Home?
  private var watcher: Task<Void, Never>?
  private var defect: SeededDefect?
  private let start: Instant

  init(_ definition: HomeDefinition, _ timeline: Timeline = Timeline()) throws {
    self.timeline = timeline
    self.definition = Self.withCodesOfItsOwn(definition)
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-\(UUID().uuidString)").path
    let host = HostMachine()
    loop = host.nextEventLoop()
    let start = HostClock.now()
    self.start = start
    networks = RealNetworks { timeline.addLoss(from: $0, to: $1, $2, at: HostClock.now() - start) }
    hub = RealMachine(ScenarioReader.hub, on: host.nextEventLoop(), in: networks)
    let registry = StateDirectory(directory).responders
    try FileManager.default.createDirectory(atPath: registry, withIntermediateDirectories: true)
    discovery = try host.openDiscovery(.builtin, .loopback, registry: registry, on: loop, logger: logger)
    Self.directories.withLock { _ = $0.insert(directory) }
    for loop in loops { loop.execute { SignalStack.keep() } }
  }

  /// The event loops of the devices and the home.
  nonisolated var loops: [any EventLoop] { [loop, hub.loop] }

  /// Replaces the setup codes by random ones. Devices of the same definition may be running on this host, in `hearth
  /// run` or in another test, and could be commissioned instead.
  private static func withCodesOfItsOwn(_ definition: HomeDefinition) -> HomeDefinition {
    var (definition, random) = (definition, SystemRandomSource())
    for index in definition.devices.indices {
      definition.devices[index].discriminator = UInt16.random(in: 0...4095, using: &random)
      var passcode: UInt32
      repeat {
        passcode = UInt32.random(in: SetupPasscode.range, using: &random)
      } while !SetupPasscode.isValid(passcode)
      definition.devices[index].passcode = passcode
    }
    return definition
  }

  /// Starts the devices and opens the home.
  /// - Parameter defect: a seeded defect.
  func begin(isPaired: Bool, defect: SeededDefect?) async throws {
    self.defect = defect
    var random = SystemRandomSource()
    let rooms = Rooms(of: definition.devices)
    for device in definition.devices {
      let machine = RealMachine(device.path, on: loop, in: networks)
      var environment = VirtualDevice.Environment(
        machine: machine.impaired, discovery: ImpairedDiscovery(discovery, machine), loop: machine.loop,
        interfaces: .loopback, directory: StateDirectory(directory).device(device.uniqueID), logger: logger)
      environment.rooms = rooms
      // A random host name: a device of a test that runs at the same time could have the same device-specific name, and
      // its addresses would be used for this device.
      environment.hostName = MatterService.hostName(drawnFrom: &random)
      if let defect { environment.configure = { defect.install(in: &$0) } }
      let started = try await loop.submit { [loop, environment] in
        NIOLoopBound(
          try VirtualDevice(device, port: nil, random: SystemRandomSource(), in: environment), eventLoop: loop)
      }.get()
      let part = Part(device: started, definition: device, machine: machine)
      part.restorePower(on: loop)
      parts.append(part)
    }
    try await open()
    guard isPaired else { return }
    for device in definition.devices { try await pair(device.path) }
    let home = try home
    await home.waitForConnectivity(of: Set(try await home.devices().list().map(\.id)), timeout: .seconds(60))
  }

  private func open() async throws(HomeError) {
    var options = HomeController.Options(state: StateDirectory(directory), logger: logger)
    options.discovery = .builtin
    options.machine = hub.impaired
    if let defect { options.configure = { defect.install(in: &$0, &$1) } }
    hub.restorePower()
    // The lock of a home whose power was cut is released a little later.
    let home = try await Home(owning: options)
    opened = home
    let controller = try home.controller
    hub.onPowerCut { [weak self] in
      controller.eventLoop.execute { controller.abandon() }
      Tasks.start { await self?.forget(home) }
    }
    // The power may have been cut again while the home opened.
    guard hub.isPowered else {
      forget(home)
      return controller.eventLoop.execute { controller.abandon() }
    }
    do throws(HomeError) { try await home.follow() } catch { if hub.isPowered { throw error } }
  }

  private func forget(_ home: Home) { if opened === home { opened = nil } }

  func close() async {
    await opened?.close()
    opened = nil
    for held in heldSubscriptions { await held.home.close() }
    heldSubscriptions = []
    for part in parts { try? await loop.submit { part.device.value.stop() }.get() }
    try? await discovery.stop().get()
    Self.remove(directory)
  }

  /// The directories of open homes, which contain keys.
  private static let directories = Mutex<Set<String>>([])

  private static func remove(_ directory: String) {
    try? FileManager.default.removeItem(atPath: directory)
    directories.withLock { _ = $0.remove(directory) }
  }

  /// Removes all directories before the process exits. Does nothing if the lock is held, as the exiting thread may
  /// hold it.
  static func removeAll() {
    for directory in directories.withLockIfAvailable(\.self) ?? [] {
      try? FileManager.default.removeItem(atPath: directory)
    }
  }

  // MARK: Stage

  nonisolated var now: Duration { HostClock.now() - start }

  func sleep(for time: Duration) async throws {
    try Task.checkCancellation()
    let end = loop.scheduleTask(in: .nanoseconds(time.nanoseconds)) {}
    try await withTaskCancellationHandler {
      try await end.futureResult.get()
    } onCancel: {
      end.cancel()
    }
  }

  /// Ignores the name: a wait without end is visible in real time.
  func naming<R: Sendable>(_: String, _ body: @Sendable () async throws -> R) async rethrows -> R { try await body() }

  func note(_: String) {}

  var home: Home {
    get throws(HomeError) {
      guard let opened else { throw HomeError(.unreachable, "the home is not open: its machine has no power") }
      return opened
    }
  }

  func pair(_ device: String) async throws {
    let definition = try find(device).definition
    let request = CommissioningRequest(
      passcode: definition.passcode, target: .discriminator(.long(definition.discriminator)))
    let home = try home
    _ = try await home.pair(
      request, name: definition.name, room: definition.room, onStep: timeline.beginPairing(device, at: now))
  }

  func perform(_ action: ScenarioStep.Action) async throws {
    switch action {
    case .wait, .command, .expect: break
    case .power(let device, let power):
      if power != .on { try await switchPower(device, false) }
      if power == .cycle { try await sleep(for: .seconds(1)) }
      if power != .off { try await switchPower(device, true) }
    case .network(let device, let fault):
      try machine(of: device).inject(fault)
      for machine in [hub] + parts.map(\.machine) + competitors { machine.updateDiscovery() }
    case .add(let bridge, let devices): try await with(bridge) { found, _ in try found.add(devices) }
    case .remove(let bridge, let device): try await with(bridge) { found, _ in try found.remove(device) }
    case .faults(let device, let faults):
      try await with(device) { found, at in try found.inject(faults, at: at) }
    case .powerCut(let device, let count): try machine(of: device).cutPower(afterEffects: count)
    case .clock(let device, let time):
      try machine(of: device).moveWallClock(by: time)
      if device != ScenarioReader.hub { try await with(device) { found, _ in found.noteClock() } }
    case .drift(let device, let millionths): try machine(of: device).setDrift(millionths)
    case .address(let device):
      let machine = try machine(of: device)
      try await machine.loop.submit { try machine.move() }.get()
    case .compete(let device, let times): try await compete(for: device, times: times)
    case .subscriptions(let device, let count):
      heldSubscriptions.append(try await addCompetingController().subscribe(to: device, of: home, count: count))
    case .set(let device, let place, let value):
      try await with(device) { found, at in
        try found.set(place.cluster, place.attribute, value, on: try found.endpoints(place.endpoint, of: at))
      }
    case .part(let device, let name, let endpoint, let state):
      try await with(device) { found, at in
        try found.move(part: name, to: state, on: try found.endpoints(endpoint, of: at), of: at)
      }
    case .press(let device, let press, let button):
      try await with(device) { found, at in
        // The file was validated with the same definition.
        guard at.application.indices.contains(button) else { return }
        try found.move(press.moves, on: at.application[button])
      }
    }
  }

  /// Polls the values.
  func watch(_ subjects: [Claim.Subject], _ onFact: @escaping @Sendable (Int, Fact, Duration) -> Void) async {
    watcher?.cancel()
    @Sendable func observe() async {
      for (index, subject) in subjects.enumerated() {
        switch subject {
        case .actual(let device, let place, _): onFact(index, .value(await value(of: place, in: device)), now)
        case .messages(let device, _): onFact(index, .messages(await messageCount(of: device)), now)
        case .connectivity, .locality, .attribute, .event: break
        }
      }
    }
    await observe()
    watcher = Tasks.start {
      while (try? await self.sleep(for: .milliseconds(20))) != nil { await observe() }
    }
  }

  func stopWatching() {
    watcher?.cancel()
    watcher = nil
  }

  private func compete(for device: String, times: Int) async throws {
    try await addCompetingController().openSessions(device, of: home, times: times) { controller in
      try await controller.eventLoop.submit { controller.abandon() }.get()
    }
  }

  private func addCompetingController() -> CompetingController {
    let machine = RealMachine("rival \(competitors.count + 1)", on: loop, in: networks)
    competitors.append(machine)
    return CompetingController(
      machine: machine.impaired, interfaces: .loopback,
      state: StateDirectory(directory + "/rival \(competitors.count)"), logger: logger)
  }

  private func switchPower(_ device: String, _ isOn: Bool) async throws {
    guard device != ScenarioReader.hub else {
      if isOn { return opened == nil ? try await open() : () }
      guard let controller = try? opened?.controller else { return }
      opened = nil
      hub.losePower()
      return try await controller.eventLoop.submit { controller.abandon() }.get()
    }
    let part = try find(device)
    try await with(device) { [loop] found, place in
      if place.bridged == nil {
        if !isOn { found.prepareForPowerLoss() }
        isOn ? part.restorePower(on: loop) : part.machine.losePower()
      }
      try found.switchPower(isOn, at: place)
    }
  }

  func value(of place: AttributePlace, in device: String) async -> [UInt8]? {
    try? await with(device) { found, at in
      try found.find(place.cluster, place.attribute, on: at.endpoints(place.endpoint)).value
    }
  }

  func messageCount(of device: String?) -> Int {
    guard let device else { return (parts.map(\.machine) + [hub] + competitors).reduce(0) { $0 + $1.packetCount } }
    return (try? machine(of: device).packetCount) ?? 0
  }

  // MARK: Devices

  /// Finds a device, or the bridge of a bridged device.
  private func find(_ name: String) throws(HomeError) -> Part {
    guard case .success(let wanted) = DeviceNames(definition).find(name),
      let part = parts.first(where: { part in
        part.definition.path == wanted.path || part.definition.bridged.contains { $0.path == wanted.path }
      })
    else { throw HomeError(.notFound, "no device “\(name)”") }
    return part
  }

  private func machine(of device: String) throws(HomeError) -> RealMachine {
    device == ScenarioReader.hub ? hub : try find(device).machine
  }

  @discardableResult
  private func with<R: Sendable>(
    _ name: String, _ body: @escaping @Sendable (VirtualDevice, VirtualDevice.Place) throws -> R
  ) async throws -> R {
    let part = try find(name)
    guard case .success(let wanted) = DeviceNames(definition).find(name) else {
      throw HomeError(.notFound, "no device “\(name)”")
    }
    return try await loop.submit {
      guard let place = part.device.value.place(named: wanted.path) else {
        throw HomeError(.notFound, "no device “\(name)”")
      }
      return try body(part.device.value, place)
    }.get()
  }
}
