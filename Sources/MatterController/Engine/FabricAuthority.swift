internal import MatterCertificates
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol
internal import MatterTLV

/// The controller's certificate authority and fabric, created once and stored. A member of another controller's fabric has
/// no authority.
struct FabricAuthority: Sendable {
  /// Nil for a member of another controller's fabric.
  let certificates: CertificateAuthority?
  /// The controller's membership.
  let fabric: Fabric
  /// The epoch key of the identity protection key (IPK) of all nodes, 16 bytes.
  let epochKey: [UInt8]
  /// The lowest node id that was never assigned.
  private(set) var nextNodeID: NodeID

  /// The controller's index of its only fabric.
  static let fabricIndex: FabricIndex = 1

  private enum Key {
    static let issuerKey = "authority/key", root = "authority/root", intermediate = "authority/intermediate"
    static let epochKey = "authority/epoch-key", fabric = "fabric/1", nextNode = "authority/next-node"
  }

  // MARK: Creation

  /// Loads the authority from the store, or creates it if the store has none.
  /// - Returns: the authority and the changes of the store.
  /// - Throws: ``ControllerError/certificate(_:)`` if the stored data is invalid, or a certificate cannot be issued.
  static func open(
    _ configuration: ControllerConfiguration, _ state: StoredState, random: inout any RandomSource
  ) throws(ControllerError) -> (FabricAuthority, [StoreChange]) {
    do throws(CertificateError) {
      if let membership = configuration.membership { return (FabricAuthority(membership), []) }
      if let stored = try FabricAuthority(state) { return (stored, []) }
      let authority = try FabricAuthority(configuration, random: &random)
      return (authority, authority.stored)
    } catch {
      throw .certificate("\(error)")
    }
  }

  /// Creates new keys, certificates and a fabric.
  init(
    _ configuration: ControllerConfiguration, random: inout any RandomSource
  ) throws(CertificateError) {
    func make(_ random: inout some RandomSource) throws(CertificateError) -> Self {
      try Self(configuration, &random, configuration.signatures)
    }
    self = try make(&random)
  }

  private init(
    _ configuration: ControllerConfiguration, _ random: inout some RandomSource, _ signatures: some SignatureScheme
  ) throws(CertificateError) {
    let validity = CertificateValidity(notBefore: configuration.notBefore)
    let fabricID = configuration.fabricID ?? FabricID(random.next() >> 1 | 1)
    let rootKey = P256PrivateKey(random: &random)
    let rcacID = random.next() >> 1 | 1
    let certificates: CertificateAuthority
    if configuration.usesIntermediate {
      let intermediateKey = P256PrivateKey(random: &random)
      certificates = try CertificateAuthority(
        rootKey: rootKey, rcacID: rcacID, intermediateKey: intermediateKey, icacID: random.next() >> 1 | 1,
        fabricID: fabricID.rawValue, validity: validity, random: &random, signatures: signatures)
      issuerKey = intermediateKey
    } else {
      certificates = try CertificateAuthority(
        rootKey: rootKey, rcacID: rcacID, fabricID: fabricID.rawValue, validity: validity, random: &random,
        signatures: signatures)
      issuerKey = rootKey
    }
    self.certificates = certificates
    epochKey = random.bytes(16)
    let ownKey = P256PrivateKey(random: &random)
    let own = try certificates.issueNOC(
      publicKey: ownKey.publicKey, nodeID: configuration.nodeID.rawValue, fabricID: fabricID.rawValue,
      tags: configuration.tags.map(\.rawValue), validity: validity, random: &random, signatures: signatures)
    fabric = try Fabric(
      index: Self.fabricIndex, rootCertificate: certificates.root.tlv,
      intermediateCertificate: certificates.intermediate?.tlv, operationalCertificate: own.tlv, operationalKey: ownKey,
      epochKey: epochKey, adminVendorID: configuration.adminVendorID, label: configuration.fabricLabel)
    nextNodeID = configuration.firstNodeID
  }

