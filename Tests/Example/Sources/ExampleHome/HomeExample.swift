import Foundation
import HearthHome
import Logging
import MatterClusters
import MatterModel

/// Reads and observes a home. The article “Observing a home” quotes it, which `ArticleTests` checks.
enum HomeExample {
  static func open(_ state: StateDirectory) async throws -> Home {
    let options = HomeController.Options(state: state, logger: Logger(label: "home"))
    let home = try await Home(options)
    try await home.follow()
    return home
  }

  static func list(_ home: Home) async throws {
    for device in try await home.devices().list() {
      print(device.name, device.sourceConnectivity.connectivityState, device.contact.lastDate?.description ?? "never")
    }
  }

  static func types(_ device: HomeDevice) {
    if let light = device.types.get(DimmableLightDeviceType.self) {
      let level = light.matterTraits.levelControlTrait?.attributes.currentLevel
      print(level.map { "at \($0) of 254" } ?? "unknown level")
    }
  }

  static func commands(_ light: DimmableLightDeviceType) async throws {
    try await light.matterTraits.onOffTrait?.on()
    try await light.matterTraits.onOffTrait?.waiting(.seconds(5)).toggle()
  }

  static func snapshots(_ home: Home) async {
    for await devices in home.devices().batched() {
      print("\(devices.count) devices")
    }
  }

  static func changes(_ home: Home) async {
    for await change in home.devices().stream() {
      switch change {
      case .added(let device): print("added \(device.name)")
      case .updated(let old, let new): print("\(old.name) → \(new.name), \(new.sourceConnectivity.connectivityState)")
      case .removed(let device): print("removed \(device.name)")
      }
    }
  }

  static func reports(_ device: HomeDevice) async {
    for await light in device.types.subscribe(OnOffLightDeviceType.self) {
      print(light.matterTraits.onOffTrait?.attributes.onOff == true ? "on" : "off")
    }
  }

  static func allTypes(_ device: HomeDevice) -> ObservationHandle {
    device.types.subscribeAll().sink { types in print(types.map(\.name)) }
  }

  static func closure(_ home: Home) -> ObservationHandle {
    let handle = home.rooms().batched().sink { rooms in
      print(rooms.map(\.name))
    }
    return handle
  }

  static func operators(_ home: Home) -> ObservationHandle {
    let handle = home.devices().batched()
      .compactMap { devices in devices.first { $0.types.contains(.light) } }
      .map { light in light.sourceConnectivity.connectivityState }
      .removeDuplicates()
      .sink { state in print("the first light is \(state)") }
    return handle
  }

  static func device(_ home: Home, _ id: String) -> ObservationHandle {
    let handle = home.device(id: id).sink { device in print(device.name, device.room?.name ?? "") }
    return handle
  }

  static func filters(_ home: Home) -> ObservationHandle {
    let lights = home.devices().having(.light).filter { $0.sourceConnectivity.connectivityState == .offline }
    let handle = lights.batched().sink { lights in print("\(lights.count) lights are offline") }
    return handle
  }

  static func connectivity(_ device: HomeDevice) {
    if device.sourceConnectivity.connectivityState == .offline {
      print(device.offlineReason?.text ?? "offline", "last contact", device.contact.lastDate?.description ?? "never")
    }
  }

  static func clouds(_ home: Home) async throws {
    for account in try await home.cloudAccounts {
      print(account.name, account.failure ?? "works", "\(account.devices.count) devices")
    }
  }

  static func query(_ home: Home) async throws {
    let query = ObserverQuery(SampleType.connectivity) { _, completion, _ in
      // A notification without data: read the samples, then complete it.
      completion()
    }
    await home.execute(query)
  }

  static func log(_ home: Home, after anchor: inout Anchor?) async throws {
    let result = try await home.results(of: AnchoredQuery(.all, after: anchor))
    switch result {
    case .samples(let samples, _, _):
      for sample in samples { print(sample.startDate, sample.change) }
    case .reset(let stored):
      // The log starts after the anchor: reload the home.
      print("\(stored.state.devices.count) devices")
    }
    anchor = result.next
  }

  enum Spinner: Cluster {
    static let id: ClusterID = 0xFFF1_FC20, revision: UInt16 = 1, name = "Spinner"
    static let speed = Attribute<Self, UInt16>(0x0000, "Speed")
    static let spin = Command<Self, NoFields, NoFields>(0x00, "Spin")
    static let elements: [any ClusterElement] = [speed, spin]
  }
  enum ExampleOrganization { typealias SpinnerTrait = Trait<Spinner> }
}
