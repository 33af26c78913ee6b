import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import VirtualDevices

/// Intermittently connected devices of definition files.
@Suite("Sleepy devices") struct SleepyDeviceTests {
  private func device(_ fields: String) throws -> DeviceDefinition {
    let text = "devices:\n  - name: Thing\n    \(fields)\n"
    return try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
  }

  private static func sleep(
    _ mode: SleepConfiguration.Mode, _ change: (inout SleepConfiguration) -> Void = { _ in }
  ) -> SleepConfiguration {
    var sleep = SleepConfiguration(mode)
    change(&sleep)
    return sleep
  }

  @Test(arguments: [
    ("type: contact sensor", SleepConfiguration?.none),
    ("type: contact sensor\n    sleepy: short", sleep(.short)),
    ("type: contact sensor\n    sleepy: Long", sleep(.long)),
    (
      "type: thermostat\n    sleepy: { mode: short, idle: 10s, active: 0s, threshold: 500ms, poll: 1s }",
      sleep(.short) {
        ($0.idleDuration, $0.activeDuration) = (.seconds(10), .zero)
        ($0.activeThreshold, $0.pollInterval) = (.milliseconds(500), .seconds(1))
      }
    ),
    (
      "type: switch\n    sleepy: { mode: long, idle: 18h, clients: 2, dynamic: true }",
      sleep(.long) { ($0.idleDuration, $0.clientsPerFabric, $0.isDynamic) = (.seconds(64_800), 2, true) }
    ),
    ("type: door lock\n    sleepy: { idle: 30s }", sleep(.short) { $0.idleDuration = .seconds(30) }),
    (
      "type: door lock\n    sleepy: { mode: long, idle: 2s }",
      sleep(.long) { ($0.idleDuration, $0.activeDuration) = (.seconds(2), .seconds(2)) }
    ),
  ]) func readsTiming(_ fields: String, _ sleep: SleepConfiguration?) throws {
    let fields = fields.replacing("type: switch", with: "type: generic switch")
    #expect(try device(fields).sleep == sleep)
  }

  @Test(arguments: [
    ("type: plug\n    sleepy: short", "home.yaml:4:13: found “sleepy” for On/Off Plug-in Unit, expected this key only"),
    ("type: contact sensor\n    sleepy: deep", "home.yaml:4:13: found “deep”, expected short, long, or a mapping"),
    ("type: contact sensor\n    sleepy: { mode: deep }", "home.yaml:4:21: found “deep”, expected short, long"),
    ("type: contact sensor\n    sleepy: { idle: 19h }", "home.yaml:4:21: found “19h”, expected a time from 1s to 18h"),
    ("type: contact sensor\n    sleepy: { idle: 1500ms }", "home.yaml:4:21: found “1500ms”, expected a time in whole"),
    ("type: contact sensor\n    sleepy: { idle: 5s, active: 6s }", "home.yaml:4:33: found “6s”, expected a time of at"),
    (
      "type: contact sensor\n    sleepy: { mode: long, threshold: 4s }",
      "home.yaml:4:38: found “4s”, expected a time from 5 s to 65.5s; a device with a long idle time"
    ),
    (
      "type: contact sensor\n    sleepy: { threshold: 70s }", "home.yaml:4:26: found “70s”, expected a time from 100 ms"
    ),
    (
      "type: contact sensor\n    sleepy: { poll: 16s }",
      "home.yaml:4:21: found “16s”, expected a time from 100ms to 15s"
    ),
    ("type: contact sensor\n    sleepy: { clients: 2 }", "home.yaml:4:24: found “clients”, expected this key only"),
    ("type: contact sensor\n    sleepy: { dynamic: true }", "home.yaml:4:24: found “dynamic”, expected this key only"),
    ("type: contact sensor\n    sleepy: { doze: 2s }", "home.yaml:4:15: found key “doze”, expected"),
  ]) func reportsWrongTiming(_ fields: String, _ message: String) {
    let error = #expect(throws: DefinitionError.self) { try device(fields) }
    let problem = error?.problems.map(\.description).joined(separator: "\n")
    #expect(problem?.hasPrefix(message) == true, "\(problem ?? "")")
  }

  @Test func refusesBridgedDevices() {
    let text = """
      devices:
        - name: Bridge
          type: bridge
          devices:
            - { name: Door, type: contact sensor, sleepy: short }
      """
    let error = #expect(throws: DefinitionError.self) { try HomeDefinition.load(simulating: [("home.yaml", text)]) }
    #expect(error?.problems.first?.description.contains("found key “sleepy”") == true)
  }

  /// The root endpoint of each kind that can be sleepy has the cluster, beside a battery.
  @Test(arguments: DeviceKind.all.filter(\.maySleep), SleepConfiguration.Mode.allCases)
  func servesClusterOnRoot(_ kind: DeviceKind, _ mode: SleepConfiguration.Mode) throws {
    let device = try device("type: \(kind.name)\n    battery: 50%\n    sleepy: \(mode)")
    let engine = try DeviceEngine(device)
    let served = engine.attributes.map(\.path).filter { $0.cluster == IcdManagement.id }
    #expect(served.contains(IcdManagement.idleModeDuration.path(on: .root)))
    #expect(served.contains(IcdManagement.operatingMode.path(on: .root)) == (mode == .long))
    #expect(served.allSatisfy { $0.endpoint == .root })
    #expect(engine.attributes.contains { $0.path.cluster == PowerSource.id && $0.path.endpoint == .root })
    #expect(SimulatedDevice.parts(of: device).contains { $0.name == IcdManagementServer.button })
  }

  /// The timers of the device, such as those of a control loop, do not keep it awake.
  @Test(arguments: [
    DeviceKind.radiatorThermostat, .closure, .doorbell, .onOffSensor, .controlBridge, .thermostat,
  ]) func fallsAsleep(_ kind: DeviceKind) throws {
    var engine = try DeviceEngine(
      device("type: \(kind.name)\n    sleepy: { idle: 1h, active: 1s, threshold: 1s }"))
    while let next = engine.nextDeadline, next <= .zero + .seconds(100) {
      engine.advance(to: next)
      while engine.nextEffect() != nil {}
    }
    #expect(!engine.isActive)
    try engine.act(part: IcdManagementServer.button, "pressed", on: .root, at: .zero + .seconds(100))
    #expect(engine.isActive)
  }

  /// A button and a change of a sensor leave idle mode.
  @Test func wakesByPhysicalActions() throws {
    var engine = try DeviceEngine(device("type: contact sensor\n    sleepy: { idle: 1h, active: 1s, threshold: 1s }"))
    func run(to seconds: Int64) {
      while let next = engine.nextDeadline, next <= .zero + .seconds(seconds) {
        engine.advance(to: next)
        while engine.nextEffect() != nil {}
      }
    }
    #expect(engine.isActive, "active after the start")
    run(to: 10)
    #expect(!engine.isActive)
    try engine.act(part: IcdManagementServer.button, "pressed", on: .root, at: .zero + .seconds(20))
    #expect(engine.isActive)
    run(to: 30)
    #expect(!engine.isActive)
    run(to: 3621)
    #expect(engine.isActive, "the idle mode duration has passed")
  }
}
