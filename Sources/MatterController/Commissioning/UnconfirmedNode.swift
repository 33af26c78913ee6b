internal import MatterCertificates
internal import MatterCrypto
public import MatterModel
internal import MatterProtocol
internal import MatterTLV

/// A device that was asked to end its commissioning, and whose answer never came: it may be in the fabric, or have undone
/// everything. That is found out by who asks it over a session of the fabric, which may be long after.
struct UnconfirmedNode: Hashable, Sendable {
  let record: PeerRecord
  /// Tells the request that it was commissioned by from others: the same one means the same device.
  let request: [UInt8]
  /// Why its attestation was not accepted, where that was to be no hindrance.
  let attestationFailure: ControllerError.Attestation?

  init(_ record: PeerRecord, _ commissioning: Commissioning) {
    self.record = record
    request = Self.fingerprint(of: commissioning.request)
    attestationFailure = commissioning.attestationFailure
  }

  /// The same for each request with the same code, or the same passcode and addresses.
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

  // MARK: Keeping

  /// So many are kept at most.
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

  /// Nil if the bytes are not what ``tlv`` gives.
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

// A commissioning whose last answer got lost: the next one by the same request goes on where it was. Without that a device
// that had stored that it is commissioned when its power went would be in a fabric whose controller does not know of it,
// and only a reset would get it out.
extension ControllerEngine {
  /// Keeps a device that is asked to end its commissioning, until its answer is there.
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

  /// Forgets those that there is certainty about.
  /// - Returns: what is to be stored for that.
  mutating func forgettingUnconfirmed(where isKnown: (UnconfirmedNode) -> Bool) -> [StoreChange] {
    let nodes = unconfirmed.values.filter(isKnown).map(\.record.nodeID).sorted()
    for node in nodes { unconfirmed[node] = nil }
    return nodes.map { StoreChange(UnconfirmedNode.key($0), nil) }
  }

  /// The device has not become one of the fabric's.
  mutating func forgetUnconfirmed(_ node: NodeID) {
    let changes = forgettingUnconfirmed { $0.record.nodeID == node }
    if !changes.isEmpty { perform(.store(changes)) }
  }

  /// The nodes that may be in the fabric, since the last answer of their commissioning got lost.
  public var unconfirmedNodes: [NodeID] { unconfirmed.keys.sorted() }

  /// The ids of which the device of a request gets one, if nothing else is commissioned before: where an earlier try was left
  /// without an answer, the one that it had then; else the next free one. None where the request asks for one that can't be given.
  public func possibleNodeIDs(for request: CommissioningRequest) -> [NodeID] {
    let next = request.nodeID ?? nextFreeNodeID
    return [unansweredNode(of: request)?.record.nodeID, next].compactMap { $0 }.filter(canBeGiven)
  }

  private func unansweredNode(of request: CommissioningRequest) -> UnconfirmedNode? {
    let fingerprint = UnconfirmedNode.fingerprint(of: request)
    return unconfirmed.values.filter { known in
      known.request == fingerprint && peers[known.record.nodeID] == nil
        && (request.nodeID ?? known.record.nodeID) == known.record.nodeID
    }.max { $0.record.nodeID < $1.record.nodeID }
  }

  /// Goes on with the device that the same request has left without an answer, if there is one.
  /// - Returns: whether there is.
  mutating func resumeCommissioning(_ request: CommissioningRequest, _ id: OperationID, at now: Instant) -> Bool {
    guard let known = unansweredNode(of: request) else { return false }
    // Test devices may not have been refused yet when it began.
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

  /// There is no session of the fabric with the device that the request had left: it begins anew.
  mutating func abandonResumption(_ id: OperationID, at now: Instant) {
    guard let commissioning = commissionings[id] else { return }
    operations[id]?.node = nil
    forget(commissioning.nodeID, wasTold: false, at: now)
    beginCommissioning(commissioning.request, id, at: now)
  }

  /// Opens the first session of the fabric with a device.
  mutating func connect(to record: PeerRecord, for id: OperationID, timeout: Duration, at now: Instant) {
    var peer = Peer(record)
    peer.isStored = false
    peer.waiting = [id]
    peers[record.nodeID] = peer
    operations[id]?.node = record.nodeID
    openSession(with: record.nodeID, timeout: timeout, at: now)
  }
}
