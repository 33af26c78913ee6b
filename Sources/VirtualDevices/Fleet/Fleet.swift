public import Logging
import Foundation
import Glibc
import MatterClusters
import MatterCrypto
public import MatterModel
public import MatterProtocol
import NIOCore
public import NIOPosix
public import Runtime

/// Where a fleet stores its state, and which interfaces and ports its devices use.
public struct FleetOptions: Sendable {
  /// The directory in which a state directory is created for each device.
  public var devicesDirectory: String
  /// The directory in which running fleets register.
  public var runDirectory: String
  /// The interfaces to use; no other is used.
  public var interfaces: InterfaceSelection = .loopback
  /// The DNS-SD implementation.
  public var discovery: ServiceDiscovery.Mode = .auto
  /// The first port for devices without a port of their own; nil for any free ones.
  public var portBase: UInt16?
  /// Makes the keys, certificates and salts of new devices deterministic; nil for random ones.
  public var seed: UInt64?
  /// The addresses of nodes that devices may be bound to, for networks without multicast.
  public var peers: [NodeID: MatterProtocol.SocketAddress] = [:]
  /// The part of the devices to run. They have the same ports, keys and certificates as in a run of all devices.
  public var shard = Shard.whole
  /// Whether devices may resume subscriptions after a restart; the definitions select which.
  public var resumesSubscriptions = true
  /// Whether the devices' state of earlier runs is erased.
  public var isFresh = false
  /// The named pipe for the commands of the Matter SDK's test scripts; nil for none.
  public var appPipe: String?

  public init(devicesDirectory: String, runDirectory: String) {
    (self.devicesDirectory, self.runDirectory) = (devicesDirectory, runDirectory)
  }
}

/// The failure to start a device.
public struct FleetError: Error, Sendable, CustomStringConvertible {
  /// The path of the device, or the name of the home for a failure of the fleet.
  public var device: String
  /// The underlying error.
  public var cause: any Error
  public var description: String { "\(device): \(cause)" }
}

/// The running devices of a home, each an engine with its own port and state, distributed over the event loops.
public final class Fleet: Sendable {
  /// Returns the registry for discovery without multicast on this host, below the run directory.
  static func respondersDirectory(in runDirectory: String) -> String { runDirectory + "/responders" }

  private let discovery: ServiceDiscovery
  private let devices: [NIOLoopBound<VirtualDevice>]
  private let board: StatusBoard
  private let control: ControlServer
  private let pipe: AppPipe?
  /// Nil on loopback, whose addresses do not change.
  private let interfaceMonitor: InterfaceMonitor?

  private init(
    _ discovery: ServiceDiscovery, _ devices: [NIOLoopBound<VirtualDevice>], _ board: StatusBoard,
    _ control: ControlServer, _ pipe: AppPipe?, _ interfaceMonitor: InterfaceMonitor?
  ) {
    (self.discovery, self.devices, self.board, self.control) = (discovery, devices, board, control)
    (self.pipe, self.interfaceMonitor) = (pipe, interfaceMonitor)
  }

