internal import MatterCertificates
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol
internal import MatterTLV

/// A device that did not answer CommissioningComplete: it is either in the fabric or has reverted everything. A later
/// CASE session shows which.
struct UnconfirmedNode: Hashable, Sendable {
  let record: PeerRecord
  /// Fingerprint of the commissioning request; requests with the same fingerprint are for the same device.
  let request: [UInt8]
  /// Why attestation failed, if the request's policy was to proceed anyway.
  let attestationFailure: ControllerError.Attestation?

  init(_ record: PeerRecord, _ request: CommissioningRequest, attestationFailure: ControllerError.Attestation?) {
    (self.record, self.request, self.attestationFailure) = (record, Self.fingerprint(of: request), attestationFailure)
  }

  /// Returns the same value for requests with the same code, or with the same passcode and addresses.
  static func fingerprint(of request: CommissioningRequest) -> [UInt8] {
    var writer = TLVWriter()
    writer.structure {
      $0.write(UInt64(request.passcode), .context(0))
      switch request.target {
      case .any: break
      case .discriminator(.long(let value)): $0.write(UInt64(value), .context(1))
      case .discriminator(.short(let value)): $0.write(UInt64(value), .context(2))
      case .instance(let value): $0.write(value, .context(3))
      case .addresses(let addresses):
        $0.array(.context(4)) {
          for address in addresses {
            $0.write(octets: address.ip.bytes)
            $0.write(UInt64(address.port))
          }
        }
      }
    }
    return Hash.sha256(writer.bytes)
  }

  // MARK: Storage

  /// Maximum number of stored devices; the oldest is evicted.
  static let limit = 16
  static let prefix = "unconfirmed/"
  static func key(_ node: NodeID) -> String { prefix + PeerRecord.digits(node) }

  var tlv: [UInt8] {
    var writer = TLVWriter()
    writer.structure {
      $0.write(octets: record.tlv, .context(0))
      $0.write(octets: request, .context(1))
      if let failure = attestationFailure {
        $0.write(failure.description, .context(2))
        $0.write(failure.explanation, .context(3))
      }
    }
    return writer.bytes
  }

  /// Returns nil if the bytes are not a valid encoding.
  init?(tlv: [UInt8]) {
    guard let element = try? TLVElement(decoding: tlv), case .octets(let record)? = element[0]?.value,
      case .octets(let request)? = element[1]?.value, let known = PeerRecord(tlv: record)
    else { return nil }
    (self.record, self.request) = (known, request)
    if case .string(let check)? = element[2]?.value, case .string(let explanation)? = element[3]?.value {
      attestationFailure = .init(check, explanation)
    } else {
      attestationFailure = nil
    }
  }
}

/// The devices that did not answer CommissioningComplete.
///
/// Their commissioning is resumed by the next one with the same request. Otherwise a device that lost power right after
/// storing the fabric would be in a fabric whose controller does not know it, and would need a reset.
struct UnconfirmedTable: Sendable {
  private var nodes: [NodeID: UnconfirmedNode] = [:]

  init(_ stored: StoredState) {
    for (key, value) in stored where key.hasPrefix(UnconfirmedNode.prefix) {
      if let node = UnconfirmedNode(tlv: value) { nodes[node.record.nodeID] = node }
    }
  }

  var ids: [NodeID] { nodes.keys.sorted() }

  /// Adds a device to which CommissioningComplete is sent, and evicts the oldest one beyond the limit.
  /// - Returns: the changes of the store.
  mutating func add(_ node: UnconfirmedNode) -> [StoreChange] {
    guard nodes.updateValue(node, forKey: node.record.nodeID) != node else { return [] }
    let change = StoreChange(UnconfirmedNode.key(node.record.nodeID), node.tlv, isDurable: true)
    guard nodes.count > UnconfirmedNode.limit, let oldest = nodes.keys.min() else { return [change] }
    return [change] + remove(oldest)
  }

  /// Removes a device whose state is known.
  /// - Returns: the changes of the store.
  mutating func remove(_ node: NodeID) -> [StoreChange] { removeAll { $0.record.nodeID == node } }

  /// Removes the devices of a request.
  /// - Returns: the changes of the store.
  mutating func removeAll(of request: CommissioningRequest) -> [StoreChange] {
    let fingerprint = UnconfirmedNode.fingerprint(of: request)
    return removeAll { $0.request == fingerprint }
  }

  private mutating func removeAll(where isKnown: (UnconfirmedNode) -> Bool) -> [StoreChange] {
    let known = nodes.values.filter(isKnown).map(\.record.nodeID).sorted()
    for node in known { nodes[node] = nil }
    return known.map { StoreChange(UnconfirmedNode.key($0), nil) }
  }

  /// Returns the newest device of a request whose node id is free.
  func node(of request: CommissioningRequest, isFree: (NodeID) -> Bool) -> UnconfirmedNode? {
    let fingerprint = UnconfirmedNode.fingerprint(of: request)
    return nodes.values.filter { known in
      let id = known.record.nodeID
      return known.request == fingerprint && isFree(id) && (request.nodeID ?? id) == id
    }.max { $0.record.nodeID < $1.record.nodeID }
  }
}
