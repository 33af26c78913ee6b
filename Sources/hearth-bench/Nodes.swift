import MatterCertificates
import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol

/// Builds the engines of the benchmarks: a complete light, and a controller that trusts it.
enum Nodes {
  static let passcode: UInt32 = 20_202_021
  /// 2025-05-13, in seconds of the Matter epoch.
  static let notBefore = Duration.seconds(800_000_000)

  /// Creates certificates and a passcode verifier, which takes a few milliseconds and is not part of the measurements.
  static func lightConfiguration(port: UInt16) throws -> DeviceConfiguration {
    var random = SystemRandomSource()
    let salt = [UInt8](repeating: 0x20, count: 32)
    let verifier = try SPAKE2PlusVerifier(passcode: passcode, salt: salt, iterations: 1_000)
    let attestation = try TestAttestation(
      vendorID: 0xFFF1, productID: 0x8000, deviceTypeID: DeviceTypes.onOffLight.id.rawValue, random: &random)
    return DeviceConfiguration(
      vendorName: "Hearth", vendorID: 0xFFF1, productName: "Bench Light", productID: 0x8000, serialNumber: "B1",
      uniqueID: "bench-1", discriminator: 0xF00,
      passcode: PASEParameters(verifier: verifier, salt: salt, iterations: 1_000),
      attestation: .credentials(AttestationCredentials(attestation)),
      port: port, hostName: "0242AC110002")
  }

  static func light(_ configuration: DeviceConfiguration, at now: Instant) -> DeviceEngine {
    let endpoint = EndpointDefinition(
      1, deviceTypes: [DeviceTypes.onOffLight],
      servers: [
        IdentifyServer.make(.lightOutput), GroupsServer.make(), ScenesManagementServer.make(), OnOffServer.make(),
      ])
    return DeviceEngine(configuration, endpoints: [endpoint], random: SystemRandomSource(), at: now)
  }

  static func controller(_ state: StoredState = [:]) throws -> ControllerEngine {
    let configuration = ControllerConfiguration(notBefore: notBefore, attestation: try TestAttestation.verifier())
    return try ControllerEngine(configuration, state: state, random: SystemRandomSource())
  }

  static func commissioning(of address: SocketAddress) -> CommissioningRequest {
    CommissioningRequest(passcode: passcode, target: .addresses([address]))
  }

  static let toggle = CommandData(OnOff.toggle.path(on: 1))

  /// Returns the outcome of an operation if the event completes one.
  /// - Throws: the error of the operation.
  static func outcome(_ event: ControllerEvent) throws(ControllerError) -> OperationOutcome? {
    guard case .completed(_, let result) = event else { return nil }
    let outcome = try result.get()
    if case .invoked(let results) = outcome { try results.checkStatus() }
    return outcome
  }
}

/// A controller and a light without a network: datagrams are delivered immediately.
struct EnginePair {
  static let controllerAddress = SocketAddress(.loopback4, port: 40_000)
  static let lightAddress = SocketAddress(.loopback4, port: 5540)

  var controller: ControllerEngine
  var light: DeviceEngine
  var now: Instant
  let node: NodeID

  /// Creates the pair and commissions the light.
  init() throws {
    now = Instant(nanoseconds: 1_000_000_000)
    controller = try Nodes.controller()
    light = Nodes.light(try Nodes.lightConfiguration(port: 5540), at: now)
    node = controller.nextNodeID
    let request = Nodes.commissioning(of: Self.lightAddress)
    _ = controller.commission(request, at: now)
    guard case .commissioned? = try settle() else { throw BenchError("the light was not commissioned") }
  }

  /// Toggles the light, including all messages of the exchange.
  @inline(never) mutating func toggle() throws {
    now += .milliseconds(1)
    _ = controller.invoke(node, [Nodes.toggle], at: now)
    guard case .invoked? = try settle() else { throw BenchError("the light was not toggled") }
  }

  /// Processes effects until both engines are idle.
  private mutating func settle() throws -> OperationOutcome? {
    var outcome: OperationOutcome?
    var isBusy = true
    while isBusy {
      isBusy = false
      while let effect = controller.nextEffect() {
        isBusy = true
        switch effect {
        case .send(let bytes, _): light.handle(.datagram(bytes, from: Self.controllerAddress), at: now)
        case .emit(let event): if let result = try Nodes.outcome(event) { outcome = result }
        default: break
        }
      }
      while let effect = light.nextEffect() {
        isBusy = true
        if case .send(let bytes, _) = effect {
          controller.handle(.datagram(bytes, from: Self.lightAddress), at: now)
        }
      }
    }
    return outcome
  }
}
