import MatterCertificates
import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import VirtualDevices

extension FuzzTarget {
  /// Datagrams from unknown peers to a device that is on one fabric and open for commissioning into another.
  ///
  /// The input is a sequence of datagrams, each preceded by its length in two bytes and the delay in seconds in one.
  static let datagram = FuzzTarget(name: "datagram", seeds: { DeviceStage.shared.datagrams }) { input in
    var device = DeviceStage.shared.device
    var now = Parties.now
    for (index, piece) in Script(input).pieces.prefix(16).enumerated() {
      now += .seconds(Int64(piece.delay))
      let address = SocketAddress(.loopback4, port: 6000 + UInt16(index % 3))
      device.handle(.datagram(piece.bytes, from: address), at: now)
      drain(&device)
    }
    settle(&device, from: now)
  }

  /// Interaction model messages from an administrator, on one session.
  ///
  /// The input is a sequence of messages: length, delay in seconds, opcode and payload. With the top bit of the
  /// opcode set, the message continues the previous exchange.
  static let device = FuzzTarget(name: "device", seeds: { DeviceStage.shared.messages }) { input in
    var (device, client) = (DeviceStage.shared.device, DeviceStage.shared.client)
    var now = Parties.now
    guard let session = DeviceStage.shared.session else { return }
    var exchange: ExchangeID?
    for piece in Script(input).pieces.prefix(16) {
      now += .seconds(Int64(piece.delay % 64))
      guard let opcode = piece.bytes.first else { continue }
      if opcode & 0x80 == 0 || exchange == nil { exchange = client.openExchange(on: session, at: now) }
      guard let exchange else { break }
      client.send(opcode & 0x7F, payload: Array(piece.bytes.dropFirst()), on: exchange, then: .keepOpen, at: now)
      carry(&device, &client, now)
    }
    settle(&device, from: now)
  }

  /// Delivers the messages between a device and its client.
  /// - Parameters:
  ///   - store: called with each change that the device stores.
  ///   - established: called with each session that the client has established.
  static func carry(
    _ device: inout DeviceEngine, _ client: inout NodeCore, _ now: Instant, store: (StoreChange) -> Void = { _ in },
    established: (SessionID) -> Void = { _ in }
  ) {
    for _ in 0..<200 {
      var isQuiet = true
      while let output = client.nextOutput() {
        isQuiet = false
        switch output {
        case .send(let bytes, _): device.handle(.datagram(bytes, from: Parties.clientAddress), at: now)
        case .sessionEstablished(let id, _): established(id)
        default: break
        }
      }
      while let effect = device.nextEffect() {
        isQuiet = false
        switch effect {
        case .send(let bytes, Parties.clientAddress): client.receive(bytes, from: Parties.serverAddress, at: now)
        case .store(let changes): for change in changes { store(change) }
        default: break
        }
      }
      if isQuiet { return }
    }
    finding("a device and its client exchange messages endlessly")
  }

  private static func drain(_ device: inout DeviceEngine) {
    for _ in 0..<2_000 { guard device.nextEffect() != nil else { return } }
    finding("a device produces effects endlessly")
  }

  /// Advances the device without answering it, until it is idle.
  static func settle(_ device: inout DeviceEngine, from start: Instant, for time: Duration = .seconds(120)) {
    let end = start + time
    for _ in 0..<5_000 {
      drain(&device)
      guard let deadline = device.nextDeadline, deadline <= end else { return }
      device.advance(to: max(deadline, start))
    }
    finding("a device does not become idle")
  }
}

/// A sequence of chunks with delays, the input format of the engines' targets.
struct Script {
  var pieces: [(delay: UInt8, bytes: [UInt8])] = []

  init(_ input: [UInt8]) {
    var position = 0
    while position + 3 <= input.count {
      let length = Int(input[position]) | Int(input[position + 1]) << 8
      let end = min(input.count, position + 3 + length)
      pieces.append((input[position + 2], Array(input[(position + 3)..<end])))
      position = end
    }
  }

  static func encode(_ pieces: [[UInt8]]) -> [UInt8] {
    pieces.flatMap { [UInt8($0.count & 0xFF), UInt8($0.count >> 8), 0] + $0 }
  }
}

/// A commissioned device and its administrator with an established session.
struct DeviceStage {
  var device: DeviceEngine
  var client: NodeCore
  var session: SessionID?
  /// The client before it established the session.
  let initialClient: NodeCore
  /// The stored state of the device.
  var stored: StoredState
  /// The datagrams sent to the device so far.
  var history: [[UInt8]] = []
  let endpoints: [EndpointDefinition]

