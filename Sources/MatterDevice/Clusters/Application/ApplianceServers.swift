internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// The program of an appliance: the values that differ between products of one kind.
public struct ApplianceProgram: Hashable, Sendable {
  /// The phases of a run in the usual mode.
  public var phases: [OperationRun.Step]
  /// The modes that a user can choose.
  public var modes: [ApplianceMode]
  /// The areas of a robot.
  public var areas: [ServiceAreaServer.Area]
  /// The parts with endpoints of their own: compartments, a cavity, surfaces.
  public var cabinets: [ApplianceCabinet]
  /// How long a door of a refrigerator may be open without an alarm.
  public var doorAlarm = Duration.seconds(180)

  public init(
    phases: [OperationRun.Step] = [], modes: [ApplianceMode] = [], areas: [ServiceAreaServer.Area] = [],
    cabinets: [ApplianceCabinet] = []
  ) {
    (self.phases, self.modes, self.areas, self.cabinets) = (phases, modes, areas, cabinets)
  }
}

/// A part of an appliance with an endpoint and a temperature of its own.
public struct ApplianceCabinet: Hashable, Sendable {
  /// Unique within the appliance.
  public var name: String
  /// The range of the set point, in hundredths of a degree Celsius.
  public var range: ClosedRange<Int16>
  /// The initial set point, in hundredths of a degree Celsius.
  public var setpoint: Int16

  public init(_ name: String, _ range: ClosedRange<Int16>, setpoint: Int16) {
    (self.name, self.range, self.setpoint) = (name, range, setpoint)
  }

  /// Whether the set point is always below zero.
  public var isFreezer: Bool { range.upperBound < 0 }
}

extension [OperationRun.Step] {
  /// Returns the steps with the times of a mode.
  func at(_ mode: ApplianceMode?) -> Self {
    map { .init($0.name, .nanoseconds($0.duration.nanoseconds / 100 * Int64(mode?.pace ?? 100))) }
  }
}

/// The servers of appliances with a program. Device Library § 8, § 12.
public enum ApplianceServers {
  /// Returns Operational State and the modes of an appliance that runs phase after phase.
  static func running<C: Cluster, M: Cluster>(
    _ operation: C.Type, _ modes: M.Type, _ program: ApplianceProgram, _ parts: [AppliancePart],
    onChange: @escaping @Sendable (inout ServerContext, OperationRun?) -> Void = { _, _ in }
  ) -> [ClusterServer] {
    var server = OperationalStateServer(C.self)
    server.onChange = onChange
    server.phases = program.phases.map(\.name)
    server.parts = parts
    server.steps = { context in program.phases.at(context.mode(M.self, of: program.modes)) }
    var mode = ModeServer(M.self, program.modes)
    mode.change = { context, _, _ in
      guard isRunning(C.self, &context) else { return nil }
      return (ModeServer<M>.Code.invalidInMode, "the mode can't be changed during a run")
    }
    return [server.make(), mode.make()]
  }

  /// Whether a run is in progress or interrupted.
  static func isRunning<C: Cluster>(_: C.Type, _ context: inout ServerContext) -> Bool {
    context[OperationalStateBase<C>.countdownTime] != .null
  }

  // Errors of the manufacturer have the numbers 0x80 to 0xBF. § 1.14.4.3.
  private static let water = AppliancePart("water", [("on", .none), ("off", .fails(0x80, label: "No water"))])
  private static let drain = AppliancePart(
    "drain", [("clear", .none), ("blocked", .fails(0x81, label: "Drain blocked"))])

  /// Returns the servers of a washer with a door that is locked during a run, a water supply and a drain.
  public static func laundryWasher(_ program: ApplianceProgram) -> [ClusterServer] {
    running(
      OperationalState.self, LaundryWasherMode.self, program,
      [AppliancePart("door", [("closed", .none), ("open", .isLocked)]), water, drain])
      + [
        temperatureLevels(["Cold", "30 °C", "40 °C", "60 °C", "90 °C"], selected: 2, of: OperationalState.self),
        washerControls(spinSpeeds: ["Off", "800", "1200", "1400"]),
      ]
  }

  /// Returns the servers of a dryer with a door that pauses a run, a filter and a water tank.
  public static func laundryDryer(_ program: ApplianceProgram) -> [ClusterServer] {
    running(
      OperationalState.self, LaundryWasherMode.self, program,
      [
        AppliancePart("door", [("closed", .none), ("open", .pauses)]),
        AppliancePart("filter", [("clean", .none), ("full", .fails(0x82, label: "Filter full"))]),
        AppliancePart("water tank", [("empty", .none), ("full", .fails(0x83, label: "Water tank full"))]),
      ])
      + [
        temperatureLevels(["Low", "Medium", "High"], selected: 1, of: OperationalState.self), dryerControls(),
      ]
  }

