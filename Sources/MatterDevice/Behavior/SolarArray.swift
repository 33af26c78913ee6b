internal import Glibc
internal import MatterClusters
internal import MatterModel
internal import MatterProtocol

/// A solar array: its power over the day and the year. A value type without a clock, with clouds that depend on the seed
/// and the time only.
///
///     SolarArray(peak: 5_000_000, latitude: 48).power(at: 1_750_507_200)  // noon of a June day, in milliwatts
public struct SolarArray: Hashable, Sendable {
  /// The power at an irradiance of 1000 W/m², in milliwatts.
  public var peak: Int64
  /// In degrees, positive in the north.
  public var latitude: Double
  /// In degrees, positive in the east.
  public var longitude: Double
  /// How much of the power the densest clouds take, 0 to 1.
  public var clouds: Double
  /// Determines the clouds.
  public var seed: UInt64

  /// The time between two changes of the power.
  public static let step: Int64 = 60
  /// The time between two independent densities of the clouds.
  private static let cloudTime: Int64 = 1800
  /// The range of times, which keeps the arithmetic within 64 bits.
  private static let latest: Int64 = 1 << 53

  public init(
    peak: Int64 = 5_000_000, latitude: Double = 48, longitude: Double = 0, clouds: Double = 0.3, seed: UInt64 = 0
  ) {
    (self.peak, self.latitude, self.longitude) = (peak, latitude, longitude)
    (self.clouds, self.seed) = (clouds, seed)
  }

  /// Returns the power in milliwatts at a time in seconds of Unix time. It is constant within each step.
  public func power(at time: Int64) -> Int64 {
    let time = min(max(time, -Self.latest), Self.latest).quotient(Self.step) * Self.step
    let factor = irradiance(at: time) * (1 - clouds * density(at: time))
    return Int64((Double(peak) * min(max(factor, 0), 1)).rounded())
  }

  /// Returns the irradiance of a horizontal surface under a clear sky in kW/m², by the model of Haurwitz.
  private func irradiance(at time: Int64) -> Double {
    // Years of 365.2425 days begin with 1970, when the year of the calendar did.
    let declination = 23.44 * sin(2 * .pi * (285 + Double(time.quotient(86_400))) / 365.2425) * .pi / 180
    let solarTime = Double(time - time.quotient(86_400) * 86_400) / 3600 + longitude / 15
    let (hourAngle, latitude) = ((solarTime - 12) * .pi / 12, latitude * .pi / 180)
    let height = sin(latitude) * sin(declination) + cos(latitude) * cos(declination) * cos(hourAngle)
    return height > 0 ? 1.098 * height * exp(-0.057 / height) : 0
  }

  /// Returns the density of the clouds, 0 to 1: random values, with a smooth course between them.
  private func density(at time: Int64) -> Double {
    let index = time.quotient(Self.cloudTime)
    let part = Double(time - index * Self.cloudTime) / Double(Self.cloudTime)
    let smooth = part * part * (3 - 2 * part)
    return random(index) * (1 - smooth) + random(index + 1) * smooth
  }

  /// Returns a number from 0 to 1 that depends on the seed and the index (SplitMix64).
  private func random(_ index: Int64) -> Double {
    var bits = seed &+ UInt64(bitPattern: index) &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return Double((bits ^ bits >> 31) >> 11) / Double(1 << 53 as Int64)
  }
}

extension Int64 {
  /// Returns the quotient, rounded down.
  fileprivate func quotient(_ divisor: Int64) -> Int64 {
    self / divisor - (self % divisor < 0 ? 1 : 0)
  }
}

