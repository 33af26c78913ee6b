internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import NIOCore
internal import Runtime
internal import Synchronization

/// The smoke and CO alarms of a home that are in progress: each device expresses those of the others. Shared by all
/// devices of the home that run in this process, on any loop.
final class HomeAlarms: Sendable {
  /// The alarms of a device, and the attributes that express them at the others.
  static let attributes = [
    (own: SmokeCoAlarm.smokeState, others: SmokeCoAlarm.interconnectSmokeAlarm),
    (own: SmokeCoAlarm.coState, others: SmokeCoAlarm.interconnectCOAlarm),
  ]
  /// An alarm of the home changed.
  static let changed = ServerHook<SmokeCoAlarm, NoFields>("homeAlarmsChanged")

  private struct Source: Hashable { var device: String, alarm: AttributeID }

  private struct State {
    var severities: [Source: UInt8] = [:]
    /// The last state of the alarms of the others at each device.
    var expressed: [Source: UInt8] = [:]
    var observers: [String: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// Returns the most severe state of an alarm at other devices, and whether it is new to the device.
  func express(_ alarm: AttributeID, at device: String) -> (state: SmokeCoAlarm.AlarmState, isNew: Bool) {
    state.withLock { state in
      let others = state.severities.filter { $0.key.alarm == alarm && $0.key.device != device }
      let severest = others.values.max() ?? 0
      let last = state.expressed.updateValue(severest, forKey: Source(device: device, alarm: alarm))
      return (SmokeCoAlarm.AlarmState(severest), last != severest)
    }
  }

  func set(_ state: SmokeCoAlarm.AlarmState, _ alarm: AttributeID, of device: String) {
    change { $0.severities[Source(device: device, alarm: alarm)] = state == .normal ? nil : state.rawValue }
  }

  /// Ends the alarms of devices.
  func end(of devices: [String]) {
    change { state in
      state.severities = state.severities.filter { !devices.contains($0.key.device) }
      state.expressed = state.expressed.filter { !devices.contains($0.key.device) }
    }
  }

  /// Sets the observer of a node, which is called after each change.
  func observe(from node: String, _ observer: (@Sendable () -> Void)?) {
    state.withLock { $0.observers[node] = observer }
  }

  private func change(_ body: (inout State) -> Void) {
    let observers = state.withLock { state in
      let before = state.severities
      body(&state)
      // Sorted: a simulation has the same order each time.
      return before == state.severities ? [] : state.observers.sorted { $0.key < $1.key }.map(\.value)
    }
    for observer in observers { observer() }
  }
}

extension ClusterServer {
  /// Connects an alarm with the others of the home.
  func interconnected(_ device: DeviceDefinition, _ clock: BehaviorClock) -> Self {
    guard id == SmokeCoAlarm.id else { return self }
    let (alarms, name) = (clock.rooms.alarms, device.uniqueID)
    let attributes = HomeAlarms.attributes.filter { serves($0.own.id) }
    // Between changes of the home, the attributes keep the state of a test event.
    let express: @Sendable (Bool, inout ServerContext) -> Void = { isStart, context in
      guard context.hasPower else { return }
      for (own, others) in attributes {
        let (state, isNew) = alarms.express(own.id, at: name)
        if isNew || isStart { context[others] = state }
      }
    }
    let server = hook(HomeAlarms.changed) { context, _ in express(false, &context) }
      .onStart { context in
        for (own, _) in attributes { alarms.set(context[own], own.id, of: name) }
        express(true, &context)
      }
      .onPowerLoss { _ in alarms.end(of: [name]) }
    return attributes.reduce(server) { server, attribute in
      server.onChange(attribute.own) { context in
        alarms.set(context[attribute.own], attribute.own.id, of: name)
        // The other alarms of the node express it at once.
        for endpoint in context.endpoints { context.call(HomeAlarms.changed, NoFields(), on: endpoint) }
      }
      .onChange(attribute.others) { context in
        // The end of a test event does not end an alarm of another device.
        guard context[attribute.others] == .normal else { return }
        let (state, _) = alarms.express(attribute.own.id, at: name)
        if state != .normal { context[attribute.others] = state }
      }
    }
  }
}

extension VirtualDevice {
  /// Expresses the alarms of other devices while this one has power.
  func followAlarms() {
    let kinds = [definition.kind] + definition.bridged.map(\.kind)
    guard definition.kind == .bridge || kinds.contains(where: DeviceKind.interconnected.contains) else { return }
    let (loop, device) = (environment.loop, NIOLoopBound(self, eventLoop: environment.loop))
    environment.rooms.alarms.observe(from: definition.uniqueID) { loop.execute { device.value.expressAlarms() } }
    expressAlarms()
  }

  private func expressAlarms() { host?.perform { engine, now in engine.call(HomeAlarms.changed, at: now) } }
}
