internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// An operation in progress.
struct Operation: Sendable {
  /// Large rare ones are indirect, so that the others are small.
  enum Task: Sendable {
    case request(NodeRequest)
    case connect
    case subscribe
    case remove(isForced: Bool, index: FabricIndex?)
    indirect case openWindow(CommissioningWindow, CommandData)
    case commission
    indirect case discover(DiscoveryQuery)
    indirect case changeGroup(GroupChange)
    indirect case changeAccess(AccessChange)
    /// Register for Check-In messages with a key. If it ends a commissioning, its operation completes afterward.
    indirect case register(key: [UInt8], after: (OperationID, CommissioningResult)?)
  }

  /// The continuation after an answer.
  enum Step: Sendable {
    case complete(OperationOutcome)
    /// Send the next request of the task.
    case request
    /// The node removed the fabric.
    case removed
    case subscribed(SubscribeResponse)
    indirect case groupChanged(GroupChange)
    indirect case accessChanged(AccessChange)
    /// The node accepted the registration, with its present counter.
    case registered(key: [UInt8], counter: UInt32)
  }

  let id: OperationID
  var task: Task
  /// The node of the fabric, if the operation has one.
  var node: NodeID?
  var deadline: Instant?
  /// Whether it was repeated because its first session was dead.
  var wasRepeated = false
  private(set) var busyRetries = 0
  /// Time of the next retry after a busy answer.
  private(set) var retryAt: Instant?

  var wakeUp: Instant? { .earlier(deadline, retryAt) }
  func isDue(at now: Instant) -> Bool { wakeUp.map { $0 <= now } ?? false }

  // MARK: Requests

  /// The next request, or nil if the task needs none, or one with data outside of the operation.
  var request: NodeRequest? {
    switch task {
    case .request(let request): return request
    case .remove(_, nil):
      let path = AttributePath(OperationalCredentials.currentFabricIndex.path(on: .root))
      return .read(ReadRequest(attributePaths: [path]))
    case .remove(_, let index?):
      let fields = OperationalCredentials.RemoveFabricRequest(fabricIndex: index)
      return .invoke(
        [CommandData(OperationalCredentials.removeFabric.path(on: .root), fields: fields.tlv)], timed: nil)
    case .openWindow(_, let command): return .invoke([command], timed: .seconds(10))
    case .changeAccess(let change): return change.request
    case .connect, .subscribe, .commission, .discover, .changeGroup, .register: return nil
    }
  }

  /// Whether all requests of the task are safe to repeat, also those that change the node. A commissioning, which repeats
  /// none, decides itself how to continue.
  var isIdempotent: Bool {
    switch task {
    case .remove, .changeGroup, .changeAccess, .commission, .register: true
    case .request, .connect, .subscribe, .openWindow, .discover: false
    }
  }

  /// Whether the operation writes an attribute for its caller.
  func writes(_ path: ConcreteAttributePath) -> Bool {
    guard case .request(.write(let chunks, _)) = task else { return false }
    return chunks.messages.contains { message in
      (try? WriteRequest(decoding: message))?.writes.contains { $0.path.matches(path) } ?? false
    }
  }

  // MARK: Answers

  /// Handles the answer to a request.
  mutating func handle(_ reply: Reply) throws(ControllerError) -> Step {
    switch (task, reply) {
    case (.request, .report(let report)): return .complete(.report(report))
    case (.request, .written(let statuses)): return .complete(.written(statuses))
    case (.request, .invoked(let results)): return .complete(.invoked(results))
    case (.remove(let isForced, nil), .report(let report)):
      let path = OperationalCredentials.currentFabricIndex.path(on: .root)
      guard let value = report[path]?.value, let index = try? FabricIndex(tlv: value), index != .none else {
        throw .unexpectedResponse("no current fabric index")
      }
      task = .remove(isForced: isForced, index: index)
      return .request
    case (.remove, .invoked(let results)):
      let response = try results.response(as: OperationalCredentials.NOCResponse.self)
      guard response.statusCode == .ok else {
        throw .operationalCredentials(response.statusCode, response.debugText ?? "")
      }
      return .removed
    case (.openWindow(let window, _), .invoked(let results)):
      try results.checkStatus()
      return .complete(.windowOpened(window))
    case (.subscribe, .subscribed(let response)): return .subscribed(response)
    case (.register(let key, _), .invoked(let results)):
      let response = try results.response(as: IcdManagement.RegisterClientResponse.self)
      return .registered(key: key, counter: response.icdCounter)
    case (.changeGroup(var change), _):
      if try change.handle(reply) { return .groupChanged(change) }
      task = .changeGroup(change)
      return .request
    case (.changeAccess(var change), _):
      if try change.handle(reply) { return .accessChanged(change) }
      task = .changeAccess(change)
      return .request
    default: throw .unexpectedResponse("an answer to another kind of request")
    }
  }

  /// Returns the result of a removal that ends with an error; nil if the removal fails, or for another task.
  func removal(after error: ControllerError) -> Removal? {
    switch task {
    case .remove(isForced: true, _): error.isForgotten ? .notMember : .unconfirmed
    // A node that removes the fabric may close the session before its answer arrives.
    case .remove(_, .some) where error == .connectionLost: .confirmed
    default: nil
    }
  }

  // MARK: Retries

  /// Schedules a retry after a busy answer, with exponential back-off.
  /// - Returns: the time of the retry, or nil if the retries are used up.
  mutating func retryBusy(maximum: Int, at now: Instant) -> Instant? {
    guard busyRetries < maximum else { return nil }
    retryAt = now + .milliseconds(500 << Int64(busyRetries))
    busyRetries += 1
    return retryAt
  }

  /// Whether the time of the scheduled retry has come; it is then no longer scheduled.
  mutating func takeRetry(at now: Instant) -> Bool {
    guard let retryAt, retryAt <= now else { return false }
    self.retryAt = nil
    return true
  }

  /// Cancels a scheduled retry, and starts counting from 0.
  mutating func resetRetries() { (busyRetries, retryAt) = (0, nil) }
}

extension Status {
  /// Whether a retry may soon succeed: the node did not carry out any part of the request.
  var isTransient: Bool { code == .busy || code == .resourceExhausted }
}
