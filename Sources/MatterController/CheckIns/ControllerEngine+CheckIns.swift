internal import MatterClusters
internal import MatterCrypto
public import MatterModel
public import MatterProtocol

// Nodes with a long idle time: requests wait until the node is active. Matter Core § 9.16.1.
extension ControllerEngine {
  /// Whether the controller receives the Check-In messages of a node.
  public func isRegistered(with node: NodeID) -> Bool { registrations[node] != nil }

  /// Whether a node operates with a long idle time.
  public func operatesLong(_ node: NodeID) -> Bool {
    registrations[node] != nil && peers[node]?.isShortIdle == false
  }

  /// Whether requests to a node wait until it is active.
  public func isAsleep(_ node: NodeID, at now: Instant) -> Bool {
    guard operatesLong(node), let peer = peers[node] else { return false }
    // After a start, the node may be active.
    guard let until = reachableUntil(peer) else { return peer.isPresumedAsleep }
    return until <= now
  }

  /// The time until which a node receives requests, by its last message; nil if there was none.
  private func reachableUntil(_ peer: Peer) -> Instant? {
    guard let session = peer.session.flatMap({ core.session($0) }) else { return peer.reachableUntil }
    let until = session.lastHeard + (peer.record.longIdle?.reachableTime ?? .zero)
    return max(until, peer.reachableUntil ?? until)
  }

  // MARK: Waiting operations

  /// Lets an operation wait until its node is active.
  mutating func hold(_ id: OperationID, of node: NodeID, at now: Instant) {
    guard peers[node]?.held.contains(id) == false else { return }
    peers[node]?.held.append(id)
    holding.insert(node)
    if peers[node]?.expectedBy == nil {
      let silence = peers[node]?.record.longIdle?.longestSilence ?? .zero
      let expected = (peers[node].flatMap { reachableUntil($0) } ?? now) + silence
      // A node that was silent for too long gets another period.
      peers[node]?.expectedBy = expected > now ? expected : now + silence
    }
    schedule(peers[node]?.expectedBy)
    if subscriptions[id] != nil, let expected = peers[node]?.expectedBy {
      emit(.sleeping(node, activeWithin: expected - now))
    }
  }

  /// Returns whether an operation waits until its node is active.
  func isHeld(_ id: OperationID) -> Bool {
    operations[id]?.node.map { peers[$0]?.held.contains(id) == true } ?? false
  }

  /// Runs the operations that wait for nodes that are now active.
  /// - Returns: whether there were any.
  mutating func releaseHeld(at now: Instant) -> Bool {
    var isAny = false
    for node in holding.sorted() where !isAsleep(node, at: now) {
      for id in takeHeld(node) {
        isAny = true
        run(id, at: now)
      }
    }
    return isAny
  }

  private mutating func takeHeld(_ node: NodeID) -> [OperationID] {
    holding.remove(node)
    peers[node]?.expectedBy = nil
    defer { peers[node]?.held = [] }
    return peers[node]?.held ?? []
  }

  /// Fails the subscriptions with nodes that should have been active by now.
  mutating func advanceHeld(at now: Instant) {
    for node in holding.sorted() {
      guard let expected = peers[node]?.expectedBy else { continue }
      guard expected <= now else {
        schedule(expected)
        continue
      }
      let held = takeHeld(node)
      for id in held where subscriptions[id] == nil { hold(id, of: node, at: now) }
      for id in held where subscriptions[id] != nil { failSubscription(id, .unreachable, at: now) }
    }
  }

  /// Returns the error of an operation whose timeout passed while its node was asleep.
  func sleepError(_ id: OperationID) -> ControllerError? {
    guard isHeld(id), let node = operations[id]?.node else { return nil }
    return .asleep(longest: peers[node]?.record.longIdle?.longestSilence ?? .zero)
  }

  // MARK: Registration

  private static let registrationTime = Duration.seconds(10)

  /// Registers the controller for the Check-In messages of a node that supports a long idle time.
  /// - Parameter result: the result of the commissioning that ends with the registration, successful or not.
  mutating func register(_ node: NodeID, after result: (OperationID, CommissioningResult)? = nil, at now: Instant) {
    let isRunning = operations.ids(with: node).contains {
      if case .register? = operations[$0]?.task { true } else { false }
    }
    guard !isRunning else { return }
    let task = Operation.Task.register(key: random.bytes(CheckInMessage.keyByteCount), after: result)
    let id = operations.add(task, node, deadline: now + Self.registrationTime)
    schedule(operations[id]?.deadline)
    run(id, at: now)
  }

  /// Registers again if the registration is missing, or its key was used for too long.
  mutating func registerIfNeeded(_ node: NodeID, at now: Instant) {
    guard peers[node]?.isStored == true, peers[node]?.record.longIdle != nil,
      registrations[node]?.needsNewKey ?? true
    else { return }
    register(node, at: now)
  }

  mutating func registered(_ node: NodeID, key: [UInt8], counter: UInt32) {
    let registration = CheckInRegistration(node, key: key, start: counter)
    registrations[node] = registration
    store([registration.stored(isNew: true)])
    followOwnService()
  }

