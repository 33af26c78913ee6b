import MatterCertificates
import MatterCrypto
import MatterModel
import MatterProtocol

/// A handshake of two messaging cores, recorded before the arrival of each message.
struct RecordedHandshake: Sendable {
  struct Step: Sendable {
    var client: NodeCore
    var server: NodeCore
    let isForServer: Bool
    let datagram: [UInt8]
    /// The offset of the payload.
    let payload: Int
    let opcode: UInt8
  }

  var steps: [Step] = []

  static let pase = record { client, _, now in
    _ = client.establishPASE(passcode: Parties.passcode, to: Parties.serverAddress, parameters: .own, at: now)
  }
  static let certificates = record { client, _, now in connect(&client, now) }
  static let resumption = record { client, server, now in
    connect(&client, now)
    _ = play(&client, &server, now)
    connect(&client, now)
  }

  private static func connect(_ client: inout NodeCore, _ now: Instant) {
    _ = client.establishCASE(
      fabric: 1, peer: Parties.serverNode, to: Parties.serverAddress, parameters: .own, at: now)
  }

  private static func record(_ begin: (inout NodeCore, inout NodeCore, Instant) -> Void) -> RecordedHandshake {
    guard var parties = try? Parties() else { FuzzTarget.finding("the parties of the handshake could not be created") }
    begin(&parties.client, &parties.server, Parties.now)
    let steps = play(&parties.client, &parties.server, Parties.now)
    if steps.count < 3 { FuzzTarget.finding("a handshake of \(steps.count) messages was recorded") }
    return RecordedHandshake(steps: steps)
  }

  /// Delivers messages until both cores are idle, and records them.
  private static func play(_ client: inout NodeCore, _ server: inout NodeCore, _ now: Instant) -> [Step] {
    var steps: [Step] = []
    while true {
      var isForServer = true
      var output = client.nextOutput()
      if output == nil {
        output = server.nextOutput()
        isForServer = false
      }
      guard let output else { return steps }
      guard case .send(let datagram, _) = output else { continue }
      if let (header, end) = try? MessageHeader.decode(datagram), header.isUnsecured,
        let (payload, offset) = try? PayloadHeader.decode(datagram, at: end),
        payload.opcode != SecureChannelOpcode.standaloneAck
      {
        steps.append(
          Step(
            client: client, server: server, isForServer: isForServer, datagram: datagram, payload: offset,
            opcode: payload.opcode))
      }
      deliver(datagram, isForServer, &client, &server, now)
    }
  }

  static func deliver(
    _ datagram: [UInt8], _ isForServer: Bool, _ client: inout NodeCore, _ server: inout NodeCore, _ now: Instant
  ) {
    if isForServer {
      server.receive(datagram, from: Parties.clientAddress, at: now)
    } else {
      client.receive(datagram, from: Parties.serverAddress, at: now)
    }
  }

  /// Runs the handshake with another payload in one of its messages, then again with the same payload in another
  /// message.
  ///
  /// The first byte of the input selects the message, the second the opcode (0 keeps the original). libFuzzer may
  /// favor one value of the first byte over all others. A hash of the whole input therefore selects the second
  /// message, with equal probability, so that each message is guaranteed half of its equal share of the attempts.
  func run(_ input: [UInt8]) {
    guard input.count >= 2, !steps.isEmpty else { return }
    let named = Int(input[0]) % steps.count
    play(input, at: named)
    let hash = input.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let other = Int((hash >> 32) % UInt64(steps.count))
    if other != named { play(input, at: other) }
  }

  private func play(_ input: [UInt8], at index: Int) {
    var step = steps[index]
    guard var (payload, _) = try? PayloadHeader.decode(step.datagram, at: Self.headerEnd(step.datagram)) else { return }
    if input[1] != 0 { payload.opcode = input[1] }
    var datagram = Array(step.datagram[..<Self.headerEnd(step.datagram)])
    payload.encode(to: &datagram)
    datagram += input[2...]
    var now = Parties.now
    Self.deliver(datagram, step.isForServer, &step.client, &step.server, now)
    for _ in 0..<8 {
      drain(&step, now)
      now += .seconds(10)
      step.client.advance(to: now)
      step.server.advance(to: now)
    }
    drain(&step, now)
  }

  private func drain(_ step: inout Step, _ now: Instant) {
    for _ in 0..<200 {
      var isQuiet = true
      while let output = step.client.nextOutput() {
        isQuiet = false
        if case .send(let bytes, _) = output { step.server.receive(bytes, from: Parties.clientAddress, at: now) }
      }
      while let output = step.server.nextOutput() {
        isQuiet = false
        if case .send(let bytes, _) = output { step.client.receive(bytes, from: Parties.serverAddress, at: now) }
      }
      if isQuiet { return }
    }
    FuzzTarget.finding("two nodes exchange messages endlessly")
  }

