package import Logging
import MatterCertificates
import MatterClusters
package import MatterCrypto
package import MatterDevice
package import MatterModel
package import MatterProtocol
import MatterTLV
package import NIOCore
package import Runtime

/// A device of a fleet, running on its event loop. Confined to that loop.
package final class VirtualDevice {
  /// The environment of a device.
  package struct Environment: Sendable {
    package let machine: any Machine
    package let discovery: any NodeDiscovery
    package let loop: any EventLoop
    package let interfaces: InterfaceSelection
    /// The directory of the device's state.
    package let directory: String
    package let logger: Logger
    /// Called after a change of the device.
    package let onChange: @Sendable () -> Void
    /// The addresses of nodes that the device may be bound to.
    package var peers: [NodeID: MatterProtocol.SocketAddress] = [:]
    /// Whether devices may resume subscriptions after a restart; the definitions select which.
    package var resumesSubscriptions = true
    /// The link for fault injection; nil if faults can't be injected here.
    package var link: DeviceLink?
    /// The host name; nil for the one of the definition, which is the same for all instances of it.
    package var hostName: String?
    /// The air of the rooms and the alarms, shared by the devices of a home.
    package var rooms = Rooms()
    /// Changes the configuration of the device before it starts, for tests only.
    package var configure: @Sendable (inout DeviceConfiguration) -> Void = { _ in }

    package init(
      machine: any Machine, discovery: any NodeDiscovery, loop: any EventLoop, interfaces: InterfaceSelection,
      directory: String, logger: Logger, onChange: @escaping @Sendable () -> Void = {}
    ) {
      (self.machine, self.discovery, self.loop) = (machine, discovery, loop)
      (self.interfaces, self.directory) = (interfaces, directory)
      (self.logger, self.onChange) = (logger, onChange)
    }

    /// The time of the device's clock.
    var now: Instant { Instant(nanoseconds: Int64(clamping: loop.now.uptimeNanoseconds)) }
  }

  /// The definition with the devices that are behind the bridge at present.
  package private(set) var definition: DeviceDefinition
  // For other modules, which would copy the whole definition.

  package var path: String { definition.path }
  package var uniqueID: String { definition.uniqueID }
  package var isBridge: Bool { definition.kind == .bridge }

  /// The endpoints of the bridged devices or the parts.
  private(set) var numbers = EndpointNumbers()
  /// The running engine; nil without power.
  package private(set) var host: EngineHost<DeviceEngine>?
  let environment: Environment
  private var random: any RandomSource
  /// The start of the behaviors, which continue without power.
  private let behaviors: (origin: Instant, seed: UInt64)
  /// The port of the definition or the command line; nil to use the stored one or a free one.
  private let assignedPort: UInt16?
  private var port: UInt16?
  @Boxed private var lastStatus: DeviceStatus?
  /// The counters until the last loss of power.
  private var earlierMetrics = NodeMetrics()
  /// The faults of the device and of bridged ones by path; they survive a loss of power.
  var faults: [String: DeviceFaults] = [:]
  /// The hooks of the engine without faults; nil until faults are installed.
  @Boxed var ownHooks: (device: DeviceHooks, node: NodeHooks)?
  /// The paths of bridged devices without power, kept while the bridge itself has none.
  var withoutPower: Set<String> = []
  /// The next step of a restart.
  private var restart: Scheduled<Void>?

  /// Opens the device's sockets and state, and starts it. To be called on the loop.
  /// - Parameter isFresh: whether the state of earlier runs is erased.
  package init(
    _ definition: DeviceDefinition, port: UInt16?, random: any RandomSource, isFresh: Bool = false,
    in environment: Environment
  ) throws {
    self.definition = definition
    self.definition.bridged.removeAll(where: \.isAbsent)
    (assignedPort, self.port) = (port, port)
    self.random = random
    self.environment = environment
    let hasBehaviors = ([definition] + definition.bridged).contains { !$0.behaviors.isEmpty }
    // Other devices draw the same numbers as without behaviors.
    behaviors = (environment.now, hasBehaviors ? self.random.next() : 0)
    for device in [definition] + self.definition.bridged where device.faults != DeviceFaults() {
      faults[device.path] = device.faults
    }
    try boot(isFresh: isFresh)
  }

  private func boot(isFresh: Bool = false) throws {
    let store = try environment.machine.openStore(environment.directory)
    do { try boot(store, isFresh: isFresh) } catch {
      store.abandon()
      throw error
    }
  }

  private func boot(_ store: any NodeStore, isFresh: Bool) throws {
    let machine = environment.machine
    var state = try store.load()
    if isFresh {
      try store.commit(state.keys.sorted().map { StoreChange($0, nil, isDurable: true) })
      state = [:]
    }
    let transport = try openTransport(state, store)
    let identity = try DeviceIdentity(of: definition, in: store, state, signatures: machine.signatures, random: &random)
    numbers = EndpointNumbers(state)
    let now = environment.now
    let endpoints = DeviceAssembly.endpoints(of: definition, &numbers, clock(at: now))
    if !numbers.changes.isEmpty { try store.commit(numbers.changes) }
    var configuration = DeviceAssembly.configuration(
      of: definition, identity: identity, port: port ?? 0, addresses: transport.addresses.map(\.ip))
    if let name = environment.hostName { configuration.hostName = name }
    configuration.peers = environment.peers
    if !environment.resumesSubscriptions { configuration.resumesSubscriptions = false }
    configuration.epoch = epoch(at: now)
    environment.configure(&configuration)
    ownHooks = nil
    var engine = DeviceEngine(
      configuration, endpoints: endpoints, stored: state, random: random.fork(), signatures: machine.signatures,
      at: now)
    for bridged in definition.bridged where withoutPower.contains(bridged.path) {
      try engine.power(false, bridgedOn: place(of: bridged).node, at: now)
    }
    if !faults.isEmpty { try installFaults(in: &engine, at: now) }
    let logger = environment.logger
    let host = EngineHost(
      engine, transport: transport, store: store, discovery: environment.discovery, logger: logger)
    host.onEvent = { [weak self] event in self?.received(event) }
    host.onStoreFailure = { [path = definition.path] error in logger.critical("\(path): \(error)") }
    self.host = host
    host.start()
    followAlarms()
  }

  /// Returns the clock of the behaviors of devices that start at a time.
  private func clock(at now: Instant) -> BehaviorClock {
    BehaviorClock(origin: behaviors.origin, now: now, seed: behaviors.seed, rooms: environment.rooms)
  }

  private static let portKey = "port"

  /// Opens the sockets on the port of the definition, or on the previous one, since controllers cache the address.
  private func openTransport(_ state: StoredState, _ store: any NodeStore) throws -> any DatagramTransport {
    let machine = environment.machine
    if let assignedPort {
      return try machine.openTransport(environment.interfaces, port: assignedPort, on: environment.loop)
    }
    let stored = state[Self.portKey].flatMap { try? UInt16(tlv: $0) }.flatMap { $0 == 0 ? nil : $0 }
    var transport: (any DatagramTransport)?
    do {
      transport = try stored.map {
        try machine.openTransport(environment.interfaces, port: $0, on: environment.loop)
      }
    } catch let error as NetworkError {
      guard case .portInUse = error else { throw error }
      environment.logger.warning("\(definition.path): \(error); using another port")
    }
    let opened = try transport ?? machine.openTransport(environment.interfaces, port: nil, on: environment.loop)
    port = opened.addresses.first?.port ?? opened.port
    if let port, port != stored { try store.commit([StoreChange(Self.portKey, port.tlv)]) }
    return opened
  }

  /// Returns the epoch of the engine's clock by the machine's wall clock, even if that is wrong.
  private func epoch(at now: Instant) -> Duration {
    .milliseconds((environment.machine.unixMicroseconds() - now.nanoseconds / 1000) / 1000)
  }

  /// Updates the engine's clock after a change of the machine's wall clock.
  package func noteClock() { host?.perform { engine, now in engine.noteClock(epoch: epoch(at: now), at: now) } }

  private func received(_ event: DeviceEvent) {
    switch event {
    case .note(let text): environment.logger.info("\(definition.path): \(text)")
    case .restart: scheduleRestart()
    default: environment.onChange()
    }
  }

  /// Notifies the owner of a change of the device.
  func noteChange() { environment.onChange() }

  /// Creates attestation credentials with a flaw.
  func flawedAttestation(_ flaw: TestAttestation.Flaw) throws(CertificateError) -> AttestationCredentials {
    try DeviceIdentity.attestation(
      of: definition, flaw: flaw, signatures: environment.machine.signatures, random: &random)
  }

  // MARK: Bridged devices

  /// Replaces the devices behind the bridge.
  func replaceBridged(_ devices: [DeviceDefinition]) throws(ControlError) {
    guard let host else { throw ControlError(.noPower, "the device has no power") }
    var definition = definition
    definition.bridged = devices
    var numbers = numbers
    let endpoints = DeviceAssembly.endpoints(of: definition, &numbers, clock(at: environment.now))
    // Stored first: an endpoint is never used for another device, even after a loss of power.
    if !numbers.changes.isEmpty {
      do { try host.store.commit(numbers.changes) } catch { throw ControlError(.failed, "\(error)") }
    }
    numbers.commit()
    let left = Set(devices.map(\.uniqueID))
    let removed = self.definition.bridged.map(\.uniqueID).filter { !left.contains($0) }
    (self.definition, self.numbers) = (definition, numbers)
    for device in devices where faults[device.path] == nil && device.faults != DeviceFaults() {
      faults[device.path] = device.faults
    }
    let hasFaults = !faults.isEmpty
    try host.perform { (engine, now) throws(ControlError) in
      engine.replaceEndpoints(endpoints, at: now)
      environment.rooms.endEffects(of: removed, at: now)
      // The last fault may be that of a removed device.
      if hasFaults || !engine.hooks.violations.isEmpty { try installFaults(in: &engine, at: now) }
    }
    environment.onChange()
  }

  // MARK: Power

  /// Stores the energy of the device and other state that it stores rarely, as a device does at the start of a power
  /// cut. To be called before the machine loses its power, except to simulate a kill.
  package func prepareForPowerLoss() { host?.perform { engine, now in engine.prepareForPowerLoss(at: now) } }

  /// Stops the device without goodbyes, as on a loss of power.
  package func cutPower() {
    cancelRestart()
    prepareForPowerLoss()
    guard let host else { return }
    earlierMetrics = metrics
    (earlierMetrics.sessions, earlierMetrics.subscriptions) = (0, 0)
    lastStatus = status
    lastStatus?.isPowered = false
    host.stop(silently: true)
    self.host = nil
    endEffects()
    environment.onChange()
  }

  /// Starts the device again from its stored state; does nothing if it has power.
  package func restorePower() throws {
    guard host == nil else { return }
    cancelRestart()
    try boot()
    environment.onChange()
  }

  /// Shuts the device down gracefully: notifies subscribers and withdraws its services.
  package func stop() {
    cancelRestart()
    shutDown()
  }

  private func shutDown() {
    host?.perform { engine, now in engine.shutDown(at: now) }
    host?.stop()
    host = nil
    endEffects()
  }

  /// The time before a restart in which the last messages are acknowledged, and the time without service.
  private static let restartDelays = (TimeAmount.seconds(1), TimeAmount.seconds(2))

  /// Shuts the device down and starts it again, as after a software update.
  private func scheduleRestart() {
    let loop = environment.loop
    restart = loop.assumeIsolated().scheduleTask(in: Self.restartDelays.0) { [weak self] in
      guard let self, self.host != nil else { return }
      self.lastStatus = self.status
      self.shutDown()
      self.restart = loop.assumeIsolated().scheduleTask(in: Self.restartDelays.1) { [weak self] in
        guard let self, self.host == nil else { return }
        do { try self.restorePower() } catch {
          self.environment.logger.critical("\(self.definition.path): it does not start: \(error)")
        }
      }
    }
  }

  private func cancelRestart() {
    restart?.cancel()
    restart = nil
  }

  /// Ends the effects of the devices of this node on the home.
  private func endEffects() {
    environment.rooms.alarms.observe(from: definition.uniqueID, nil)
    environment.rooms.endEffects(of: ([definition] + definition.bridged).map(\.uniqueID), at: environment.now)
  }

  // MARK: The network

  /// The present faults of the network, or nil for none.
  private var network: DeviceNetwork? {
    environment.link.map(\.network).flatMap { $0 == DeviceNetwork() ? nil : $0 }
  }

  /// Injects a fault into the device's network.
  func inject(_ fault: DeviceNetwork.Fault, at place: Place) throws(ControlError) {
    guard place.bridged == nil else {
      throw ControlError(
        .refused, "it has no network of its own; use “\(definition.path)”")
    }
    guard let link = environment.link else {
      throw ControlError(.refused, "faults can't be injected into its network")
    }
    link.inject(fault)
    environment.onChange()
  }

  // MARK: Interfaces

  /// Switches to the host's present interfaces and addresses.
  func follow(_ interfaces: [NetworkInterface]) {
    guard let host else { return }
    let before = host.transport.addresses
    for failure in host.transport.follow(interfaces) {
      environment.logger.warning("\(definition.path): \(failure)")
    }
    let after = host.transport.addresses
    guard after != before else { return }
    let reported = DeviceAssembly.networkInterfaces(of: definition, addresses: after.map(\.ip))
    host.perform { engine, now in
      // Updates the attribute only.
      try? engine.act(set: GeneralDiagnostics.networkInterfaces, reported, on: .root, at: now)
    }
  }

  // MARK: Status

  package var status: DeviceStatus {
    let payload = definition.setupPayload
    var status = DeviceStatus(
      name: definition.name, room: definition.room ?? "", type: definition.kind.title, port: port ?? 0,
      passcode: definition.passcode, discriminator: definition.discriminator,
      manualCode: (try? payload.formattedManualCode) ?? "", qrCode: (try? payload.qrText) ?? "",
      vendorID: definition.vendorID, productID: definition.productID, serialNumber: definition.serialNumber,
      uniqueID: definition.uniqueID)
    guard let host else {
      // Without power, the network may still change.
      var last = lastStatus ?? status
      last.network = network
      last.faults = faults[definition.path]?.words ?? []
      return last
    }
    (status.network, status.drops) = (network, drops)
    status.faults = faults[definition.path]?.words ?? []
    host.perform { engine, _ in
      status.fabrics = engine.fabrics.map {
        .init(
          index: $0.index.rawValue, fabricID: StableHash.hexadecimal($0.fabricID.rawValue, digits: 16),
          nodeID: StableHash.hexadecimal($0.nodeID.rawValue, digits: 16), label: $0.label)
      }
      status.isCommissionable = engine.isCommissionable
      status.isAsleep = definition.sleep.map { _ in !engine.isActive }
      (status.onOff, status.level, status.highestLevel, status.position) = Self.values(&engine, on: 1)
      status.reading = Self.reading(
        &engine, on: place(named: definition.path)?.application ?? [], of: definition.kind)
      status.buttons = definition.buttons
      status.bridged = definition.bridged.map { bridged in
        let place = place(of: bridged)
        var part = BridgedStatus(
          name: bridged.name, room: bridged.room ?? "", type: bridged.kind.title, endpoint: place.node.rawValue,
          buttons: bridged.buttons)
        part.faults = faults[bridged.path]?.words ?? []
        part.isReachable =
          engine.value(BridgedDeviceBasicInformation.reachable, on: place.node) ?? (definition.kind != .bridge)
        (part.onOff, part.level, part.highestLevel, part.position) = Self.values(
          &engine, on: place.application[0])
        part.reading = Self.reading(&engine, on: place.application, of: bridged.kind)
        return part
      }
    }
    return status
  }

  /// The dropped messages and the failed commands, by reason.
  var drops: [String: Int] {
    guard let host else { return lastStatus?.drops ?? [:] }
    var drops: [String: Int] = [:]
    host.perform { engine, _ in
      for (reason, count) in engine.drops.all { drops[reason.rawValue] = count }
      if engine.undeliveredCommands > 0 { drops["undeliveredCommand"] = engine.undeliveredCommands }
      if engine.refusedCommands > 0 { drops["refusedCommand"] = engine.refusedCommands }
    }
    return drops.merging(host.transport.counters.drops) { $0 + $1 }
  }

  /// The counters since the start of the process, and the present sessions and subscriptions.
  var metrics: NodeMetrics { earlierMetrics + present }

  /// The metrics since the device has power.
  private var present: NodeMetrics {
    guard let host else { return NodeMetrics() }
    var metrics = host.perform { engine, _ in engine.metrics }
    metrics.drops.merge(host.transport.counters.drops) { $0.saturatingAdd($1) }
    return metrics
  }

  /// The number of devices including bridged ones, and the number of devices that have power.
  var deviceCounts: (all: Int, online: Int) {
    let bridged = definition.kind == .bridge ? definition.bridged : []
    guard host != nil else { return (bridged.count + 1, 0) }
    return (bridged.count + 1, bridged.count { !withoutPower.contains($0.path) } + 1)
  }

  private static func values(
    _ engine: inout DeviceEngine, on endpoint: EndpointID
  ) -> (onOff: Bool?, level: UInt8?, highestLevel: UInt8?, position: UInt8?) {
    (
      engine.value(OnOff.onOff, on: endpoint), engine.value(LevelControl.currentLevel, on: endpoint)?.wrapped,
      engine.value(LevelControl.maxLevel, on: endpoint), engine.value(Switch.currentPosition, on: endpoint)
    )
  }
}
