import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Window coverings, valves and pumps of definition files.
@Suite("Coverings, valves and pumps") struct CoverTests {
  private func device(_ fields: String) throws -> DeviceDefinition {
    let text = "devices:\n  - name: Thing\n    \(fields)\n"
    return try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
  }

  private func engine(_ fields: String, stored: StoredState = [:], at now: Instant = .zero) throws -> DeviceEngine {
    try DeviceEngine(
      device(fields), stored: stored, BehaviorClock(origin: .zero, now: now, seed: 0, rooms: Rooms()))
  }

  /// Advances an engine from timer to timer, and applies what it stores.
  private func run(_ engine: inout DeviceEngine, to seconds: Int64, storing stored: inout StoredState) {
    let end = Instant.zero + .seconds(seconds)
    while true {
      while let effect = engine.nextEffect() {
        if case .store(let changes) = effect { for change in changes { stored[change.key] = change.value } }
      }
      guard let next = engine.nextDeadline, next <= end else { break }
      engine.advance(to: next)
    }
    engine.advance(to: end)
  }

  private func run(_ engine: inout DeviceEngine, to seconds: Int64) {
    var stored: StoredState = [:]
    run(&engine, to: seconds, storing: &stored)
  }

  private func problem(_ fields: String) -> String? {
    let error = #expect(throws: DefinitionError.self) { try device(fields) }
    return error?.problems.map(\.description).joined(separator: "\n")
  }

  // MARK: Definitions

  @Test(arguments: [
    ("type: window covering", MotorSettings?.none),
    ("type: window covering\n    travel: 8s", MotorSettings(lift: .seconds(8))),
    ("type: blind\n    travel: { lift: 30s, tilt: 2s }", MotorSettings(lift: .seconds(30), tilt: .seconds(2))),
    ("type: blind\n    travel: { tilt: 3s }", MotorSettings(lift: nil, tilt: .seconds(3))),
    ("type: curtain\n    encoder: false", MotorSettings(hasEncoder: false)),
    ("type: valve\n    encoder: no", MotorSettings(lift: .seconds(3), hasEncoder: false)),
    ("type: valve\n    travel: 500ms", MotorSettings(lift: .milliseconds(500))),
  ]) func readsMotors(_ fields: String, _ motors: MotorSettings?) throws {
    #expect(try device(fields).motors == motors)
  }

  @Test(arguments: [
    ("type: plug\n    travel: 3s", "home.yaml:4:13: found “travel”, expected this key only in"),
    ("type: pump\n    encoder: true", "home.yaml:4:14: found “encoder”, expected this key only in"),
    ("type: blind\n    travel: 0s", "home.yaml:4:13: found “0s”, expected a time of at least"),
    ("type: blind\n    travel: 2h", "home.yaml:4:13: found “2h”, expected a time of at most 1h"),
    ("type: blind\n    travel: fast", "home.yaml:4:13: found “fast”, expected a time"),
    ("type: blind\n    travel: {}", "home.yaml:4:13: found a mapping, expected the times of the motors"),
    ("type: blind\n    travel: { lit: 3s }", "home.yaml:4:15: found key “lit”, expected a key of the times of"),
    ("type: valve\n    travel: { lift: 3s }", "home.yaml:4:13: found a mapping, expected a time of at least"),
    ("type: blind\n    encoder: maybe", "home.yaml:4:14: found “maybe”, expected true or false"),
    (
      "type: blind\n    travel: { tilt: 3s }\n    attributes: { windowCovering.currentPositionLiftPercent100ths: 3 }",
      "home.yaml:5:19: found 1.windowCovering.currentPositionLiftPercent100ths, expected"
    ),
    (
      "type: blind\n    travel: { lift: 9s, tilt: 3s }\n    attributes: { windowCovering.type: Awning }",
      "home.yaml:5:40: found “Awning”, expected Shutter (6) or TiltBlindLift (8)"
    ),
  ]) func reportsWrongMotors(_ fields: String, _ message: String) {
    let problem = problem(fields)
    #expect(problem?.hasPrefix(message) == true, "\(problem ?? "")")
  }

