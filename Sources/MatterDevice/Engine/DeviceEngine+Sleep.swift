internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

// The modes of an intermittently connected device. Matter Core § 9.16.1.
extension DeviceEngine {
  /// Whether the device is in active mode; true for a device that is always connected.
  public var isActive: Bool { context.node.sleep?.isActive ?? true }

  /// The number of datagrams that arrived while the device was idle and did not reach it.
  var lostWhileIdle: Int { context.node.sleep?.lost ?? 0 }

  /// Whether the device stays active regardless of the time: an exchange is open, a commissioning is possible or in
  /// progress, or it looks for another node.
  private var mustStayActive: Bool {
    core.hasExchanges || context.node.commissioning.failSafe != nil || context.node.commissioning.window != nil
      || !bound.waiting.isEmpty || !delayed.isEmpty
  }

  /// The time of the next change of the mode.
  var sleepDeadline: Instant? {
    guard let sleep = context.node.sleep else { return nil }
    // Each end of these requirements is an event of its own.
    return sleep.isActive && (sleep.isKeptActive || mustStayActive) ? nil : sleep.deadline
  }

  /// Keeps a datagram that arrives in idle mode for the next poll, or loses it.
  /// - Returns: whether the device is idle.
  mutating func isAsleep(for bytes: [UInt8], from address: SocketAddress) -> Bool {
    guard context.node.sleep?.isActive == false else { return false }
    let now = now
    context.node.sleep?.keep(.init(bytes: bytes, address: address), at: now)
    return true
  }

  /// Leaves idle mode when it ends, and receives the datagrams of a poll that is due.
  mutating func advanceSleep() {
    guard let sleep = context.node.sleep, !sleep.isActive, sleep.deadline <= now else { return }
    if sleep.idleEnd <= now { context.node.sleep?.isWoken = true }
    receiveKept()
  }

  private mutating func receiveKept() {
    let now = now
    for datagram in context.node.sleep?.takeKept(at: now) ?? [] {
      context.node.traffic.received &+= 1
      core.receive(datagram.bytes, from: datagram.address, at: now)
    }
  }

  /// Notes a sent or received message: enters active mode, or extends it.
  mutating func noteActivity() {
    let now = now
    guard context.node.sleep?.activate(at: now) == true else { return }
    context.report(.modeChanged(isActive: true))
    receiveKept()
    // Each subscriber gets a report, and thereby knows that the device is active.
    for index in subscriptions.indices where subscriptions[index].mayReport(at: now) {
      subscriptions[index].isUrgent = true
    }
    sendCheckIns()
  }

  /// Changes the mode if that is due.
  /// - Returns: whether there may be further output.
  mutating func updateSleep() -> Bool {
    guard let sleep = context.node.sleep else { return false }
    if sleep.isWoken || (!sleep.isActive && (sleep.isKeptActive || mustStayActive)) {
      context.node.sleep?.isWoken = false
      noteActivity()
      return true
    }
    let now = now
    guard sleep.isActive, !mustStayActive, context.node.sleep?.rest(at: now) == true else { return false }
    checkIns = []
    stopBrowsing()
    context.report(.modeChanged(isActive: false))
    return true
  }
}

/// A Check-In message of the current active mode.
struct PendingCheckIn: Sendable {
  let fabric: FabricIndex
  let node: NodeID
  /// The encrypted message. It is the same at each address, since a counter must not encrypt two messages.
  let payload: [UInt8]
  /// The addresses that it was sent to.
  var addresses: [SocketAddress] = []
}

// Check-In messages. Matter Core, Check-In Protocol.
extension DeviceEngine {
  /// Sends Check-In messages to the registered clients without a subscription, as active mode begins.
  private mutating func sendCheckIns() {
    let clients = IcdManagementServer.registrations(in: context).filter {
      $0.client.clientType == .permanent && core.fabric($0.client.fabricIndex) != nil && !hasSubscription($0.client)
    }
    guard !clients.isEmpty, let threshold = context.node.sleep?.configuration.activeThreshold else { return }
    // Stored before the messages are sent, so that the counter is never used twice.
    let counter = IcdManagementServer.takeCounter(in: &context)
    let message = CheckInMessage(counter: counter, activeThreshold: threshold)
    for (client, key) in clients {
      guard let payload = try? message.sealed(with: key) else { continue }
      let (fabric, node) = (client.fabricIndex, client.checkInNodeID)
      checkIns.removeAll { $0.fabric == fabric && $0.node == node }
      checkIns.append(PendingCheckIn(fabric: fabric, node: node, payload: payload))
      let known = core.newestSession(fabric: fabric, peer: node).flatMap { core.session($0)?.peerAddress }
      if let address = known ?? configuration.peers[node] { sendCheckIn(checkIns.count - 1, to: address) }
      if let query = query(node, of: fabric) { browse(query) }
    }
  }

  private mutating func sendCheckIn(_ index: Int, to address: SocketAddress) {
    guard !checkIns[index].addresses.contains(address) else { return }
    checkIns[index].addresses.append(address)
    core.sendCheckIn(checkIns[index].payload, to: address, at: now)
  }

  /// Sends the Check-In message for a client that was found to the address it announces.
  mutating func foundClient(_ node: NodeID, of fabric: FabricIndex, _ service: MatterService) {
    guard let address = service.addresses.first.map({ SocketAddress($0, port: service.port) }) else { return }
    for index in checkIns.indices where checkIns[index].node == node && checkIns[index].fabric == fabric {
      sendCheckIn(index, to: address)
    }
  }

  /// Whether the monitored subject of a client has a subscription, or one that is being resumed.
  private func hasSubscription(_ client: IcdManagement.MonitoringRegistrationStruct) -> Bool {
    let wanted = client.monitoredSubject
    return subscriptions.contains {
      $0.subject.fabric == client.fabricIndex && AccessControlList.matches([wanted], $0.subject)
    } || resumptions.contains { $0.fabric == client.fabricIndex && $0.node == wanted }
  }
}
