public import MatterClusters
public import MatterModel
import MatterProtocol

/// The Electrical Power Measurement server. Application Clusters § 2.13.
///
/// As physical actions, ActivePower is the power that the load demands, ActiveCurrent the current that it draws at the
/// present voltage, and null a failure of the sensor. Without supply (On/Off of the device is off) no power flows.
public enum ElectricalPowerServer {
  private typealias Power = ElectricalPowerMeasurement

  /// The power that the load demands in milliwatts; negative if it generates power.
  public static let load = ServerHook<ElectricalPowerMeasurement, Int64>("load")
  /// The device was switched on or off.
  static let supplyChanged = ServerHook<ElectricalPowerMeasurement, Void>("supplyChanged")
  /// Replaces the measured values; nil ends that.
  static let fake = ServerHook<ElectricalPowerMeasurement, ElectricalReading?>("fake")

  /// The shortest interval between two reports of an attribute.
  static let reportInterval = Duration.seconds(1)
  /// The measurement period of Ranges.
  public static let period = Duration.seconds(900)
  private static let periodEnd = TimerID.custom(0)
  /// The range of the meter in milliwatts.
  public static let range: ClosedRange<Int64> = -100_000_000...100_000_000
  /// The range of voltages in millivolts.
  private static let voltages: ClosedRange<Int64> = 0...1_000_000_000

  /// Returns the server.
  /// - Parameters:
  ///   - feature: `alternatingCurrent` or `directCurrent`.
  ///   - voltage: The voltage in millivolts.
  public static func make(
    _ feature: Feature = ElectricalPowerMeasurement.alternatingCurrent, voltage: Int64 = 230_000
  ) -> ClusterServer {
    let isAC = feature.mask == Power.alternatingCurrent.mask
    let accuracy = accuracies(isAC, voltage: voltage)
    var server = ClusterServer(Power.self, features: [feature])
      .initial(Power.powerMode, isAC ? .ac : .dc)
      .initial(Power.numberOfMeasurementTypes, UInt8(clamping: accuracy.count))
      .initial(Power.accuracy, accuracy)
      .initial(Power.activePower, .value(0))
      .initial(Power.voltage, .value(voltage))
      .initial(Power.activeCurrent, .value(0))
      .serving(Power.ranges, Power.measurementPeriodRanges)
      .reportingQuietly()
    if isAC {
      server = server.initial(Power.frequency, .value(50_000)).initial(Power.powerFactor, .value(10_000))
    }
    return acting(running(server.limiting(Power.activePower, to: range).limiting(Power.voltage, to: voltages)))
  }

  private static func running(_ server: ClusterServer) -> ClusterServer {
    server
      .onStart { context in
        // A bridged device, whose values stay without power, starts again with its first load, or the last one of
        // the hook.
        let first = context[scratch: FirstLoad.self] ?? FirstLoad(load: context[Power.activePower].wrapped)
        context[scratch: FirstLoad.self] = first
        context.call(ElectricalEnergyServer.starting, ())
        context[scratch: Measurement.self] = Measurement(
          load: first.load, voltage: context[Power.voltage].wrapped, periodStart: context.now)
        update(&context)
        context.schedule(periodEnd, at: context.now + period)
      }
      .onPoweredTimer(periodEnd) { endPeriod(&$0) }
      .hook(load) { context, load in
        context[scratch: FirstLoad.self] = FirstLoad(load: load)
        update(&context) { $0.load = load }
      }
      .hook(supplyChanged) { context, _ in update(&context) }
      .hook(fake) { context, reading in update(&context) { $0.fake = reading } }
  }

  private static func acting(_ server: ClusterServer) -> ClusterServer {
    server
      .onAct(Power.activePower) { context, power throws(StatusError) in
        if let power = power.wrapped, !range.contains(power) { throw StatusError(.constraintError) }
        context.cancel(.daylight)
        update(&context) { $0.load = power.wrapped }
      }
      .onAct(Power.activeCurrent) { context, current throws(StatusError) in
        let voltage = context[scratch: Measurement.self]?.voltage ?? 0
        // Milliamperes times millivolts are microwatts.
        let (power, overflow) = (current.wrapped ?? 0).multipliedReportingOverflow(by: voltage)
        guard !overflow, range.contains(power / 1000) else { throw StatusError(.constraintError) }
        update(&context) { $0.load = current.wrapped.map { _ in power / 1000 } }
      }
      .onAct(Power.voltage) { context, voltage throws(StatusError) in
        guard voltages.contains(voltage.wrapped ?? 0) else { throw StatusError(.constraintError) }
        update(&context) { $0.voltage = voltage.wrapped }
      }
  }

  // MARK: Measurement

  private struct FirstLoad: Sendable { let load: Int64? }

