public import MatterCertificates
internal import MatterClusters
internal import MatterCrypto
public import MatterModel
public import MatterProtocol

/// The membership of a controller that did not create its fabric, such as an invited client: it has no key to issue
/// certificates with, and can't commission devices.
public struct FabricMembership: Sendable {
  /// The certificates and keys of the member.
  public var fabric: Fabric
  /// The nodes that it may reach.
  public var nodes: [NodeID]

  /// - Throws: `CertificateError` if the certificates are malformed, or the key does not belong to them.
  public init(
    rootCertificate: [UInt8], intermediateCertificate: [UInt8]?, certificate: [UInt8], key: [UInt8], epochKey: [UInt8],
    nodes: [NodeID]
  ) throws(CertificateError) {
    let operationalKey: P256PrivateKey
    do { operationalKey = try P256PrivateKey(scalar: key) } catch { throw .crypto(error) }
    guard try MatterCertificate(tlv: certificate).publicKey == operationalKey.publicKey.bytes else {
      throw .failed(.publicKey, .node)
    }
    fabric = try Fabric(
      index: FabricAuthority.fabricIndex, rootCertificate: rootCertificate,
      intermediateCertificate: intermediateCertificate, operationalCertificate: certificate,
      operationalKey: operationalKey, epochKey: epochKey, adminVendorID: 0)
    self.nodes = nodes
  }
}

/// A certificate of another node of the fabric, issued by the controller.
public struct IssuedCertificate: Sendable {
  /// The root certificate in Matter TLV.
  public var rootCertificate: [UInt8]
  /// The intermediate certificate in Matter TLV; nil if the fabric has none.
  public var intermediateCertificate: [UInt8]?
  /// The operational certificate (NOC) in Matter TLV.
  public var certificate: [UInt8]
  /// The epoch key of the identity protection key, 16 bytes.
  public var epochKey: [UInt8]
}

// Certificates of further controllers of the fabric. Their rights depend on a CASE authenticated tag. Matter Core
// § 6.6.2.1.2.
extension ControllerEngine {
  /// Issues a certificate to a further controller, for a node id that is derived from its public key, and has the nodes of
  /// the fabric grant the privilege to the certificate's tag.
  /// - Parameters:
  ///   - request: a PKCS#10 signing request (DER).
  ///   - identifier: the identifier of the tag.
  ///   - privilege: the privilege of the tag; that of its first certificate applies.
  /// - Throws: ``ControllerError/certificate(_:)`` if the request is malformed or not signed with its key.
  public mutating func certify(
    _ request: [UInt8], tag identifier: UInt16, privilege: Privilege, at now: Instant
  ) throws(ControllerError) -> IssuedCertificate {
    do throws(CertificateError) {
      let key = try CertificateSigningRequest(verifying: request).publicKey
      let (record, changes) = tagTable.issue(identifier, privilege)
      store(changes)
      let certificate = try authority.issue(
        key, to: Self.memberNodeID(key), tags: [record.tag], notBefore: configuration.notBefore, random: &random,
        signatures: configuration.signatures)
      return IssuedCertificate(
        rootCertificate: fabric.rootCertificate, intermediateCertificate: fabric.intermediateCertificate,
        certificate: certificate, epochKey: authority.epochKey)
    } catch {
      throw .certificate("\(error)")
    }
  }

  /// The nodes that lack an access entry of a tag, by id. A node with a long idle time gets none, because it answers late.
  public var nodesWithMissingAccess: [NodeID] {
    nodesWithTags.filter { tagTable.missing(on: $0).contains { !$0.isRetired } }
  }

  /// The nodes with missing access entries for which their list may have space, or with entries to be removed, by id.
  public var nodesWithPendingAccess: [NodeID] { nodesWithTags.filter { tagTable.isPending($0) } }

  private var nodesWithTags: [NodeID] { nodes.map(\.nodeID).filter { peers[$0]?.record.longIdle == nil } }

  /// Returns the nodes that grant a tag its privilege, by id.
  public func holders(ofTag identifier: UInt16) -> [NodeID] { tagTable.records[identifier]?.holders ?? [] }

  /// Revokes all certificates with a tag. Later certificates have the next version, and nodes that can't be reached get the
  /// changed access entry when a session with them opens.
  /// - Parameter isLast: whether no other node has a certificate with the tag, so that the access entries are removed until
  ///   the next certificate.
  /// - Throws: ``ControllerError/invalidRequest(_:)`` after 65,535 revocations.
  public mutating func revokeCertificates(tag identifier: UInt16, isLast: Bool = false) throws(ControllerError) {
    store(try tagTable.raise(identifier, isRetired: isLast))
  }

  /// Writes the access entries of all tags to a node, unless it has them. Completes with
  /// ``OperationOutcome/accessChanged(_:isFull:)``.
  public mutating func updateAccess(
    _ node: NodeID, timeout: Duration = usualTimeout, at now: Instant
  ) -> OperationID {
    start(.changeAccess(AccessChange(node, tagTable.tags)), node, timeout, at: now)
  }

  /// Writes missing access entries in the background.
  mutating func updateAccessIfNeeded(_ node: NodeID, at now: Instant) {
    guard configuration.mayStore, peers[node]?.isStored == true, peers[node]?.record.longIdle == nil,
      !tagTable.records.isEmpty, !operations.isChangingAccess(of: node), tagTable.mustUpdate(node, at: now)
    else { return }
    _ = updateAccess(node, at: now)
  }

  /// Starts the next queued change of a node's access entries, with the present versions of the tags.
  /// - Parameter id: the change that ended; if it was a queued one, the first is still in progress.
  mutating func runNextAccessChange(_ node: NodeID, after id: OperationID, at now: Instant) {
    guard let next = operations.firstAccessChange(of: node), next > id else { return }
    operations[next]?.task = .changeAccess(AccessChange(node, tagTable.tags))
    run(next, at: now)
  }

  /// Notes the access entries in a report.
  mutating func noteAccess(_ report: ReassembledReport, of node: NodeID) {
    guard !tagTable.records.isEmpty, let value = report[Self.accessPath]?.value,
      let list = try? [AccessChange.Entry](tlv: value)
    else { return }
    store(tagTable.note(list, of: node))
  }

  /// Notes that an operation may have changed the access control list of its node.
  mutating func noteAccess(_ operation: Operation) {
    guard !tagTable.records.isEmpty, let node = operation.node else { return }
    if case .changeGroup = operation.task { tagTable.noteSpace(on: node) }
    if operation.writes(Self.accessPath) { store(tagTable.remove(node)) }
  }

  private static let accessPath = AccessControl.acl.path(on: .root)

  /// A node id from the hash of the key, in a range that the controller assigns to no device.
  private static func memberNodeID(_ key: P256PublicKey) -> NodeID {
    NodeID(Hash.sha256(key.bytes).prefix(6).reduce(0x00C1) { $0 << 8 | UInt64($1) })
  }
}
