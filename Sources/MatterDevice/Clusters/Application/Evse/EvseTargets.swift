import MatterClusters
import MatterModel
import MatterProtocol

// The charging targets of a charging station, and the next charge. Application Clusters § 9.3.
extension EvseServer {
  private static let targetsKey = "targets"

  static func targets(_ server: ClusterServer) -> ClusterServer {
    server
      .on(Evse.setTargets) { context, request throws(StatusError) in
        try ChargingTargets.check(request.chargingTargetSchedules, hasSoC: context.has(Evse.soCReporting))
        var targets = targets(context)
        targets.merge(request.chargingTargetSchedules)
        context[stored: targetsKey] = targets.schedules.tlv
        update(&context)
      }
      .answer(Evse.getTargets) { context, _ throws(StatusError) in
        .init(chargingTargetSchedules: targets(context).schedules)
      }
      .on(Evse.clearTargets) { context, _ throws(StatusError) in
        context[stored: targetsKey] = nil
        update(&context)
      }
  }

  private static func targets(_ context: ServerContext) -> ChargingTargets {
    ChargingTargets(
      context[stored: targetsKey].flatMap { try? [EnergyEvse.ChargingTargetScheduleStruct](tlv: $0) } ?? [])
  }

  /// Returns the next charge: nil without a target, a vehicle, permission to charge or a known time.
  static func plan(_ state: EvseState, _ context: inout ServerContext) -> ChargingPlan? {
    let station = state.station
    guard station.isPluggedIn, station.supplyState == .chargingEnabled, let now = context.epochSeconds,
      let local = context.localSeconds, let next = targets(context).next(after: local)
    else { return nil }
    var plan = ChargingPlan(
      target: UInt32(clamping: Int64(now) + next.time - local), base: station.sessionEnergy)
    let knowsCharge = context.has(Evse.soCReporting) && state.knowsCharge
    if let percent = next.target.targetSoC,
      !context.has(Evse.soCReporting) || knowsCharge || next.target.addedEnergy == nil
    {
      plan.stateOfCharge = percent
    } else {
      plan.energy = next.target.addedEnergy
    }
    let last = state.plan.flatMap { $0.isFor(sameTargetAs: plan) ? $0 : nil }
    plan.base = last?.base ?? plan.base
    if let percent = plan.stateOfCharge {
      let wanted = Int128(station.battery.capacity) * Int128(percent) / 100
      plan.remaining = knowsCharge ? Int64(clamping: wanted) - station.battery.energy : nil
    } else {
      plan.remaining = (plan.energy ?? 0).saturatingSubtract(station.sessionEnergy - plan.base)
    }
    let begun = last?.start.flatMap { $0 <= now ? $0 : nil }
    plan.schedule(at: station.availablePower, begun: begun, now: now)
    if let start = state.demand.start, begun == nil, plan.start != nil { plan.start = start }
    return plan
  }
}

/// The Energy EVSE Mode server. Application Clusters § 9.4.
public enum EvseModeServer {
  /// Charge at once, at the times of the targets, or at once with the lowest current.
  static let modes = [
    ApplianceMode("Manual", [EnergyEvseMode.ModeTag.manual.rawValue]),
    ApplianceMode("Time of use", [EnergyEvseMode.ModeTag.timeOfUse.rawValue]),
    ApplianceMode(
      "Slow", [EnergyEvseMode.ModeTag.manual.rawValue, EnergyEvseMode.ModeTag.min.rawValue]),
  ]

  /// Returns the server, for the endpoint of the charging station.
  public static func make() -> ClusterServer {
    ModeServer(EnergyEvseMode.self, modes).make()
      .onChange(EnergyEvseMode.currentMode) { $0.call(EvseServer.changed, ()) }
  }
}

extension ServerContext {
  /// Whether the station charges at the times of its targets.
  var followsTargets: Bool {
    mutating get {
      mode(EnergyEvseMode.self, of: EvseModeServer.modes)?.tags.contains(EnergyEvseMode.ModeTag.timeOfUse.rawValue)
        ?? false
    }
  }

  /// Whether the station charges with the lowest current.
  var chargesSlowly: Bool {
    mutating get {
      mode(EnergyEvseMode.self, of: EvseModeServer.modes)?.tags.contains(EnergyEvseMode.ModeTag.min.rawValue) ?? false
    }
  }
}
