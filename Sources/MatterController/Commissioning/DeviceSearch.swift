internal import MatterModel
internal import MatterProtocol

/// The search for the device to commission: DNS-SD queries, and PASE attempts at one address after the other.
struct DeviceSearch: Sendable {
  /// An address at which the device may be reached.
  struct Candidate: Hashable, Sendable {
    let address: SocketAddress
    let parameters: SessionParameters
    /// The DNS-SD service that gave the address, or nil if the request gave it.
    let service: MatterService.Kind?
    fileprivate(set) var failures = 0
    /// Earliest time of the next attempt.
    fileprivate(set) var notBefore: Instant
    /// When a handshake was interrupted; nil if none was.
    fileprivate(set) var interruptedAt: Instant?
  }

  /// The next action.
  enum Step: Hashable, Sendable {
    case cancel(HandshakeID)
    /// Start a handshake; see ``DeviceSearch/started(_:with:at:)``.
    case start(Candidate)
    /// Also browse for this query, because no device matched the subtype; the TXT records are matched instead.
    case widen(DiscoveryQuery)
    case fail(ControllerError)
    /// Wait for a service or the end of a handshake, or until the deadline.
    case wait(Instant?)
  }

  /// The queries in use.
  private(set) var queries: [DiscoveryQuery] = []
  private(set) var attempt: (handshake: HandshakeID, candidate: Candidate, startedAt: Instant, hasResponse: Bool)?
  private var candidates: [Candidate] = []
  private let product: CommissioningRequest.Product?
  private let startedAt: Instant
  private let end: Instant
  /// Services of devices with another passcode; their later addresses are ignored.
  private var wrongServices: Set<MatterService.Kind> = []
  private var lastError: ControllerError?
  /// The last refusal of a device; nil if none has answered.
  var refusal: ControllerError? { lastError == .unreachable ? nil : lastError }

  /// How long an attempt at an address that doesn't respond delays the other candidates.
  static let stagger: Duration = .seconds(3)
  /// How long to search for more devices when every device found has another passcode, or states another product than
  /// the code.
  static let settling: Duration = .seconds(2)
  /// How long to wait for answers to a search by discriminator before querying all commissionable devices. Some devices
  /// state their discriminator in the TXT record but do not publish the subtypes, most often that of the short
  /// discriminator.
  static let narrowSearch: Duration = .seconds(2)
  static let maximumFailures = 3
  /// How long a device may answer busy: as long as a failing handshake may occupy its slot. Matter Core § 4.14.1.1.
  static let busyTimeout: Duration = .seconds(60)
  /// The delay after an interrupted handshake.
  static let retryDelay: Duration = .seconds(1)
  /// The delay after a refusal that results from an interrupted handshake.
  static let refusalDelay: Duration = .seconds(5)
  /// How long a device may refuse handshakes after an interrupted one. If only its last message was lost, the device has
  /// a session, which ends with the fail-safe that it has armed for 60 s. Matter Core § 5.5.
  static let refusalTimeout: Duration = .seconds(70)
  /// Upper bound of the delay that a busy device asks for.
  static let maximumWait: Duration = .seconds(60)

  init(_ request: CommissioningRequest, at now: Instant) {
    (product, startedAt, end) = (request.product, now, now + request.discoveryTime)
    switch request.target {
    case .addresses(let addresses):
      candidates = addresses.map { .init(address: $0, parameters: .init(), service: nil, notBefore: now) }
    case .discriminator(.long(let value)): queries = [.commissionable(.longDiscriminator(value))]
    case .discriminator(.short(let value)): queries = [.commissionable(.shortDiscriminator(value))]
    case .any: queries = [.commissionable(.inCommissioningMode)]
    case .instance(let value): queries = [.commissionable(.instance(value))]
    }
  }

  /// Adds the addresses of a service to the candidates.
  /// - Returns: whether the service matches the request.
  mutating func offer(_ service: MatterService, at now: Instant) -> Bool {
    guard queries.first?.matches(service) == true, service.commissioningMode != 0,
      !wrongServices.contains(service.kind)
    else { return false }
    let notBefore = hasOtherProduct(service) ? now + Self.settling : now
    for ip in service.addresses {
      let address = SocketAddress(ip, port: service.port)
      guard !candidates.contains(where: { $0.address == address }), attempt?.candidate.address != address else {
        continue
      }
      candidates.append(
        .init(address: address, parameters: SessionParameters(service), service: service.kind, notBefore: notBefore))
    }
    return true
  }

