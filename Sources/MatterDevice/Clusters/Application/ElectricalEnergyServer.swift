public import MatterClusters
public import MatterModel
import MatterProtocol

/// The Electrical Energy Measurement server: integrates the power of Electrical Power Measurement on its endpoint.
/// Application Clusters § 2.12.
///
/// As a physical action, the cumulative energy is set to the value; zero resets it.
public enum ElectricalEnergyServer {
  private typealias Energy = ElectricalEnergyMeasurement

  /// The power that flows in milliwatts; negative if it is exported.
  public static let power = ServerHook<ElectricalEnergyMeasurement, Int64>("power")

  /// The device starts: the meter continues with the stored totals.
  static let starting = ServerHook<ElectricalEnergyMeasurement, Void>("starting")

  /// The time between two snapshots of the cumulative energy while power flows.
  static let snapshotInterval = Duration.seconds(60)
  /// The shortest time between two snapshots.
  static let shortestInterval = Duration.seconds(1)
  /// The measurement period of the periodic energy.
  public static let period = Duration.seconds(900)
  private static let totalsKey = "totals"

  /// Returns the server.
  /// - Parameter directions: `importedEnergy`, `exportedEnergy` or both.
  public static func make(
    _ directions: [Feature] = [ElectricalEnergyMeasurement.importedEnergy]
  ) -> ClusterServer {
    let limit: Int64 = 1_000_000_000_000_000
    let server = ClusterServer(
      Energy.self, features: directions + [Energy.cumulativeEnergy, Energy.periodicEnergy]
    )
    .initial(
      Energy.accuracy,
      .init(
        measurementType: .electricalEnergy, measured: true, minMeasuredValue: 0, maxMeasuredValue: limit,
        accuracyRanges: [.init(rangeMin: 0, rangeMax: limit, percentMax: 100)])
    )
    .serving(Energy.cumulativeEnergyReset)
    .storing(Energy.cumulativeEnergyReset)
    .reportingQuietly()
    return tests(resetting(running(server), directions))
  }

  private static func running(_ server: ClusterServer) -> ClusterServer {
    server
      .onStart { context in
        let stored = context[stored: totalsKey].flatMap { try? [Int64](tlv: $0) } ?? []
        var state = Metering(meter: EnergyMeter(stored: stored, at: context.now), at: context.now)
        state.meter.setPower(context[ElectricalPowerMeasurement.activePower].wrapped ?? 0, at: context.now)
        state.period = Totals(state.meter)
        context[scratch: Metering.self] = state
        takeSnapshot(&context, emitting: false)
      }
      .hook(starting) { context, _ in context[scratch: Metering.self] = nil }
      .hook(power) { context, power in
        let now = context.now
        update(&context) { $0.meter.setPower(power, at: now) }
      }
      .onTimer(.tick) { context in
        // A bridged device without power is started again when its power returns.
        guard context.hasPower else { return }
        update(&context)
        takeFakeReading(&context)
      }
      .onStop { context in
        guard var meter = context[scratch: Metering.self]?.meter else { return }
        meter.advance(to: context.now)
        context[stored: totalsKey] = meter.stored.tlv
      }
  }

  // MARK: Snapshots

  private struct Totals: Hashable, Sendable {
    var imported: Int64
    var exported: Int64

    init(_ meter: EnergyMeter) { (imported, exported) = (meter.imported, meter.exported) }
  }

  private struct Metering: Sendable {
    var meter: EnergyMeter
    /// The last snapshot, and its time.
    var snapshot: Totals
    var snapshotTime: Instant
    /// The totals at the start of the present period, and its time.
    var period: Totals
    var periodStart: Instant
    /// The energy of the last period was not zero.
    var hadEnergy = false
    var fake: FakeReadings?

    init(meter: EnergyMeter, at now: Instant) {
      self.meter = meter
      (snapshot, period) = (Totals(meter), Totals(meter))
      (snapshotTime, periodStart) = (now, now)
    }

    /// The time of the next snapshot: regularly while power flows, and when it has ended; nil for none.
    var nextSnapshot: Instant? {
      if meter.power != 0 { return snapshotTime + (fake?.interval ?? ElectricalEnergyServer.snapshotInterval) }
      return Totals(meter) == snapshot ? nil : snapshotTime + ElectricalEnergyServer.shortestInterval
    }

