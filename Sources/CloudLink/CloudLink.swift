internal import Foundation
package import HomeModel
package import Logging
internal import MatterCrypto
package import MatterModel
package import MatterProtocol
package import NIOCore
package import Runtime

/// One account at a maker's cloud: asks it, one thing at a time, and tells the home what it says. An actor on the event loop of the
/// home's controller.
///
/// Whoever follows the devices asks by himself, from time to time; anybody may have something done.
package actor CloudLink {
  package nonisolated let eventLoop: any EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor { eventLoop.executor.asUnownedSerialExecutor() }

  private nonisolated let host: NIOLoopBound<any CloudHost>
  private let settings: CloudOptions
  private let logger: Logger
  private let machine: any Machine
  private var random: any RandomSource
  /// The account as it was read last.
  package private(set) var account: StoredCloudAccount
  /// What of it is a device of the home.
  package private(set) var nodes: [NodeID: CloudNode]
  /// The ids of the devices that the account does not list now, and since when.
  private var missing: [String: NIODeadline] = [:]

  private var isFollowing = false
  private var isEnded = false
  /// When it is asked next, while somebody follows.
  private var next: Scheduled<Void>?
  private var isPolling = false
  /// When it was asked last, and when it said last what devices there are.
  private var asked: NIODeadline?
  private var synced: NIODeadline?
  /// Until when it wants not to be asked; what people want done it is told all the same.
  private var quietUntil: NIODeadline?
  /// How often in a row it did not answer.
  private var failures = 0
  /// When it is noted next that it answered, and what is noted of what is wrong with it.
  private var noted: (contact: Int64?, failure: String?)

  /// The request that is under way, and who waits for it to be over.
  private var exchange: NIOLoopBound<CloudExchange>?
  private var isBusy = false
  private var queue: [CheckedContinuation<Void, Never>] = []
  private static let mostWaiting = CloudIntent.mostDevices
  /// It is noted once in so long that an account answers, in microseconds.
  private static let contactPause: Int64 = 60_000_000

  package init(
    _ account: StoredCloudAccount, _ nodes: [NodeID: CloudNode], _ host: NIOLoopBound<any CloudHost>,
    _ settings: CloudOptions, logger: Logger, machine: any Machine
  ) {
    (self.account, self.host, self.settings) = (account, host, settings)
    (self.logger, self.machine) = (logger, machine)
    self.nodes = nodes.filter(\.value.isDevice)
    eventLoop = host.eventLoop
    random = machine.makeRandom()
    noted = (account.account.lastContact, account.account.failure)
  }

  // MARK: Following

  /// Asks the account from now on, by itself.
  package func follow() {
    guard !isFollowing, !isEnded else { return }
    isFollowing = true
    // What is known of earlier are its devices, whether it answers now or not.
    for node in nodes.keys.sorted() { host.value.take(.node(node)) }
    ask(in: .zero)
  }

  /// The account as another process left it.
  package func update(_ account: StoredCloudAccount, _ nodes: [NodeID: CloudNode]) {
    let old = self.account
    self.account = account
    noted = (account.account.lastContact, account.account.failure)
    if !isFollowing { self.nodes = nodes.filter(\.value.isDevice) }
    guard isFollowing else { return }
    if !account.isSame(as: old) {
      (synced, failures, quietUntil) = (nil, 0, nil)
      ask(in: .zero)
    } else if account.orders != old.orders {
      ask(in: settings.settlingTime)
    }
  }

  /// Asks no more. Who waits for an answer is told that there is none.
  package func end() {
    isEnded = true
    isFollowing = false
    next?.cancel()
    next = nil
    exchange?.value.end(.failure(.ended))
    let waiting = queue
    queue = []
    for one in waiting { one.resume() }
  }

  /// Somebody waits for a device of it: it is asked soon, however long it did not answer.
  func hurry(for node: NodeID) {
    guard isFollowing, nodes[node] != nil, asked.map({ $0 + .seconds(5) <= eventLoop.now }) ?? true else { return }
    ask(in: .zero)
  }

  /// Asks at a time, if not before.
  private func ask(in time: Duration) {
    guard isFollowing else { return }
    let deadline = max(eventLoop.now + .nanoseconds(time.nanoseconds), quietUntil ?? .distantPast)
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
    guard !isPolling else { return ask(in: settings.settlingTime) }
    isPolling = true
    defer { isPolling = false }
    let (asked, revision) = (eventLoop.now, account.revision)
    self.asked = asked
    do throws(CloudFailure) {
      let period = TimeAmount.nanoseconds(settings.syncInterval.nanoseconds)
      // What has gone just now may be back soon.
      let isNew = missing.values.contains { $0 + period > asked }
      if synced.map({ $0 + period <= asked }) ?? true || isNew {
        try await sync()
        synced = asked
      }
      try await query(Array(nodes.keys))
      guard isFollowing else { return }
      failures = 0
      note(nil)
      ask(in: settings.queryInterval)
    } catch {
      // What was asked in another way than it would be now says nothing.
      guard isFollowing, error != .ended else { return }
      guard revision == account.revision else { return ask(in: .zero) }
      // It is we who have too much to ask; of the devices that says nothing.
      guard error != .busy else { return ask(in: settings.settlingTime) }
      failed(error)
    }
  }

  private func failed(_ failure: CloudFailure) {
    failures += 1
    logger.warning("the cloud account “\(account.name)” \(failure.text)")
    for node in nodes.keys.sorted() { host.value.take(.lost(node, failure.reason)) }
    note(failure)
    // It knows best when it answers again, but is asked no more often than one that does.
    if case .status(_, after: .some) = failure { return ask(in: settings.queryInterval) }
    let doublings = min(failures - 1, 10)
    ask(in: min(settings.queryInterval * (1 << doublings), max(settings.longestRetry, settings.queryInterval)))
  }

  /// Notes for other processes how the account is doing.
  private func note(_ failure: CloudFailure?) {
    let now = machine.unixMicroseconds()
    let contact = failure == nil ? now : nil
    let isOld = contact != nil && noted.contact.map { now &- $0 >= Self.contactPause } ?? true
    guard isOld || noted.failure != failure?.text else { return }
    noted = (contact ?? noted.contact, failure?.text)
    // Where it can't be noted, it is of no use to say so: the home itself can't be stored then.
    _ = host.value.perform { [account] in try $0.note(contact: contact, failure: failure?.text, of: account) }
  }

  /// Asks for everything once, whoever follows.
  package func refresh() async throws(HomeError) {
    do throws(CloudFailure) {
      try await sync()
      try await query(Array(nodes.keys))
      note(nil)
    } catch {
      note(error)
      throw error.homeError(of: account.name)
    }
  }

  // MARK: SYNC

  /// Asks what devices there are. Of one that is listed no more the cloud may think better: it is out of reach, and gone when it has
  /// not been listed for a day.
  private func sync() async throws(CloudFailure) {
    let asked = account
    let (told, problems) = try await send("SYNC", nil) { answer throws(CloudFailure) in try CloudIntent.devices(answer)
    }
    for problem in problems {
      logger.warning("the cloud account “\(account.name)” has a device that is ignored: \(problem)")
    }
    // Of one that it does not reach it may tell less, so that there is no word for it: that is as if it were not listed.
    let words = Set(nodes.values.flatMap(\.parts.values).filter(\.hasWords).map(\.device.id))
    let parts = told.filter { $0.hasWords || !words.contains($0.device.id) }
    let kept: [NodeID: CloudNode]?
    do {
      kept = try await host.value.perform { try $0.keep(parts, of: asked) }.get()
    } catch {
      throw .unreadable("its devices can't be stored: \(HomeError(error))")
    }
    guard !isEnded, var kept else { throw .ended }
    let known = Set(kept.values.flatMap(\.parts.values).map(\.device.id))
    if parts.contains(where: { !known.contains($0.device.id) }) {
      logger.warning("the cloud account “\(account.name)” has too many devices; the rest are ignored")
    }
    note(missing: known.subtracting(parts.map(\.device.id)), isAll: parts.isEmpty)
    let gone = missing.filter { $0.value + .nanoseconds(settings.removalDelay.nanoseconds) <= eventLoop.now }.keys
      .sorted()
    kept = kept.mapValues { $0.without(gone) }
    let before = nodes
    nodes = kept.filter(\.value.isDevice)
    for node in before.keys.sorted() where nodes[node] == nil { host.value.take(.nodeRemoved(node)) }
    // Behind it: what is in the home is in its account.
    if !gone.isEmpty {
      for id in gone { missing[id] = nil }
      _ = host.value.perform { try $0.forget(gone, of: asked.name) }
    }
    for (node, known) in nodes.sorted(by: { $0.key < $1.key }) {
      host.value.take(.node(node))
      host.value.take(.report(NodeReport(node, known.description, isWhole: false)))
    }
  }

  /// - Parameter isAll: an account that has nothing any more is more often one that does not know at the moment what it has: that
  ///   does not count.
  private func note(missing ids: Set<String>, isAll: Bool) {
    missing = missing.filter { ids.contains($0.key) }
    for id in ids where isAll || missing[id] == nil { missing[id] = eventLoop.now }
  }

  // MARK: QUERY

  /// Asks how devices are.
  /// - Returns: what it told of those that it reaches.
  @discardableResult
  package func query(_ wanted: [NodeID]) async throws(CloudFailure) -> [NodeID: [AttributeData]] {
    let known = wanted.sorted().compactMap { nodes[$0] }
    guard !known.isEmpty else { return [:] }
    let listed = known.flatMap(\.orderedParts).map(\.part).filter { missing[$0.device.id] == nil }
    var states: [String: CloudJSON] = [:]
    if !listed.isEmpty {
      states = try await send("QUERY", ["devices": .array(listed.map(\.request))]) { answer throws(CloudFailure) in
        try CloudIntent.states(answer)
      }
    }
    guard !isEnded else { throw .ended }
    var told: [NodeID: [AttributeData]] = [:]
    for node in known where nodes[node.node] != nil { told[node.node] = take(states, of: node) }
    return told
  }

  /// Takes in how a node's devices are: all of them, of which one that is not told of is away.
  /// - Returns: what that is in attributes; nil where all are away.
  @discardableResult
  private func take(_ states: [String: CloudJSON], of node: CloudNode) -> [AttributeData]? {
    guard let attributes = node.attributes(states) else {
      host.value.take(.lost(node.node, .cloudSaysUnreachable))
      return nil
    }
    say(attributes, of: node.node)
    return attributes
  }

  private func say(_ attributes: [AttributeData], of node: NodeID) {
    // It is there before it says how it is, as a device that is subscribed to.
    let timeout = (settings.queryInterval + settings.timeout).nanoseconds / 1000
    host.value.take(.established(node, deadline: machine.unixMicroseconds() + timeout))
    host.value.take(.report(NodeReport(node, attributes, isWhole: false)))
  }

  // MARK: EXECUTE

  /// Has something done to a device.
  package func execute(_ order: CloudOrder, on endpoint: EndpointID, of node: NodeID) async throws(HomeError) {
    guard let known = nodes[node], let part = known.parts[endpoint] else {
      throw HomeError(.notFound, "the cloud account “\(account.name)” no longer has this device")
    }
    guard !order.executions.isEmpty else { return }
    let command: CloudJSON = ["devices": [part.request], "execution": .array(order.executions)]
    let id = part.device.id
    let outcome: CloudJSON
    do throws(CloudFailure) {
      outcome = try await send("EXECUTE", ["commands": [command]]) { answer throws(CloudFailure) in
        try CloudIntent.outcome(answer, of: id)
      }
    } catch {
      // It may have been done all the same.
      if error.isAfterSending { askAfterOrder() }
      throw error.homeError(of: account.name)
    }
    askAfterOrder()
    // The account may have gone in the meantime. Where one of several is away, the next question tells.
    guard !isEnded, nodes[node] != nil else { return try CloudIntent.check(outcome, account: account.name) }
    let isAway = outcome["status"]?.text == "OFFLINE" || outcome["states"].map { !CloudIntent.isOnline($0) } ?? false
    if isAway {
      if known.parts.count == 1 { host.value.take(.lost(node, .cloudSaysUnreachable)) }
    } else if let states = outcome["states"] {
      say(known.attributes(states, of: part, on: endpoint), of: node)
    }
    try CloudIntent.check(outcome, account: account.name)
  }

  /// It may not be done yet, and the cloud may not know what came of it.
  private func askAfterOrder() {
    if isFollowing {
      ask(in: settings.settlingTime)
    } else {
      _ = host.value.perform { [name = account.name] in try $0.noteOrder(through: name) }
    }
  }

  // MARK: Requests

  /// Sends a request when those before it are over, and reads the answer. Not when whoever wants it has given up meanwhile, or will
  /// have: what is done too late is done when nobody means it any more.
  private func send<Answer: Sendable>(
    _ intent: String, _ payload: CloudJSON?, _ read: @escaping @Sendable (CloudJSON) throws(CloudFailure) -> Answer
  ) async throws(CloudFailure) -> Answer {
    guard queue.count < Self.mostWaiting else { throw .busy }
    let wait = PendingWork.begin("the cloud account \(account.name) to answer \(intent)")
    defer { wait?.end() }
    let begun = eventLoop.now
    if isBusy { await withCheckedContinuation { queue.append($0) } } else { isBusy = true }
    defer { if queue.isEmpty { isBusy = false } else { queue.removeFirst().resume() } }
    guard !isEnded else { throw .ended }
    guard !Task.isCancelled, eventLoop.now <= begun + .nanoseconds(settings.timeout.nanoseconds) else { throw .busy }
    let id = hexadecimal(random.bytes(16))
    let answer = await post(CloudIntent.request(intent, payload, id: id), read)
    if case .failure(.status(_, after: let pause?)) = answer {
      quietUntil = eventLoop.now + .nanoseconds(pause.nanoseconds)
    }
    return try answer.get()
  }

  private func post<Answer: Sendable>(
    _ request: CloudJSON, _ read: @escaping @Sendable (CloudJSON) throws(CloudFailure) -> Answer
  ) async -> Result<Answer, CloudFailure> {
    let (settings, account) = (settings, account)
    let result = await withCheckedContinuation { continuation in
      let exchange = NIOLoopBound(CloudExchange(continuation), eventLoop: eventLoop)
      self.exchange = exchange
      let task = machine.task { [eventLoop, machine] in
        let result = await CloudExchange.run(
          request, account, settings, time: { machine.unixMicroseconds() }, read)
        eventLoop.execute { exchange.value.end(result.map { $0 as any Sendable }) }
      }
      exchange.value.begin(
        task,
        timer: eventLoop.scheduleTask(in: .nanoseconds(settings.timeout.nanoseconds)) {
          exchange.value.end(.failure(.timedOut))
        })
    }
    exchange = nil
    return result.flatMap { ($0 as? Answer).map { .success($0) } ?? .failure(.unreadable("it is another's")) }
  }
}

// For the controller, which is on the loop: what it says is done when it goes on.
extension CloudLink {
  package nonisolated func followNow() { assumeIsolated { $0.follow() } }
  package nonisolated func endNow() { assumeIsolated { $0.end() } }
  package nonisolated func hurryNow(for node: NodeID) { assumeIsolated { $0.hurry(for: node) } }
  package nonisolated func updateNow(_ account: StoredCloudAccount, _ nodes: [NodeID: CloudNode]) {
    assumeIsolated { $0.update(account, nodes) }
  }
}
