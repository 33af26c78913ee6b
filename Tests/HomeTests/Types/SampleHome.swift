import MatterClusters
import MatterModel
import MatterProtocol
import Synchronization

@testable import Home

/// A home without devices: a state that is made of changes, and a log of what was asked of the devices.
final class SampleHome: HomeAccess {
  struct Call: Equatable {
    var command: CommandData
    var isTimed: Bool
    var device: String
    var way: SourceID?
    var timeout: Duration?
  }

  private struct Inside {
    var state = HomeState()
    var observers: [Int: (device: String, broadcast: Broadcast<DeviceReport>)] = [:]
    var nextObserver = 0
    var calls: [Call] = []
    var writes: [(writes: [AttributeWrite], isTimed: Bool, timeout: Duration?)] = []
    var answer: CommandData?
    var failure: HomeError?
  }

  private let inside = Mutex(Inside())

  /// Makes changes, and tells the observers of each device that one was about, once.
  func apply(_ changes: [HomeChange]) {
    var finished: [Broadcast<DeviceReport>] = []
    inside.withLock { inside in
      var changed: [String: Set<ClusterPath>] = [:]
      for change in changes {
        let before = inside.state
        inside.state.apply(change)
        switch change {
        case .attribute(let node, let path, let value):
          guard let device = inside.state.deviceID(of: node, path.endpoint) else { continue }
          if before.value(node, path) != value {
            changed[device, default: []].insert(ClusterPath(path.endpoint, path.cluster))
          } else {
            changed[device] = changed[device] ?? []
          }
        case .topology(let source, _, _), .connectivity(let source, _):
          if let device = inside.state.device(of: source)?.id { changed[device] = changed[device] ?? [] }
        case .deviceRenamed(let id, _), .deviceMoved(let id, _): changed[id] = changed[id] ?? []
        case .deviceRemoved(let id):
          finished += inside.observers.values.filter { $0.device == id }.map(\.broadcast)
        default: break
        }
      }
      for observer in inside.observers.values {
        guard let paths = changed[observer.device], let device = device(observer.device, of: inside.state) else {
          continue
        }
        observer.broadcast.send(DeviceReport(device: device, changed: paths))
      }
    }
    // Not under the lock: a stream that ends takes its observer away.
    for broadcast in finished { broadcast.finish() }
  }

  /// A device as it is now.
  func device(_ id: String) -> HomeDevice? { inside.withLock { device(id, of: $0.state) } }

  var devices: [HomeDevice] {
    inside.withLock { inside in inside.state.orderedDevices.compactMap { device($0.id, of: inside.state) } }
  }

  private func device(_ id: String, of state: HomeState) -> HomeDevice? {
    guard let entry = state.devices[id] else { return nil }
    let values = entry.active.flatMap { state.values[$0.id.node] } ?? NodeValues()
    return HomeDevice(entry, values: values, contact: Contact(), settled: .unknown, home: self)
  }

  var calls: [Call] { inside.withLock { $0.calls } }
  var writes: [(writes: [AttributeWrite], isTimed: Bool, timeout: Duration?)] { inside.withLock { $0.writes } }
  var observerCount: Int { inside.withLock { $0.observers.count } }

  /// What the devices answer from now on.
  func answer(_ answer: CommandData?, failure: HomeError? = nil) {
    inside.withLock {
      $0.answer = answer
      $0.failure = failure
    }
  }

  // MARK: HomeAccess

  func invoke(
    _ command: CommandData, isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
  ) async throws(HomeError) -> CommandData? {
    let (answer, failure) = inside.withLock { inside in
      inside.calls.append(Call(command: command, isTimed: isTimed, device: device, way: way, timeout: timeout))
      return (inside.answer, inside.failure)
    }
    if let failure { throw failure }
    return answer
  }

  func write(
    _ writes: [AttributeWrite], isTimed: Bool, of device: String, by way: SourceID?, timeout: Duration?
  ) async throws(HomeError) {
    let failure = inside.withLock { inside in
      inside.writes.append((writes, isTimed, timeout))
      return inside.failure
    }
    if let failure { throw failure }
  }

  func setName(_ name: String, of device: String) async throws(HomeError) -> NamedDevice {
    apply([.deviceRenamed(id: device, name: name)])
    guard let renamed = self.device(device) else { throw HomeError(.notFound, "there is no such device") }
    return NamedDevice(device: renamed, wasCut: false)
  }

  func reports(of device: String) -> DeviceReports {
    inside.withLock { inside in
      let place = DeviceReports.Place()
      guard let value = self.device(device, of: inside.state) else { return .none }
      let number = inside.nextObserver
      inside.nextObserver += 1
      let broadcast = Broadcast<DeviceReport>()
      inside.observers[number] = (device, broadcast)
      broadcast.attach(place, with: DeviceReport(device: value, changed: []))
      let end = { @Sendable [weak self] in _ = self?.inside.withLock { $0.observers.removeValue(forKey: number) } }
      return DeviceReports(first: place, reading: .init(onEnd: { end() }))
    }
  }
}

extension SampleHome {
  static let peer = SourceStatus(SourceConnectivity(.online, .peer))
  static let gone = SourceStatus(SourceConnectivity(.offline, .peer), reason: .timedOut)

  /// Adds a device of one source.
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

  /// One report with the values of attributes.
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

// MARK: A maker's own

/// A maker's own cluster, as code outside this project declares it.
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
