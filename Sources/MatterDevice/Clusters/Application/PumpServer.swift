import MatterClusters
import MatterModel
import MatterProtocol

/// The Pump Configuration and Control server: a circulation pump with all control modes, which On/Off starts and the
/// level drives. Application Clusters § 4.2.
///
/// As physical actions, PumpStatus is a fault, a local override or a remote sensor. A speed of 0 blocks the rotor of a
/// running pump, another one turns that of a stopped pump. A capacity of 0 means that a running pump is dry; null that
/// its sensor failed.
public enum PumpServer {
  private typealias PCC = PumpConfigurationAndControl

  /// The pump was switched on or off, or its level changed.
  static let setPointChanged = ServerHook<PumpConfigurationAndControl, Void>("setPointChanged")

  /// Returns the servers of a pump: On/Off, Level Control, and this cluster.
  public static func servers() -> [ClusterServer] {
    [
      OnOffServer.make(features: []).onChange(OnOff.onOff) { $0.call(setPointChanged, ()) },
      // Levels above 200 have no meaning of their own.
      LevelControlServer.make(features: [LevelControl.onOff], level: 200).initial(LevelControl.maxLevel, 200)
        .onChange(LevelControl.currentLevel) { $0.call(setPointChanged, ()) },
      make(),
    ]
  }

  static func make() -> ClusterServer {
    ClusterServer(PumpConfigurationAndControl.self, features: PumpConfigurationAndControl.features)
      .initial(PCC.maxPressure, .value(600))
      .initial(PCC.maxSpeed, .value(4000))
      .initial(PCC.maxFlow, .value(50))
      .initial(PCC.minConstPressure, .value(100))
      .initial(PCC.maxConstPressure, .value(500))
      .initial(PCC.minCompPressure, .value(100))
      .initial(PCC.maxCompPressure, .value(500))
      .initial(PCC.minConstSpeed, .value(1000))
      .initial(PCC.maxConstSpeed, .value(4000))
      .initial(PCC.minConstFlow, .value(15))
      .initial(PCC.maxConstFlow, .value(40))
      .initial(PCC.minConstTemp, .value(2000))
      .initial(PCC.maxConstTemp, .value(8000))
      .initial(PCC.capacity, .value(0))
      .initial(PCC.speed, .value(0))
      .initial(PCC.power, .value(0))
      .limiting(PCC.minConstPressure, to: PCC.maxConstPressure)
      .limiting(PCC.maxConstPressure, from: PCC.minConstPressure)
      .limiting(PCC.minCompPressure, to: PCC.maxCompPressure)
      .limiting(PCC.maxCompPressure, from: PCC.minCompPressure)
      .limiting(PCC.minConstSpeed, to: PCC.maxConstSpeed)
      .limiting(PCC.maxConstSpeed, from: PCC.minConstSpeed)
      .limiting(PCC.minConstFlow, to: PCC.maxConstFlow)
      .limiting(PCC.maxConstFlow, from: PCC.minConstFlow)
      .limiting(PCC.minConstTemp, to: PCC.maxConstTemp)
      .limiting(PCC.maxConstTemp, from: PCC.minConstTemp)
      .serving(
        PCC.pumpStatus, PCC.supplyVoltageLow, PCC.dryRunning, PCC.pumpBlocked, PCC.sensorFailure,
        PCC.generalFault, PCC.turbineOperation, PCC.lifetimeRunningHours, PCC.lifetimeEnergyConsumed, PCC.controlMode
      )
      .deriving(PCC.effectiveOperationMode)
      .deriving(PCC.effectiveControlMode)
      .deriving(PCC.power)
      .onWrite(PCC.operationMode) { context, _ throws(StatusError) in
        if context[PCC.pumpStatus].contains(.localOverride) { throw StatusError(.failure) }
      }
      .onChange(PCC.operationMode) { update(&$0) }
      .onChange(PCC.controlMode) { update(&$0) }
      .hook(setPointChanged) { context, _ in update(&context) }
      .onPoweredTimer(.tick) { update(&$0) }
      .onStart { start(&$0) }
      .onAct(PCC.pumpStatus, setStatus)
      .onAct(PCC.speed, setSpeed)
      .onAct(PCC.capacity, setCapacity)
  }

  // MARK: Physical actions

  /// The bits of PumpStatus that the physical device determines. The others follow from its state.
  private static let physical: PumpConfigurationAndControl.PumpStatus = [
    .deviceFault, .supplyFault, .localOverride, .remotePressure, .remoteFlow, .remoteTemperature,
  ]

  private static func setStatus(_ context: inout ServerContext, _ status: PumpConfigurationAndControl.PumpStatus) {
    let added = status.subtracting(context[PCC.pumpStatus])
    context[PCC.pumpStatus] = status.intersection(physical)
    update(&context)
    if added.contains(.deviceFault) { context.emit(PCC.generalFault, .init()) }
    if added.contains(.supplyFault) { context.emit(PCC.supplyVoltageLow, .init()) }
  }

  private static func setSpeed(_ context: inout ServerContext, _ speed: Nullable<UInt16>) {
    guard let speed = speed.wrapped else { return context.emit(PCC.sensorFailure, .init()) }
    let isOn = context[scratch: Pump.self]?.isOn == true
    let (now, isBlocked) = (context.now, isOn && speed == 0)
    context[scratch: Pump.self]?.turn(to: Int64(speed), at: now)
    if isBlocked { context[PCC.pumpStatus].insert(.deviceFault) }
    update(&context)
    if isBlocked { context.emit(PCC.pumpBlocked, .init()) }
    if !isOn, speed > 0 { context.emit(PCC.turbineOperation, .init()) }
  }