  private static func headerEnd(_ datagram: [UInt8]) -> Int { (try? MessageHeader.decode(datagram).end) ?? 0 }

  /// The original messages.
  var seeds: [[UInt8]] {
    steps.enumerated().map { [UInt8($0), 0] + $1.datagram[$1.payload...] }
  }
}

extension FuzzTarget {
  static func handshake(_ name: String, _ handshake: @autoclosure @escaping @Sendable () -> RecordedHandshake)
    -> FuzzTarget
  {
    FuzzTarget(name: name, seeds: { handshake().seeds }, run: { handshake().run($0) })
  }
}

extension FuzzTarget {
  /// The encrypted parts of Sigma2 and Sigma3. Mutations of the messages don't reach them, as decryption fails first.
  static let credentials = FuzzTarget(
    name: "credentials", seeds: { CredentialParties.shared.map(\.seeds) ?? [] },
    run: { input in
      guard let parties = CredentialParties.shared else {
        FuzzTarget.finding("the parties of the handshake could not be created")
      }
      let sender = CASEPlaintext.sender(
        of: input, fabric: parties.server, sender: parties.keys.0, receiver: parties.keys.1)
      // Only the two nodes have signed these keys.
      if let sender, sender != Parties.clientNode, sender != Parties.serverNode {
        FuzzTarget.finding("the unknown node \(sender) was authenticated")
      }
    })
}

private struct CredentialParties: Sendable {
  let client: Fabric, server: Fabric
  let keys: ([UInt8], [UInt8])

  static let shared: CredentialParties? = (try? Parties()).map {
    var source = SeededRandomSource(seed: 7)
    let keys = (P256PrivateKey(random: &source).publicKey.bytes, P256PrivateKey(random: &source).publicKey.bytes)
    return CredentialParties(client: $0.clientFabric, server: $0.serverFabric, keys: keys)
  }

  /// Plaintexts as in Sigma2, with a resumption ID; as in Sigma3; and with the certificate and signature of another
  /// node. Then variants with an empty and a null ICAC and resumption ID.
  var seeds: [[UInt8]] {
    let id = [UInt8](repeating: 0x33, count: 16)
    let sound = [(client, id), (client, nil), (server, nil)].compactMap { fabric, id in
      CASEPlaintext.make(
        of: fabric, sender: keys.0, receiver: keys.1, resumptionID: id, DeterministicSignatures())
    }
    let absent: [[UInt8]] = [[0x30, 2, 0, 0x30, 4, 0], [0x34, 2, 0x34, 4]]
    return sound + absent.flatMap { fields in sound.dropFirst().map { $0.dropLast() + fields + [0x18] } }
  }
}

/// Two nodes of one fabric, identical in every run.
struct Parties {
  static let passcode: UInt32 = 20_202_021
  static let clientNode = NodeID(0x1), serverNode = NodeID(0x2)
  static let clientAddress = SocketAddress(.loopback4, port: 5541)
  static let serverAddress = SocketAddress(.loopback4, port: 5540)
  static let now = Instant(nanoseconds: 1_000_000_000)

  var client: NodeCore
  var server: NodeCore
  let clientFabric: Fabric
  let serverFabric: Fabric
  let pase: PASEParameters

  init() throws {
    var source = SeededRandomSource(seed: 1)
    let validity = CertificateValidity(notBefore: .seconds(1))
    let signatures = DeterministicSignatures()
    let authority = try CertificateAuthority(
      rootKey: P256PrivateKey(random: &source), rcacID: 1, validity: validity, random: &source, signatures: signatures)
    func member(_ node: NodeID) throws -> Fabric {
      let key = P256PrivateKey(random: &source)
      let certificate = try authority.issueNOC(
        publicKey: key.publicKey, nodeID: node.rawValue, fabricID: 0xFAB, validity: validity, random: &source,
        signatures: signatures)
      return try Fabric(
        index: FabricIndex(1), rootCertificate: authority.root.tlv, intermediateCertificate: nil,
        operationalCertificate: certificate.tlv, operationalKey: key,
        epochKey: [UInt8](repeating: 0x11, count: 16), adminVendorID: VendorID(0xFFF1))
    }
    clientFabric = try member(Self.clientNode)
    serverFabric = try member(Self.serverNode)
    client = NodeCore(random: SeededRandomSource(seed: 2), signatures: signatures, fabrics: [clientFabric])
    server = NodeCore(random: SeededRandomSource(seed: 3), signatures: signatures, fabrics: [serverFabric])
    let salt = [UInt8](repeating: 0x20, count: 16)
    pase = PASEParameters(
      verifier: try SPAKE2PlusVerifier(passcode: Self.passcode, salt: salt, iterations: 1_000), salt: salt,
      iterations: 1_000)
    server.openPASE(pase)
  }
}
