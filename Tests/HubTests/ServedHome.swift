import Foundation
import HearthHome
import HomeAutomation
import HomeControl
import HomeModel
import HomeStore
import Hub
import Logging
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing
import WebClient

/// A temporary state directory, removed at deinitialization.
final class Scratch: Sendable {
  let state = StateDirectory(FileManager.default.temporaryDirectory.path + "/hub-\(UUID().uuidString)")

  deinit { try? FileManager.default.removeItem(atPath: state.root) }
}

/// A home without a network and its hub; tests inject the reports of its devices.
final class ServedHome: Sendable {
  static let logger: Logger = {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
  }()

  /// The identity of the homes, unless another one is given.
  static let identity = String(repeating: "0A", count: 16)

  let scratch: Scratch
  let home: Home
  private let current: Mutex<HubServer?>

  /// Opens a home with one lamp, node 5, which is online, or an empty one, and starts the hub.
  /// - Parameters:
  ///   - grace: the grace time; nil: the one that is set with `setGraceTime`.
  ///   - identity: the identity of a new home; the same one by default, so that several homes are routes to one home.
  init(
    _ scratch: Scratch = Scratch(), grace: Duration? = .zero, isEmpty: Bool = false, identity: String = identity,
    cloud: (any CloudTransport)? = nil, discovery: ServiceDiscovery.Mode = .off,
    _ change: (inout HubServer.Options) -> Void = { _ in }
  ) async throws {
    self.scratch = scratch
    try HomeDatabase.open(scratch.state.database, identity: identity).close()
    var options = Self.options(scratch)
    options.following.grace = grace
    options.discovery = discovery
    if let cloud { options.clouds.transport = cloud }
    home = try await Home(options)
    current = Mutex(nil)
    try await home.follow()
    if !isEmpty {
      try await make(Self.lamp)
      try await home.controller.process(.established(5, deadline: .max))
    }
    try await startHub(change)
  }

  static func options(_ scratch: Scratch) -> HomeController.Options {
    var options = HomeController.Options(state: scratch.state, logger: logger)
    options.discovery = .off
    return options
  }

  var hub: HubServer {
    get throws { try #require(current.withLock { $0 }) }
  }

  /// The URL of the hub on loopback, if it has one.
  var webSocketURL: String? {
    get async throws { try await hub.status.addresses.first { $0.hasPrefix("ws://") } }
  }

  func startHub(_ change: (inout HubServer.Options) -> Void = { _ in }) async throws {
    var options = HubServer.Options(logger: Self.logger)
    change(&options)
    let hub = try await HubServer.open(home, options)
    current.withLock { $0 = hub }
  }

  func stopHub() async {
    let hub = current.withLock { hub in
      defer { hub = nil }
      return hub
    }
    await hub?.close()
  }

  func close() async {
    await stopHub()
    await home.close()
  }

  static let lamp: [HomeChange] = {
    let source = SourceID(5)
    return [
      .structureAdded(Structure(id: "home", name: "Home")),
      .deviceAdded(id: "5", name: "Lamp", roomID: nil, structureID: "home"), .sourceAdded(source, device: "5"),
      .topology(
        source,
        [
          DeviceEndpoint(id: 0, deviceTypes: [0x16], servers: [0x1D, 0x1F, 0x28], parts: [1]),
          DeviceEndpoint(id: 1, deviceTypes: [0x101], servers: [3, 6, 8, 0x1D]),
        ], DeviceIdentity()),
      .attribute(5, level, value: [0x04, 1]), .attribute(5, access, value: [0x16, 0x18]),
    ]
  }()

  /// CurrentLevel of LevelControl, and ACL of AccessControl, which only administrators may read.
  static let level = ConcreteAttributePath(1, 8, 0), access = ConcreteAttributePath(0, 0x1F, 0)

  /// A bridge, node 7, with two lamps.
  static let bridge: [HomeChange] = {
    let bridge = SourceID(7)
    var changes: [HomeChange] = [
      .deviceAdded(id: "7", name: "Bridge", roomID: nil, structureID: "home"), .sourceAdded(bridge, device: "7"),
      .topology(
        bridge,
        [
          DeviceEndpoint(id: 0, deviceTypes: [0x16], servers: [0x1D, 0x28], parts: [1, 2, 3]),
          DeviceEndpoint(id: 1, deviceTypes: [0x0E], servers: [0x1D], parts: [2, 3]),
        ], DeviceIdentity()),
    ]
    for endpoint in [EndpointID(2), 3] {
      let source = SourceID(7, endpoint)
      changes += [
        .deviceAdded(id: "\(source)", name: "Behind \(endpoint)", roomID: nil, structureID: "home"),
        .sourceAdded(source, device: "\(source)"),
        .topology(
          source, [DeviceEndpoint(id: endpoint, deviceTypes: [0x13, 0x100], servers: [6, 0x1D, 0x39])],
          DeviceIdentity()),
      ]
    }
    return changes
  }()

  /// Makes changes without an origin.
  func make(_ changes: [HomeChange]) async throws {
    try await home.controller.change { _ throws(HomeError) in (changes, ()) }
  }

  /// Injects a report of the lamp's level.
  func report(level: UInt8) async throws {
    let data = AttributeData(Self.level, dataVersion: 0, value: [0x04, level])
    try await home.controller.process(.report(NodeReport(5, [data], isWhole: false)))
  }

  func invite(_ name: String, _ role: HomeRole) async throws -> String { try await home.invite(name, role).token }

  var socket: HubAddress { .socket(scratch.state.hubSocket) }

  /// Opens the home through the hub.
  func client(
    _ name: String = "test", token: String? = nil, through routes: [HubRoute]? = nil,
    delivery: DeliverySchedule.Limits = .init()
  ) async throws -> Home {
    var options = Self.clientOptions(name, token: token, routes ?? [.local(socket)])
    options.delivery = delivery
    options.trust.fingerprint = await (try? hub)?.identity?.fingerprint
    return try await Home(through: options)
  }

  static func clientOptions(
    _ name: String = "test", token: String? = nil, _ routes: [HubRoute]
  ) -> HubClient.Options {
    var options = HubClient.Options(routes: routes, name: name, logger: logger)
    options.token = token
    options.firstPause = .milliseconds(20)
    options.longestPause = .milliseconds(100)
    options.timeout = .seconds(120)
    options.connectTimeout = .seconds(120)
    // A busy machine is not a silent hub.
    options.routeTimeout = .seconds(120)
    options.stableTime = .milliseconds(20)
    return options
  }
}

/// Returns all updates of a home from now on. The reader is registered asynchronously on another event loop, so the
/// function waits for that: an update of another process in between would be missed.
func listening(to home: Home) async -> HomeEvents {
  let updates = home.updates()
  _ = await home.state
  return updates
}

/// Returns the code of the error that `body` throws, or nil.
func code(_ body: () async throws -> Void) async -> HomeError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return HomeError(error).code
  }
}