  private static func setCapacity(_ context: inout ServerContext, _ capacity: Nullable<Int16>) {
    switch capacity {
    case .null: context.emit(PCC.sensorFailure, .init())
    case .value(0) where context[scratch: Pump.self]?.isOn == true:
      // The protection against dry running switches the motor off.
      context[PCC.pumpStatus].insert(.deviceFault)
      update(&context)
      context.emit(PCC.dryRunning, .init())
    default: break
    }
  }

  // MARK: State

  private static func start(_ context: inout ServerContext) {
    let stored = context[stored: "use"].flatMap { try? [Int64](tlv: $0) } ?? []
    let isValid = stored.count == 2
    context[scratch: Pump.self] = Pump(
      maximumSpeed: Int64(context[PCC.maxSpeed].wrapped ?? 4000),
      runningTime: .milliseconds(isValid ? stored[0] : 0), energy: isValid ? Double(stored[1]) : 0, at: context.now)
    update(&context)
  }

  /// The mode of operation and the control mode that apply now.
  private static func effectiveModes(
    _ context: inout ServerContext
  ) -> (PumpConfigurationAndControl.OperationMode, PumpConfigurationAndControl.ControlMode) {
    let status = context[PCC.pumpStatus]
    let mode = status.contains(.localOverride) ? .local : context[PCC.operationMode]
    switch mode {
    case .minimum, .maximum: return (mode, .constantSpeed)
    case .normal where status.contains(.remotePressure): return (mode, .constantPressure)
    case .normal where status.contains(.remoteFlow): return (mode, .constantFlow)
    case .normal where status.contains(.remoteTemperature): return (mode, .constantTemperature)
    default: return (mode, context[PCC.controlMode])
    }
  }

  /// The set point from 0 to 1: half a percent for each level up to 200.
  private static func setPoint(_ context: inout ServerContext) -> Double {
    let level = context.value(LevelControl.currentLevel)?.wrapped ?? 200
    return Double(min(level, 200)) / 200
  }

  private static func ranges(_ context: inout ServerContext) -> PumpRanges {
    func range<Value: ModelValue & BinaryInteger>(
      _ lowest: Attribute<PumpConfigurationAndControl, Nullable<Value>>,
      _ highest: Attribute<PumpConfigurationAndControl, Nullable<Value>>,
      of maximum: Attribute<PumpConfigurationAndControl, Nullable<Value>>
    ) -> ClosedRange<Double> {
      let scale = max(Double(context[maximum].wrapped ?? 0), 1)
      let low = Double(context[lowest].wrapped ?? 0) / scale
      return low...max(low, Double(context[highest].wrapped ?? 0) / scale)
    }
    return PumpRanges(
      speed: range(PCC.minConstSpeed, PCC.maxConstSpeed, of: PCC.maxSpeed),
      pressure: range(PCC.minConstPressure, PCC.maxConstPressure, of: PCC.maxPressure),
      compensatedPressure: range(PCC.minCompPressure, PCC.maxCompPressure, of: PCC.maxPressure),
      flow: range(PCC.minConstFlow, PCC.maxConstFlow, of: PCC.maxFlow))
  }

  /// Advances the pump, applies the modes and the set point, and updates the attributes.
  private static func update(_ context: inout ServerContext) {
    guard var pump = context[scratch: Pump.self] else { return }
    let (operation, control) = effectiveModes(&context)
    context[PCC.effectiveOperationMode] = operation
    context[PCC.effectiveControlMode] = control
    var status = context[PCC.pumpStatus].intersection(physical)
    let (ranges, setPoint) = (ranges(&context), setPoint(&context))
    let isFaulty = !status.isDisjoint(with: [.deviceFault, .supplyFault])
    let isOn = context[OnOff.onOff] && setPoint > 0 && !isFaulty
    if isOn {
      let wanted: Double =
        switch operation {
        case .minimum: ranges.speed.lowerBound
        case .maximum: 1
        // The setting at the pump.
        case .local: ranges.speed(for: 0.5, in: control)
        default: ranges.speed(for: setPoint, in: control)
        }
      if wanted > 1 { status.insert(.speedHigh) }
      if wanted < ranges.speed.lowerBound { status.insert(.speedLow) }
      let share = max(min(wanted, 1), min(ranges.speed.lowerBound, 1))
      pump.drive(to: Int64((share * Double(pump.rotor.range.upperBound)).rounded()), at: context.now)
    } else {
      pump.drive(to: nil, at: context.now)
    }
    let counts = pump.takeCounts()
    if pump.isRunning { status.insert(.running) }
    context[scratch: Pump.self] = pump
    context[stored: "use"] = [pump.runningTime.milliseconds, Int64(pump.energy)].tlv
    context[PCC.pumpStatus] = status
    context[PCC.speed] = .value(UInt16(clamping: pump.rotor.position))
    context[PCC.capacity] = .value(
      Int16(clamping: Int64((ranges.capacity(at: pump.share, in: control) * 20_000).rounded())))
    context[PCC.power] = .value(UInt32(pump.power.rounded()))
    count(counts.hours, in: PCC.lifetimeRunningHours, below: 0xFF_FFFF, &context)
    count(counts.energy, in: PCC.lifetimeEnergyConsumed, below: UInt64(UInt32.max), &context)
    if let next = pump.nextUpdate(after: context.now) {
      context.schedule(.tick, at: next)
    } else {
      context.cancel(.tick)
    }
  }

  /// Adds to a counter, which starts again at 0 after its highest value. An unknown counter stays so.
  private static func count(
    _ number: UInt32, in counter: Attribute<PumpConfigurationAndControl, Nullable<UInt32>>, below end: UInt64,
    _ context: inout ServerContext
  ) {
    guard number > 0, let value = context[counter].wrapped else { return }
    context[counter] = .value(UInt32(clamping: (UInt64(value) + UInt64(number)) % end))
  }
}
