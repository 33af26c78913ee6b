import MatterClusters
import MatterProtocol
import Testing

@testable import VirtualDevices

/// The courses of behaviors, in virtual time.
@Suite("Behaviors") struct BehaviorTests {
  /// The values at the wake-up times of a behavior, with the times in seconds.
  private func values(_ behavior: Behavior, until end: Duration) -> [(at: Double, value: InitialValue.Value)] {
    var behavior = behavior
    var found = [(at: 0.0, value: behavior.value)]
    while let next = behavior.nextChange, next <= end {
      behavior.advance(to: next)
      found.append((Double(next.milliseconds) / 1000, behavior.value))
    }
    return found
  }

  private func numbers(_ behavior: Behavior, until end: Duration) -> [Int64] {
    values(behavior, until: end).compactMap { if case .integer(let number) = $0.value { number } else { nil } }
  }

  private let sine = Behavior.Course.sine(
    mean: 12, amplitude: 8, period: .seconds(86_400), every: .seconds(21_600), .measure(.hundredthsOfDegree))

  @Test("a sine rises from its mean and repeats") func followsSine() {
    #expect(numbers(Behavior(sine), until: .seconds(172_800)) == [1200, 2000, 1200, 400, 1200, 2000, 1200, 400, 1200])
    // Between two samples the value stays, and the next sample is on the grid.
    var behavior = Behavior(sine)
    behavior.advance(to: .seconds(30_000))
    #expect(behavior.value == .integer(2000) && behavior.nextChange == .seconds(43_200))
    // A late start gives the same values.
    #expect(Behavior(sine, at: .seconds(30_000)).value == behavior.value)
  }

  @Test("an illuminance is a sine in lux, encoded on the scale of the standard") func encodesMeasures() {
    let light = Behavior.Course.sine(
      mean: 100, amplitude: 99, period: .seconds(40), every: .seconds(10), .measure(.illuminance))
    #expect(numbers(Behavior(light), until: .seconds(30)) == [20_001, 22_990, 20_001, 1])
    let real = Behavior.Course.sine(mean: 0.5, amplitude: 0.25, period: .seconds(40), every: .seconds(10), .real)
    #expect(Behavior(real, at: .seconds(10)).value == .real(0.75))
  }

  private func walk(seed: UInt64) -> Behavior {
    Behavior(.walk(from: 50, in: 40...60, step: 2, every: .seconds(60), .measure(.hundredthsOfPercent)), seed: seed)
  }

  @Test("a random walk is determined by its seed, and stays within its bounds and its step") func followsWalk() {
    let first = numbers(walk(seed: 7), until: .seconds(86_400))
    #expect(first.count == 1441 && first[0] == 5000)
    #expect(first.allSatisfy { (4000...6000).contains($0) })
    #expect(zip(first, first.dropFirst()).allSatisfy { abs($0 - $1) <= 200 })
    #expect(Set(first).count > 500)
    #expect(numbers(walk(seed: 7), until: .seconds(86_400)) == first)
    #expect(numbers(walk(seed: 8), until: .seconds(86_400)) != first)
    // An interruption, as by a loss of power, does not change the walk.
    var late = walk(seed: 7)
    late.advance(to: .seconds(86_400))
    #expect(late.value == .integer(first[1440]))
    #expect(Behavior(lateCourse, seed: 7, at: .seconds(86_400)).value == late.value)
  }

  private var lateCourse: Behavior.Course {
    .walk(from: 50, in: 40...60, step: 2, every: .seconds(60), .measure(.hundredthsOfPercent))
  }

  @Test("a walk turns back at its bounds") func turnsBack() {
    let narrow = Behavior(.walk(from: 0, in: 0...1, step: 1, every: .seconds(1), .real), seed: 3)
    let found = values(narrow, until: .seconds(1000)).compactMap { value -> Double? in
      if case .real(let number) = value.value { number } else { nil }
    }
    #expect(found.count == 1001 && found.allSatisfy { (0...1).contains($0) })
  }

  private let pulse = Behavior.Course.steps(
    [.init(.boolean(true), at: .zero), .init(.boolean(false), at: .seconds(30))], period: .seconds(330))

  @Test("steps wake up at their edges only, and repeat") func followsSteps() {
    let found = values(Behavior(pulse), until: .seconds(1000))
    #expect(found.map(\.at) == [0, 30, 330, 360, 660, 690, 990])
    #expect(found.map(\.value) == [true, false, true, false, true, false, true].map { .boolean($0) })
    #expect(Behavior(pulse, at: .seconds(345)).nextChange == .seconds(360))
  }

  @Test("the last of steps without a period stays") func endsSteps() {
    let steps = Behavior.Course.steps([
      .init(.integer(1), at: .zero), .init(.null, at: .seconds(5)), .init(.integer(3), at: .seconds(6)),
    ])
    #expect(values(Behavior(steps), until: .seconds(1000)).map(\.value) == [.integer(1), .null, .integer(3)])
    #expect(Behavior(steps, at: .seconds(1_000_000)).nextChange == nil)
    // A single value never wakes the device up.
    #expect(Behavior(.steps([.init(.integer(1), at: .zero)], period: .seconds(10))).nextChange == nil)
  }

  @Test("finds each step of a long file") func findsSteps() {
    let steps = (0..<1000).map { Behavior.Step(.integer(Int64($0)), at: .seconds(10 * $0)) }
    let behavior = Behavior(.steps(steps))
    for second in [0, 9, 10, 4999, 5000, 9989, 9990, 99_999] {
      var later = behavior
      later.advance(to: .seconds(second))
      #expect(later.value == .integer(Int64(min(second / 10, 999))))
    }
  }

  @Test("times at the limits of the clock don't overflow") func survivesExtremeTimes() {
    for course in [sine, pulse, .steps([.init(.null, at: .zero)])] {
      var behavior = Behavior(course)
      behavior.advance(to: .seconds(Int64.max / 2))
      behavior.advance(to: .zero - .seconds(5))
    }
  }
}