  /// A light. Not protected: fuzzing is single-threaded.
  nonisolated(unsafe) static let shared = make { [light] }

  /// A bridge with a device of each kind.
  nonisolated(unsafe) static let bridge = make {
    let kinds = DeviceKind.all.filter(\.sharesNode)
    let text =
      "devices: [{ name: Bridge, type: bridge, devices: ["
      + kinds.enumerated().map { "{ name: Device \($0), type: \"\($1.name)\" }" }.joined(separator: ", ") + "] }]"
    let home = try HomeDefinition.load(simulating: [("fuzz.yaml", text)])
    return home.devices.flatMap { DeviceAssembly.endpoints(of: $0) }
  }

  private static func make(_ endpoints: () throws -> [EndpointDefinition]) -> DeviceStage {
    do { return try DeviceStage(endpoints()) } catch {
      FuzzTarget.finding("the device could not be created: \(error)")
    }
  }

  static let light = EndpointDefinition(
    1, deviceTypes: [DeviceTypes.dimmableLight],
    servers: [
      IdentifyServer.make(.lightOutput), GroupsServer.make(), ScenesManagementServer.make(), OnOffServer.make(),
      LevelControlServer.make(),
    ])

  static func configuration(_ pase: PASEParameters) throws -> DeviceConfiguration {
    var random = SeededRandomSource(seed: 5)
    let attestation = try TestAttestation(
      vendorID: 0xFFF1, productID: 0x8000, deviceTypeID: 0x0101, random: &random, signatures: DeterministicSignatures())
    var configuration = DeviceConfiguration(
      vendorName: "Hearth", vendorID: 0xFFF1, productName: "Fuzzed Light", productID: 0x8000, serialNumber: "F1",
      uniqueID: "fuzz-1", discriminator: 0xF00, passcode: pase,
      attestation: .credentials(AttestationCredentials(attestation)),
      port: 5540, hostName: "0242AC110002")
    configuration.enableKey = [UInt8](repeating: 1, count: 16)
    return configuration
  }

  private init(_ endpoints: [EndpointDefinition]) throws {
    self.endpoints = endpoints
    let parties = try Parties()
    let entry = AccessControl.AccessControlEntryStruct(
      privilege: .administer, authMode: .case, subjects: .value([Parties.clientNode]), targets: .null, fabricIndex: 1)
    stored = [
      "fabric/1": parties.serverFabric.tlv, "attribute/0/1f/0": [entry].tlv,
    ]
    device = DeviceEngine(
      try Self.configuration(parties.pase), endpoints: endpoints, stored: stored,
      random: SeededRandomSource(seed: 9), signatures: DeterministicSignatures(), at: Parties.now)
    (client, initialClient) = (parties.client, parties.client)
    _ = client.establishCASE(
      fabric: 1, peer: Parties.serverNode, to: Parties.serverAddress, parameters: .own, at: Parties.now)
    guard let session = run() else { throw StatusError(.failure) }
    self.session = session
    // A commissioning window, so that PASE is possible.
    let open = CommandData(
      AdministratorCommissioning.openBasicCommissioningWindow.path(on: 0),
      fields: AdministratorCommissioning.OpenBasicCommissioningWindowRequest(commissioningTimeout: 900).tlv)
    guard let exchange = client.openExchange(on: session, at: Parties.now) else { throw StatusError(.failure) }
    client.send(
      InteractionOpcode.timedRequest.rawValue, payload: TimedRequest(timeoutMilliseconds: 1000).encoded, on: exchange,
      then: .keepOpen, at: Parties.now)
    _ = run()
    client.send(
      InteractionOpcode.invokeRequest.rawValue, payload: InvokeRequest([open], isTimed: true).encoded, on: exchange,
      then: .keepOpen, at: Parties.now)
    _ = run()
    guard device.isCommissionable else { throw StatusError(.invalidInState) }
  }

  private mutating func run() -> SessionID? {
    var established: SessionID?
    while true {
      var isQuiet = true
      while let output = client.nextOutput() {
        isQuiet = false
        switch output {
        case .send(let bytes, _):
          history.append(bytes)
          device.handle(.datagram(bytes, from: Parties.clientAddress), at: Parties.now)
        case .sessionEstablished(let id, _): established = id
        default: break
        }
      }
      while let effect = device.nextEffect() {
        isQuiet = false
        switch effect {
        case .send(let bytes, _): client.receive(bytes, from: Parties.serverAddress, at: Parties.now)
        case .store(let changes): for change in changes { stored[change.key] = change.value }
        default: break
        }
      }
      if isQuiet { return established }
    }
  }

