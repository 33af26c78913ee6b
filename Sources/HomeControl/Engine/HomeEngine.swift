package import HomeModel
internal import MatterClusters
package import MatterController
internal import MatterModel
package import MatterProtocol

/// Options for following the devices of a home.
public struct HomeConfiguration: Hashable, Sendable {
  /// The maximum reporting interval, in whole seconds; a device may select a longer one. It limits the time until an
  /// unannounced loss is detected.
  public var maxInterval: Duration = .seconds(60)
  /// The time for which a device must be unreachable before its settled connectivity changes. Nil: the time set by the
  /// user for the home, which is zero by default.
  public var grace: Duration?
  /// The interval for storing times of last contact, if nothing else is stored of the device: the maximum loss if the
  /// process is killed.
  public var contactPeriod: Duration = .seconds(60)
  /// The maximum number of concurrent connection attempts at the start.
  public var maximumAttempts = 128
  /// The time after which an attempt without an answer no longer counts for ``maximumAttempts``.
  public var attemptTimeout: Duration = .milliseconds(1500)
  /// Whether to make background deliveries while the home is followed, unless another process makes them: false for
  /// short-lived processes, which would terminate the command of a delivery.
  public var wakesObservers = true
  /// The client of a home that is opened for one client only: the origin of all changes.
  public var origin: String?
  /// Replaced decisions, for tests only.
  package var hooks = HomeHooks()

  public init() {}
}

/// Decisions of a home that a test replaces to check that it detects the error.
package struct HomeHooks: Hashable, Sendable {
  package var handlesAnnouncements = true
  /// Whether a subscription is checked after its device has announced itself again.
  package var probesSubscriptions = true
  /// Whether the reachability that a bridge reports for its bridged devices is used.
  package var appliesReachable = true
  /// Whether nodes beyond the first batch of connections are followed.
  package var followsAllNodes = true
  /// Whether certificates are not checked against a clock that was never set.
  package var rejectsUnsetClock = true
}

/// An event of the home engine. The large ones, which are rare, are indirect, so that the others are small.
package enum HomeEvent: Sendable {
  /// The home changed. The engine's state includes the changes.
  indirect case updated(HomeUpdate)
  /// The next effect stores changes of the controller, which must be committed in one transaction with this update.
  /// Then ``updated(_:)`` is emitted for the update, which is marked as logged.
  indirect case committing(HomeUpdate)
  /// New times of contact, which are not changes of the home. The engine's state includes them.
  case contacts([NodeID: Contact])
  case controller(ControllerEvent)
}

