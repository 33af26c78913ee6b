public import MatterCertificates
public import MatterCrypto
public import MatterModel
public import MatterProtocol

/// What a controller is told when it starts.
public struct ControllerConfiguration: Sendable {
  // MARK: The fabric; counts only when it is made, later starts take it from the store

  /// Nil: drawn at random.
  public var fabricID: FabricID?
  /// The controller's own node id.
  public var nodeID: NodeID = 0xC0_0000_0001
  /// The tags in the controller's own certificate. Matter Core § 6.6.2.1.2.
  public var tags: [CASEAuthenticatedTag] = []
  /// What devices are told that our fabric is called, 32 bytes at most.
  public var fabricLabel = "Hearth"
  /// Whether node certificates are issued by an intermediate (ICAC) below the root.
  public var usesIntermediate = false

  // MARK: Commissioning

  /// The node id for the first device; the others follow.
  public var firstNodeID: NodeID = 1
  /// Who administers commissioned devices: nil is the controller's own node id, else a tag for example.
  public var administrator: NodeID?
  /// Whose administrator devices take us for; a test vendor's unless it is set.
  public var adminVendorID: VendorID = 0xFFF1
  /// From when on issued certificates are valid, in seconds since 2000-01-01 00:00 UTC. They don't expire.
  public var notBefore: UInt32

  /// A validity that holds for devices with any clock, those that begin with the year 2000 at each power-on among them.
  /// (Zero itself stands for "no time" in the standard's certificates.)
  public static let earliestNotBefore: UInt32 = 1
  /// The current time in the same terms, to check the validity of device attestation certificates; nil: not checked.
  public var currentTime: Int64?
  /// The attestation roots and declaration signers that are trusted.
  public var attestation: AttestationVerifier

  // MARK: Storing

  /// Whether what the controller stores lasts. Else nodes don't leave deleted groups on their own, as nobody would know that
  /// they have.
  public var mayStore = true

  // MARK: Timeouts

  /// A peer's time to think about a request; the time that retransmissions take is added.
  public var responseTime: Duration = .seconds(10)
  /// How long DNS-SD gets to come up with a peer's address when there is none that works.
  public var discoveryTime: Duration = .seconds(5)
  /// How often an operation waits for a peer that says that it is busy.
  public var maximumBusyRetries = 3
  /// When a subscription that died is made anew.
  public var renewal = RenewalPolicy()

  /// Sessions, exchanges and the limits of both.
  public var node: NodeConfiguration
  /// How our certificates and handshakes are signed.
  public var signatures: any SignatureScheme

  /// - Parameters:
  ///   - notBefore: from when on the certificates that we issue are valid, in seconds since 2000-01-01 00:00 UTC.
  ///   - attestation: which devices are taken for what they say they are.
  public init(
    notBefore: UInt32, attestation: AttestationVerifier, signatures: any SignatureScheme = OpenSSLSignatures()
  ) {
    self.notBefore = notBefore
    self.attestation = attestation
    self.signatures = signatures
    node = NodeConfiguration()
    node.maximumSessions = 1024
    node.maximumResumptionRecords = 1024
  }
}

/// When a subscription that died is made anew.
public struct RenewalPolicy: Hashable, Sendable {
  /// Before the first attempt.
  public var firstDelay: Duration = .zero
  /// Before the second one; it doubles with each that fails.
  public var baseDelay: Duration = .seconds(1)
  /// The delay grows no further than this.
  public var maximumDelay: Duration = .seconds(300)
  /// How long after a loss the attempts follow each other closely, so that a device that comes back is noticed at once even
  /// where nobody tells of its return: what it announced before is believed by DNS-SD for 120 s.
  public var eagerTime: Duration = .seconds(150)
  /// The delay between attempts in that time.
  public var eagerDelay: Duration = .milliseconds(500)
  /// How long an attempt in that time waits for a first sign of life before it begins anew, since the pauses between
  /// retransmissions grow.
  public var eagerTimeout: Duration = .seconds(2)
  /// How much may be added at random, so that a home does not come back all at once, as a fraction's denominator.
  public var jitterDivisor: Int64 = 4

  public init() {}

  /// The delay before an attempt, counted from 0, without the random part.
  /// - Parameter isEager: whether the loss was a short while ago.
  public func delay(attempt: Int, isEager: Bool = false) -> Duration {
    guard attempt > 0 else { return firstDelay }
    if isEager { return eagerDelay }
    var delay = baseDelay
    for _ in 1..<attempt where delay < maximumDelay { delay *= 2 }
    return min(delay, maximumDelay)
  }
}
