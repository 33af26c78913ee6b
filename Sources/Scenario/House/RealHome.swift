internal import Foundation
internal import Home
internal import Logging
internal import MatterController
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol
internal import NIOCore
internal import Runtime
internal import VirtualDevices

/// The devices of a definition and a home that follows them, on the loopback interface and the real clock.
actor RealHome: Stage {
  private struct Part {
    let device: NIOLoopBound<VirtualDevice>
    let definition: DeviceDefinition
    let machine: FaultyMachine
  }

  private let definition: HomeDefinition
  private let directory: String
  private let hub: FaultyMachine
  private let discovery: any NodeDiscovery
  private let loop: any EventLoop
  private let logger = Logger(label: "hearth") { _ in SwiftLogNoOpLogHandler() }
  private var parts: [Part] = []
  private var opened: Home?
  private let start: Instant

  init(_ definition: HomeDefinition) throws {
    self.definition = definition
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-\(UUID().uuidString)").path
    let host = HostMachine()
    loop = host.nextEventLoop()
    hub = FaultyMachine(on: host.nextEventLoop())
    let registry = StateDirectory(directory).responders
    try FileManager.default.createDirectory(atPath: registry, withIntermediateDirectories: true)
    discovery = try host.openDiscovery(.builtin, .loopback, registry: registry, on: loop, logger: logger)
    start = HostClock.now()
  }

  /// Starts the devices and opens the home.
  func begin(isPaired: Bool) async throws {
    for device in definition.devices {
      let machine = FaultyMachine(on: loop)
      let surroundings = VirtualDevice.Surroundings(
        machine: machine, discovery: discovery, loop: loop, interfaces: .loopback,
        directory: StateDirectory(directory).device(device.uniqueID), logger: logger)
      let started = try await loop.submit { [loop] in
        NIOLoopBound(
          try VirtualDevice(device, port: nil, random: SystemRandomSource(), in: surroundings), eventLoop: loop)
      }.get()
      parts.append(Part(device: started, definition: device, machine: machine))
    }
    try await open()
    guard isPaired else { return }
    for device in definition.devices { try await pair(device.path) }
    let home = try home
    await home.waitForConnectivity(of: Set(try await home.devices().list().map(\.id)), timeout: .seconds(60))
  }

  private func open() async throws(HomeError) {
    var options = HomeController.Options(state: StateDirectory(directory), logger: logger)
    options.access = .exclusive
    options.discovery = .builtin
    options.machine = hub
    let home = try await Home(options)
    opened = home
    try await home.follow()
  }

  func close() async {
    await opened?.close()
    opened = nil
    for part in parts { try? await loop.submit { part.device.value.stop() }.get() }
    try? await discovery.stop().get()
    try? FileManager.default.removeItem(atPath: directory)
  }

  // MARK: Stage

  var now: Duration { HostClock.now() - start }

  func sleep(for time: Duration) async throws {
    try await loop.scheduleTask(in: .nanoseconds(time.nanoseconds)) {}.futureResult.get()
  }

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
    _ = try await home.pair(request, name: definition.name, room: definition.room)
  }

  func perform(_ action: ScenarioStep.Action) async throws {
    switch action {
    case .wait, .command, .expect: break
    case .power(let device, let power):
      if power != .on { try await switchPower(device, false) }
      if power == .cycle { try await sleep(for: .seconds(1)) }
      if power != .off { try await switchPower(device, true) }
    case .network(let device, let fault):
      let machine = device == ScenarioReader.hub ? hub : try find(device).machine
      guard machine.befall(fault) else { throw Self.unreal("multicast can't be taken away") }
    case .set(let device, let place, let value):
      try await with(device) { found, at in
        try found.set(place.cluster, place.attribute, value, on: at.endpoints(nil))
      }
    case .press(let device, let press):
      try await with(device) { found, at in try found.move(press.moves, on: at.application[0]) }
    case .rival: throw Self.unreal("there is one home")
    case .powerCut: throw Self.unreal("effects are not counted")
    case .address: throw Self.unreal("the loopback interface has one address")
    case .clock: throw Self.unreal("the clock is the host's")
    }
  }

  private static func unreal(_ reason: String) -> HomeError {
    HomeError(.badArguments, "in real time that can't be done: \(reason); leave --realtime out")
  }

  private func switchPower(_ device: String, _ isOn: Bool) async throws {
    guard device != ScenarioReader.hub else {
      if isOn { return opened == nil ? try await open() : () }
      let controller = try home.controller
      opened = nil
      return try await controller.eventLoop.submit { controller.abandon() }.get()
    }
    try await with(device) { found, place in try found.switchPower(isOn, at: place) }
  }

  func value(of place: AttributePlace, in device: String) async -> [UInt8]? {
    try? await with(device) { found, at in
      try found.find(place.cluster, place.attribute, on: at.endpoints(nil)).value
    }
  }

  func messageCount(of device: String?) -> Int {
    guard let device else { return (parts.map(\.machine) + [hub]).reduce(0) { $0 + $1.packetCount } }
    return device == ScenarioReader.hub ? hub.packetCount : (try? find(device).machine.packetCount) ?? 0
  }

  // MARK: Devices

  /// The device that has it, or whose bridge it is behind.
  private func find(_ name: String) throws(HomeError) -> Part {
    guard case .success(let wanted) = DeviceNames(definition).find(name),
      let part = parts.first(where: { part in
        part.definition.path == wanted.path || part.definition.bridged.contains { $0.path == wanted.path }
      })
    else { throw HomeError(.notFound, "there is no device “\(name)”") }
    return part
  }

  @discardableResult
  private func with<R: Sendable>(
    _ name: String, _ body: @escaping @Sendable (VirtualDevice, VirtualDevice.Place) throws -> R
  ) async throws -> R {
    let part = try find(name)
    guard case .success(let wanted) = DeviceNames(definition).find(name) else {
      throw HomeError(.notFound, "there is no device “\(name)”")
    }
    return try await loop.submit {
      guard let place = part.device.value.place(named: wanted.path) else {
        throw HomeError(.notFound, "there is no device “\(name)”")
      }
      return try body(part.device.value, place)
    }.get()
  }
}

extension ScenarioDefinition {
  /// Plays the scenario on real sockets, on the loopback interface, and the real clock.
  public func playInRealTime() async -> ScenarioResult {
    let start = HostClock.now()
    var failure: ScenarioResult.Failure?
    do {
      let home = try RealHome(self.home)
      do {
        try await home.begin(isPaired: isPaired)
        failure = await Self.play(self, on: home, pace: .milliseconds(20))
      } catch {
        failure = .init(message: "\(error)", mark: nil, timeline: [])
      }
      await home.close()
    } catch {
      failure = .init(message: "\(error)", mark: nil, timeline: [])
    }
    return ScenarioResult(
      scenario: name, seed: nil, failure: failure, duration: HostClock.now() - start, digest: 0)
  }
}