  /// Valid datagrams: those that established the session, and the first messages of all handshakes.
  var datagrams: [[UInt8]] {
    let handshakes = [RecordedHandshake.pase, RecordedHandshake.certificates, RecordedHandshake.resumption]
    return [Script.encode(Array(history.prefix(6)))]
      + handshakes.map { handshake in Script.encode(handshake.steps.filter(\.isForServer).map(\.datagram)) }
  }

  /// Valid requests.
  var messages: [[UInt8]] {
    let opcodes: [UInt8: UInt8] = [1: 2, 2: 3, 5: 6, 7: 8, 9: 10]
    var single = Samples.interactions().compactMap { sample in
      opcodes[sample[0]].map { [$0] + sample.dropFirst() }
    }
    for command in DeviceStage.commands {
      single.append([8] + InvokeRequest([command]).encoded)
    }
    let status: [UInt8] = [0x81] + StatusResponse(.success).encoded
    return single.map { Script.encode([$0]) }
      + [
        Script.encode([single[0], status, status]), Script.encode([single[1], status, status]),
        Script.encode([single[4], [0x88] + single[3].dropFirst()]),
      ]
  }

  /// One of each command that a client can send, with valid fields.
  private static var commands: [CommandData] {
    [
      CommandData(
        GeneralCommissioning.armFailSafe.path(on: 0),
        fields: GeneralCommissioning.ArmFailSafeRequest(expiryLengthSeconds: 60, breadcrumb: 1).tlv),
      CommandData(CommandPath(endpoint: 0, cluster: 0x003E, command: 0x04), fields: nonce),
      CommandData(CommandPath(endpoint: 0, cluster: 0x003E, command: 0x00), fields: nonce),
      CommandData(CommandPath(endpoint: 0, cluster: 0x003E, command: 0x02), fields: [0x15, 0x24, 0, 1, 0x18]),
      CommandData(CommandPath(endpoint: 0, cluster: 0x003E, command: 0x09), fields: [0x15, 0x2C, 0, 1, 0x61, 0x18]),
      CommandData(CommandPath(endpoint: 0, cluster: 0x003E, command: 0x0A), fields: [0x15, 0x24, 0, 2, 0x18]),
      CommandData(CommandPath(endpoint: 1, cluster: 0x0008, command: 0x00), fields: level),
      CommandData(CommandPath(endpoint: 1, cluster: 0x0008, command: 0x04), fields: level),
      CommandData(
        CommandPath(endpoint: 1, cluster: 0x0004, command: 0x00), fields: [0x15, 0x24, 0, 5, 0x2C, 1, 0, 0x18]),
      CommandData(
        CommandPath(endpoint: 1, cluster: 0x0062, command: 0x00),
        fields: [
          0x15, 0x24, 0, 0, 0x24, 1, 3, 0x24, 2, 0, 0x2C, 3, 1, 0x61, 0x36, 4, 0x15, 0x24, 0, 6, 0x36, 1, 0x15, 0x24, 0,
          0,
          0x24, 1, 1, 0x18, 0x18, 0x18, 0x18, 0x18,
        ]),
      CommandData(
        CommandPath(endpoint: 1, cluster: 0x0062, command: 0x04), fields: [0x15, 0x24, 0, 0, 0x24, 1, 3, 0x18]),
      CommandData(CommandPath(endpoint: nil, cluster: 0x0006, command: 0x02)),
      CommandData(
        CommandPath(endpoint: 0, cluster: 0x003F, command: 0x00),
        fields: [0x15, 0x35, 0, 0x24, 0, 1, 0x24, 1, 0, 0x30, 2, 16] + [UInt8](repeating: 3, count: 16) + [
          0x24, 3, 1, 0x18, 0x18,
        ]),
    ]
  }

  private static let nonce: [UInt8] = [0x15, 0x30, 0, 32] + [UInt8](repeating: 7, count: 32) + [0x18]
  private static let level: [UInt8] = [0x15, 0x24, 0, 100, 0x24, 1, 10, 0x24, 2, 0, 0x24, 3, 0, 0x18]
}
