import MatterCertificates
import MatterClusters
import MatterController
import MatterCrypto
import MatterModel
import MatterProtocol

/// A controller and devices on a delayed link in virtual time.
struct World {
  var now = Instant.zero
  /// Random source for tests.
  var random = SeededRandomSource(seed: 4711)
  var controller: ControllerEngine
  var devices: [FakeDevice] = []
  let controllerAddress = SocketAddress(.loopback6, port: 40_000)
  var delay: Duration = .milliseconds(1)
  /// Whether the datagram with this number, from 0, is lost.
  var loses: (Int) -> Bool = { _ in false }
  private(set) var datagramCount = 0
  private var inFlight: [(at: Instant, number: Int, bytes: [UInt8], from: SocketAddress, to: SocketAddress)] = []

  var store: StoredState = [:]
  /// All store changes of the controller.
  var changes: [StoreChange] = []
  var events: [(at: Instant, event: ControllerEvent)] = []
  var browsed: Set<DiscoveryQuery> = []
  /// The services that browsing finds.
  var published: [MatterService] = []
  /// Whether services are also found by subtype.
  var publishesSubtypes = true

  init(_ change: (inout ControllerConfiguration) -> Void = { _ in }, state: StoredState = [:], seed: UInt64 = 1) throws
  {
    controller = try Self.makeController(change, state: state, seed: seed)
    store = state
  }

  static func makeController(
    _ change: (inout ControllerConfiguration) -> Void = { _ in }, state: StoredState, seed: UInt64
  ) throws -> ControllerEngine {
    try ControllerEngine(configuration(change), state: state, random: SeededRandomSource(seed: seed))
  }

  static func configuration(
    _ change: (inout ControllerConfiguration) -> Void = { _ in }
  ) throws -> ControllerConfiguration {
    var configuration = ControllerConfiguration(
      notBefore: .seconds(800_000_000), attestation: try TestAttestation.verifier())
    change(&configuration)
    return configuration
  }

  /// Adds a device; it is found by its discriminator.
  mutating func addDevice(passcode: UInt32 = 20_202_021, discriminator: UInt16 = 0xF00) throws {
    let index = UInt16(devices.count)
    let address = SocketAddress(.loopback6, port: 5540 + index)
    devices.append(try FakeDevice(address, seed: 100 + UInt64(index), passcode: passcode))
    var service = MatterService(
      kind: .commissionable(instance: UInt64(index)), hostName: "000000000001", port: address.port,
      addresses: [address.ip])
    service.discriminator = discriminator
    service.commissioningMode = 1
    published.append(service)
  }

  /// Performs the effects of all engines.
  mutating func drain() {
    while let effect = controller.nextEffect() {
      switch effect {
      case .send(let bytes, let to): post(bytes, from: controllerAddress, to: to)
      case .emit(let event): events.append((now, event))
      case .store(let changes):
        self.changes += changes
        for change in changes { store[change.key] = change.value }
      case .browse(let query):
        browsed.insert(query)
        for service in published
        where query.matches(service) && (publishesSubtypes || query == .commissionable(.any)) {
          controller.handle(.serviceFound(service), at: now)
        }
      case .stopBrowsing(let query): browsed.remove(query)
      case .publish, .withdraw, .join, .leave: break
      }
    }
    for index in devices.indices {
      for (bytes, to) in devices[index].drain(at: now) { post(bytes, from: devices[index].address, to: to) }
    }
  }

  private mutating func post(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress) {
    defer { datagramCount += 1 }
    if !loses(datagramCount) { inFlight.append((now + delay, datagramCount, bytes, from, to)) }
  }

  /// Advances to the next event.
  /// - Returns: false if there is no event until `end`.
  mutating func step(until end: Instant) -> Bool {
    drain()
    var next = inFlight.map(\.at).min()
    next = .earlier(next, controller.nextDeadline)
    for device in devices { next = .earlier(next, device.core.nextDeadline) }
    guard let next, next <= end else {
      now = max(now, end)
      return false
    }
    now = max(now, next)
    let due = inFlight.filter { $0.at <= now }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
    inFlight.removeAll { $0.at <= now }
    for datagram in due {
      if datagram.to == controllerAddress {
        controller.handle(.datagram(datagram.bytes, from: datagram.from), at: now)
      }
      for index in devices.indices where devices[index].address == datagram.to {
        devices[index].receive(datagram.bytes, from: datagram.from, at: now)
      }
      drain()
    }
    controller.advance(to: now)
    for index in devices.indices { devices[index].core.advance(to: now) }
    drain()
    return true
  }

  mutating func run(for duration: Duration) {
    let end = now + duration
    while step(until: end) {}
  }

  /// Runs until the operation completes.
  mutating func result(of id: OperationID, within: Duration = .seconds(300)) -> Result<
    OperationOutcome, ControllerError
  >? {
    let end = now + within
    drain()
    while completion(of: id) == nil, step(until: end) {}
    return completion(of: id)
  }

  func completion(of id: OperationID) -> Result<OperationOutcome, ControllerError>? {
    for (_, event) in events {
      if case .completed(id, let result) = event { return result }
    }
    return nil
  }

  func completions(of id: OperationID) -> Int {
    events.count { if case .completed(id, _) = $0.event { true } else { false } }
  }

  /// The error of an operation that is expected to fail.
  mutating func error(of id: OperationID) -> ControllerError? {
    if case .failure(let error)? = result(of: id) { error } else { nil }
  }

  /// Commissions the devices in order; they get the node ids 1, 2, …
  mutating func commissionAll() throws {
    for device in devices {
      let request = CommissioningRequest(passcode: device.passcode, target: .addresses([device.address]))
      let id = controller.commission(request, at: now)
      _ = try result(of: id)?.get()
    }
    events = []
    for index in devices.indices { devices[index].log = [] }
  }
}

let lampOnOff = OnOff.onOff.path(on: 1)
let toggleLamp = CommandData(OnOff.toggle.path(on: 1))
