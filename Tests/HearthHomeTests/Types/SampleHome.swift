import HearthHome
import HomeModel
import MatterClusters
import MatterModel
import MatterProtocol
import Synchronization

/// An in-memory home: applies changes, and records the requests to its devices.
final class SampleHome: HomeAccess {
  struct Call: Equatable {
    var command: CommandData
    var isTimed: Bool
    var device: String
    var source: SourceID?
    var timeout: Duration?
  }

  private struct Storage {
    var state = HomeState()
    var observers: [Int: (device: String, broadcast: Broadcast<DeviceReport>)] = [:]
    var nextObserver = 0
    var calls: [Call] = []
    var writes: [(writes: [AttributeWrite], isTimed: Bool, timeout: Duration?)] = []
    var answer: CommandData?
    var failure: HomeError?
  }

  private let storage = Mutex(Storage())

  /// Applies changes, and notifies the observers of each affected device once.
  func apply(_ changes: [HomeChange]) {
    var finished: [Broadcast<DeviceReport>] = []
    storage.withLock { storage in
      var changed: [String: Set<ClusterPath>] = [:]
      for change in changes {
        let before = storage.state
        storage.state.apply(change)
        switch change {
        case .attribute(let node, let path, let value):
          guard let device = storage.state.deviceID(of: node, path.endpoint) else { continue }
          if before.value(node, path) != value {
            let trait = storage.state.trait(of: ClusterPath(path.endpoint, path.cluster), on: node)
            changed[device, default: []].formUnion(trait.map { [$0.path] } ?? [])
          } else {
            changed[device] = changed[device] ?? []
          }
        case .topology(let source, _, _), .connectivity(let source, _):
          if let device = storage.state.device(of: source)?.id { changed[device] = changed[device] ?? [] }
        case .deviceRenamed(let id, _), .deviceMoved(let id, _): changed[id] = changed[id] ?? []
        case .deviceRemoved(let id):
          finished += storage.observers.values.filter { $0.device == id }.map(\.broadcast)
        default: break
        }
      }
      for observer in storage.observers.values {
        guard let paths = changed[observer.device], let device = device(observer.device, of: storage.state) else {
          continue
        }
        observer.broadcast.send(DeviceReport(device: device, changed: paths))
      }
    }
    // Outside of the lock, because a finished stream removes its observer.
    for broadcast in finished { broadcast.finish() }
  }

  /// The current value of a device.
  func device(_ id: String) -> HomeDevice? { storage.withLock { device(id, of: $0.state) } }

  var devices: [HomeDevice] {
    storage.withLock { storage in storage.state.orderedDevices.compactMap { device($0.id, of: storage.state) } }
  }

  private func device(_ id: String, of state: HomeState) -> HomeDevice? {
    guard let entry = state.devices[id] else { return nil }
    let values = entry.active.flatMap { state.values[$0.id.node] } ?? NodeValues()
    return HomeDevice(
      entry, values: values, others: state.values, contact: Contact(), settled: .unknown, home: self)
  }

  var calls: [Call] { storage.withLock { $0.calls } }
  var writes: [(writes: [AttributeWrite], isTimed: Bool, timeout: Duration?)] { storage.withLock { $0.writes } }
  var observerCount: Int { storage.withLock { $0.observers.count } }

  /// Sets the answer to all further requests.
  func answer(_ answer: CommandData?, failure: HomeError? = nil) {
    storage.withLock {
      $0.answer = answer
      $0.failure = failure
    }
  }

  // MARK: HomeAccess

  func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> CommandData? {
    let (answer, failure) = storage.withLock { storage in
      storage.calls.append(Call(command: command, isTimed: isTimed, device: device, source: source, timeout: timeout))
      return (storage.answer, storage.failure)
    }
    if let failure { throw failure }
    return answer
  }