  /// Returns the servers of a dishwasher with a door that pauses a run, a water supply and a drain, and with alarms.
  public static func dishwasher(_ program: ApplianceProgram) -> [ClusterServer] {
    running(
      OperationalState.self, DishwasherMode.self, program,
      [AppliancePart("door", [("closed", .none), ("open", .pauses)]), water, drain])
      + [
        temperatureLevels(["45 °C", "55 °C", "65 °C"], selected: 1, of: OperationalState.self),
        dishwasherAlarm(),
      ]
  }

  // MARK: Robot vacuum

  /// The run modes of a robot vacuum. § 7.2.7.2.
  private enum RunMode {
    static let idle: UInt8 = 0, cleaning: UInt8 = 1
    static let all = [
      ApplianceMode("Idle", [RvcRunMode.ModeTag.idle.rawValue]),
      ApplianceMode("Cleaning", [RvcRunMode.ModeTag.cleaning.rawValue]),
      ApplianceMode("Mapping", [RvcRunMode.ModeTag.mapping.rawValue]),
    ]
  }

  private static let robotParts: [AppliancePart] = {
    typealias Failure = RvcOperationalState.ErrorState
    func part(_ name: String, _ usual: String, _ others: [(String, Failure)]) -> AppliancePart {
      AppliancePart(name, [(usual, .none)] + others.map { ($0.0, .fails($0.1.rawValue)) })
    }
    return [
      part("wheels", "free", [("stuck", .stuck), ("jammed", .wheelsJammed)]),
      part("brush", "free", [("jammed", .brushJammed)]),
      part("bin", "empty", [("full", .dustBinFull), ("missing", .dustBinMissing)]),
      part("water tank", "full", [("empty", .waterTankEmpty), ("missing", .waterTankMissing)]),
      part("mop", "attached", [("missing", .mopCleaningPadMissing)]),
      part("sensor", "clear", [("obscured", .navigationSensorObscured)]),
      part("dock", "reachable", [("blocked", .failedToFindChargingDock)]),
      AppliancePart("battery", [("ok", .none), ("low", .recharges)]),
    ]
  }()

  /// Returns the servers of a robot that cleans areas and returns to its charger.
  /// - Parameter program: the modes are those of cleaning.
  public static func robotVacuum(_ program: ApplianceProgram) -> [ClusterServer] {
    typealias Base = OperationalStateBase<RvcOperationalState>
    var server = OperationalStateServer(RvcOperationalState.self)
    server.parts = robotParts
    server.charger = (returning: .seconds(60), charging: .seconds(3600))
    server.startAtPanel = { context in
      try? context.act(set: RvcRunMode.currentMode.path(on: context.endpoint), encoded: RunMode.cleaning.tlv)
    }
    server.onChange = { context, run in
      context.call(ServiceAreaServer.runChanged, run)
      if run?.isComplete == true { context[RvcRunMode.currentMode] = RunMode.idle }
    }
    var runMode = ModeServer(RvcRunMode.self, RunMode.all)
    runMode.isStored = false
    runMode.change = { context, from, to in
      guard to != RunMode.idle else {
        context.call(Base.request, .end)
        return nil
      }
      guard from == RunMode.idle else {
        return (ModeServer<RvcRunMode>.Code.invalidInMode, "the robot must be idle")
      }
      let areas = ServiceAreaServer.selection(program.areas, &context).map {
        OperationRun.Step($0.name, $0.duration)
      }
      let time = areas.reduce(Duration.zero) { $0 + $1.duration }
      let steps =
        to == RunMode.cleaning
        ? areas.at(context.mode(RvcCleanMode.self, of: program.modes)) : [.init("Mapping", time / 2)]
      context.call(Base.request, .start(steps))
      guard context[Base.state] != OperationState.running else { return nil }
      let error = context[Base.error].errorStateID
      let isKnown = RvcRunMode.StatusCodeEnum(rawValue: error).isKnown
      return (isKnown ? error : ModeServer<RvcRunMode>.Code.invalidInMode, "the robot can't start")
    }
    var cleanMode = ModeServer(RvcCleanMode.self, program.modes)
    cleanMode.change = { context, _, _ in
      guard context[RvcRunMode.currentMode] != RunMode.idle else { return nil }
      return (ModeServer<RvcCleanMode>.Code.invalidInMode, "the robot must be idle")
    }
    return [
      server.make(), runMode.make(), cleanMode.make(),
      ServiceAreaServer.make(program.areas, of: RvcOperationalState.self),
    ]
  }
}
