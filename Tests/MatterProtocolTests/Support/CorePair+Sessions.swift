import MatterCertificates
import MatterCrypto
import MatterModel

@testable import MatterProtocol

/// Deterministic fabrics for tests.
enum TestFabrics {
  static let epochKey = Array("the epoch's key!".utf8)

  /// Returns the fabric as seen by each of the nodes.
  static func make(
    nodes: [UInt64] = [1, 2], fabricID: UInt64 = 0xFAB, seed: UInt64 = 77, hasIntermediate: Bool = false,
    tags: [UInt32] = [], epochKey: [UInt8] = epochKey, index: FabricIndex = 1,
    validity nodeValidity: (UInt64) -> CertificateValidity = { _ in CertificateValidity(notBefore: .zero) }
  ) throws -> [Fabric] {
    var random = SeededRandomSource(seed: seed)
    let signatures = DeterministicSignatures()
    let validity = CertificateValidity(notBefore: .zero)
    let rootKey = P256PrivateKey(random: &random)
    let authority =
      hasIntermediate
      ? try CertificateAuthority(
        rootKey: rootKey, rcacID: 1, intermediateKey: P256PrivateKey(random: &random), icacID: 2, fabricID: fabricID,
        validity: validity, random: &random, signatures: signatures)
      : try CertificateAuthority(
        rootKey: rootKey, rcacID: 1, fabricID: fabricID, validity: validity, random: &random, signatures: signatures)
    return try nodes.map { node in
      let key = P256PrivateKey(random: &random)
      let certificate = try authority.issueNOC(
        publicKey: key.publicKey, nodeID: node, fabricID: fabricID, tags: tags, validity: nodeValidity(node),
        random: &random, signatures: signatures)
      return try Fabric(
        index: index, rootCertificate: authority.root.tlv, intermediateCertificate: authority.intermediate?.tlv,
        operationalCertificate: certificate.tlv, operationalKey: key, epochKey: epochKey, adminVendorID: 0xFFF1)
    }
  }

  /// Returns a pair of nodes on the same fabric.
  static func pair(_ configurations: [NodeConfiguration] = [.init(), .init()], seed: UInt64 = 1) throws -> CorePair {
    let fabrics = try make()
    return CorePair(seed: seed, configurations: configurations, fabrics: fabrics.map { [$0] })
  }
}

enum TestPasscode {
  static let right: UInt32 = 20_202_021
  static let salt = Array("SPAKE2P Key Salt".utf8)

  static func parameters(_ passcode: UInt32 = right) throws -> PASEParameters {
    PASEParameters(
      verifier: try SPAKE2PlusVerifier(passcode: passcode, salt: salt, iterations: 1000), salt: salt, iterations: 1000)
  }
}

extension CorePair {
  /// Starts a PASE handshake of core 0 with core 1.
  @discardableResult
  mutating func beginPASE(_ passcode: UInt32 = TestPasscode.right) throws -> HandshakeID {
    let parameters = try TestPasscode.parameters()
    on(1) { core, _ in core.openPASE(parameters) }
    return on(0) { core, now in
      core.establishPASE(passcode: passcode, to: Self.addresses[1], parameters: .init(), at: now)
    }
  }

  /// Starts a CASE handshake of core 0, which is node 1, with core 1, which is node 2.
  @discardableResult
  mutating func beginCASE(peer: NodeID = 2, parameters: SessionParameters = .init()) -> HandshakeID {
    on(0) { core, now in
      core.establishCASE(fabric: 1, peer: peer, to: Self.addresses[1], parameters: parameters, at: now)
    }
  }

  /// Returns a pair with an established CASE session and no pending acknowledgments.
  static func connected(
    _ configurations: [NodeConfiguration] = [.init(), .init()], seed: UInt64 = 1
  ) throws -> (pair: CorePair, session: SessionID, peerSession: SessionID) {
    var pair = try TestFabrics.pair(configurations, seed: seed)
    pair.beginCASE()
    try pair.run(for: .seconds(1))
    guard let own = pair.established(0).first, let other = pair.established(1).first else { throw Livelock() }
    return (pair, own, other)
  }

  /// Changes the shared secret of the only resumption record of a core.
  mutating func changeResumptionSecret(_ core: Int) throws {
    guard var record = cores[core].resumption.all.first else { throw Livelock() }
    record.sharedSecret[3] ^= 1
    cores[core].resumption.store(record)
  }

  /// Opens an exchange and sends a request on it.
  mutating func request(
    _ payload: [UInt8] = [0x15, 0x18], on session: SessionID, isReliable: Bool = true, from core: Int = 0,
    then: AfterSending = .expectResponse(within: .seconds(5))
  ) -> ExchangeID? {
    on(core) { core, now in
      guard let exchange = core.openExchange(on: session, at: now) else { return nil }
      core.send(8, payload: payload, on: exchange, isReliable: isReliable, then: then, at: now)
      return exchange
    }
  }
}

/// Decodes the headers of an unencrypted datagram.
func clearHeaders(_ bytes: [UInt8]) throws -> (message: MessageHeader, payload: PayloadHeader, content: [UInt8]) {
  let (header, end) = try MessageHeader.decode(bytes)
  let (payload, offset) = try PayloadHeader.decode(bytes, at: end)
  return (header, payload, Array(bytes[offset...]))
}

/// Returns the bytes of hexadecimal digits, ignoring other characters.
func hexadecimal(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension SeededRandomSource {
  /// The next number, without drawing it.
  var first: UInt64 {
    var copy = self
    return copy.next()
  }
}