  private init(_ membership: FabricMembership) {
    (certificates, issuerKey, epochKey, fabric) = (nil, nil, [], membership.fabric)
    nextNodeID = 1
  }

  private let issuerKey: P256PrivateKey?

  // MARK: Storage

  /// Loads the authority from the store.
  /// - Returns: nil if the store has none.
  /// - Throws: an error if the stored data is invalid; a new fabric would lose all devices.
  init?(_ state: StoredState) throws(CertificateError) {
    guard state[Key.fabric] != nil || state[Key.issuerKey] != nil else { return nil }
    guard let scalar = state[Key.issuerKey], let root = state[Key.root], let fabric = state[Key.fabric],
      let epochKey = state[Key.epochKey], epochKey.count == 16, let next = state[Key.nextNode], next.count == 8
    else { throw .malformed("the stored fabric is incomplete") }
    let issuerKey: P256PrivateKey
    do { issuerKey = try P256PrivateKey(scalar: scalar) } catch { throw .crypto(error) }
    self.issuerKey = issuerKey
    var intermediate: MatterCertificate?
    if let bytes = state[Key.intermediate] { intermediate = try MatterCertificate(tlv: bytes) }
    certificates = try CertificateAuthority(
      root: MatterCertificate(tlv: root), intermediate: intermediate, issuerKey: issuerKey)
    self.fabric = try Fabric(tlv: fabric)
    self.epochKey = epochKey
    nextNodeID = NodeID(next.reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// All store entries.
  var stored: [StoreChange] {
    let entries: [(String, [UInt8]?)] = [
      (Key.issuerKey, issuerKey?.scalar), (Key.root, certificates?.root.tlv),
      (Key.intermediate, certificates?.intermediate?.tlv), (Key.epochKey, epochKey), (Key.fabric, fabric.tlv),
    ]
    return entries.map { StoreChange($0, $1, isDurable: true) } + [nextNodeStored]
  }

  private var nextNodeStored: StoreChange {
    StoreChange(
      Key.nextNode, (0..<8).map { UInt8(truncatingIfNeeded: nextNodeID.rawValue >> UInt64(56 - 8 * $0)) },
      isDurable: true)
  }

  // MARK: Use

  /// Reserves `id` so that it is not assigned again.
  mutating func reserve(_ id: NodeID) -> StoreChange? {
    guard id >= nextNodeID else { return nil }
    nextNodeID = NodeID(id.rawValue.saturatingAdd(1))
    return nextNodeStored
  }

  /// Returns the node id of the next device.
  /// - Parameter isUsed: whether another node of the fabric has the id.
  func freeNodeID(isUsed: (NodeID) -> Bool) -> NodeID {
    var node = nextNodeID
    // After the last operational id, allocation restarts at 1.
    if !node.isOperational { node = 1 }
    while isUsed(node) || node == fabric.nodeID {
      node = NodeID(node.rawValue &+ 1)
      if !node.isOperational { node = 1 }
    }
    return node
  }

  func issue(
    _ publicKey: P256PublicKey, to node: NodeID, tags: [CASEAuthenticatedTag], notBefore: Duration,
    random: inout any RandomSource, signatures: any SignatureScheme
  ) throws(CertificateError) -> [UInt8] {
    guard let certificates else { throw .malformed("a member of the fabric can't issue certificates") }
    func issue(
      _ random: inout some RandomSource, _ signatures: some SignatureScheme
    ) throws(CertificateError) -> [UInt8] {
      try certificates.issueNOC(
        publicKey: publicKey, nodeID: node.rawValue, fabricID: fabric.fabricID.rawValue, tags: tags.map(\.rawValue),
        validity: CertificateValidity(notBefore: notBefore), random: &random, signatures: signatures
      ).tlv
    }
    return try issue(&random, signatures)
  }
}
