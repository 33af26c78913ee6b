import MatterCrypto

@testable import MatterCertificates

/// The bytes that a text of hexadecimal digits stands for; other characters are passed over.
func bytes(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Every encoding that differs from `original` in one bit.
func bitFlips(of original: [UInt8]) -> some Sequence<[UInt8]> {
  (0..<original.count * 8).lazy.map { bit in
    var flipped = original
    flipped[bit / 8] ^= 1 << UInt8(bit % 8)
    return flipped
  }
}

/// A fabric with an intermediate, all from one seed, and all keys at hand so that tests can sign what they bend.
struct TestFabric {
  static let fabricID: UInt64 = 0xFAB0_0000_0000_0001
  static let validity = CertificateValidity(notBefore: 700_000_000, notAfter: 1_900_000_000)

  let rootKey: P256PrivateKey
  let intermediateKey: P256PrivateKey
  let nodeKey: P256PrivateKey
  let authority: CertificateAuthority
  var root: MatterCertificate
  var intermediate: MatterCertificate
  var node: MatterCertificate

  init(seed: UInt64 = 1) throws {
    var random = SeededRandomSource(seed: seed)
    let signatures = DeterministicSignatures()
    rootKey = P256PrivateKey(random: &random)
    intermediateKey = P256PrivateKey(random: &random)
    nodeKey = P256PrivateKey(random: &random)
    authority = try CertificateAuthority(
      rootKey: rootKey, rcacID: 1, intermediateKey: intermediateKey, icacID: 2, fabricID: Self.fabricID,
      validity: Self.validity, random: &random, signatures: signatures)
    root = authority.root
    intermediate = authority.intermediate ?? authority.root
    node = try authority.issueNOC(
      publicKey: nodeKey.publicKey, nodeID: 0x1234, fabricID: Self.fabricID, tags: [0x0001_0002],
      validity: Self.validity, random: &random, signatures: signatures)
  }

  /// Signs all three again, each with its issuer's key.
  mutating func signAgain() throws {
    root.signature = try rootKey.sign(root.tbsDER)
    intermediate.signature = try rootKey.sign(intermediate.tbsDER)
    node.signature = try intermediateKey.sign(node.tbsDER)
  }

  func verify(at time: UInt32? = nil) throws(CertificateError) {
    try CertificateChain.verify(noc: node, icac: intermediate, root: root, at: time)
  }
}

extension MatterCertificate {
  /// Puts an extension in the place of the one with the same tag, or behind the others.
  mutating func replace(_ new: CertificateExtension) {
    if let index = extensions.firstIndex(where: { $0.tag == new.tag }) {
      extensions[index] = new
    } else {
      extensions.append(new)
    }
  }

  mutating func remove(tag: UInt8) { extensions.removeAll { $0.tag == tag } }
}