  @Test func motorsDetermineTheFeatures() throws {
    for (travel, features) in [("8s", 0b00101), ("{ tilt: 3s }", 0b10010), ("{ lift: 9s, tilt: 3s }", 0b10111)] {
      let servers = DeviceAssembly.servers(of: try device("type: blind\n    travel: \(travel)"))
      #expect(servers.first { $0.id == WindowCovering.id }?.features == UInt32(features))
    }
  }

  // MARK: Behavior

  @Test func coveringMovesAndIsDisplayed() throws {
    var engine = try engine("type: blind\n    travel: { lift: 10s, tilt: 2s }")
    func text() -> String? { VirtualDevice.position(&engine, on: 1) }
    #expect(text() == "open, tilt open")
    try engine.press(WindowCovering.downOrClose, NoFields(), on: 1, at: .zero)
    run(&engine, to: 1)
    #expect(text() == "10% closed, tilt 50% closed, closing")
    run(&engine, to: 20)
    #expect(text() == "closed, tilt closed")
    try engine.press(WindowCovering.upOrOpen, NoFields(), on: 1, at: .zero + .seconds(20))
    run(&engine, to: 21)
    #expect(text() == "90% closed, tilt 50% closed, opening")
  }

  @Test func coveringLosesItsPositionWithItsPower() throws {
    let fields = "type: curtain\n    travel: 10s\n    encoder: false"
    var (engine, stored) = (try engine(fields), StoredState())
    try engine.press(WindowCovering.downOrClose, NoFields(), on: 1, at: .zero)
    run(&engine, to: 4, storing: &stored)
    var restarted = try self.engine(fields, stored: stored, at: .zero + .seconds(100))
    #expect(VirtualDevice.position(&restarted, on: 1) == "unknown")
    try restarted.press(WindowCovering.upOrOpen, NoFields(), on: 1, at: .zero + .seconds(100))
    run(&restarted, to: 103)
    #expect(VirtualDevice.position(&restarted, on: 1) == "unknown, opening")
    run(&restarted, to: 105)
    #expect(VirtualDevice.position(&restarted, on: 1) == "open")
  }

  @Test func valveClosesAndIsDisplayed() throws {
    var engine = try engine(
      "type: valve\n    travel: 10s\n    attributes: { valveConfigurationAndControl.defaultOpenDuration: 60 }")
    func text() -> String? { VirtualDevice.position(&engine, on: 1) }
    #expect(text() == "closed")
    try engine.press(ValveConfigurationAndControl.open, .init(), on: 1, at: .zero)
    run(&engine, to: 5)
    #expect(text() == "open 50%, moving")
    run(&engine, to: 20)
    #expect(text() == "open 100%")
    run(&engine, to: 61)
    #expect(text() == "open 90%, closing")
    run(&engine, to: 70)
    #expect(text() == "closed")
  }

  @Test func idleDevicesHaveNoTimers() throws {
    for fields in ["type: blind", "type: valve", "type: pump"] {
      #expect(try engine(fields).nextDeadline == engine("type: plug").nextDeadline, "\(fields)")
    }
  }

  @Test func pumpStartsWithItsDefinition() throws {
    var engine = try engine(
      "type: pump\n    attributes: { onOff.onOff: true, levelControl.currentLevel: 100 }")
    run(&engine, to: 10)
    #expect(engine.value(PumpConfigurationAndControl.speed, on: 1) == .value(2500))
    #expect(engine.value(PumpConfigurationAndControl.pumpStatus, on: 1) == .running)
  }

  @Test("a position can follow a course, as if it was moved by hand") func followsACourse() throws {
    var engine = try engine(
      "type: blind\n    behave: { windowCovering.currentPositionLiftPercent100ths: { steps: [20% for 1m, 60%] } }")
    #expect(VirtualDevice.position(&engine, on: 1) == "20% closed")
    run(&engine, to: 60)
    #expect(VirtualDevice.position(&engine, on: 1) == "60% closed")
  }
}
