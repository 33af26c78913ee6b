internal import MatterCertificates
internal import MatterClusters
internal import MatterCrypto
internal import MatterModel
internal import MatterProtocol

/// One device on its way into the fabric.
struct Commissioning: Sendable {
  /// An address of a device that may be the one.
  struct Candidate: Sendable {
    var address: SocketAddress
    var parameters: SessionParameters
    /// The service that it was found by, nil where the address was given.
    var service: MatterService.Kind?
    var failures = 0
    /// Not before this.
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

  // Finding the device and getting in.
  var query: DiscoveryQuery?
  /// The search for all devices, begun when those that `query` asks for don't answer.
  var wideQuery: DiscoveryQuery?
  var discoveryEnd: Instant
  var candidates: [Candidate] = []
  var attempt: Attempt?
  /// Services of devices that have another passcode, and addresses for those that were given.
  var wrongServices: Set<MatterService.Kind> = []
  var lastError: ControllerError?

  // What the device says.
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
  /// Whether it depends on public test keys.
  var isTestDevice = false
  var signing: OperationalCredentials.CSRResponse?

  // What it becomes.
  var nodeID: NodeID
  var certificate: [UInt8] = []
  var fabricIndex: FabricIndex?
  /// Whether the device was asked a second time to end it.
  var isCompletionRepeated = false
  /// Whether it goes on where an earlier one had no answer to its last request.
  var isResumed = false

  /// Set once it failed, while the device is told to undo everything.
  var failure: (step: CommissioningStep?, error: ControllerError)?
  var undoEnd: Instant?

  init(_ request: CommissioningRequest, node: NodeID, at now: Instant) {
    self.request = request
    startedAt = now
    stepStartedAt = now
    nodeID = node
    discoveryEnd = now + request.discoveryTime
  }

  /// How long one address may keep others waiting.
  static let stagger: Duration = .seconds(3)
  /// When all devices that were found are the wrong ones, how long to look for more.
  static let settling: Duration = .seconds(2)
  /// How long to wait for answers to a search by discriminator before all devices are asked. Some devices state their
  /// discriminator but leave out the subtypes for it, the one for the short discriminator above all.
  static let narrowSearch: Duration = .seconds(2)
  static let maximumFailures = 3
  /// How long a device may go on to say that it is busy: as long as a handshake that comes to nothing may hold a place.
  /// Matter Core § 4.14.1.1.
  static let busyTimeout: Duration = .seconds(60)
  /// How long the device may take to undo everything.
  static let undoTime: Duration = .seconds(3)
  /// After AddNOC, how long the device may take to appear on its fabric.
  static let operationalTimeout: Duration = .seconds(30)

  /// When to look at all devices, nil if that was done, or is not called for.
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