  /// The values that the meter measures.
  private struct Measurement: Sendable {
    /// In milliwatts; nil while the sensor fails.
    var load: Int64?
    /// In millivolts; nil while the sensor fails.
    var voltage: Int64?
    var fake: ElectricalReading?
    /// The lowest and highest values of the present period.
    var ranges: [MeasurementType: ElectricalPowerMeasurement.MeasurementRangeStruct] = [:]
    var periodStart: Instant

    func reading(isOn: Bool) -> (power: Int64?, voltage: Int64?, current: Int64?) {
      if let fake { return (fake.power, fake.voltage, fake.current) }
      let power = isOn ? load : load.map { _ in 0 }
      guard let voltage else { return (power, nil, nil) }
      return (power, voltage, power.map { ElectricalReading.current($0, at: voltage) })
    }
  }

  private static func update(_ context: inout ServerContext, _ change: (inout Measurement) -> Void = { _ in }) {
    guard var state = context[scratch: Measurement.self] else { return }
    change(&state)
    let reading = state.reading(isOn: context.isSupplied)
    let moment = Moment(context)
    note(.activePower, reading.power, moment, &state)
    note(.voltage, reading.voltage, moment, &state)
    note(.activeCurrent, reading.current, moment, &state)
    context[scratch: Measurement.self] = state
    set(Power.voltage, reading.voltage, &context)
    set(Power.activeCurrent, reading.current, &context)
    set(Power.activePower, reading.power, &context)
    context.call(ElectricalEnergyServer.power, reading.power ?? 0)
  }

  private static func set(
    _ attribute: Attribute<ElectricalPowerMeasurement, Nullable<Int64>>, _ value: Int64?, _ context: inout ServerContext
  ) {
    context.set(attribute, Nullable(value), reportedEvery: reportInterval)
  }

  // MARK: Ranges

  private static func note(
    _ type: MeasurementType, _ value: Int64?, _ moment: Moment, _ state: inout Measurement
  ) {
    guard let value else { return }
    var range = state.ranges[type] ?? .init(measurementType: type, min: .max, max: .min)
    if value < range.min {
      (range.min, range.minTimestamp, range.minSystime) = (value, moment.timestamp, moment.systime)
    }
    if value > range.max {
      (range.max, range.maxTimestamp, range.maxSystime) = (value, moment.timestamp, moment.systime)
    }
    state.ranges[type] = range
  }

  private static func endPeriod(_ context: inout ServerContext) {
    guard var state = context[scratch: Measurement.self] else { return }
    let (start, end) = (Moment(context, at: state.periodStart), Moment(context))
    let ranges = state.ranges.values.sorted { $0.measurementType.rawValue < $1.measurementType.rawValue }.map { range in
      var range = range
      (range.startTimestamp, range.endTimestamp) = (start.timestamp, end.timestamp)
      (range.startSystime, range.endSystime) = (start.systime, end.systime)
      return range
    }
    if !ranges.isEmpty {
      context[Power.ranges] = ranges
      context.emit(Power.measurementPeriodRanges, .init(ranges: ranges))
    }
    (state.ranges, state.periodStart) = ([:], context.now)
    context[scratch: Measurement.self] = state
    update(&context)
    context.schedule(periodEnd, at: context.now + period)
  }

  // MARK: Accuracy

  private static func accuracies(_ isAC: Bool, voltage: Int64) -> [MeasurementAccuracyStruct] {
    func accuracy(_ type: MeasurementType, _ range: ClosedRange<Int64>) -> MeasurementAccuracyStruct {
      // One percent of the value.
      .init(
        measurementType: type, measured: true, minMeasuredValue: range.lowerBound, maxMeasuredValue: range.upperBound,
        accuracyRanges: [.init(rangeMin: range.lowerBound, rangeMax: range.upperBound, percentMax: 100)])
    }
    let current = ElectricalReading.current(range.upperBound, at: voltage)
    let common = [
      accuracy(.voltage, 0...2 * voltage), accuracy(.activeCurrent, -current...current), accuracy(.activePower, range),
    ]
    return isAC ? common + [accuracy(.frequency, 0...1_000_000), accuracy(.powerFactor, -10_000...10_000)] : common
  }
}

extension ServerContext {
  /// Whether the device that the endpoint measures has power and is switched on.
  fileprivate var isSupplied: Bool {
    mutating get {
      guard hasPower else { return false }
      for endpoint in [endpoint, parent].compactMap({ $0 }) where value(OnOff.onOff, on: endpoint) == false {
        return false
      }
      return true
    }
  }
}

extension ClusterServer {
  /// Lets an On/Off server supply the electrical sensors of its device.
  public func supplyingSensors() -> Self {
    onChange(OnOff.onOff) { context in
      for endpoint in context.endpoints { context.call(ElectricalPowerServer.supplyChanged, (), on: endpoint) }
    }
  }
}
