internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol

/// The start of the behaviors of a device, which continue while the device has no power.
struct BehaviorClock: Sendable {
  /// The time at which the behaviors started.
  var origin: Instant
  /// The time at which the device starts.
  var now: Instant
  /// The seed of the device.
  var seed: UInt64
  /// The rooms of the home.
  var rooms: Rooms

  static var zero: BehaviorClock { BehaviorClock(origin: .zero, now: .zero, seed: 0, rooms: Rooms()) }
}

extension ClusterServer {
  /// Serves an attribute with the values of a behavior, until a physical action sets it.
  func following(_ definition: BehaviorDefinition, of device: DeviceDefinition, _ clock: BehaviorClock) -> Self {
    guard let target = definition.attribute.target else { return self }
    let seed = StableHash.value(of: "\(device.uniqueID)/\(definition.attribute.path)", for: "behavior")
    // The values of other courses were checked when the definition was loaded.
    let range =
      if case .expression = definition.course { range(of: target.attribute) } else { nil as ClosedRange<Int64>? }
    let first = Behavior(definition.course, seed: clock.seed ^ seed, at: clock.now - clock.origin)
    let advance: @Sendable (inout ServerContext) -> Void = { context in
      // A bridged device without power is started again when its power returns.
      guard context.hasPower else { return }
      var behaviors = context[scratch: RunningBehaviors.self, default: RunningBehaviors()].behaviors
      var behavior = behaviors[target.attribute] ?? first
      behavior.advance(to: context.now - clock.origin) { clock.rooms.value(of: $0, at: context.now) }
      behaviors[target.attribute] = behavior
      context[scratch: RunningBehaviors.self] = RunningBehaviors(behaviors: behaviors)
      // Null has no effect on an attribute that can't be null.
      try? context.act(
        set: ConcreteAttributePath(context.endpoint, context.cluster, target.attribute),
        encoded: behavior.value.clamped(to: range).tlv(as: target.schema))
      if let next = behavior.nextChange { context.schedule(.behavior(target.attribute), at: clock.origin + next) }
    }
    // The first value of an attribute such as the mode of a robot is an action like the later ones.
    let server =
      performsChanges(of: target.attribute)
      ? self : initial(encoded: first.value.tlv(as: target.schema), for: target.attribute)
    return
      server
      .onStarted(advance)
      .onTimer(.behavior(target.attribute), advance)
  }
}

extension InitialValue.Value {
  /// Returns the nearest number in a range; other values as they are.
  fileprivate func clamped(to range: ClosedRange<Int64>?) -> Self {
    guard case .integer(let number) = self, let range else { return self }
    return .integer(min(max(number, range.lowerBound), range.upperBound))
  }
}

/// The behaviors of the attributes of a server.
private struct RunningBehaviors: Sendable {
  var behaviors: [AttributeID: Behavior] = [:]
}
