import MatterCrypto

@testable import MatterCertificates

/// Returns the bytes of hexadecimal digits, ignoring other characters.
func bytes(_ text: String) -> [UInt8] {
  let digits = text.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

/// Returns every encoding that differs from `original` in one bit.
func bitFlips(of original: [UInt8], everyBit: Bool = true) -> some Sequence<[UInt8]> {
  // Otherwise one bit of each byte.
  stride(from: 0, to: original.count * 8, by: everyBit ? 1 : 9).lazy.map { bit in
    var flipped = original
    flipped[bit / 8] ^= 1 << UInt8(bit % 8)
    return flipped
  }
}

/// A seeded fabric with an intermediate, with all keys so that tests can sign modified certificates.
struct TestFabric {
  static let fabricID: UInt64 = 0xFAB0_0000_0000_0001
  static let validity = CertificateValidity(
    notBefore: .seconds(700_000_000), notAfter: .seconds(1_900_000_000))

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

  /// Signs all three certificates again with the issuers' keys.
  mutating func signAll() throws {
    root.signature = try rootKey.sign(root.tbsDER)
    intermediate.signature = try rootKey.sign(intermediate.tbsDER)
    node.signature = try intermediateKey.sign(node.tbsDER)
  }

  func verify(at time: UInt32? = nil) throws(CertificateError) {
    try CertificateChain.verify(noc: node, icac: intermediate, root: root, at: time)
  }
}

extension MatterCertificate {
  /// Replaces the extension with the same tag, or appends the new one.
  mutating func replace(_ new: CertificateExtension) {
    if let index = extensions.firstIndex(where: { $0.tag == new.tag }) {
      extensions[index] = new
    } else {
      extensions.append(new)
    }
  }

  mutating func remove(tag: UInt8) { extensions.removeAll { $0.tag == tag } }
}
