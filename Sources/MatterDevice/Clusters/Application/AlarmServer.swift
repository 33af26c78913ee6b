internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The elements of the clusters that derive from Alarm Base, whose bitmaps have the same encoding in each of them.
/// Application Clusters § 1.15.
enum AlarmBase<C: Cluster> {
  typealias Bits = DishwasherAlarm.Alarm

  static var mask: Attribute<C, Bits> { .init(0x0000, "Mask") }
  static var latch: Attribute<C, Bits> { .init(0x0001, "Latch") }
  static var state: Attribute<C, Bits> { .init(0x0002, "State") }
  static var supported: Attribute<C, Bits> { .init(0x0003, "Supported") }
  static var reset: Command<C, DishwasherAlarm.ResetRequest, NoFields> { .init(0x00, "Reset") }
  static var modify: Command<C, DishwasherAlarm.ModifyEnabledAlarmsRequest, NoFields> {
    .init(0x01, "ModifyEnabledAlarms")
  }
  static var notify: Event<C, DishwasherAlarm.NotifyEvent> { .init(0x00, "Notify") }
}

/// A server for a cluster that derives from Alarm Base. Application Clusters § 1.15.
struct AlarmServer<C: Cluster>: Sendable {
  typealias Base = AlarmBase<C>

  /// A state of a part of the device that raises an alarm.
  struct Cause: Hashable, Sendable {
    /// The name of the part, its states beginning with the usual one, and the state that raises the alarm.
    var part: String
    var states: [String]
    var state: String
    /// The bit of the alarm.
    var bit: UInt32
    /// How long the state must last.
    var delay: Duration
    /// Whether other endpoints have such parts, instead of the alarm's own.
    var isOfParts: Bool

    init(
      _ part: String, _ states: [String], when state: String, bit: UInt32, after delay: Duration = .zero,
      isOfParts: Bool = false
    ) {
      (self.part, self.states, self.state, self.bit) = (part, states, state, bit)
      (self.delay, self.isOfParts) = (delay, isOfParts)
    }
  }

  var causes: [Cause]
  /// The bits of the alarms that stay until they are reset, for a cluster with the feature Reset.
  var latched: UInt32

  init(_ cluster: C.Type, _ causes: [Cause], latching latched: UInt32 = 0) {
    (self.causes, self.latched) = (causes, latched)
  }

  /// The causes that are present.
  private struct ActiveCauses: Sendable {
    /// Their alarms.
    var bits = AlarmBase<C>.Bits()
    /// The endpoints with parts in the state of a cause, by its index.
    var endpoints: [Int: Set<EndpointID>] = [:]
  }

  /// A part of another endpoint moved.
  static var partMoved: ServerHook<C, PartMove> { .init("partMoved") }

  private func bits(_ number: UInt32) -> Base.Bits { .init(rawValue: number) }

  func make() -> ClusterServer {
    let supported = bits(causes.reduce(0) { $0 | $1.bit })
    var server = ClusterServer(C.self, features: latched == 0 ? [] : C.features)
      .initial(Base.mask, supported)
      .initial(Base.supported, supported)
      .onAct(Base.state) { context, wanted throws(StatusError) in
        guard supported.isSuperset(of: wanted) else { throw StatusError(.constraintError) }
        context[scratch: ActiveCauses.self, default: ActiveCauses()].bits = wanted
        setState(wanted.intersection(context[Base.mask]), &context)
      }
    if latched != 0 {
      server =
        server.initial(Base.latch, bits(latched))
        .on(Base.reset) { context, request throws(StatusError) in
          guard supported.isSuperset(of: request.alarms) else { throw StatusError(.invalidCommand) }
          let active = context[scratch: ActiveCauses.self, default: ActiveCauses()].bits
          setState(context[Base.state].subtracting(request.alarms.subtracting(active)), &context)
        }
    }
    if C.commands.contains(where: { $0.id == Base.modify.id }) {
      server = server.on(Base.modify) { context, request throws(StatusError) in
        guard supported.isSuperset(of: request.mask) else { throw StatusError(.invalidCommand) }
        context[Base.mask] = request.mask
        let active = context[scratch: ActiveCauses.self, default: ActiveCauses()].bits
        setState(context[Base.state].union(active).intersection(request.mask), &context)
      }
    }
    for (index, cause) in causes.enumerated() {
      server = server.onTimer(.custom(index)) { context in
        if context.hasPower { set(bits(cause.bit), true, &context) }
      }
      if cause.isOfParts { continue }
      server = server.onPart(cause.part, cause.states) { context, state throws(StatusError) in
        apply(PartMove(part: cause.part, state: state, endpoint: context.endpoint), &context)
      }
    }
    return server.hook(Self.partMoved) { context, move in apply(move, &context) }
  }

  private func apply(_ move: PartMove, _ context: inout ServerContext) {
    for (index, cause) in causes.enumerated() where cause.part == move.part {
      var endpoints = context[scratch: ActiveCauses.self, default: ActiveCauses()].endpoints[index] ?? []
      let wasActive = !endpoints.isEmpty
      if move.state == cause.state { endpoints.insert(move.endpoint) } else { endpoints.remove(move.endpoint) }
      context[scratch: ActiveCauses.self, default: ActiveCauses()].endpoints[index] = endpoints
      if endpoints.isEmpty {
        context.cancel(.custom(index))
        set(bits(cause.bit), false, &context)
      } else if cause.delay == .zero {
        set(bits(cause.bit), true, &context)
      } else if !wasActive {
        let deadline = context.now + cause.delay
        context.schedule(.custom(index), at: deadline)
      }
    }
  }

  private func set(_ alarm: Base.Bits, _ isOn: Bool, _ context: inout ServerContext) {
    var active = context[scratch: ActiveCauses.self, default: ActiveCauses()]
    if isOn { active.bits.formUnion(alarm) } else { active.bits.subtract(alarm) }
    context[scratch: ActiveCauses.self] = active
    let held = context[Base.state].intersection(bits(latched))
    setState(active.bits.union(held).intersection(context[Base.mask]), &context)
  }

  private func setState(_ state: Base.Bits, _ context: inout ServerContext) {
    let before = context[Base.state]
    guard state != before else { return }
    context[Base.state] = state
    context.emit(
      Base.notify,
      .init(
        active: state.subtracting(before), inactive: before.subtracting(state), state: state, mask: context[Base.mask]))
  }
}

/// A move of a part of the device, which may raise or end an alarm.
struct PartMove: Sendable {
  var part: String
  var state: String
  var endpoint: EndpointID
}

extension ApplianceServers {
  /// Returns Dishwasher Alarm. Application Clusters § 8.4.
  static func dishwasherAlarm() -> ClusterServer {
    AlarmServer(
      DishwasherAlarm.self,
      [
        .init("water", ["on", "off"], when: "off", bit: DishwasherAlarm.Alarm.inflowError.rawValue),
        .init("drain", ["clear", "blocked"], when: "blocked", bit: DishwasherAlarm.Alarm.drainError.rawValue),
      ], latching: DishwasherAlarm.Alarm.inflowError.rawValue
    ).make()
  }
}
