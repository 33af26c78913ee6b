internal import MatterClusters
public import MatterModel
public import MatterProtocol

// What hands do to switches and to what is behind a bridge.
extension DeviceEngine {
  /// Moves the switch of an endpoint; the movements after the first follow by themselves, in their time.
  /// - Throws: `unsupportedCluster` without a Switch there, `constraintError` for a position that it does not have.
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

  /// Gives a device behind a bridge its power, or takes it: it starts up, or can't be reached any more.
  /// - Throws: `unsupportedCluster` where no bridged device is.
  public mutating func power(_ isOn: Bool, bridgedOn endpoint: EndpointID, at now: Instant) throws(StatusError) {
    advance(to: now)
    let wasOn = context.value(BridgedDeviceBasicInformation.reachable, on: endpoint)
    guard context.call(BridgedDeviceServer.power, isOn, on: endpoint) else { throw StatusError(.unsupportedCluster) }
    if isOn, wasOn == false {
      let parts = context.node.endpoint(endpoint)?.parts ?? []
      start(
        context.node.clusters.indices.filter { index in
          let place = context.node.clusters[index].path.endpoint
          return place == endpoint || parts.contains(place)
        })
    }
    settle()
  }

  /// Whether a cluster is one of a device behind this bridge that has no power: nothing can be done there.
  public func isOutOfReach(_ path: ClusterPath) -> Bool { context.node.isOutOfReach(path) }

  /// The host's clock was set: the node has no other, so that its own shows as much more or less, whoever told it the time.
  /// - Parameter epoch: what the host's shows at the zero of the engine's clock, in milliseconds of Unix time.
  public mutating func noteClock(epoch: Int64, at now: Instant) {
    advance(to: now)
    let old = configuration.epoch
    configuration.epoch = epoch
    if let utc = context.node.utc, let old {
      let (step, overflow) = epoch.subtractingReportingOverflow(old)
      context.node.utc = overflow ? nil : utc.moved(milliseconds: step, at: now)
    } else {
      context.node.utc = UTCClock(epoch: epoch, at: now)
    }
    context.call(TimeSynchronizationServer.clockWasSet, (), on: .root)
    settle()
  }

  /// Messages that were not taken in, by reason.
  public var drops: DropCounts { core.drops }
}
