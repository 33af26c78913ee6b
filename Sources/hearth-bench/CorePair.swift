import MatterCertificates
import MatterCrypto
import MatterModel
import MatterProtocol

/// An error that makes a measurement meaningless.
struct BenchError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Two messaging cores without a network: datagrams are delivered immediately.
struct CorePair {
  static let fabricID: UInt64 = 0xFAB0_0000_0000_0001
  static let passcode: UInt32 = 20_202_021
  static let clientNode = NodeID(0x1), serverNode = NodeID(0x2)
  static let clientAddress = SocketAddress(.loopback4, port: 5541)
  static let serverAddress = SocketAddress(.loopback4, port: 5540)

  var client: NodeCore
  var server: NodeCore
  var now = Instant(nanoseconds: 1_000_000_000)

  init() throws {
    var random: any RandomSource = SeededRandomSource(seed: 1)
    let fabrics = try Self.fabrics(&random)
    // The limit on handshakes is irrelevant here, as they are measured one after the other.
    var configuration = NodeConfiguration()
    configuration.maximumStartsPerSecond = 65_535
    client = NodeCore(configuration, random: SystemRandomSource(), fabrics: [fabrics.client])
    server = NodeCore(configuration, random: SystemRandomSource(), fabrics: [fabrics.server])
    let salt = [UInt8](repeating: 0x20, count: 16)
    let verifier = try SPAKE2PlusVerifier(passcode: Self.passcode, salt: salt, iterations: 1_000)
    server.openPASE(PASEParameters(verifier: verifier, salt: salt, iterations: 1_000))
  }

  /// Creates a fabric as seen by each of its two nodes.
  private static func fabrics(_ random: inout any RandomSource) throws -> (client: Fabric, server: Fabric) {
    var source = SeededRandomSource(seed: random.next())
    let validity = CertificateValidity(notBefore: .seconds(1))
    let authority = try CertificateAuthority(
      rootKey: P256PrivateKey(random: &source), rcacID: 1, validity: validity, random: &source)
    func member(_ node: NodeID) throws -> Fabric {
      let key = P256PrivateKey(random: &source)
      let certificate = try authority.issueNOC(
        publicKey: key.publicKey, nodeID: node.rawValue, fabricID: fabricID, validity: validity, random: &source)
      return try Fabric(
        index: FabricIndex(1), rootCertificate: authority.root.tlv, intermediateCertificate: nil,
        operationalCertificate: certificate.tlv, operationalKey: key,
        epochKey: [UInt8](repeating: 0x11, count: 16), adminVendorID: VendorID(0xFFF1))
    }
    return (try member(clientNode), try member(serverNode))
  }

  /// Delivers datagrams until both cores are idle.
  /// - Returns: the other outputs of the client.
  mutating func settle() -> [NodeOutput] {
    var others: [NodeOutput] = []
    var isBusy = true
    while isBusy {
      isBusy = false
      while let output = client.nextOutput() {
        isBusy = true
        if case .send(let bytes, _) = output {
          server.receive(bytes, from: Self.clientAddress, at: now)
        } else {
          others.append(output)
        }
      }
      while let output = server.nextOutput() {
        isBusy = true
        if case .send(let bytes, _) = output { client.receive(bytes, from: Self.serverAddress, at: now) }
      }
    }
    return others
  }

  /// Runs a PASE handshake.
  mutating func establishPASE() throws -> SessionID {
    _ = client.establishPASE(
      passcode: Self.passcode, to: Self.serverAddress, parameters: .own, at: now)
    return try established(settle())
  }

  /// Runs a CASE handshake, with certificates or by resumption.
  mutating func establishCASE() throws -> SessionID {
    _ = client.establishCASE(
      fabric: FabricIndex(1), peer: Self.serverNode, to: Self.serverAddress, parameters: .own, at: now)
    return try established(settle())
  }

  private func established(_ outputs: [NodeOutput]) throws -> SessionID {
    for output in outputs {
      if case .sessionEstablished(let session, _) = output { return session }
      if case .handshakeFailed(_, let error) = output { throw BenchError("the handshake failed: \(error)") }
    }
    throw BenchError("the handshake did not complete")
  }

  /// Closes a session on both sides, which keeps the tables as small as in normal operation.
  mutating func close(_ session: SessionID) {
    client.close(session, notifyingPeer: true, at: now)
    _ = settle()
    now += .milliseconds(1)
  }
}
