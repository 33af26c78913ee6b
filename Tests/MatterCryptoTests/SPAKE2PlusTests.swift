import Testing

@testable import MatterCrypto

@Suite struct SPAKE2PlusTests {
  private static func pair(_ vector: Record) throws -> (prover: SPAKE2PlusProver, responder: SPAKE2PlusResponder) {
    let identities = SPAKE2PlusIdentities(prover: try vector.get("prover"), verifier: try vector.get("verifier"))
    let context = try vector.get("context")
    let prover = SPAKE2PlusProver(
      w0: try Scalar(validating: vector.get("w0")), w1: try Scalar(validating: vector.get("w1")),
      x: try Scalar(validating: vector.get("x")), context: context, identities: identities)
    let responder = SPAKE2PlusResponder(
      verifier: try SPAKE2PlusVerifier(bytes: vector.get("w0") + vector.get("L")),
      y: try Scalar(validating: vector.get("y")), context: context, identities: identities)
    return (prover, responder)
  }

  @Test(arguments: spake2PlusMatterVectors)
  func `computes the SDK's vectors`(vector: Record) throws {
    let (prover, responder) = try Self.pair(vector)
    #expect(try prover.pA == vector.get("pA"))
    let (pB, keys) = try responder.respond(pA: prover.pA)
    #expect(try pB == vector.get("pB"))
    #expect(try keys == prover.finish(pB: pB))
    #expect(try keys.Ke == vector.get("Ke"))
    #expect(try keys.cA == vector.get("cA"))
    #expect(try keys.cB == vector.get("cB"))
    let transcript = try prover.transcript(pB: pB)
    #expect(try transcript.z == vector.get("Z"))
    #expect(try transcript.v == vector.get("V"))
    #expect(try transcript.digest == vector.get("Ka") + vector.get("Ke"))
    #expect(try CurvePoint(generatorTimes: Scalar(validating: vector.get("w1"))).bytes == vector.get("L"))
  }

  /// Matter uses the key schedule of an earlier draft, so the test derives the RFC's keys from the shared transcript.
  @Test(arguments: spake2PlusRFCVectors)
  func `computes the vector of RFC 9383`(vector: Record) throws {
    let (prover, responder) = try Self.pair(vector)
    #expect(try prover.pA == vector.get("pA"))
    let transcript = try responder.transcript(pA: prover.pA)
    #expect(try transcript.pB == vector.get("pB"))
    #expect(try transcript.z == vector.get("Z"))
    let main = transcript.digest
    #expect(try prover.transcript(pB: transcript.pB).digest == main)
    #expect(try HKDF.sha256(secret: main, salt: [], info: Array("SharedKey".utf8), count: 32) == vector.get("shared"))
    let confirmation = try HKDF.sha256(secret: main, salt: [], info: Array("ConfirmationKeys".utf8), count: 64)
    #expect(try HMAC.sha256(key: Array(confirmation[..<32]), transcript.pB) == vector.get("confirmP"))
    #expect(try HMAC.sha256(key: Array(confirmation[32...]), transcript.pA) == vector.get("confirmV"))
  }

  @Test func `loads all vectors`() {
    #expect(spake2PlusMatterVectors.count == 4)
    #expect(spake2PlusRFCVectors.count == 1)
  }

  /// The verifier in the SDK's examples.
  @Test func `derives the verifier of the SDK's example passcode`() throws {
    let expected = hex(
      """
      b96170aae803346884724fe9a3b287c30330c2a660375d17bb205a8cf1aecb35
      0457f8ab79ee253ab6a8e46bb09e543ae422736de501e3db37d441fe344920d095
      48e4c18240630c4ff4913c53513839b7c07fcc0627a1b8573a149fcd1fa466cf
      """)
    let verifier = try SPAKE2PlusVerifier(
      passcode: 20_202_021, salt: Array("SPAKE2P Key Salt".utf8), iterations: 1_000)
    #expect(verifier.bytes == expected)
    #expect(try SPAKE2PlusVerifier(bytes: expected) == verifier)
  }

  private let salt = [UInt8](repeating: 5, count: 32)
  private let context = Hash.sha256(Array("CHIP PAKE V1 Commissioning".utf8))

