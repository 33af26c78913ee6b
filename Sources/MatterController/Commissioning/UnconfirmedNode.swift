internal import MatterCertificates
internal import MatterCrypto
public import MatterModel
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

  init(_ record: PeerRecord, _ commissioning: Commissioning) {
    self.record = record
    request = Self.fingerprint(of: commissioning.request)
    attestationFailure = commissioning.attestationFailure
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

// A commissioning whose last answer was lost is resumed by the next one with the same request. Otherwise a device that
// lost power right after storing the fabric would be in a fabric whose controller does not know it, and would need a
// reset.
extension ControllerEngine {
  /// Stores a device to which CommissioningComplete is sent, until its answer arrives.
  mutating func keepUnconfirmed(_ id: OperationID) {
    guard let commissioning = commissionings[id], let record = peers[commissioning.nodeID]?.record else { return }
    let node = UnconfirmedNode(record, commissioning)
    guard unconfirmed.updateValue(node, forKey: record.nodeID) != node else { return }
    var changes = [StoreChange(UnconfirmedNode.key(record.nodeID), node.tlv, isDurable: true)]
    if unconfirmed.count > UnconfirmedNode.limit, let oldest = unconfirmed.keys.min() {
      changes += forgettingUnconfirmed { $0.record.nodeID == oldest }
    }
    perform(.store(changes))
  }

  /// Removes the devices whose state is known.
  /// - Returns: the store changes to perform.
  mutating func forgettingUnconfirmed(where isKnown: (UnconfirmedNode) -> Bool) -> [StoreChange] {
    let nodes = unconfirmed.values.filter(isKnown).map(\.record.nodeID).sorted()
    for node in nodes { unconfirmed[node] = nil }
    return nodes.map { StoreChange(UnconfirmedNode.key($0), nil) }
  }

  mutating func forgetUnconfirmed(_ node: NodeID) {
    let changes = forgettingUnconfirmed { $0.record.nodeID == node }
    if !changes.isEmpty { perform(.store(changes)) }
  }

  /// Nodes that may be in the fabric because the answer to CommissioningComplete was lost.
  public var unconfirmedNodes: [NodeID] { unconfirmed.keys.sorted() }

  /// Returns the node ids that the device of a request may get if no other device is commissioned before: the id of an
  /// earlier commissioning without an answer, then the next free one. Empty if the request asks for an id that cannot
  /// be assigned.
  public func possibleNodeIDs(for request: CommissioningRequest) -> [NodeID] {
    let next = request.nodeID ?? nextFreeNodeID
    return [unansweredNode(of: request)?.record.nodeID, next].compactMap { $0 }.filter(isAssignable)
  }

  private func unansweredNode(of request: CommissioningRequest) -> UnconfirmedNode? {
    let fingerprint = UnconfirmedNode.fingerprint(of: request)
    return unconfirmed.values.filter { known in
      known.request == fingerprint && peers[known.record.nodeID] == nil
        && (request.nodeID ?? known.record.nodeID) == known.record.nodeID
    }.max { $0.record.nodeID < $1.record.nodeID }
  }

  /// Resumes the unanswered commissioning of the same request.
  /// - Returns: false if there is none.
  mutating func resumeCommissioning(_ request: CommissioningRequest, _ id: OperationID, at now: Instant) -> Bool {
    guard let known = unansweredNode(of: request) else { return false }
    // The policy for test devices may have become stricter since the commissioning began.
    let isRefused = known.record.attestation == .test && !configuration.attestation.acceptsTestKeys
    if isRefused, request.attestationPolicy != .proceedAnyway { return false }
    commissionings[id] = Commissioning(request, node: known.record.nodeID, at: now)
    commissionings[id]?.isResumed = true
    commissionings[id]?.isCompletionRepeated = true
    commissionings[id]?.attestationFailure = known.attestationFailure
    beginStep(.connectOperationally, id, at: now)
    connect(to: known.record, for: id, timeout: configuration.discoveryTime, at: now)
    return true
  }

  /// Restarts a commissioning from discovery because no CASE session with the device could be established.
  mutating func abandonResumption(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    operations[id]?.node = nil
    forget(commissioning.nodeID, fabricRemoved: false, at: now)
    beginCommissioning(commissioning.request, id, at: now)
  }

  /// Opens the first operational session with a device.
  mutating func connect(to record: PeerRecord, for id: OperationID, timeout: Duration, at now: Instant) {
    var peer = Peer(record)
    peer.isStored = false
    peer.waiting = [id]
    peers[record.nodeID] = peer
    operations[id]?.node = record.nodeID
    openSession(with: record.nodeID, timeout: timeout, at: now)
  }
}