  func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by source: SourceID?, timeout: Duration?
  ) async throws(HomeError) {
    let failure = storage.withLock { storage in
      storage.writes.append((writes, isTimed, timeout))
      return storage.failure
    }
    if let failure { throw failure }
  }

  func edit(_ edits: [HomeEdit]) async throws(HomeError) -> [HomeEdit.Result] {
    throw HomeError(.notRunning, "the home has fixed rooms")
  }

  func setName(_ name: String, of device: String) async throws(HomeError) -> HomeDevice {
    apply([.deviceRenamed(id: device, name: name)])
    guard let renamed = self.device(device) else { throw HomeError(.notFound, "there is no such device") }
    return renamed
  }

  func reports(of device: String) -> DeviceReports {
    storage.withLock { storage in
      let slot = DeviceReports.Slot()
      guard let value = self.device(device, of: storage.state) else { return .none }
      let number = storage.nextObserver
      storage.nextObserver += 1
      let broadcast = Broadcast<DeviceReport>()
      storage.observers[number] = (device, broadcast)
      broadcast.attach(slot, with: DeviceReport(device: value, changed: []))
      let end = { @Sendable [weak self] in _ = self?.storage.withLock { $0.observers.removeValue(forKey: number) } }
      return DeviceReports(first: slot, reading: .init(onEnd: { end() }))
    }
  }
}

extension SampleHome {
  static let peer = SourceStatus(SourceConnectivity(.online, .peer))
  static let gone = SourceStatus(SourceConnectivity(.offline, .peer), reason: .timedOut)

  /// Adds a device with one source.
  func add(
    _ source: SourceID, name: String = "Lamp", room: String? = nil, status: SourceStatus = peer,
    identity: DeviceIdentity = DeviceIdentity(), _ endpoints: [DeviceEndpoint]
  ) {
    let id = "\(source)"
    apply([
      .structureAdded(Structure(id: "s", name: "Home")),
      .deviceAdded(id: id, name: name, roomID: room, structureID: "s"), .sourceAdded(source, device: id),
      .topology(source, endpoints, identity), .connectivity(source, status),
    ])
  }

  /// Applies one report of attribute values.
  func report(_ node: NodeID, _ values: (ConcreteAttributePath, [UInt8])...) {
    apply(values.map { .attribute(node, $0.0, value: $0.1) })
  }

  static let root = DeviceEndpoint(
    id: 0, deviceTypes: [DeviceTypes.rootNode.id], servers: [Descriptor.id, BasicInformation.id], parts: [1])

  static func endpoint(_ id: EndpointID, _ types: DeviceType..., with more: [ClusterID] = []) -> DeviceEndpoint {
    let servers = Set(types.flatMap(\.servers) + more + [Descriptor.id])
    return DeviceEndpoint(id: id, deviceTypes: types.map(\.id), servers: servers.sorted())
  }

  /// A home with one dimmable light, node 5.
  static func withLight() -> SampleHome {
    let home = SampleHome()
    home.add(SourceID(5), [root, endpoint(1, DeviceTypes.dimmableLight)])
    home.report(
      5, (OnOff.onOff.path(on: 1), true.tlv),
      (LevelControl.currentLevel.path(on: 1), Nullable<UInt8>.value(128).tlv),
      (LevelControl.onLevel.path(on: 1), Nullable<UInt8>.null.tlv))
    return home
  }
}

// MARK: Manufacturer-specific declarations

/// A manufacturer-specific cluster, declared as code outside of this project would do it.
enum Spinner: Cluster {
  static let id: ClusterID = 0xFFF1_FC01, revision: UInt16 = 1, name = "Spinner"
  static let speed = Attribute<Self, UInt16>(0x0000, "Speed", write: .operate)
  static let direction = Attribute<Self, Nullable<UInt8>>(0x0001, "Direction", write: .operate)
  static let spin = Command<Self, SpinRequest, SpinResponse>(0x00, "Spin", response: 0x01)
  static let elements: [any ClusterElement] = [speed, direction, spin]

  struct SpinRequest: ModelStruct {
    var speed: UInt16 = 0
    static let fields: [Field<Self>] = [.init(0, "Speed", \.speed)]
    init() {}
    init(speed: UInt16) { self.speed = speed }
  }

  struct SpinResponse: ModelStruct {
    var status: UInt8 = 0
    var speed: UInt16 = 0
    static let fields: [Field<Self>] = [.init(0, "Status", \.status), .init(1, "Speed", \.speed)]
    init() {}
  }
}

enum ExampleOrganization {
  typealias SpinnerTrait = Trait<Spinner>

  struct SpinnerDeviceType: HomeDeviceType {
    static let deviceType = DeviceType(0xFFF1_0001, revision: 1, name: "Spinner", servers: [Spinner.id])
    let untyped: AnyDeviceType
    init(_ untyped: AnyDeviceType) { self.untyped = untyped }
  }
}
