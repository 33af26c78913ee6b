import MatterCertificates
import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

/// A dimmable light and a controller in their own world.
final class SimulatedHome {
  static let passcode: UInt32 = 20_202_021
  static let discriminator: UInt16 = 3840

  let world: World
  let light: SimulatedHost<DeviceEngine>
  let controller: SimulatedHost<ControllerEngine>

  /// Values that take long to create, shared by all tests.
  struct Material: Sendable {
    let attestation: TestAttestation
    let verifier: AttestationVerifier
    let passcode: PASEParameters

    init() throws {
      var random = SeededRandomSource(seed: 4711)
      attestation = try TestAttestation(
        vendorID: 0xFFF1, productID: 0x8000, deviceTypeID: 0x0101, random: &random,
        signatures: DeterministicSignatures())
      verifier = try TestAttestation.verifier()
      let salt = Array("a pinch of salt!".utf8)
      passcode = PASEParameters(
        verifier: try SPAKE2PlusVerifier(passcode: SimulatedHome.passcode, salt: salt, iterations: 1000), salt: salt,
        iterations: 1000)
    }
  }
  static let material = Result { try Material() }

  init(
    seed: UInt64 = 1, lightAddress: SocketAddress? = nil, device: (inout DeviceConfiguration) -> Void = { _ in },
    controller change: (inout ControllerConfiguration) -> Void = { _ in }
  ) throws {
    let material = try Self.material.get()
    world = World(seed: seed)
    let attestation = material.attestation
    var configuration = DeviceConfiguration(
      vendorName: "Hearth", vendorID: 0xFFF1, productName: "Lamp", productID: 0x8000, nodeLabel: "Lamp",
      serialNumber: "S1", uniqueID: "U1", discriminator: Self.discriminator, passcode: material.passcode,
      attestation: .credentials(AttestationCredentials(attestation)),
      port: 5540, hostName: "001122334455")
    device(&configuration)
    let endpoint = EndpointDefinition(
      1, deviceTypes: [DeviceTypes.dimmableLight],
      servers: [
        GroupsServer.make(), ScenesManagementServer.make(), IdentifyServer.make(.lightOutput), OnOffServer.make(),
        LevelControlServer.make(),
      ])
    light = world.add("light", address: lightAddress) { [configuration] boot in
      DeviceEngine(
        configuration, endpoints: [endpoint], stored: boot.state, random: boot.random,
        signatures: DeterministicSignatures(), at: boot.now)
    }
    var controllerConfiguration = ControllerConfiguration(
      notBefore: .zero, attestation: material.verifier, signatures: DeterministicSignatures())
    change(&controllerConfiguration)
    controller = world.add("controller") { [controllerConfiguration] boot in
      do {
        return try ControllerEngine(controllerConfiguration, state: boot.state, random: boot.random)
      } catch {
        // The engine stored this state itself, so a failure to read it is a programming error.
        preconditionFailure("the controller does not start: \(error)")
      }
    }
  }

  // MARK: Operations

  /// Starts an operation of the controller, and runs until it completes.
  func result(
    within time: Duration = .seconds(300), of request: (inout ControllerEngine, Instant) -> OperationID
  ) throws -> OperationOutcome {
    guard let operation = controller.command(request) else { throw SimulationError.timedOut(at: world.now) }
    return try controller.event(within: time) { event -> Result<OperationOutcome, ControllerError>? in
      if case .completed(operation, let result) = event { result } else { nil }
    }.get()
  }

  /// Commissions the light by setup code and DNS-SD.
  @discardableResult
  func commission(_ passcode: UInt32 = passcode) throws -> NodeID {
    let request = CommissioningRequest(passcode: passcode, target: .discriminator(.long(Self.discriminator)))
    guard case .commissioned(let outcome) = try result(of: { $0.commission(request, at: $1) }) else {
      throw SimulationError.timedOut(at: world.now)
    }
    return outcome.nodeID
  }

  @discardableResult
  func invoke(_ commands: [CommandData], timed: Duration? = nil) throws -> [CommandResult] {
    guard case .invoked(let results) = try result(of: { $0.invoke(1, commands, timed: timed, at: $1) }) else {
      throw SimulationError.timedOut(at: world.now)
    }
    return results
  }

  func read(_ paths: [AttributePath]) throws -> ReassembledReport {
    guard case .report(let report) = try result(of: { $0.read(1, paths, at: $1) }) else {
      throw SimulationError.timedOut(at: world.now)
    }
    return report
  }

  func write(_ writes: [AttributeWrite], timed: Duration? = nil) throws -> [AttributeStatus] {
    guard case .written(let statuses) = try result(of: { $0.write(1, writes, timed: timed, at: $1) }) else {
      throw SimulationError.timedOut(at: world.now)
    }
    return statuses
  }

  /// Opens a session with the light if it has lost the present one, which only a read can find out without a risk.
  func reconnect() throws { _ = try read([AttributePath(OnOff.onOff.path(on: 1))]) }

  func toggle() throws { try invoke([CommandData(OnOff.toggle.path(on: 1))]).checkStatus() }

  /// The keys of the devices that may have been commissioned.
  var unconfirmed: [String] { controller.store.keys.filter { $0.hasPrefix("unconfirmed/") } }

  /// The present value on the light.
  var isOn: Bool? { light.command { engine, _ in engine.value(OnOff.onOff, on: 1) } ?? nil }
  func state() throws -> Bool {
    let isOn = isOn
    return try #require(isOn as Bool?)
  }
  var level: UInt8? {
    let value = light.command { engine, _ in engine.value(LevelControl.currentLevel, on: 1) } ?? nil
    return value?.wrapped
  }

  /// Subscribes, and waits until the subscription is established.
  @discardableResult
  func subscribe(_ path: AttributePath, maxInterval: Duration = .seconds(30)) throws -> SubscriptionHandle {
    let request = SubscriptionRequest(paths: [path], maxInterval: maxInterval)
    guard let handle = controller.command({ $0.subscribe(1, request, at: $1) }) else {
      throw SimulationError.timedOut(at: world.now)
    }
    try controller.event(within: .seconds(300)) { event -> Bool? in
      if case .subscriptionEstablished(handle, _) = event { true } else { nil }
    }
    return handle
  }

  /// Switches the light at the device.
  func switchByHand(_ isOn: Bool) {
    light.command { engine, now in try? engine.act(set: OnOff.onOff, isOn, on: 1, at: now) }
  }

  /// Returns the reported values of an attribute, in order.
  func reports<Value: ModelValue>(of path: ConcreteAttributePath, as _: Value.Type) throws -> [Value] {
    try controller.events.compactMap {
      guard case .report(_, let report) = $0.event, let value = report[path]?.value else { return nil }
      return try Value(tlv: value)
    }
  }
}
