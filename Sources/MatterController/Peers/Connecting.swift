internal import MatterProtocol

/// The search for a session with a peer: handshakes at several addresses. The first successful handshake wins.
struct Connecting: Sendable {
  /// A handshake in progress.
  struct Attempt: Sendable {
    let handshake: HandshakeID
    let address: SocketAddress
    /// Whether it tries to resume an earlier session.
    let isResumption: Bool
    /// The time to restart the handshake if no message was received; nil if retransmissions suffice.
    var restartAt: Instant?
  }

  /// The next action.
  enum Step: Hashable, Sendable {
    case cancel(HandshakeID)
    /// Start a handshake; see ``Connecting/started(_:at:isResumption:now:)``.
    case start(SocketAddress)
    case fail(ControllerError)
    /// Wait for the end of a handshake, or until the deadline.
    case wait(Instant?)
  }

  let query: DiscoveryQuery
  private(set) var parameters: SessionParameters
  private(set) var attempts: [Attempt] = []
  private var lastError: HandshakeError?
  /// End of the search for further addresses over DNS-SD.
  private let end: Instant
  /// Time after which an unanswered attempt restarts, because the node is likely to restart soon.
  private let restartTime: Duration?
  private var untried: [SocketAddress] = []
  /// Addresses to retry later.
  private var retries: [(address: SocketAddress, at: Instant)] = []
  private var failures: [SocketAddress: Int] = [:]
  /// When to try a further address in parallel to the attempts in progress.
  private var nextAttemptAt: Instant?

  static let maximumAttempts = 3
  static let maximumFailures = 3
  static let stagger: Duration = .seconds(1)
  /// Delay before a failed address is tried again.
  static let retryDelay: Duration = .seconds(1)
  /// Upper bound of the delay that a busy node asks for.
  static let maximumWait: Duration = .seconds(60)

  /// - Parameters:
  ///   - addresses: known addresses, the best first.
  ///   - restartTime: see ``RenewalPolicy/eagerTimeout``; nil if retransmissions suffice.
  init(
    _ query: DiscoveryQuery, addresses: [SocketAddress], parameters: SessionParameters, restartTime: Duration? = nil,
    end: Instant
  ) {
    (self.query, self.parameters, self.restartTime, self.end) = (query, parameters, restartTime, end)
    for address in addresses where !isKnown(address) { untried.append(address) }
  }

  private func isKnown(_ address: SocketAddress) -> Bool {
    untried.contains(address) || attempts.contains { $0.address == address }
      || retries.contains { $0.address == address }
  }

  /// Adds the addresses of an announced service.
  mutating func offer(_ service: MatterService, at now: Instant) {
    parameters = SessionParameters(service)
    let addresses = service.addresses.map { SocketAddress($0, port: service.port) }
    for address in addresses where !isKnown(address) && failures[address, default: 0] < Self.maximumFailures {
      untried.append(address)
    }
    // The node apparently no longer has the address under attempt.
    if !attempts.contains(where: { addresses.contains($0.address) }) { nextAttemptAt = now }
  }

  /// Returns the next action; call it again after each action except the last two.
  /// - Parameter hasResponse: whether anything was received in answer to a handshake.
  mutating func next(at now: Instant, hasResponse: (HandshakeID) -> Bool) -> Step {
    untried += retries.filter { $0.at <= now }.map(\.address)
    retries.removeAll { $0.at <= now }
    if let unanswered = removeUnanswered(at: now, hasResponse) { return .cancel(unanswered) }
    if !untried.isEmpty, attempts.count < Self.maximumAttempts,
      attempts.isEmpty || nextAttemptAt.map({ $0 <= now }) ?? false
    {
      return .start(untried.removeFirst())
    }
    guard attempts.isEmpty, retries.isEmpty, end <= now else { return .wait(wakeUp) }
    switch lastError {
    case nil, .timedOut: return .fail(.unreachable)
    case .busy, .noResources: return .fail(.busy)
    case .some(let other): return .fail(.handshake(other))
    }
  }

  /// Removes an attempt to restart: the intervals between retransmissions grow too long to find a restarted node
  /// quickly.
  private mutating func removeUnanswered(at now: Instant, _ hasResponse: (HandshakeID) -> Bool) -> HandshakeID? {
    for index in attempts.indices.reversed() where attempts[index].restartAt.map({ $0 <= now }) ?? false {
      if hasResponse(attempts[index].handshake) {
        attempts[index].restartAt = nil
        continue
      }
      let attempt = attempts.remove(at: index)
      lastError = .timedOut
      if countFailure(of: attempt.address) < Self.maximumFailures { untried.append(attempt.address) }
      return attempt.handshake
    }
    return nil
  }

  private mutating func countFailure(of address: SocketAddress) -> Int {
    failures[address, default: 0] += 1
    return failures[address, default: 0]
  }

  /// Adds the handshake of a ``Step/start(_:)``.
  mutating func started(_ handshake: HandshakeID, at address: SocketAddress, isResumption: Bool, now: Instant) {
    attempts.append(
      Attempt(
        handshake: handshake, address: address, isResumption: isResumption, restartAt: restartTime.map { now + $0 }))
    nextAttemptAt = now + Self.stagger
  }

  mutating func remove(_ handshake: HandshakeID) { attempts.removeAll { $0.handshake == handshake } }

  /// Handles a failed handshake: schedules the next attempt at its address.
  /// - Parameter busyRetries: maximum number of retries after a busy answer.
  /// - Returns: whether the node may have rejected only the resumption, so that its record must be dropped.
  mutating func failed(_ handshake: HandshakeID, _ error: HandshakeError, busyRetries: Int, at now: Instant) -> Bool {
    guard let index = attempts.firstIndex(where: { $0.handshake == handshake }) else { return false }
    let attempt = attempts.remove(at: index)
    let isResumptionRejected = attempt.isResumption && error.mayRejectResumption
    if isResumptionRejected, error != .timedOut {
      // Retries at once with certificates.
      untried.insert(attempt.address, at: 0)
      return true
    }
    let failures = countFailure(of: attempt.address)
    lastError = error
    if case .busy(let wait) = error, failures <= busyRetries {
      retries.append((attempt.address, now + min(wait, Self.maximumWait)))
    } else if failures < Self.maximumFailures, now + Self.retryDelay < end {
      retries.append((attempt.address, now + Self.retryDelay))
    }
    return isResumptionRejected
  }

  /// The refusal by a busy node, or by one without a root certificate of the fabric, if it was the last failure.
  var refusal: ControllerError? {
    if case .busy? = lastError { return .busy }
    let refusal = lastError.map { ControllerError.handshake($0) }
    return refusal?.isForgotten == true ? refusal : nil
  }

  /// The next deadline. ``end`` applies only if nothing else is pending: a busy device may ask for a longer wait.
  var wakeUp: Instant? {
    var result: Instant? = retries.map(\.at).min()
    // At the maximum number of attempts, one of them has to end first.
    if !untried.isEmpty, attempts.count < Self.maximumAttempts { result = .earlier(result, nextAttemptAt) }
    for attempt in attempts { result = .earlier(result, attempt.restartAt) }
    return attempts.isEmpty && result == nil ? end : result
  }
}

extension HandshakeError {
  /// Whether a failed resumption attempt may have this error because the peer rejected the resumption.
  fileprivate var mayRejectResumption: Bool {
    switch self {
    case .refused, .invalidMessage, .untrusted, .timedOut: true
    case .busy, .wrongPasscode, .noResources: false
    }
  }
}