    /// The end of the present period; nil while the energy of a period is zero and stays so.
    var nextPeriod: Instant? {
      guard meter.power != 0 || hadEnergy || Totals(meter) != period else { return nil }
      return periodStart + (fake?.interval ?? ElectricalEnergyServer.period)
    }
  }

  /// Advances the meter, changes it, and takes the snapshots that are due.
  private static func update(_ context: inout ServerContext, _ change: (inout Metering) -> Void = { _ in }) {
    guard var state = context[scratch: Metering.self] else { return }
    let now = context.now
    let (wasIdle, wasSettled) = (state.nextPeriod == nil, state.nextSnapshot == nil)
    state.meter.advance(to: now)
    change(&state)
    if wasIdle { state.periodStart = now }
    if wasSettled { state.snapshotTime = now }
    context[scratch: Metering.self] = state
    if let next = state.nextSnapshot, next <= now { takeSnapshot(&context) }
    if let next = state.nextPeriod, next <= now { endPeriod(&context) }
    schedule(&context)
  }

  private static func schedule(_ context: inout ServerContext) {
    guard let state = context[scratch: Metering.self] else { return }
    context.cancel(.tick)
    let next = Instant?.earlier(
      state.fake?.next, Instant?.earlier(state.nextSnapshot, state.nextPeriod))
    if let next { context.schedule(.tick, at: next) }
  }

  private static func takeSnapshot(_ context: inout ServerContext, emitting: Bool = true) {
    guard var state = context[scratch: Metering.self] else { return }
    (state.snapshot, state.snapshotTime) = (Totals(state.meter), context.now)
    context[scratch: Metering.self] = state
    context[stored: totalsKey] = state.meter.stored.tlv
    let moment = Moment(context)
    func energy(_ total: Int64) -> ElectricalEnergyMeasurement.EnergyMeasurementStruct {
      .init(energy: total, endTimestamp: moment.timestamp, endSystime: moment.systime)
    }
    let (imported, exported) = (energy(state.snapshot.imported), energy(state.snapshot.exported))
    context.set(Energy.cumulativeEnergyImported, .value(imported), reportedEvery: shortestInterval)
    context.set(Energy.cumulativeEnergyExported, .value(exported), reportedEvery: shortestInterval)
    guard emitting else { return schedule(&context) }
    context.emit(
      Energy.cumulativeEnergyMeasured,
      .init(
        energyImported: context.has(Energy.importedEnergy) ? imported : nil,
        energyExported: context.has(Energy.exportedEnergy) ? exported : nil))
  }

  private static func endPeriod(_ context: inout ServerContext) {
    guard var state = context[scratch: Metering.self] else { return }
    let (start, end, totals) = (Moment(context, at: state.periodStart), Moment(context), Totals(state.meter))
    func energy(_ energy: Int64) -> ElectricalEnergyMeasurement.EnergyMeasurementStruct {
      .init(
        energy: energy, startTimestamp: start.timestamp, endTimestamp: end.timestamp, startSystime: start.systime,
        endSystime: end.systime)
    }
    // Negative after a reset within the period.
    let imported = energy(max(0, totals.imported - state.period.imported))
    let exported = energy(max(0, totals.exported - state.period.exported))
    state.hadEnergy = imported.energy > 0 || exported.energy > 0
    (state.period, state.periodStart) = (totals, context.now)
    context[scratch: Metering.self] = state
    context.set(Energy.periodicEnergyImported, .value(imported), reportedEvery: shortestInterval)
    context.set(Energy.periodicEnergyExported, .value(exported), reportedEvery: shortestInterval)
    context.emit(
      Energy.periodicEnergyMeasured,
      .init(
        energyImported: context.has(Energy.importedEnergy) ? imported : nil,
        energyExported: context.has(Energy.exportedEnergy) ? exported : nil))
  }

  // MARK: Resets