/// A home without I/O: the controller, and the reducer of its events. Driven by sockets or by a simulation.
package struct HomeEngine: Engine {
  package typealias Event = HomeEvent

  package let configuration: HomeConfiguration
  /// The controller, which commissions devices and holds sessions and subscriptions.
  package private(set) var controller: ControllerEngine
  package private(set) var reducer: HomeReducer
  private var clock: HomeClock
  private var now: Instant

  /// The nodes of operations.
  private var owners: [OperationID: NodeID] = [:]

  package var followed: [NodeID: Followed] = [:]
  package var handles: [SubscriptionHandle: NodeID] = [:]
  /// The nodes that wait for their first connection attempt, in reverse order.
  var waiting: [NodeID] = []
  /// The nodes with a connection attempt, and when it no longer counts for ``HomeConfiguration/maximumAttempts``.
  package var attempts: [NodeID: Instant] = [:]
  /// The nodes whose subscriptions are checked.
  var probes = SubscriptionProbes()
  /// The operation that browses for announcements of nodes.
  package var announcements: OperationID?
  /// Whether the engine subscribes to all current and future devices.
  package private(set) var isFollowing = false
  /// When it began to subscribe to the devices, in microseconds since 1970.
  private(set) var followingSince: Int64 = .max

  private var events: [HomeEvent] = []
  private var eventsTaken = 0
  /// Nodes whose contacts have changed since the last ``HomeEvent/contacts(_:)``.
  private var contacted: Set<NodeID> = []
  /// The clients to which the changes of nodes are attributed.
  private var origins: [NodeID: String] = [:]
  /// The running commissionings.
  private var pairings: [OperationID: Pairing] = [:]
  /// The update that is committed together with the next changes of the controller.
  private var committing: HomeUpdate?

  private struct Pairing {
    var placement = DevicePlacement()
    var origin: String?
    /// The description of the device, once it was read.
    var report: ReassembledReport?
  }

  /// - Parameters:
  ///   - state: the stored home.
  ///   - epoch: the offset from an instant to microseconds since 1970.
  package init(
    _ controller: ControllerEngine, _ configuration: HomeConfiguration = HomeConfiguration(),
    state: HomeState = HomeState(), contacts: [NodeID: Contact] = [:], versions: [NodeID: [ClusterPath: UInt32]] = [:],
    trials: [String: DebounceTrial] = [:], epoch: Int64, at now: Instant
  ) {
    self.controller = controller
    self.configuration = configuration
    clock = HomeClock(epoch: epoch)
    self.now = now
    reducer = HomeReducer(
      state, contacts: contacts, grace: configuration.grace ?? .zero, trials: trials,
      at: clock.time(of: now))
    // The stored connectivity may be out of date until the devices are followed.
    _ = reducer.setRestored(true, at: 0)
    for (node, versions) in versions { followed[node] = Followed(versions: versions) }
  }

  /// The current time, in microseconds since 1970.
  package var time: Int64 { clock.time(of: now) }

  /// Notes the wall-clock time. After the clock was set, or the machine slept, everything uses the new time; trials and
  /// deadlines keep their remaining time.
  /// - Parameter time: microseconds since 1970.
  package mutating func noteClock(_ time: Int64, at now: Instant) {
    guard let step = clock.note(time, at: now) else { return }
    reducer.moveClock(by: step)
    contacted.formUnion(reducer.contacts.keys)
  }

  // MARK: Commands

  /// Calls the controller and processes its effects.
  package mutating func perform<R, F: Error>(
    at now: Instant, _ body: (inout ControllerEngine, Instant) throws(F) -> R
  ) throws(F) -> R {
    self.now = now
    return try body(&controller, now)
  }

  /// Begins an operation of the controller.
  /// - Parameter node: the node of the operation: its answers update the node's connectivity, and the values that it
  ///   reads are stored.
  package mutating func begin(
    _ node: NodeID?, at now: Instant, _ body: (inout ControllerEngine, Instant) -> OperationID
  ) -> OperationID {
    self.now = now
    let id = body(&controller, now)
    owners[id] = node
    return id
  }

  /// Commissions a device.
  /// - Parameters:
  ///   - placement: the requested name and room.
  ///   - origin: the client to which the changes of the home are attributed.
  package mutating func commission(
    _ request: CommissioningRequest, _ placement: DevicePlacement, origin: String?, at now: Instant
  ) -> OperationID {
    self.now = now
    let id = controller.commission(request, at: now)
    pairings[id] = Pairing(placement: placement, origin: origin)
    return id
  }

  /// Processes an input that does not come from the controller.
  package mutating func process(_ input: HomeInput, at now: Instant) {
    self.now = now
    reduce(input)
  }

  /// Attributes the following changes of a node to a client; nil: to none.
  package mutating func attribute(_ node: NodeID, to origin: String?) { origins[node] = origin }

  /// Sets the time for which a device must be unreachable before its settled connectivity changes, also for devices
  /// that are unreachable now.
  package mutating func setGrace(_ grace: Duration, at now: Instant) {
    self.now = now
    reducer.debouncer.grace = grace
    if let update = reducer.advance(to: time) { publish(update) }
  }

  private mutating func publish(_ update: HomeUpdate) { events.append(.updated(update)) }

  /// Starts to follow the devices. The connectivity of all of them is unknown until each one reports, because a device
  /// that was followed before may have left since. The settled connectivity hides such short changes. See the article
  /// “The home model”, “Connectivity and locality”.
  mutating func beginFollowing(at now: Instant) {
    self.now = now
    isFollowing = true
    followingSince = time
    reduce(.started)
    contacted.formUnion(reducer.contacts.keys)
    if let update = reducer.setRestored(false, at: time) { publish(update) }
  }

  package mutating func reduce(_ input: HomeInput) {
    if let update = update(for: input) { publish(update) }
  }

  private mutating func update(for input: HomeInput) -> HomeUpdate? {
    if let node = input.node { contacted.insert(node) }
    guard var update = reducer.reduce(input, at: time) else { return nil }
    if !update.isLogged { update.origin = input.node.flatMap { origins[$0] } ?? configuration.origin }
    for (node, versions) in update.versions { followed[node, default: Followed()].versions.merge(versions) { $1 } }
    for (node, endpoints) in update.unread { followed[node]?.unread.formUnion(endpoints) }
    forgetVersions(update)
    return update
  }

  /// Removes the data versions of clusters whose values are incomplete after an update.
  private mutating func forgetVersions(_ update: HomeUpdate) {
    var nodes: Set<NodeID> = []
    for change in update.changes {
      switch change {
      case .attribute(let node, let path, let value):
        let cluster = ClusterPath(path.endpoint, path.cluster)
        // The data version of a value without a version is unknown.
        if update.versions[node]?[cluster] == nil { followed[node]?.versions[cluster] = nil }
        if value == nil { nodes.insert(node) }
      case .sourceRemoved(let source): nodes.insert(source.node)
      default: break
      }
    }
    for node in nodes {
      let values = reducer.state.values[node]
      guard let known = followed[node]?.versions else { continue }
      followed[node]?.versions = known.filter { values?[$0.key.endpoint, $0.key.cluster] != nil }
    }
  }

  func debouncerState(at now: Instant) -> DebouncerState { reducer.debouncerState(at: clock.time(of: now)) }

  /// Microseconds since 1970 of an instant.
  package func time(of instant: Instant) -> Int64 { clock.time(of: instant) }

  // MARK: Engine

  package mutating func handle(_ input: consuming Input, at now: Instant) {
    self.now = now
    controller.handle(input, at: now)
    if let node = controller.takeLastSender() { noteContact(with: node) }
  }

  /// Notes that an authenticated message of a node was received.
  mutating func noteContact(with node: NodeID) {
    reducer.heard(node, at: time)
    contacted.insert(node)
  }

  package mutating func advance(to now: Instant) {
    self.now = now
    controller.advance(to: now)
    if let update = reducer.advance(to: time) { publish(update) }
    connectMore(at: now)
    advanceProbes(at: now)
  }

  package var nextDeadline: Instant? {
    var next = Instant?.earlier(controller.nextDeadline, .earlier(attemptDeadline, probes.nextDeadline))
    if let settled = reducer.debouncer.nextDeadline {
      next = .earlier(next, Instant(nanoseconds: settled.saturatingSubtract(clock.epoch).saturatingMultiply(1000)))
    }
    return next
  }

  package mutating func nextEffect() -> Effect<HomeEvent>? {
    while true {
      if eventsTaken < events.count {
        defer { eventsTaken += 1 }
        return .emit(events[eventsTaken])
      }
      if eventsTaken > 0 {
        events.removeAll(keepingCapacity: true)
        eventsTaken = 0
      }
      switch controller.nextEffect() {
      case nil:
        guard let contacts = takeContacts() else { return nil }
        return .emit(.contacts(contacts))
      case .emit(let event):
        // Its changes are published first, so that the caller of the operation finds them in the state.
        handle(event)
        events.append(.controller(event))
      case .store(let changes):
        if var update = committing.take() {
          update.isLogged = true
          publish(update)
        }
        return .store(changes)
      case .send(let bytes, let address): return .send(bytes, to: address)
      case .join(let group): return .join(group)
      case .leave(let group): return .leave(group)
      case .publish(let service): return .publish(service)
      case .withdraw(let service): return .withdraw(service)
      case .browse(let query): return .browse(query)
      case .stopBrowsing(let query): return .stopBrowsing(query)
      }
    }
  }

  private mutating func takeContacts() -> [NodeID: Contact]? {
    guard !contacted.isEmpty else { return nil }
    var contacts: [NodeID: Contact] = [:]
    for node in contacted { contacts[node] = reducer.contacts[node] }
    contacted = []
    return contacts.isEmpty ? nil : contacts
  }

  // MARK: Events of the controller

  private mutating func handle(_ event: ControllerEvent) {
    switch event {
    case .report(let id, let report): reported(id, report)
    case .subscriptionEstablished(let id, _):
      if let owner = owners[id] { answered(owner) } else { established(id, at: now) }
    case .subscriptionLost(let id, let error, _):
      if let owner = owners[id] {
        if !isFollowing { reduce(.lost(owner, .subscriptionLost)) }
      } else {
        lost(id, error, at: now)
      }
    case .sleeping(let node, let time): asleep(node, within: time)
    case .checkedIn(let node):
      noteContact(with: node)
      reduce(.heard(node, deadline: deadline(of: node)))
    case .sessionOpened(let node, _): reduce(.heard(node, deadline: deadline(of: node)))
    case .completed(let id, let result): completed(id, result)
    case .nodeAdded(let id, let node):
      let pairing = pairings[id] ?? Pairing()
      if let origin = pairing.origin { origins[node] = origin }
      let attributes = pairing.report?.attributes ?? []
      commit(.commissioned(NodeReport(node, attributes, isWhole: false), pairing.placement))
    case .nodeRemoved(let node): commit(.nodeRemoved(node))
    case .serviceFound(let id, let service) where id == announcements:
      if configuration.hooks.handlesAnnouncements { announced(service, at: now) }
    case .serviceLost(let id, let service) where id == announcements: withdrawn(service, at: now)
    case .commissioningStep, .sessionClosed, .serviceFound, .serviceLost: break
    }
  }

  /// Reduces an input whose update is committed with the next changes of the controller.
  private mutating func commit(_ input: HomeInput) {
    committing = update(for: input)
    if let committing { events.append(.committing(committing)) }
  }

  /// Reduces a report, or a contact if it is empty.
  private mutating func reported(_ id: OperationID, _ report: ReassembledReport) {
    guard let node = handles[id] ?? owners[id] else {
      pairings[id, default: Pairing()].report = report
      return
    }
    var contents = NodeReport(node, report, isWhole: handles[id] != nil)
    if !configuration.hooks.appliesReachable {
      let (cluster, attribute) = (BridgedDeviceBasicInformation.id, BridgedDeviceBasicInformation.reachable.id)
      contents.attributes.removeAll { $0.path.cluster == cluster && $0.path.attribute == attribute }
    }
    contents.deadline = deadline(of: node)
    // Overrides an announced shutdown.
    contents.isOfEstablished = contents.isWhole && contents.deadline != nil && controller.isEstablished(id)
    if !contents.isEmpty {
      reduce(.report(contents))
    } else if contents.isOfEstablished, let deadline = contents.deadline {
      reduce(.established(node, deadline: deadline))
    } else {
      reduce(.heard(node, deadline: contents.deadline))
    }
    if handles[id] != nil { readMissing(of: node, at: now) }
  }

  private mutating func completed(_ id: OperationID, _ result: Result<OperationOutcome, ControllerError>) {
    let owner = owners.removeValue(forKey: id)
    let missing = owner.flatMap { takeReading(id, of: $0) }
    pairings[id] = nil
    if let node = handles.removeValue(forKey: id) { followed[node]?.handle = nil }
    switch result {
    case .success(.commissioned(let commissioned)): follow(commissioned.nodeID, at: now)
    case .success(.removed(let node, _)): forget(node)
    case .success(.report(let report)):
      guard let owner else { break }
      // The rest is known from the subscription.
      var contents = NodeReport(owner, report, isWhole: missing != nil)
      contents.deadline = deadline(of: owner)
      reduce(.report(contents))
      // A device of which nothing may be read is not known to be online.
      if isFollowing || !report.isDenied { answered(owner) }
    case .success(.discovered): break
    case .success: if let owner { answered(owner) }
    case .failure(let error):
      guard let owner else { break }
      // A device that refuses the read would refuse it again.
      if let missing, !error.isAnswer { followed[owner]?.unread.formUnion(missing) }
      // A rejection also is an answer.
      if error.isAnswer { answered(owner) }
      if !isFollowing, let reason = OfflineReason(error, hasAddress: controller.node(owner)?.address != nil) {
        reduce(.lost(owner, reason))
      }
    }
  }

  /// Notes an answer. It affects the connectivity only if the process does not follow the node, whose subscription
  /// determines it otherwise.
  private mutating func answered(_ node: NodeID) {
    reduce(isFollowing ? .heard(node, deadline: deadline(of: node)) : .answered(node))
  }

  private mutating func forget(_ node: NodeID) {
    if let handle = followed.removeValue(forKey: node)?.handle { handles[handle] = nil }
    attempts[node] = nil
    probes[node] = nil
    reduce(.nodeRemoved(node))
  }
}

extension OfflineReason {
  /// The offline reason for an error; nil if the error does not imply that the node is unreachable.
  init?(_ error: ControllerError, hasAddress: Bool) {
    switch error {
    case .unreachable, .notFound: self = hasAddress ? .timedOut : .noAddress
    case .handshake(.timedOut), .unacknowledged, .timedOut, .noResponse: self = .timedOut
    case .handshake, .busy: self = .sessionRefused
    case .connectionLost: self = .subscriptionLost
    default: return nil
    }
  }
}

extension ControllerError {
  /// Whether the error is an answer of the node.
  var isAnswer: Bool {
    switch self {
    case .status, .interaction, .unexpectedResponse, .commissioning, .operationalCredentials: true
    default: false
    }
  }

  /// The status with which the node refused a request; nil for another error.
  var statusCode: StatusCode? { if case .status(let status) = self { status.code } else { nil } }
}

extension ReassembledReport {
  /// Whether the device let nothing be read: it omits attributes of wildcard paths, and refuses others with a status.
  fileprivate var isDenied: Bool {
    attributes.isEmpty && events.isEmpty && statuses.allSatisfy { $0.status.code == .unsupportedAccess }
  }
}
