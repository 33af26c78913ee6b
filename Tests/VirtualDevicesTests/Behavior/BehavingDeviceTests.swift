import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Engines of devices with behaviors, in virtual time.
@Suite("Devices with behaviors") struct BehavingDeviceTests {
  private func engine(_ text: String, _ clock: BehaviorClock = .zero) throws -> DeviceEngine {
    try DeviceEngine(
      try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first), clock)
  }

  private func sensor(_ behave: String) -> String {
    "devices:\n  - name: A\n    type: contact sensor\n    behave: { booleanState.stateValue: \(behave) }\n"
  }

  private let pulse = "{ steps: [true for 1h, false for 30s] }"

  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  /// Returns the times of the timers of an engine until a time.
  private func wakeUps(of engine: inout DeviceEngine, until end: Instant) -> Set<Instant> {
    var times: Set<Instant> = []
    while let next = engine.nextDeadline, next <= end {
      engine.advance(to: next)
      times.insert(next)
      while engine.nextEffect() != nil {}
    }
    return times
  }

  @Test("the engine wakes up at the changes only") func wakesUpAtChanges() throws {
    var engine = try engine(sensor(pulse))
    #expect(engine.value(BooleanState.stateValue, on: 1) == true)
    let first = wakeUps(of: &engine, until: at(3600))
    #expect(engine.value(BooleanState.stateValue, on: 1) == false)
    let times = first.union(wakeUps(of: &engine, until: at(7300)))
    #expect(engine.value(BooleanState.stateValue, on: 1) == true)
    var still = try self.engine("devices:\n  - name: A\n    type: contact sensor\n")
    let others = wakeUps(of: &still, until: at(7300))
    #expect(times.subtracting(others) == Set([at(3600), at(3630), at(7230), at(7260)]).subtracting(others))
  }

  @Test("a device that follows no course any further has no timer of a course") func constantsHaveNoTimer() throws {
    let text = "devices:\n  - name: A\n    type: contact sensor\n"
    let still = try engine(text).nextDeadline
    #expect(try engine(sensor("{ steps: [true] }")).nextDeadline == still)
  }

  @Test("a physical change ends the course until the next start") func endsAtPhysicalChange() throws {
    var device = try engine(sensor(pulse))
    device.advance(to: at(10))
    // The same value also counts as a change.
    try device.act(set: BooleanState.stateValue, true, on: 1, at: at(10))
    device.advance(to: at(3610))
    device.advance(to: at(36_000))
    #expect(device.value(BooleanState.stateValue, on: 1) == true)
    // The course counts from the first start.
    var later = try engine(sensor(pulse), BehaviorClock(origin: .zero, now: at(3610), seed: 0, rooms: Rooms()))
    #expect(later.value(BooleanState.stateValue, on: 1) == false)
    #expect(later.nextDeadline.map { $0 <= at(3630) } == true)
    later.advance(to: at(3630))
    #expect(later.value(BooleanState.stateValue, on: 1) == true)
  }

  @Test("bridged devices without power keep their values") func pausesBridgedDevices() throws {
    var engine = try engine(
      """
      devices:
        - name: Bridge
          type: bridge
          devices:
            - name: A
              type: contact sensor
              behave: { booleanState.stateValue: \(pulse) }
      """)
    #expect(engine.value(BooleanState.stateValue, on: 2) == true)
    try engine.power(false, bridgedOn: 2, at: at(100))
    engine.advance(to: at(3610))
    #expect(engine.value(BooleanState.stateValue, on: 2) == true)
    try engine.power(true, bridgedOn: 2, at: at(3615))
    #expect(engine.value(BooleanState.stateValue, on: 2) == false)
    engine.advance(to: at(3630))
    #expect(engine.value(BooleanState.stateValue, on: 2) == true)
  }

  @Test("devices of one entry walk differently, and the same with the same seed") func walksDiffer() throws {
    let text = """
      devices:
        - name: A
          type: humidity sensor
          count: 2
          behave: { relativeHumidityMeasurement.measuredValue: { walk: { from: 10%, to: 90%, step: 5% } } }
      """
    let devices = try HomeDefinition.load(simulating: [("home.yaml", text)]).devices
    func values(_ device: DeviceDefinition, seed: UInt64) throws -> [UInt16?] {
      var engine = try DeviceEngine(device, BehaviorClock(origin: .zero, now: .zero, seed: seed, rooms: Rooms()))
      return (1...20 as ClosedRange<Int64>).map { minute in
        engine.advance(to: at(60 * minute))
        return engine.value(RelativeHumidityMeasurement.measuredValue, on: 1)?.wrapped
      }
    }
    let first = try values(devices[0], seed: 1)
    #expect(Set(first).count > 10 && first.allSatisfy { $0 != nil })
    #expect(try values(devices[0], seed: 1) == first)
    #expect(try values(devices[0], seed: 2) != first)
    #expect(try values(devices[1], seed: 1) != first)
  }
}
