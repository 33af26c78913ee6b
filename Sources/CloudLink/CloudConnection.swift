internal import Foundation
package import HomeModel
package import Logging
internal import MatterCrypto
package import MatterProtocol
package import NIOCore
package import Runtime
internal import WebClient

/// A cloud account of a home: sends its requests one after the other, and reports the devices and states to the home.
/// An actor on the event loop of the home's controller. The account is polled only if the devices are followed.
package actor CloudConnection {
  package nonisolated let eventLoop: any EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private nonisolated let host: NIOLoopBound<any CloudHost>
  private let settings: CloudOptions
  private let logger: Logger
  private let machine: any Machine
  private var random: any RandomSource
  package nonisolated let account: StoredCloudAccount
  /// The nodes that are devices of the home.
  package private(set) var nodes: [NodeID: CloudNode]
  /// The ids of devices that the account no longer lists, and when this was detected.
  private var missing: [String: NIODeadline] = [:]

  private var isFollowing = false
  private var isEnded = false
  private var next: Scheduled<Void>?
  private var isPolling = false
  /// The times of the last poll and of the last device list.
  private var lastPoll: NIODeadline?
  private var lastSync: NIODeadline?
  /// The end of the pause that the cloud requested, during which it is not polled; commands are sent nevertheless.
  private var notBefore: NIODeadline?
  /// The number of consecutive failures.
  private var failures = 0
  private var stored: (contact: Int64?, failure: String?)

  /// Ends the request in progress; the callers of further ones wait in the queue.
  private var endExchange: (() -> Void)?
  private var isBusy = false
  private var queue: [CheckedContinuation<Void, Never>] = []
  private static let mostWaiting = CloudIntent.mostDevices
  /// The minimum interval between stored contact times, in microseconds.
  private static let contactInterval: Int64 = 60_000_000

  package init(
    _ account: StoredCloudAccount, _ nodes: [NodeID: CloudNode], _ host: NIOLoopBound<any CloudHost>,
    _ settings: CloudOptions, logger: Logger, machine: any Machine
  ) {
    (self.account, self.host, self.settings) = (account, host, settings)
    (self.logger, self.machine) = (logger, machine)
    self.nodes = nodes.filter(\.value.isDevice)
    eventLoop = host.eventLoop
    random = machine.makeRandom()
    stored = (account.account.lastContact, account.account.failure)
  }

  // MARK: Polling

  /// Begins to poll the account.
  package func follow() {
    guard !isFollowing, !isEnded else { return }
    isFollowing = true
    schedulePoll(in: .zero)
  }

  /// Stops polling. Pending requests fail.
  package func end() {
    isEnded = true
    isFollowing = false
    next?.cancel()
    next = nil
    endExchange?()
    let waiting = queue
    queue = []
    for waiter in waiting { waiter.resume() }
  }

  /// Polls soon for a device that a caller waits for, regardless of the back-off.
  package func pollSoon(for node: NodeID) {
    guard isFollowing, nodes[node] != nil, lastPoll.map({ $0 + .seconds(5) <= eventLoop.now }) ?? true else { return }
    schedulePoll(in: .zero)
  }

  /// Schedules the next poll after a delay, unless an earlier one is scheduled.
  private func schedulePoll(in time: Duration) {
    guard isFollowing else { return }
    let deadline = max(eventLoop.now + .nanoseconds(time.nanoseconds), notBefore ?? .distantPast)
    if let due, due <= deadline { return }
    schedule(at: deadline)
  }

  private var due: NIODeadline?

  private func schedule(at deadline: NIODeadline) {
    next?.cancel()
    due = deadline
    next = eventLoop.scheduleTask(deadline: deadline) { [weak self] in
      guard let self else { return }
      machine.task { await self.poll() }
    }
  }

  private func poll() async {
    guard isFollowing else { return }
    (next, due) = (nil, nil)
    guard !isPolling else { return schedulePoll(in: settings.settlingTime) }
    isPolling = true
    defer { isPolling = false }
    let start = eventLoop.now
    lastPoll = start
    do throws(CloudFailure) {
      let period = TimeAmount.nanoseconds(settings.syncInterval.nanoseconds)
      // A device that is missing since a short time may be listed again soon.
      let isNew = missing.values.contains { $0 + period > start }
      if lastSync.map({ $0 + period <= start }) ?? true || isNew {
        try await sync()
        lastSync = start
      }
      try await query(Array(nodes.keys))
      guard isFollowing else { return }
      failures = 0
      storeStatus(nil)
      schedulePoll(in: settings.queryInterval)
    } catch {
      guard isFollowing, error != .ended else { return }
      // A full queue says nothing about the devices.
      guard error != .busy else { return schedulePoll(in: settings.settlingTime) }
      failed(error)
    }
  }

  private func failed(_ failure: CloudFailure) {
    failures += 1
    logger.warning("the cloud account “\(account.name)” \(failure.text)")
    for node in nodes.keys.sorted() { host.value.process(.lost(node, failure.reason)) }
    storeStatus(failure)
    // The cloud determined the pause; it is polled at most as often as one that answers.
    if case .status(_, after: .some) = failure { return schedulePoll(in: settings.queryInterval) }
    let doublings = min(failures - 1, 10)
    schedulePoll(in: min(settings.queryInterval * (1 << doublings), max(settings.longestRetry, settings.queryInterval)))
  }

  private func storeStatus(_ failure: CloudFailure?) {
    let now = machine.unixMicroseconds()
    let contact = failure == nil ? now : nil
    let isOld = contact != nil && stored.contact.map { now &- $0 >= Self.contactInterval } ?? true
    guard isOld || stored.failure != failure?.text else { return }
    stored = (contact ?? stored.contact, failure?.text)
    // A failure is ignored, because storing the home fails as well then, which is reported.
    _ = host.value.perform { [account] in try $0.note(contact: contact, failure: failure?.text, of: account) }
  }

  /// Requests devices and states once.
  package func refresh() async throws(HomeError) {
    do throws(CloudFailure) {
      try await sync()
      try await query(Array(nodes.keys))
      storeStatus(nil)
    } catch {
      storeStatus(error)
      throw error.homeError(of: account.name)
    }
  }

  // MARK: SYNC

  /// Requests the list of devices. A device that is no longer listed is offline, and removed after a day, because the
  /// list may be incomplete for a while.
  private func sync() async throws(CloudFailure) {
    let (listed, problems) = try await send("SYNC", nil, CloudIntent.devices)
    for problem in problems {
      logger.warning("the cloud account “\(account.name)” has a device that is ignored: \(problem)")
    }
    // A cloud may report fewer traits of an offline device, so that no cluster corresponds to it: it counts as not
    // listed.
    let represented = Set(nodes.values.flatMap(\.parts.values).filter { !$0.clusters.isEmpty }.map(\.id))
    let parts = listed.filter { !$0.clusters.isEmpty || !represented.contains($0.id) }
    let kept: [NodeID: CloudNode]?
    do {
      kept = try await host.value.perform { [account] in try $0.keep(parts, of: account) }.get()
    } catch {
      throw .unreadable("its devices can't be stored: \(HomeError(error))")
    }
    guard !isEnded, var kept else { throw .ended }
    let known = Set(kept.values.flatMap(\.parts.values).map(\.id))
    if parts.contains(where: { !known.contains($0.id) }) {
      logger.warning("the cloud account “\(account.name)” has too many devices; the rest are ignored")
    }
    updateMissing(known.subtracting(parts.map(\.id)), isAll: parts.isEmpty)
    let removed = missing.filter { $0.value + .nanoseconds(settings.removalDelay.nanoseconds) <= eventLoop.now }.keys
      .sorted()
    kept = kept.mapValues { $0.without(removed) }
    let before = nodes
    nodes = kept.filter(\.value.isDevice)
    for node in before.keys.sorted() where nodes[node] == nil { host.value.process(.nodeRemoved(node)) }
    // Removed after its node, so that each device of the home belongs to an account.
    if !removed.isEmpty {
      for id in removed { missing[id] = nil }
      _ = host.value.perform { [name = account.name] in try $0.forget(removed, of: name) }
    }
    for (node, known) in nodes.sorted(by: { $0.key < $1.key }) {
      host.value.process(.report(NodeReport(node, known.description, isWhole: false)))
    }
  }

  /// - Parameter isAll: whether the list is empty. Then the removal delay restarts, because an empty list usually is a
  ///   failure of the cloud.
  private func updateMissing(_ ids: Set<String>, isAll: Bool) {
    missing = missing.filter { ids.contains($0.key) }
    for id in ids where isAll || missing[id] == nil { missing[id] = eventLoop.now }
  }

  // MARK: QUERY

  /// Requests the states of devices.
  /// - Returns: the attributes of the reachable ones.
  @discardableResult
  package func query(_ wanted: [NodeID]) async throws(CloudFailure) -> [NodeID: [AttributeData]] {
    let known = wanted.sorted().compactMap { nodes[$0] }
    guard !known.isEmpty else { return [:] }
    let listed = known.flatMap { $0.orderedParts.map(\.value) }.filter { missing[$0.id] == nil }
    var states: [String: JSONValue] = [:]
    if !listed.isEmpty {
      states = try await send("QUERY", ["devices": .array(listed.map(\.request))], CloudIntent.states)
    }
    guard !isEnded else { throw .ended }
    var reported: [NodeID: [AttributeData]] = [:]
    for node in known where nodes[node.node] != nil { reported[node.node] = report(states, of: node) }
    return reported
  }

  /// Reports the states of a node's devices to the home; a device without a state is offline.
  /// - Returns: the attributes; nil if all devices are offline.
  @discardableResult
  private func report(_ states: [String: JSONValue], of node: CloudNode) -> [AttributeData]? {
    guard let attributes = node.attributes(states) else {
      host.value.process(.lost(node.node, .cloudSaysUnreachable))
      return nil
    }
    report(attributes, of: node.node)
    return attributes
  }

  private func report(_ attributes: [AttributeData], of node: NodeID) {
    // Established before the report, like a subscription.
    let timeout = (settings.queryInterval + settings.timeout).nanoseconds / 1000
    host.value.process(.established(node, deadline: machine.unixMicroseconds() + timeout))
    host.value.process(.report(NodeReport(node, attributes, isWhole: false)))
  }

  // MARK: EXECUTE

  /// Sends a command to a device.
  package func execute(_ order: CloudOrder, of node: NodeID) async throws(HomeError) {
    let endpoint = order.endpoint
    guard let known = nodes[node], let part = known.parts[endpoint] else {
      throw HomeError(.notFound, "the cloud account “\(account.name)” no longer has this device")
    }
    guard !order.executions.isEmpty else { return }
    let command: JSONValue = ["devices": [part.request], "execution": .array(order.executions)]
    let id = part.id
    let outcome: JSONValue
    do throws(CloudFailure) {
      outcome = try await send("EXECUTE", ["commands": [command]]) { answer throws(CloudFailure) in
        try CloudIntent.outcome(answer, of: id)
      }
    } catch {
      // The command may have been executed.
      if error.isAfterSending { schedulePoll(in: settings.settlingTime) }
      throw error.homeError(of: account.name)
    }
    // The command may not be completed yet.
    schedulePoll(in: settings.settlingTime)
    // The account may have been removed meanwhile. If one of several devices is offline, the next poll detects it.
    guard !isEnded, nodes[node] != nil else { return try CloudIntent.check(outcome, account: account.name) }
    let isOffline = outcome["status"]?.text == "OFFLINE" || outcome["states"].map { !CloudIntent.isOnline($0) } ?? false
    if isOffline {
      if known.parts.count == 1 { host.value.process(.lost(node, .cloudSaysUnreachable)) }
    } else if let states = outcome["states"] {
      report(known.attributes(states, of: part, on: endpoint), of: node)
    }
    try CloudIntent.check(outcome, account: account.name)
  }

  // MARK: Requests

  /// Sends a request after the previous ones, and decodes the answer. A request that waited longer than the timeout, or
  /// whose task was canceled, is dropped, because a late command is not expected any longer.
  private func send<Answer: Sendable>(
    _ intent: String, _ payload: JSONValue?, _ read: @escaping @Sendable (JSONValue) throws(CloudFailure) -> Answer
  ) async throws(CloudFailure) -> Answer {
    guard queue.count < Self.mostWaiting else { throw .busy }
    let wait = PendingWork.begin("the cloud account \(account.name) to answer \(intent)")
    defer { wait?.end() }
    let start = eventLoop.now
    if isBusy { await withCheckedContinuation { queue.append($0) } } else { isBusy = true }
    defer { if queue.isEmpty { isBusy = false } else { queue.removeFirst().resume() } }
    guard !isEnded else { throw .ended }
    guard !Task.isCancelled, eventLoop.now <= start + .nanoseconds(settings.timeout.nanoseconds) else { throw .busy }
    let id = random.bytes(16).hexadecimal
    do {
      return try await post(CloudIntent.request(intent, payload, id: id), read)
    } catch {
      if case .status(_, after: let pause?) = error { notBefore = eventLoop.now + .nanoseconds(pause.nanoseconds) }
      throw error
    }
  }

  /// Sends a request and decodes the answer, off the event loop. Ends with the answer, the timeout, or the end of the
  /// account.
  private func post<Answer: Sendable>(
    _ request: JSONValue, _ read: @escaping @Sendable (JSONValue) throws(CloudFailure) -> Answer
  ) async throws(CloudFailure) -> Answer {
    let promise = eventLoop.makePromise(of: Answer.self)
    let task = machine.task { [account, settings, machine] in
      do throws(CloudFailure) {
        promise.succeed(try read(await CloudExchange.post(request, account, settings, machine)))
      } catch {
        promise.fail(error)
      }
    }
    let timer = eventLoop.scheduleTask(in: .nanoseconds(settings.timeout.nanoseconds)) {
      promise.fail(CloudFailure.timedOut)
    }
    endExchange = { promise.fail(CloudFailure.ended) }
    defer {
      endExchange = nil
      timer.cancel()
      task.cancel()
    }
    do { return try await promise.futureResult.get() } catch {
      throw error as? CloudFailure ?? .unreachable("\(error)")
    }
  }
}
