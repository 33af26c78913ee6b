internal import MatterCertificates
internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// State of one commissioning operation.
struct Commissioning: Sendable {
  /// An address at which the device to commission may be reached.
  struct Candidate: Sendable {
    var address: SocketAddress
    var parameters: SessionParameters
    /// The DNS-SD service that gave the address, or nil if the request gave it.
    var service: MatterService.Kind?
    var failures = 0
    /// Earliest time of the next attempt.
    var notBefore: Instant
  }

  struct Attempt: Sendable {
    let handshake: HandshakeID
    let candidate: Candidate
    let startedAt: Instant
  }

  let request: CommissioningRequest
  let startedAt: Instant
  var step: CommissioningStep?
  var stepStartedAt: Instant

  // Discovery and PASE.
  var query: DiscoveryQuery?
  /// The query for all commissionable devices, set when the devices that match `query` do not answer.
  var wideQuery: DiscoveryQuery?
  var discoveryEnd: Instant
  var candidates: [Candidate] = []
  var attempt: Attempt?
  /// Services of devices with another passcode; their later addresses are ignored.
  var wrongServices: Set<MatterService.Kind> = []
  var lastError: ControllerError?

  // Data from the device.
  var session: SessionID?
  var information = DeviceInformation()
  var locationCapability = GeneralCommissioning.RegulatoryLocationType.indoorOutdoor
  var failSafeSeconds: UInt16 = 0
  var isArmed = false
  var nonce: [UInt8] = []
  var pai: [UInt8]?
  var dac: [UInt8]?
  var attestation: OperationalCredentials.AttestationResponse?
  var attestationFailure: ControllerError.Attestation?
  /// Whether the attestation chain ends in public test keys.
  var isTestDevice = false
  var signing: OperationalCredentials.CSRResponse?

  // Data for the new node.
  var nodeID: NodeID
  var certificate: [UInt8] = []
  var fabricIndex: FabricIndex?
  /// Whether CommissioningComplete was sent a second time.
  var isCompletionRepeated = false
  /// Whether it continues an earlier commissioning whose CommissioningComplete got no answer.
  var isResumed = false

  /// Set after a failure, while the device disarms its fail-safe.
  var failure: (step: CommissioningStep?, error: ControllerError)?
  var undoEnd: Instant?

  init(_ request: CommissioningRequest, node: NodeID, at now: Instant) {
    self.request = request
    startedAt = now
    stepStartedAt = now
    nodeID = node
    discoveryEnd = now + request.discoveryTime
  }

  /// How long an attempt at one address delays the other candidates.
  static let stagger: Duration = .seconds(3)
  /// How long to search for more devices when every device found has another passcode.
  static let settling: Duration = .seconds(2)
  /// How long to wait for answers to a search by discriminator before querying all commissionable devices. Some devices
  /// state their discriminator in the TXT record but do not publish the subtypes, most often that of the short
  /// discriminator.
  static let narrowSearch: Duration = .seconds(2)
  static let maximumFailures = 3
  /// How long a device may answer busy: as long as a failing handshake may occupy its slot. Matter Core § 4.14.1.1.
  static let busyTimeout: Duration = .seconds(60)
  /// How long the device may take to revert its changes.
  static let undoTime: Duration = .seconds(3)
  /// How long the device may take to appear on the fabric after AddNOC.
  static let operationalTimeout: Duration = .seconds(30)

  /// When to query all commissionable devices, or nil if that is done or not needed.
  var widensAt: Instant? {
    guard wideQuery == nil, candidates.isEmpty, attempt == nil, lastError == nil else { return nil }
    switch query {
    case .commissionable(.longDiscriminator), .commissionable(.shortDiscriminator),
      .commissionable(.inCommissioningMode):
      return startedAt + Self.narrowSearch
    default: return nil
    }
  }

  var wakeUp: Instant? {
    if let undoEnd { return undoEnd }
    guard session == nil else { return nil }
    if let attempt { return candidates.isEmpty ? nil : attempt.startedAt + Self.stagger }
    var result: Instant? = candidates.map(\.notBefore).min()
    if query != nil, result == nil {
      result = lastError == nil ? discoveryEnd : min(discoveryEnd, startedAt + Self.settling)
      result = .earlier(result, widensAt)
    }
    return result
  }
}