/// Records the messages of a manager.
final class Recorder: HomeListDelegate, HomeRoomDelegate, HomeNameDelegate, HomeHubDelegate, AccessoryDelegate {
  private let all = Mutex<[String]>([])
  var messages: [String] { all.withLock { $0 } }
  private func note(_ text: String) { all.withLock { $0.append(text) } }

  func waits(for message: String, times: Int = 1) async -> Bool {
    await eventually { self.messages.count { $0 == message } >= times }
  }

  func homeManagerDidUpdateHomes(_ manager: HomeManager) async { note("homes") }
  func homeManagerDidUpdatePrimaryHome(_ manager: HomeManager) async {
    note("primary \(manager.primaryHome?.name ?? "none")")
  }
  func home(_ home: Structure, didAdd accessory: HomeDevice) async { note("+\(accessory.name)") }
  func home(_ home: Structure, didRemove accessory: HomeDevice) async { note("-\(accessory.name)") }
  func home(_ home: Structure, didAdd room: Room) async { note("+room \(room.name)") }
  func home(_ home: Structure, didRemove room: Room) async { note("-room \(room.name)") }
  func homeManager(_ manager: HomeManager, didAdd home: Structure) async {}
  func homeManager(_ manager: HomeManager, didRemove home: Structure) async {}
  func homeDidUpdateName(_ home: Structure) async {}
  func home(_ home: Structure, didUpdateNameFor room: Room) async {}
  func home(_ home: Structure, didUpdate room: Room, for accessory: HomeDevice) async {}
  func home(_ home: Structure, didUpdateNameFor accessory: HomeDevice) async { note("called \(accessory.name)") }
  func home(_ home: Structure, didUpdate hubState: HubState) async { note("hub \(hubState)") }
  func accessoryDidUpdateReachability(_ accessory: HomeDevice) async { note("reachable \(accessory.isReachable)") }
  func accessory(_ accessory: HomeDevice, didUpdateValueFor attribute: AttributeValue) async { note("\(attribute)") }
}

/// A client with one delegate of all kinds.
struct RecordedClient {
  let manager: HomeManager
  let recorder = Recorder()

  init(_ home: Home) async {
    manager = HomeManager(home, delegate: recorder)
    manager.homeDelegate = recorder
    manager.accessoryDelegate = recorder
    _ = await recorder.waits(for: "homes")
  }
}