  private func exchange(
    proverPasscode: UInt32 = 12_345_679, proverContext: [UInt8]? = nil, proverSalt: [UInt8]? = nil,
    proverIterations: Int = 10
  ) throws -> (prover: SPAKE2PlusKeys, responder: SPAKE2PlusKeys) {
    var random: any RandomSource = SeededRandomSource(seed: 99)
    let verifier = try SPAKE2PlusVerifier(passcode: 12_345_679, salt: salt, iterations: 10)
    let prover = try SPAKE2PlusProver(
      passcode: proverPasscode, salt: proverSalt ?? salt, iterations: proverIterations,
      context: proverContext ?? context, random: &random)
    let responder = SPAKE2PlusResponder(verifier: verifier, context: context, random: &random)
    let (pB, keys) = try responder.respond(pA: prover.pA)
    return (try prover.finish(pB: pB), keys)
  }

  @Test func `agrees on keys only with the right passcode`() throws {
    let right = try exchange()
    #expect(right.prover == right.responder)
    #expect(right.prover.Ke.count == 16 && right.prover.cA.count == 32 && right.prover.cB.count == 32)
    for wrong in [
      try exchange(proverPasscode: 12_345_678), try exchange(proverContext: context.flippingBit(0)),
      try exchange(proverSalt: salt.flippingBit(9)), try exchange(proverIterations: 11),
    ] {
      #expect(wrong.prover.cA != wrong.responder.cA)
      #expect(wrong.prover.cB != wrong.responder.cB)
      #expect(wrong.prover.Ke != wrong.responder.Ke)
    }
  }

  @Test func `repeats the exchange with the same randomness`() throws {
    let (first, second) = (try exchange(), try exchange())
    #expect(first.prover == second.prover)
    var random = SeededRandomSource(seed: 1)
    let shares = try (0..<2).map { _ in
      try SPAKE2PlusProver(passcode: 1, salt: salt, iterations: 1, context: context, random: &random).pA
    }
    #expect(shares[0] != shares[1])
  }

  @Test(arguments: pointValidityVectors.filter { $0.fields["valid"] == [0] })
  func `rejects shares that are not on the curve`(vector: Record) throws {
    let (prover, responder) = try Self.pair(spake2PlusMatterVectors[0])
    let bad = try vector.get("point")
    #expect(throws: CryptoError.invalidPoint) { try prover.finish(pB: bad) }
    #expect(throws: CryptoError.invalidPoint) { try responder.respond(pA: bad) }
  }

  @Test func `rejects shares that cancel the mask`() throws {
    let vector = spake2PlusMatterVectors[0]
    let (prover, responder) = try Self.pair(vector)
    let w0 = try Scalar(validating: vector.get("w0"))
    #expect(throws: CryptoError.invalidPoint) { try prover.finish(pB: SPAKE2PlusConstants.n.times(w0).bytes) }
    #expect(throws: CryptoError.invalidPoint) { try responder.respond(pA: SPAKE2PlusConstants.m.times(w0).bytes) }
    for count in [0, 1, 33, 64, 66] {
      let short = [UInt8](repeating: 4, count: count)
      #expect(throws: CryptoError.invalidLength(expected: 65, found: count)) { try prover.finish(pB: short) }
      #expect(throws: CryptoError.invalidLength(expected: 65, found: count)) { try responder.respond(pA: short) }
    }
  }

  @Test func `rejects invalid verifiers`() throws {
    let good = try SPAKE2PlusVerifier(passcode: 1, salt: salt, iterations: 1).bytes
    let short = Array(good.dropLast())
    #expect(throws: CryptoError.invalidLength(expected: 97, found: 96)) { try SPAKE2PlusVerifier(bytes: short) }
    #expect(throws: CryptoError.invalidLength(expected: 97, found: 98)) { try SPAKE2PlusVerifier(bytes: good + [0]) }
    #expect(throws: CryptoError.invalidPoint) { try SPAKE2PlusVerifier(bytes: good.flippingBit(96 * 8)) }
    let (zero, ones) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xff, count: 32))
    #expect(throws: CryptoError.invalidKey) { try SPAKE2PlusVerifier(bytes: zero + good[32...]) }
    #expect(throws: CryptoError.invalidKey) { try SPAKE2PlusVerifier(bytes: ones + good[32...]) }
    #expect(throws: CryptoError.self) { try SPAKE2PlusVerifier(passcode: 1, salt: salt, iterations: 0) }
  }
}