  private static func resetting(_ server: ClusterServer, _ directions: [Feature]) -> ClusterServer {
    var server = server
    if directions.contains(Energy.importedEnergy) {
      server = server.onAct(Energy.cumulativeEnergyImported) { context, energy throws(StatusError) in
        try setTotal(energy.wrapped?.energy, &context) {
          $0.setTotals(imported: $1)
        } noting: { reset, moment in
          (reset.importedResetTimestamp, reset.importedResetSystime) = moment.fields
        }
      }
    }
    if directions.contains(Energy.exportedEnergy) {
      server = server.onAct(Energy.cumulativeEnergyExported) { context, energy throws(StatusError) in
        try setTotal(energy.wrapped?.energy, &context) {
          $0.setTotals(exported: $1)
        } noting: { reset, moment in
          (reset.exportedResetTimestamp, reset.exportedResetSystime) = moment.fields
        }
      }
    }
    return server
  }

  private static func setTotal(
    _ total: Int64?, _ context: inout ServerContext, _ change: (inout EnergyMeter, Int64) -> Void,
    noting note: (inout ElectricalEnergyMeasurement.CumulativeEnergyResetStruct, Moment) -> Void
  ) throws(StatusError) {
    guard let total, (0...1_000_000_000_000_000).contains(total) else { throw StatusError(.constraintError) }
    guard var state = context[scratch: Metering.self] else { return }
    state.meter.advance(to: context.now)
    change(&state.meter, total)
    state.period = Totals(state.meter)
    context[scratch: Metering.self] = state
    if total == 0 {
      var reset = context[Energy.cumulativeEnergyReset].wrapped ?? .init()
      note(&reset, Moment(context))
      context[Energy.cumulativeEnergyReset] = .value(reset)
    }
    takeSnapshot(&context)
    schedule(&context)
  }

  // MARK: Test events

  private static func tests(_ server: ClusterServer) -> ClusterServer {
    server
      .onTest(0, "stopFakeReadings") { context in
        context[scratch: Metering.self]?.fake = nil
        measure(nil, &context)
      }
      .onTest(1, "startFakeLoad") { context in
        start(FakeReadings(power: 1_000_000, interval: .seconds(2), at: context.now), &context)
      }
      .onTest(2, "startFakeGenerator") { context in
        start(FakeReadings(power: -3_000_000, interval: .seconds(5), at: context.now), &context)
      }
  }

  private static func start(_ readings: FakeReadings, _ context: inout ServerContext) {
    let now = context.now
    update(&context) { state in
      (state.fake, state.snapshotTime, state.periodStart) = (readings, now, now)
      state.period = Totals(state.meter)
    }
    takeFakeReading(&context)
  }

  private static func takeFakeReading(_ context: inout ServerContext) {
    let now = context.now
    guard let fake = context[scratch: Metering.self]?.fake, fake.next <= now else { return }
    context[scratch: Metering.self]?.fake?.advance(to: now)
    measure(fake.reading, &context)
  }

  /// Replaces the measured values. Electrical Power Measurement passes the power back; without it, the power is set here.
  private static func measure(_ reading: ElectricalReading?, _ context: inout ServerContext) {
    if !context.call(ElectricalPowerServer.fake, reading) {
      let now = context.now
      update(&context) { $0.meter.setPower(reading?.power ?? 0, at: now) }
    }
    // The power may be the same as before.
    update(&context)
  }
}

/// The readings of a load or a generator for tests: each one differs from those before, by at most two percent of the
/// power and one volt.
private struct FakeReadings: Hashable, Sendable {
  /// In milliwatts.
  let power: Int64
  let interval: Duration
  /// The time of the next reading.
  private(set) var next: Instant
  private var count: Int64 = 0

  init(power: Int64, interval: Duration, at now: Instant) { (self.power, self.interval, next) = (power, interval, now) }

  var reading: ElectricalReading {
    let step = count * 7 % 19 - 9
    return ElectricalReading(power: power + power / 1000 * 2 * step, voltage: 230_000 + 100 * step)
  }

  /// Skips the readings that a late timer missed.
  mutating func advance(to now: Instant) { (count, next) = (count + 1, max(next, now) + interval) }
}

extension Moment {
  fileprivate var fields: (Nullable<UInt32>?, Nullable<UInt64>?) {
    (timestamp.map { .value($0) }, systime.map { .value($0) })
  }
}
