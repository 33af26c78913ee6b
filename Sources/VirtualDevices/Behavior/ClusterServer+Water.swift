internal import MatterClusters
internal import MatterDevice
internal import MatterProtocol

extension ClusterServer {
  /// Lets the water that is drawn from a water heater follow the course of its definition, until a physical action
  /// changes the tap.
  func drawing(_ device: DeviceDefinition, _ clock: BehaviorClock) -> Self {
    guard id == WaterHeaterManagement.id, let course = device.climate.draw else { return self }
    let seed = clock.seed ^ StableHash.value(of: device.uniqueID, for: "draw")
    let first = Behavior(course, seed: seed, at: clock.now - clock.origin)
    let draw: @Sendable (inout ServerContext) -> Void = { context in
      // A bridged device without power is started again when its power returns.
      guard context.hasPower else { return }
      var behavior = context[scratch: Behavior.self] ?? first
      behavior.advance(to: context.now - clock.origin) { clock.rooms.value(of: $0, at: context.now) }
      context[scratch: Behavior.self] = behavior
      context.call(WaterHeaterServer.flow, max(0, behavior.value.flow ?? 0))
      if let next = behavior.nextChange { context.schedule(.tap, at: clock.origin + next) }
    }
    return onStart(draw).onTimer(.tap, draw)
  }
}