  mutating func removeRegistration(_ node: NodeID) {
    holding.remove(node)
    guard registrations.removeValue(forKey: node) != nil else { return }
    store([StoreChange(CheckInRegistration.key(node), nil, isDurable: true)])
    followOwnService()
  }

  // MARK: The service of the controller, by which nodes find it

  /// Sets the UDP port that the controller announces, so that nodes find it for their Check-In messages.
  public mutating func announce(port: UInt16?) {
    self.port = port
    followOwnService()
  }

  /// Announces the controller while it is registered with any node.
  private mutating func followOwnService() {
    guard let port else { return }
    if registrations.isEmpty {
      if let ownService { perform(.withdraw(ownService)) }
      ownService = nil
    } else if ownService == nil {
      publish(port: port)
    }
  }

  private mutating func publish(port: UInt16) {
    let service = MatterService(
      kind: .operational(compressedFabricID: fabric.compressedFabricID, nodeID: fabric.nodeID.rawValue),
      hostName: MatterService.hostName(drawnFrom: &random), port: port)
    perform(.publish(service))
    ownService = service
  }

  /// Announces the controller under another host name.
  mutating func renameHost(_ name: String) {
    guard let ownService, ownService.hostName == name else { return }
    publish(port: ownService.port)
  }

  // MARK: Check-In messages

  mutating func receiveCheckIn(_ payload: [UInt8], from address: SocketAddress, at now: Instant) {
    for node in registrations.keys.sorted() {
      guard let key = registrations[node]?.key, let message = CheckInMessage(opening: payload, with: key) else {
        continue
      }
      guard registrations[node]?.accept(message) == true else {
        core.countDrop(.duplicate)
        return probe(node, message)
      }
      store(registrations[node].map { [$0.stored(isNew: false)] })
      return checkedIn(node, message, from: address, at: now)
    }
    core.countDrop(.unexpectedMessage)
  }

  /// Tries once to reach a node whose latest message arrives again after a start of the controller: while it is active,
  /// a node sends this message to each new address of the controller. It may also be a replay.
  private mutating func probe(_ node: NodeID, _ message: CheckInMessage) {
    guard registrations[node]?.isLatest(message) == true, peers[node]?.mayProbe == true else { return }
    peers[node]?.mayProbe = false
    peers[node]?.isPresumedAsleep = false
  }

  /// Handles the message of a node that is active and has no subscription of the controller.
  private mutating func checkedIn(
    _ node: NodeID, _ message: CheckInMessage, from address: SocketAddress, at now: Instant
  ) {
    guard peers[node] != nil else { return }
    if let threshold = message.activeThreshold { peers[node]?.setActiveThreshold(threshold) }
    let reachable = peers[node]?.record.longIdle?.reachableTime ?? .zero
    peers[node]?.reachableUntil = now + reachable
    peers[node]?.suggestedAddress = address
    emit(.checkedIn(node))
    let waiting = peers[node]?.held.contains { subscriptions[$0] == nil } == true
    for handle in subscriptions.handles(with: node) {
      if subscriptions[handle]?.isWaiting == true {
        advanceSubscription(handle, at: now)
      } else if subscriptions[handle]?.session != nil {
        requestReplacement(handle, at: now)
      }
    }
    // The requests may take longer than the node would stay active.
    if waiting { stayActive(node, at: now) }
    registerIfNeeded(node, at: now)
  }

  private mutating func stayActive(_ node: NodeID, at now: Instant) {
    let fields = IcdManagement.StayActiveRequest(
      stayActiveDuration: UInt32(clamping: configuration.responseTime.milliseconds))
    let command = CommandData(IcdManagement.stayActiveRequest.path(on: .root), fields: fields.tlv)
    let id = operations.add(
      .request(.invoke([command], timed: nil)), node, deadline: now + configuration.responseTime)
    schedule(operations[id]?.deadline)
    run(id, at: now)
  }

  /// Notes the operating mode in a report: a node with a short idle time needs no waiting.
  mutating func noteMode(_ report: ReassembledReport, of node: NodeID) {
    guard registrations[node] != nil, let value = report[IcdManagement.operatingMode.path(on: .root)]?.value,
      let mode = try? IcdManagement.OperatingMode(tlv: value)
    else { return }
    peers[node]?.isShortIdle = mode == .sit
  }
}

extension DeviceInformation {
  /// The timing of a device that supports a long idle time and Check-In messages.
  static func longIdle(_ report: ReassembledReport) -> LongIdleTiming? {
    let path = ConcreteAttributePath(.root, IcdManagement.id, GlobalAttribute.featureMap)
    let needed = IcdManagement.longIdleTimeSupport.mask | IcdManagement.checkInProtocolSupport.mask
    guard let features = report[path].flatMap({ try? UInt32(tlv: $0.value) }), features & needed == needed,
      let idle = try? report.value(of: IcdManagement.idleModeDuration, on: .root),
      let threshold = try? report.value(of: IcdManagement.activeModeThreshold, on: .root)
    else { return nil }
    return LongIdleTiming(
      idleDuration: .seconds(Int64(idle)), activeThreshold: .milliseconds(Int64(threshold)))
  }
}