extension ClusterServer {
  /// Lets an Electrical Power Measurement server measure the power that an array generates, until a physical action sets
  /// the power. The time is UTC, or that of the engine's clock while UTC is unknown.
  public func measuring(_ array: SolarArray) -> Self {
    let measure: ContextHandler = { context in
      // A bridged device without power is started again when its power returns.
      guard context.hasPower else { return }
      let now = context.now
      let time =
        (context.node.utc.map { Int64(clamping: $0.unixMilliseconds(at: now)) } ?? (now - .zero).milliseconds)
      let power = -array.power(at: time / 1000)
      var report = EnergyReport()
      report.power = max(power, context[scratch: Curtailment.self]?.power ?? power)
      if power < 0 { report.capability = [.init(minPower: power, maxPower: 0, minDuration: 1, maxDuration: 86_400)] }
      if context.node.utc != nil { report.forecast = array.forecast(at: time / 1000) }
      context.call(ElectricalPowerServer.load, report.power)
      context.schedule(.daylight, at: now + .milliseconds(SolarArray.step * 1000 - time % (SolarArray.step * 1000)))
      context.call(EnergyManagementServer.report, report, on: context.parent)
    }
    return onStart { context in
      context[scratch: Curtailment.self] = nil
      measure(&context)
    }
    .onTimer(.daylight, measure)
    .hook(SolarArray.curtail) { context, power in
      context[scratch: Curtailment.self] = power.map { Curtailment(power: $0) }
      // A power that is set stays.
      if context.isScheduled(.daylight) { measure(&context) }
    }
  }
}

extension SolarArray {
  /// The duration of a slot of the forecast in seconds.
  private static let slot: Int64 = 3600
  /// The number of slots; a forecast has at most ten.
  private static let slots: Int64 = 10

  /// Returns the power of each of the coming hours, the present one included. The forecast knows the daylight, and the
  /// mean density of the clouds.
  /// - Parameter time: In seconds of Unix time.
  func forecast(at time: Int64) -> DeviceEnergyManagement.ForecastStruct {
    let time = min(max(time, 0), Self.latest)
    let start = time.quotient(Self.slot) * Self.slot
    let slots = (0..<Self.slots).map { index in
      let begin = start + index * Self.slot
      let light = stride(from: begin + 300, to: begin + Self.slot, by: 600)
      let mean = light.reduce(0) { $0 + irradiance(at: $1) } / 6
      func power(_ density: Double) -> Int64 {
        -Int64((Double(peak) * min(max(mean * (1 - clouds * density), 0), 1)).rounded())
      }
      let elapsed = UInt32(clamping: index == 0 ? time - start : 0)
      let seconds = UInt32(clamping: Self.slot)
      return DeviceEnergyManagement.SlotStruct(
        minDuration: seconds, maxDuration: seconds, defaultDuration: seconds, elapsedSlotTime: elapsed,
        remainingSlotTime: seconds.saturatingSubtract(elapsed), nominalPower: power(0.5), minPower: power(0),
        maxPower: power(1), nominalEnergy: power(0.5))
    }
    func epoch(_ time: Int64) -> UInt32 { UInt32(clamping: time - Int64(UTCClock.matterEpoch)) }
    return .init(
      forecastID: 0, activeSlotNumber: .value(0), startTime: epoch(start),
      endTime: epoch(start + Self.slots * Self.slot), isPausable: false, slots: slots,
      forecastUpdateReason: .internalOptimization)
  }

  /// Limits the power that is generated; nil ends that.
  fileprivate static let curtail = ServerHook<ElectricalPowerMeasurement, Int64?>("curtail")

  /// Returns the Device Energy Management server, for the endpoint that the inverter is a part of.
  public func energyManagement() -> ClusterServer {
    let appliance = EnergyAppliance(
      .solarPV, -max(peak, 0)...0,
      features: [DeviceEnergyManagement.powerAdjustment, DeviceEnergyManagement.powerForecastReporting])
    return EnergyManagementServer.make(appliance) { context, demand in
      for endpoint in context.family { context.call(Self.curtail, demand.power, on: endpoint) }
    }
  }
}

/// The limit of the generated power in milliwatts, at most 0.
private struct Curtailment: Sendable { let power: Int64 }
