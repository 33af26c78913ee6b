public import MatterCertificates
public import MatterCrypto
public import MatterModel
public import MatterProtocol

/// Parameters of a controller.
public struct ControllerConfiguration: Sendable {
  // MARK: Fabric; used only when the fabric is created, later starts load it from the store

  /// Nil: random.
  public var fabricID: FabricID?
  /// The controller's own node id.
  public var nodeID: NodeID = 0xC0_0000_0001
  /// The tags in the controller's own certificate. Matter Core § 6.6.2.1.2.
  public var tags: [CASEAuthenticatedTag] = []
  /// Label of the fabric on devices, at most 32 bytes.
  public var fabricLabel = "Hearth"
  /// Whether node certificates are issued by an intermediate (ICAC) below the root.
  public var usesIntermediate = false

  /// The membership in a fabric that another controller created; nil: an own fabric. It is not stored.
  public var membership: FabricMembership?

  // MARK: Commissioning

  /// The node id of the first device; the next devices get the following ids.
  public var firstNodeID: NodeID = 1
  /// Administrator subject of commissioned devices, for example a CASE authenticated tag; nil: the controller's node
  /// id.
  public var administrator: NodeID?
  /// Vendor id of the administrator; by default a test vendor's.
  public var adminVendorID: VendorID = 0xFFF1
  /// Start of the validity of issued certificates: the time since 2000-01-01 00:00 UTC, in whole seconds. They do not
  /// expire.
  public var notBefore: Duration

  /// A start of validity that devices with any clock accept, including those whose clock restarts at the year 2000 at
  /// power-on. (Zero stands for "no time" in the standard's certificates.)
  public static let earliestNotBefore = Duration.seconds(1)
  /// The current time since 2000-01-01 00:00 UTC, for the validity of attestation certificates; nil: not checked.
  public var currentTime: Duration?
  /// The trusted attestation roots and declaration signers.
  public var attestation: AttestationVerifier

  // MARK: Storing

  /// Whether the store is persistent. If not, nodes are not removed from deleted groups automatically, because the
  /// removal would not be recorded.
  public var mayStore = true

  // MARK: Timeouts

  /// Time for a peer to answer a request, not including retransmissions.
  public var responseTime: Duration = .seconds(10)
  /// Time for DNS-SD to find an address of a peer when no known address works.
  public var discoveryTime: Duration = .seconds(5)
  /// Maximum number of retries after a busy answer.
  public var maximumBusyRetries = 3
  /// Retry policy of lost subscriptions.
  public var renewal = RenewalPolicy()

  /// Limits of sessions and exchanges.
  public var node: NodeConfiguration
  /// Replaced decisions, for tests only.
  package var hooks = ControllerHooks()
  /// Signature scheme of certificates and handshakes.
  public var signatures: any SignatureScheme

  /// A session for each node, and a second one during its renewal: half of the session numbers.
  private static let maximumSessions = 32_768

  /// - Parameters:
  ///   - notBefore: start of the validity of issued certificates: the time since 2000-01-01 00:00 UTC.
  ///   - attestation: the trusted attestation roots and declaration signers.
  public init(
    notBefore: Duration, attestation: AttestationVerifier, signatures: any SignatureScheme = OpenSSLSignatures()
  ) {
    self.notBefore = notBefore
    self.attestation = attestation
    self.signatures = signatures
    node = NodeConfiguration()
    node.maximumSessions = Self.maximumSessions
    node.maximumResumptionRecords = Self.maximumSessions
  }
}

/// Decisions of a controller that a test replaces to check that it detects the error.
package struct ControllerHooks: Sendable {
  /// Whether a node is tried at its stored address.
  package var usesStoredAddress = true
  /// Whether announced and received addresses of a node with a known address are used.
  package var followsAddressChanges = true
}

/// Retry policy of lost subscriptions: attempts at a short interval for a while, then exponential back-off.
public struct RenewalPolicy: Hashable, Sendable {
  /// Delay before the first attempt.
  public var firstDelay: Duration = .zero
  /// Delay before the second attempt; doubles with each failure.
  public var baseDelay: Duration = .seconds(1)
  /// Upper bound of the delay.
  public var maximumDelay: Duration = .seconds(300)
  /// Time after a loss with attempts at a short interval, so that a device that returns unannounced is found at once:
  /// DNS-SD keeps its earlier announcement for 120 s.
  public var eagerTime: Duration = .seconds(150)
  /// Interval of the attempts during ``eagerTime``.
  public var eagerDelay: Duration = .milliseconds(500)
  /// Time after which an attempt during ``eagerTime`` restarts if nothing was received from the device, since the
  /// intervals between retransmissions grow.
  public var eagerTimeout: Duration = .seconds(2)
  /// Denominator of the random fraction added to a delay, so that not all devices of a home reconnect at once.
  public var jitterDivisor: Int64 = 4

  public init() {}

  /// Returns the delay before an attempt, without the random part.
  /// - Parameters:
  ///   - attempt: the number of the attempt, from 0.
  ///   - isEager: whether ``eagerTime`` has not passed since the loss.
  package func delay(attempt: Int, isEager: Bool = false) -> Duration {
    guard attempt > 0 else { return firstDelay }
    if isEager { return eagerDelay }
    var delay = baseDelay
    for _ in 1..<attempt where delay < maximumDelay { delay *= 2 }
    return min(delay, maximumDelay)
  }
}
