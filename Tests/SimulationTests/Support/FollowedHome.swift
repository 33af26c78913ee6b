import HearthHome
import MatterCertificates
import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import MatterTLV
import Simulation
import Testing

/// A lamp, a bridge with two lamps, and a home that follows them, in their own world.
final class FollowedHome {
  /// 2026-01-01 00:00 UTC.
  static let epoch: Int64 = 1_767_225_600_000_000

  let world: World
  let lamp: SimulatedHost<DeviceEngine>
  let bridge: SimulatedHost<DeviceEngine>
  let home: SimulatedHost<HomeEngine>
  private let updateLog = UpdateLog()

  /// The log of all updates, in place of a database.
  private final class UpdateLog {
    var log: [HomeUpdate] = []
    var configuration = HomeConfiguration()
    var forgetsAddresses = false
    weak var host: SimulatedHost<HomeEngine>?
    private var seen = 0

    func collect() {
      for (_, event) in host?.events.dropFirst(seen) ?? [] {
        if case .updated(let update) = event { log.append(update) }
      }
      seen = host?.events.count ?? 0
    }

    var state: HomeState {
      var state = HomeState()
      for update in log { for change in update.changes { state.apply(change) } }
      return state
    }

    var versions: [NodeID: [ClusterPath: UInt32]] {
      log.reduce(into: [:]) { all, update in
        for (node, versions) in update.versions { all[node, default: [:]].merge(versions) { $1 } }
      }
    }
  }

  init(seed: UInt64 = 1, _ change: (inout HomeConfiguration) -> Void = { _ in }) throws {
    let material = try SimulatedHome.material.get()
    let world = World(seed: seed)
    self.world = world
    func device(_ name: String, _ number: UInt16, _ endpoints: [EndpointDefinition]) -> SimulatedHost<DeviceEngine> {
      var configuration = DeviceConfiguration(
        vendorName: "Hearth", vendorID: 0xFFF1, productName: name, productID: 0x8000, nodeLabel: name,
        serialNumber: "S\(number)", uniqueID: "U\(number)", discriminator: 3000 + number, passcode: material.passcode,
        attestation: .credentials(AttestationCredentials(material.attestation)),
        port: 5540, hostName: "00112233445\(number)")
      // Without resumption, the home has to notice restarts by itself.
      configuration.resumesSubscriptions = false
      return world.add(name) { boot in
        DeviceEngine(
          configuration, endpoints: endpoints, stored: boot.state, random: boot.random,
          signatures: DeterministicSignatures(), at: boot.now)
      }
    }
    lamp = device("Lamp", 1, [Self.light(1)])
    bridge = device(
      "Bridge", 2,
      [
        EndpointDefinition(1, deviceTypes: [DeviceTypes.aggregator], servers: [], parts: [2, 3]),
        Self.light(2, bridgedAs: "Left"), Self.light(3, bridgedAs: "Right"),
      ])
    change(&updateLog.configuration)
    let controllerConfiguration = ControllerConfiguration(
      notBefore: .zero, attestation: material.verifier, signatures: DeterministicSignatures())
    home = world.add("home") { [updateLog] boot in
      updateLog.collect()
      do {
        var state = boot.state
        if updateLog.forgetsAddresses {
          for (key, record) in state where key.hasPrefix(PeerRecord.prefix) {
            state[key] = try Self.withoutAddress(record)
          }
        }
        let controller = try ControllerEngine(controllerConfiguration, state: state, random: boot.random)
        return HomeEngine(
          controller, updateLog.configuration, state: updateLog.state, versions: updateLog.versions, epoch: Self.epoch,
          at: boot.now)
      } catch {
        // The engine stored this state itself, so a failure to read it is a programming error.
        preconditionFailure("the home does not start: \(error)")
      }
    }
    updateLog.host = home
  }

  /// Returns a node record without the address fields.
  private static func withoutAddress(_ record: [UInt8]) throws -> [UInt8] {
    var element = try TLVElement(decoding: record)
    if case .structure(let fields) = element.value {
      element.value = .structure(fields.filter { ![.context(1), .context(2), .context(3)].contains($0.tag) })
    }
    return element.encoded
  }

  private static func light(_ id: EndpointID, bridgedAs name: String? = nil) -> EndpointDefinition {
    let information = name.map {
      BridgedDeviceServer.make(
        BridgedDeviceFacts(
          vendorName: "Others", vendorID: 0xFFF2, productName: "Bulb", productID: 0x8001, nodeLabel: $0,
          serialNumber: "B\(id)", uniqueID: "B\(id)"))
    }
    return EndpointDefinition(
      id, deviceTypes: [DeviceTypes.onOffLight] + (name == nil ? [] : [DeviceTypes.bridgedNode]),
      servers: [
        GroupsServer.make(), ScenesManagementServer.make(), IdentifyServer.make(.lightOutput), OnOffServer.make(),
      ]
        + (information.map { [$0] } ?? []))
  }

  // MARK: Operations

  /// Commissions the lamp and the bridge as nodes 1 and 2, and follows them.
  func start() throws {
    for number in [UInt16(3001), 3002] {
      let request = CommissioningRequest(passcode: SimulatedHome.passcode, target: .discriminator(.long(number)))
      let id = home.command { engine, now in
        engine.begin(nil, at: now) { controller, now in controller.commission(request, at: now) }
      }
      _ = try home.event(within: .seconds(300)) { event -> Bool? in
        if case .controller(.completed(id, .success)) = event { true } else { nil }
      }
    }
    follow()
    try #require(try run(until: { $0.devices.count == 4 && $0.devices.values.allSatisfy(\.isOnline) }))
  }

  /// Whether the home loses the devices' addresses on restart.
  var forgetsAddresses: Bool {
    get { updateLog.forgetsAddresses }
    set { updateLog.forgetsAddresses = newValue }
  }

  func follow() { home.command { engine, now in engine.follow(at: now) } }

  var state: HomeState { home.engine?.reducer.state ?? HomeState() }
  /// All updates since the start.
  var log: [HomeUpdate] {
    updateLog.collect()
    return updateLog.log
  }

  /// - Returns: whether the condition held within the time.
  func run(for time: Duration = .seconds(60), until condition: (HomeState) -> Bool) throws -> Bool {
    try world.run(for: time) { condition(state) }
  }

  func status(_ device: String) -> SourceStatus? { state.devices[device]?.active?.status }
  func isOnline(_ device: String) -> Bool { state.devices[device]?.isOnline == true }

  func lampState() throws -> Bool {
    let isOn = lampIsOn(state)
    return try #require(isOn as Bool?)
  }

  func lampIsOn(_ state: HomeState) -> Bool? { state.values[1]?.value(OnOff.onOff, on: 1) }
}

extension DeviceEntry {
  var isOnline: Bool { active?.status.connectivity == SourceConnectivity(.online, .peer) }
}