  /// Whether the service states another product than the code. Devices can have the same discriminator and passcode.
  private func hasOtherProduct(_ service: MatterService) -> Bool {
    guard let product, let vendor = service.vendorID else { return false }
    return vendor != product.vendorID.rawValue || service.productID.map { $0 != product.productID } ?? false
  }

  /// Returns the next action; call it again after each action except the last two.
  /// - Parameter hasResponse: whether the peer of a handshake has responded. Such an attempt isn't canceled: it may have
  ///   a session already, whose device refuses the next attempt. It ends at the timeout of the handshake.
  mutating func next(at now: Instant, hasResponse: (HandshakeID) -> Bool) -> Step {
    if let attempt {
      guard !candidates.isEmpty, attempt.startedAt + Self.stagger <= now else { return .wait(wakeUp) }
      if hasResponse(attempt.handshake) {
        self.attempt?.hasResponse = true
        return .wait(nil)
      }
      // The candidate is retried after the others.
      self.attempt = nil
      requeue(attempt.candidate, at: now)
      return .cancel(attempt.handshake)
    }
    if let index = candidates.firstIndex(where: { $0.notBefore <= now }) { return .start(candidates.remove(at: index)) }
    guard candidates.isEmpty else { return .wait(wakeUp) }
    if queries.isEmpty || searchEnd <= now { return .fail(lastError ?? .notFound) }
    if let widensAt, widensAt <= now {
      queries.append(.commissionable(.any))
      return .widen(.commissionable(.any))
    }
    return .wait(wakeUp)
  }

  private var searchEnd: Instant { lastError == nil ? end : min(end, startedAt + Self.settling) }

  /// When to query all commissionable devices, or nil if that is done or not needed.
  private var widensAt: Instant? {
    guard queries.count == 1, candidates.isEmpty, attempt == nil, lastError == nil else { return nil }
    switch queries.first {
    case .commissionable(.longDiscriminator), .commissionable(.shortDiscriminator),
      .commissionable(.inCommissioningMode):
      return startedAt + Self.narrowSearch
    default: return nil
    }
  }

  /// The next deadline.
  var wakeUp: Instant? {
    if let attempt { return candidates.isEmpty || attempt.hasResponse ? nil : attempt.startedAt + Self.stagger }
    let result = candidates.map(\.notBefore).min()
    return result != nil || queries.isEmpty ? result : .earlier(searchEnd, widensAt)
  }

  /// Adds the handshake of a ``Step/start(_:)``.
  mutating func started(_ handshake: HandshakeID, with candidate: Candidate, at now: Instant) {
    attempt = (handshake, candidate, now, hasResponse: false)
  }

  /// Records that the peer of the handshake in progress has answered.
  mutating func noteResponse() { attempt?.hasResponse = true }

  /// Handles the failure of the handshake in progress.
  mutating func failed(_ error: HandshakeError, at now: Instant) {
    guard let attempt else { return }
    var candidate = attempt.candidate
    self.attempt = nil
    switch error {
    case .wrongPasscode:
      lastError = .wrongPasscode
      if let service = candidate.service {
        wrongServices.insert(service)
        candidates.removeAll { $0.service == service }
      }
    case .busy(let wait):
      lastError = .busy
      // Other commissioners may be trying at the same time. A slot becomes free within this time.
      if now - startedAt < Self.busyTimeout { candidate.failures -= 1 }
      requeue(candidate, after: min(wait, Self.maximumWait), at: now)
    case .timedOut:
      lastError = lastError ?? .unreachable
      // The answers so far don't tell whether the passcode is right. A device without an answer may be restarting.
      if attempt.hasResponse { candidate.interruptedAt = now }
      if candidate.interruptedAt != nil { requeue(candidate, after: Self.retryDelay, at: now) }
    case .refused where candidate.interruptedAt.map { now - $0 < Self.refusalTimeout } == true:
      candidate.failures -= 1
      requeue(candidate, after: Self.refusalDelay, at: now)
    default: lastError = .handshake(error)
    }
  }

  private mutating func requeue(_ candidate: Candidate, after wait: Duration = .zero, at now: Instant) {
    var candidate = candidate
    candidate.failures += 1
    candidate.notBefore = now + wait
    if candidate.failures < Self.maximumFailures { candidates.append(candidate) }
  }
}
