import Foundation
import HearthHome
import HomeControl
import HomeModel
import Logging
import MatterModel
import Runtime
import Synchronization

/// Records all messages.
final class RecordingDelegate: HomeListDelegate, HomeRoomDelegate, HomeNameDelegate, HomeHubDelegate,
  AccessoryDetailDelegate
{
  private struct State {
    var messages: [String] = []
    var isBusy = false
    var isHeld = false
    var overlaps = 0
  }

  private let recorded = Mutex(State())

  var messages: [String] { recorded.withLock { $0.messages } }
  /// Number of calls that began during another call.
  var overlaps: Int { recorded.withLock { $0.overlaps } }

  /// Waits for a message.
  func waits(for message: String) async -> Bool { await eventually { messages.contains(message) } }

  /// Whether calls wait before they return.
  var isHeld: Bool {
    get { recorded.withLock(\.isHeld) }
    set { recorded.withLock { $0.isHeld = newValue } }
  }

  func forget() { recorded.withLock { $0.messages = [] } }

  private func note(_ message: String) async {
    recorded.withLock { recorded in
      if recorded.isBusy { recorded.overlaps += 1 }
      recorded.isBusy = true
    }
    _ = await eventually { !isHeld }
    recorded.withLock { recorded in
      recorded.messages.append(message)
      recorded.isBusy = false
    }
  }

  func homeManagerDidUpdateHomes(_ manager: HomeManager) async { await note("homes") }
  func homeManagerDidUpdatePrimaryHome(_ manager: HomeManager) async {
    await note("primary \(manager.primaryHome?.name ?? "none")")
  }
  func homeManager(_ manager: HomeManager, didAdd home: Structure) async { await note("+home \(home.name)") }
  func homeManager(_ manager: HomeManager, didRemove home: Structure) async { await note("-home \(home.name)") }

  func homeDidUpdateName(_ home: Structure) async { await note("home is \(home.name)") }
  func home(_ home: Structure, didAdd accessory: HomeDevice) async { await note("+\(accessory.name)") }
  func home(_ home: Structure, didRemove accessory: HomeDevice) async { await note("-\(accessory.name)") }
  func home(_ home: Structure, didAdd room: Room) async { await note("+room \(room.name)") }
  func home(_ home: Structure, didRemove room: Room) async { await note("-room \(room.name)") }
  func home(_ home: Structure, didUpdateNameFor room: Room) async { await note("room is \(room.name)") }
  func home(_ home: Structure, didUpdateNameFor accessory: HomeDevice) async {
    await note("\(accessory.id) is \(accessory.name)")
  }
  func home(_ home: Structure, didUpdate room: Room, for accessory: HomeDevice) async {
    await note("\(accessory.name) in \(room.name)")
  }
  func home(_ home: Structure, didUpdate hubState: HubState) async { await note("hub \(hubState)") }

  func accessoryDidUpdateName(_ accessory: HomeDevice) async { await note("called \(accessory.name)") }
  func accessoryDidUpdateReachability(_ accessory: HomeDevice) async {
    await note("\(accessory.name) \(accessory.isReachable ? "reachable" : "unreachable")")
  }
  func accessoryDidUpdateServices(_ accessory: HomeDevice) async { await note("services of \(accessory.name)") }
  func accessory(_ accessory: HomeDevice, didUpdateValueFor attribute: AttributeValue) async {
    await note("\(accessory.name) \(attribute)")
  }
}

/// A client of a home with one delegate of all kinds.
struct RecordingClient {
  let manager: HomeManager
  let delegate: RecordingDelegate

  /// Waits for the first synchronization.
  init(_ home: Home) async {
    delegate = RecordingDelegate()
    manager = HomeManager(home, delegate: delegate)
    manager.homeDelegate = delegate
    manager.accessoryDelegate = delegate
    _ = await delegate.waits(for: "homes")
    delegate.forget()
  }
}

/// A home without a network: tests inject the reports of its devices.
struct OfflineHome {
  let home: Home

  /// - Parameter timeout: the timeout of requests; long for requests to another owner, because the machine may be busy.
  init(_ directory: ScratchDirectory, follows: Bool = true, timeout: Duration = .seconds(10)) async throws {
    var options = HomeController.Options(state: directory.state, logger: Logger(label: "test"))
    options.timeout = timeout
    options.discovery = .off
    home = try await Home(options)
    if follows { try await home.follow() }
  }

  /// Makes changes without an origin.
  func make(_ changes: [HomeChange]) async throws {
    try await home.controller.change { _ throws(HomeError) in (changes, ()) }
  }
}

extension HomeSamples {
  /// A bridge with two lamps behind it.
  static func bridge(_ node: UInt64) -> [HomeChange] {
    let bridge = SourceID(NodeID(node))
    var changes: [HomeChange] = [
      .deviceAdded(id: "\(bridge)", name: "Bridge", roomID: nil, structureID: "home"),
      .sourceAdded(bridge, device: "\(bridge)"),
      .topology(
        bridge,
        [
          DeviceEndpoint(id: 0, deviceTypes: [0x16], servers: [0x1D, 0x28], parts: [1, 2, 3]),
          DeviceEndpoint(id: 1, deviceTypes: [0x0E], servers: [0x1D], parts: [2, 3]),
        ], DeviceIdentity()),
    ]
    for endpoint in [EndpointID(2), 3] {
      let source = SourceID(NodeID(node), endpoint)
      changes += [
        .deviceAdded(id: "\(source)", name: "Behind \(endpoint)", roomID: nil, structureID: "home"),
        .sourceAdded(source, device: "\(source)"),
        .topology(
          source, [DeviceEndpoint(id: endpoint, deviceTypes: [0x13, 0x100], servers: [6, 0x1D, 0x39])],
          DeviceIdentity()),
      ]
    }
    return changes
  }
}