  /// Starts all devices of a home.
  /// - Throws: ``FleetError`` for the first device that can't be started; the others are then stopped.
  public static func start(
    _ home: HomeDefinition, _ options: FleetOptions, on group: MultiThreadedEventLoopGroup, logger: Logger
  ) async throws -> Fleet {
    let responders = respondersDirectory(in: options.runDirectory)
    try FileManager.default.createDirectory(
      atPath: responders, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for directory in [options.runDirectory, options.devicesDirectory] {
      try DirectoryCheck.check((directory as NSString).deletingLastPathComponent, isParent: true, logger: logger)
      try DirectoryCheck.check(directory, logger: logger)
    }
    let indices = home.positions(in: options.shard)
    for index in indices {
      try DirectoryCheck.check(options.devicesDirectory + "/" + home.devices[index].uniqueID, logger: logger)
    }
    let interfaces = try NetworkInterfaces.select(options.interfaces)
    let sockets = BoundSockets.count(options.interfaces, interfaces)
    do { try FleetCapacity(devices: indices.count, socketsPerDevice: sockets).reserve() } catch {
      throw FleetError(device: home.name, cause: error)
    }
    var discoveryOptions = ServiceDiscovery.Options(interfaces: interfaces)
    discoveryOptions.mode = options.discovery
    discoveryOptions.registry = responders
    let discovery = try ServiceDiscovery(discoveryOptions, on: group.next(), logger: logger)

    let board = StatusBoard(discovery, on: group.next())
    let devices: [NIOLoopBound<VirtualDevice>]
    do {
      devices = try await startDevices(indices, of: home, options, discovery, on: group, logger: logger) {
        board.changed()
      }
    } catch {
      try? await discovery.stop().get()
      throw error
    }
    let control: ControlServer
    var pipe: AppPipe?
    do {
      let actions = PhysicalActions(board, devices)
      if let path = options.appPipe {
        pipe = try await AppPipe.open(path, on: group.next(), logger: logger, performing: actions.perform)
      }
      control = try await ControlServer.open(
        path: FleetStatus.socketPath(of: getpid(), in: options.runDirectory), on: group.next(),
        answering: actions.answer)
    } catch {
      await pipe?.close()
      for device in devices { try? await device.eventLoop.submit { device.value.stop() }.get() }
      try? await discovery.stop().get()
      throw FleetError(device: home.name, cause: error)
    }
    try await board.open(home.name, devices, in: options.runDirectory).get()
    // Starting the devices and writing their status takes more memory for a moment than the running devices.
    HostMemory.releaseFreed()
    let interfaceMonitor =
      options.interfaces == .loopback
      ? nil
      : InterfaceMonitor(options.interfaces, known: interfaces, on: board.eventLoop, logger: logger) {
        [devices, loop = board.eventLoop] interfaces in
        // Sockets first, so that the announced addresses are reachable.
        let done = devices.map { device in device.eventLoop.submit { device.value.follow(interfaces) } }
        EventLoopFuture.andAllComplete(done, on: loop).whenComplete { _ in discovery.follow(interfaces) }
      }
    return Fleet(discovery, devices, board, control, pipe, interfaceMonitor)
  }

  /// Starts the devices at these positions, at any time one on each event loop. A loop that has other work, such as the
  /// announcements of all devices, gets fewer of them.
  /// - Throws: ``FleetError`` for the first device that can't be started; the others are then stopped.
  private static func startDevices(
    _ indices: [Int], of home: HomeDefinition, _ options: FleetOptions, _ discovery: ServiceDiscovery,
    on group: MultiThreadedEventLoopGroup, logger: Logger, onChange: @escaping @Sendable () -> Void
  ) async throws(FleetError) -> [NIOLoopBound<VirtualDevice>] {
    let ports = home.ports(from: options.portBase)
    let rooms = Rooms(of: home.devices)
    @Sendable func start(_ index: Int, on loop: any EventLoop) async -> Result<NIOLoopBound<VirtualDevice>, FleetError>
    {
      let definition = home.devices[index]
      let seed = options.seed.map { $0 &+ UInt64(index) &* 0x9E37_79B9_7F4A_7C15 }
      do {
        let device = try await loop.submit {
          let random: any RandomSource = seed.map { SeededRandomSource(seed: $0) } ?? SystemRandomSource()
          let link = DeviceLink()
          var environment = VirtualDevice.Environment(
            machine: ImpairedMachine(host: HostMachine(), link), discovery: ImpairedDiscovery(discovery, link),
            loop: loop, interfaces: options.interfaces,
            directory: options.devicesDirectory + "/" + definition.uniqueID, logger: logger, onChange: onChange)
          environment.peers = options.peers
          environment.resumesSubscriptions = options.resumesSubscriptions
          environment.link = link
          environment.rooms = rooms
          let device = try VirtualDevice(
            definition, port: ports[index], random: random, isFresh: options.isFresh, in: environment)
          return NIOLoopBound(device, eventLoop: loop)
        }.get()
        return .success(device)
      } catch {
        return .failure(FleetError(device: definition.path, cause: error))
      }
    }

    let loops = Array(group.makeIterator())
    var started: [Int: NIOLoopBound<VirtualDevice>] = [:]
    var failure: (index: Int, error: FleetError)?
    typealias Outcome = (index: Int, loop: any EventLoop, result: Result<NIOLoopBound<VirtualDevice>, FleetError>)
    await withTaskGroup(of: Outcome.self) { tasks in
      var next = 0
      func add(on loop: any EventLoop) {
        guard next < indices.count, failure == nil else { return }
        let index = indices[next]
        next += 1
        tasks.addTask { (index, loop, await start(index, on: loop)) }
      }
      for loop in loops { add(on: loop) }
      while let (index, loop, result) = await tasks.next() {
        switch result {
        case .success(let device): started[index] = device
        case .failure(let error): if failure.map({ index < $0.index }) ?? true { failure = (index, error) }
        }
        add(on: loop)
      }
    }
    let devices = indices.compactMap { started[$0] }
    guard let failure else { return devices }
    for device in devices { try? await device.eventLoop.submit { device.value.stop() }.get() }
    throw failure.error
  }

  /// Returns the status of all devices, in the order of the definition.
  public func status() async throws -> FleetStatus { try await board.status().get() }

  /// Changes an attribute of a device, as on the device itself.
  /// - Parameter device: its position in the definition, from 0; modulo the number of devices.
  /// - Returns: the time of the change.
  /// - Throws: an error if there is no device, or it has no such attribute.
  package func set(
    _ cluster: ClusterID, _ attribute: AttributeID, _ value: [UInt8], on endpoint: EndpointID, ofDevice device: Int
  ) async throws -> Instant {
    guard !devices.isEmpty, device >= 0 else { throw ControlError(.notFound, "there is no such device") }
    let bound = devices[device % devices.count]
    return try await bound.eventLoop.submit {
      let time = HostClock.now()
      try bound.value.set(cluster, attribute, value, on: [endpoint])
      return time
    }.get()
  }

  /// Returns the metrics of all devices.
  public func metrics() async throws -> FleetMetrics {
    var metrics = FleetMetrics()
    for device in devices {
      let (node, counts) = try await device.eventLoop.submit { (device.value.metrics, device.value.deviceCounts) }.get()
      metrics.node = metrics.node + node
      metrics.devices += counts.all
      metrics.devicesOnline += counts.online
    }
    metrics.discoveryDrops = try await discovery.drops().get()
    return metrics
  }

  /// Stops all devices gracefully. To be called once.
  public func stop() async {
    interfaceMonitor?.stop()
    try? await board.close().get()
    await control.close()
    await pipe?.close()
    for device in devices { try? await device.eventLoop.submit { device.value.stop() }.get() }
    try? await discovery.stop().get()
  }
}
