internal import MatterClusters
public import MatterModel
public import MatterProtocol

// Physical actions on switches and bridged devices, and changes of the host's clock.
extension DeviceEngine {
  /// Moves the switch of an endpoint. The moves after the first follow at their times.
  /// - Throws: `unsupportedCluster` if the endpoint has no Switch, `constraintError` for an invalid position.
  public mutating func operate(
    switchOn endpoint: EndpointID, _ moves: [SwitchMove], at now: Instant
  ) throws(StatusError) {
    advance(to: now)
    guard let positions = context.value(Switch.numberOfPositions, on: endpoint) else {
      throw StatusError(.unsupportedCluster)
    }
    guard moves.allSatisfy({ $0.position < positions }) else { throw StatusError(.constraintError) }
    context.call(SwitchServer.move, moves, on: endpoint)
    settle()
  }

  /// Returns the parts of the physical device on an endpoint, such as a door, with their states, the texts that others
  /// take, and a cluster that follows each.
  public func parts(
    on endpoint: EndpointID
  ) -> [(name: String, values: [String], expected: String?, cluster: ClusterID)] {
    context.parts(on: endpoint)
  }

  /// Moves a part of the physical device, such as a door.
  /// - Throws: `unsupportedAttribute`, `constraintError`, or `invalidInState` if the part can't move now.
  public mutating func act(
    part name: String, _ value: String, on endpoint: EndpointID, at now: Instant
  ) throws(StatusError) {
    advance(to: now)
    defer { settle() }
    try context.act(part: name, value, on: endpoint)
  }

  /// Switches the power of a bridged device. On power-up the device starts; without power it is unreachable.
  /// - Throws: `unsupportedCluster` if the endpoint is not a bridged device.
  public mutating func power(_ isOn: Bool, bridgedOn endpoint: EndpointID, at now: Instant) throws(StatusError) {
    advance(to: now)
    let wasOn = context.value(BridgedDeviceBasicInformation.reachable, on: endpoint)
    let own = Set([endpoint] + (context.node.endpoint(endpoint)?.parts ?? []))
    let clusters = context.node.clusters.indices.filter { own.contains(context.node.clusters[$0].path.endpoint) }
    if !isOn, wasOn == true {
      context.prepareForStop(clusters)
      for index in clusters {
        for body in context.node.clusters[index].server.powerLosses { context.enterQuietly(index, as: .device, body) }
      }
    }
    guard context.call(BridgedDeviceServer.power, isOn, on: endpoint) else { throw StatusError(.unsupportedCluster) }
    if isOn, wasOn == false { start(clusters) }
    settle()
  }

  /// Stores the state that servers store less often than it changes, before the power of the node is cut.
  package mutating func prepareForPowerLoss(at now: Instant) {
    guard !isShutDown, context.node.clusters.contains(where: { !$0.server.stops.isEmpty }) else { return }
    // Due timers do not run.
    context.node.now = max(now, context.node.now)
    context.prepareForStop()
    commit()
  }

  /// Calls a hook of the servers of a cluster on all endpoints, after a change outside of the node.
  package mutating func call<C: Cluster>(_ hook: ServerHook<C, NoFields>, at now: Instant) {
    advance(to: now)
    for endpoint in context.endpoints { context.call(hook, NoFields(), on: endpoint) }
    settle()
  }

  /// Returns whether the cluster belongs to a bridged device without power. Commands and writes to it fail.
  public func isUnreachable(_ path: ClusterPath) -> Bool { context.node.isUnreachable(path) }

  /// Moves the node's clock by the same step as the host's clock, whichever source had set it, since the node has no
  /// other clock.
  /// - Parameter epoch: Unix time of the host at the zero of the engine's clock, in whole milliseconds.
  public mutating func noteClock(epoch: Duration, at now: Instant) {
    advance(to: now)
    let old = configuration.epoch
    configuration.epoch = epoch
    if let utc = context.node.utc, let old {
      let (step, overflow) = UTCClock.milliseconds(epoch).subtractingReportingOverflow(UTCClock.milliseconds(old))
      context.node.utc = overflow ? nil : utc.moved(milliseconds: step, at: now)
    } else {
      context.node.utc = UTCClock(epoch: epoch, at: now)
    }
    context.call(TimeSynchronizationServer.clockWasSet, (), on: .root)
    settle()
  }

  /// The number of dropped messages, by reason.
  public var drops: DropCounts { core.drops }

  /// The counters since the start, and the present sessions and subscriptions.
  public var metrics: NodeMetrics {
    var metrics = NodeMetrics(drops)
    (metrics.received, metrics.sent) = (context.node.traffic.received, context.node.traffic.sent)
    metrics.invokes = context.node.invokes
    (metrics.sessions, metrics.subscriptions) = (core.sessionCount, subscriptions.count)
    return metrics
  }
}

extension ServerContext {
  /// Runs the ``ClusterServer/onStop(_:)`` handlers of clusters, by default of all. Bridged devices without power have
  /// stopped before.
  mutating func prepareForStop(_ clusters: [Int]? = nil) {
    for index in clusters ?? Array(node.clusters.indices) {
      guard !node.clusters[index].server.stops.isEmpty, !node.isUnreachable(node.clusters[index].path) else { continue }
      for body in node.clusters[index].server.stops { enterQuietly(index, as: .device, body) }
    }
  }
}
