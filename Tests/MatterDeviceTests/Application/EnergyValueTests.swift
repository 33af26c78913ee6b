import MatterProtocol
import Testing

@testable import MatterDevice

/// The values of solar arrays and storage batteries, without a clock.
@Suite("Energy values") struct EnergyValueTests {
  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  // MARK: Solar arrays

  @Test("stays between zero and its peak power at every latitude and time") func staysWithinPeak() {
    for latitude in [-90.0, -48, 0, 48, 90] {
      let array = SolarArray(peak: 1_000_000, latitude: latitude, clouds: 0.5, seed: 7)
      for time in stride(from: -4_000_000_000, to: 4_000_000_000, by: 12_345_678) as StrideTo<Int64> {
        #expect((0...1_000_000).contains(array.power(at: time)))
      }
      #expect((0...1_000_000).contains(array.power(at: .max)) && (0...1_000_000).contains(array.power(at: .min + 1)))
    }
  }

  @Test("is constant within a minute, and dark for half a year at a pole") func hasSteps() {
    let array = SolarArray(peak: 1_000_000, latitude: 48)
    let noon: Int64 = 1_782_043_200
    #expect(array.power(at: noon) == array.power(at: noon + 59) && array.power(at: noon) > 500_000)
    let pole = SolarArray(peak: 1_000_000, latitude: 90, clouds: 0)
    #expect(pole.power(at: noon) > 200_000 && pole.power(at: noon + 182 * 86_400) == 0)
    #expect(pole.power(at: noon + 43_200) > 200_000)
  }

  @Test("has smooth clouds that take at most their share") func hasClouds() {
    let (clear, cloudy) = (SolarArray(clouds: 0), SolarArray(clouds: 0.6, seed: 3))
    let noon: Int64 = 1_782_043_200
    var factors: [Double] = []
    for minute in -120..<120 as Range<Int64> {
      let time = noon + 60 * minute
      factors.append(Double(cloudy.power(at: time)) / Double(clear.power(at: time)))
    }
    #expect(factors.allSatisfy { (0.4...1).contains($0) })
    #expect(zip(factors, factors.dropFirst()).allSatisfy { abs($0 - $1) < 0.04 })
    #expect((factors.max() ?? 0) - (factors.min() ?? 0) > 0.2)
  }

  // MARK: Storage batteries

  @Test("has the same charge however often it is advanced") func isDeterministic() {
    var often = StorageBattery(capacity: 10_000_000, charge: 33.3)
    var once = often
    often.request(1_234_567, at: .zero)
    once.request(1_234_567, at: .zero)
    var changes = 0
    while let next = often.nextChange {
      let before = often.halfPercent
      often.advance(to: next)
      #expect(often.halfPercent == before + 1 || often.isFull)
      changes += 1
    }
    #expect(often.isFull && often.power == 0 && changes > 130)
    once.advance(to: at(86_400))
    often.advance(to: at(86_400))
    #expect(once == often && once.energy == 10_000_000)
  }

  @Test func limitsPower() {
    var battery = StorageBattery(capacity: 1000, charge: 0, charging: 10, discharging: 20)
    battery.request(-5, at: .zero)
    #expect(battery.power == 0 && battery.nextChange == nil && battery.timeToEnd == nil)
    battery.request(.max, at: .zero)
    #expect(battery.power == 10 && battery.timeToEnd == .seconds(360_000))
    battery.request(.min, at: at(3600))
    #expect(battery.power == -20 && battery.energy == 10 && battery.timeToEnd == .seconds(1800))
    battery.advance(to: Instant(nanoseconds: .max))
    #expect(battery.power == 0 && battery.energy == 0)
    battery.set(charge: 250, at: Instant(nanoseconds: .max))
    #expect(battery.percent == 100)
    battery.set(charge: .nan, at: Instant(nanoseconds: .max))
    #expect(battery.percent == 0)
  }
}
