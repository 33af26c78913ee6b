import Foundation
import Logging
import MatterClusters
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Testing

@testable import VirtualDevices

/// Alarms, air quality sensors and batteries of definition files.
@Suite("Alarms and batteries") struct AlarmDeviceTests {
  private func load(_ device: String) throws -> DeviceDefinition {
    try #require(try HomeDefinition.load(simulating: [("home.yaml", "devices:\n  - \(device)\n")]).devices.first)
  }

  private func problem(_ device: String) -> String? {
    do {
      _ = try load(device)
      return nil
    } catch let error as DefinitionError {
      return error.problems.first.map { "found \($0.found), expected \($0.expected)" }
    } catch {
      return "\(error)"
    }
  }

  private func findings(_ engine: DeviceEngine) -> [String] {
    var engine = engine
    var values: [ConcreteAttributePath: [UInt8]] = [:]
    for (path, _) in engine.attributes { values[path] = engine.value(of: path, at: .zero) }
    return DeviceCheck(values).findings.map(\.description)
  }

  // MARK: Batteries

  @Test(arguments: DeviceKind.all) func anyDeviceHasBattery(_ kind: DeviceKind) throws {
    let behind = kind == .bridge ? ", devices: [{ name: Behind, type: plug }]" : ""
    var engine = try DeviceEngine(load("{ name: A, type: \(kind.name), battery: 80%\(behind) }"))
    #expect(engine.value(PowerSource.batPercentRemaining, on: 0) == .value(160))
    #expect(engine.value(PowerSource.endpointList, on: 0) == [])
    #expect(findings(engine) == [])
  }

  @Test(arguments: DeviceKind.all.filter(\.sharesNode)) func bridgedDeviceHasBattery(_ kind: DeviceKind) throws {
    let bridged = "{ name: A, type: \(kind.name), battery: { charge: 40%, type: lithium ion } }"
    var engine = try DeviceEngine(load("{ name: B, type: bridge, devices: [\(bridged), { name: C, type: plug }] }"))
    #expect(engine.value(PowerSource.batPercentRemaining, on: 2) == .value(80))
    let parts = engine.value(Descriptor.partsList, on: 2) ?? []
    #expect(engine.value(PowerSource.endpointList, on: 2) == [2] + parts)
    #expect(engine.value(PowerSource.status, on: 0) == nil && engine.value(PowerSource.batVoltage, on: 3) == nil)
    #expect(findings(engine) == [])
  }

  @Test func batteryOfSeveralButtonsBelongsToTheirNode() throws {
    let bridged = "{ name: A, type: button, buttons: [On, Off], battery: 50% }"
    var engine = try DeviceEngine(load("{ name: B, type: bridge, devices: [\(bridged)] }"))
    #expect(engine.value(PowerSource.endpointList, on: 2) == [2, 3, 4])
    #expect(findings(engine) == [])
  }

  @Test func readsProperties() throws {
    let battery = try load(
      "{ name: A, type: plug, battery: { charge: 62.5%, type: cr123a, cells: 2, lasts: 2y, perUse: 0.01% } }"
    ).battery
    #expect(
      battery
        == Battery(
          .cr123A, quantity: 2, charge: 62.5, lifetime: .seconds(2 * 365 * 86_400), drainPerUse: 0.01))
    #expect(try load("{ name: A, type: plug }").battery == nil)
    let charger = try load("{ name: A, type: plug, battery: { type: lithium ion, lasts: 90d, chargesIn: 2h } }").battery
    #expect(charger?.chargingTime == .seconds(7200) && charger?.lifetime == .seconds(90 * 86_400))
  }

  @Test(
    arguments: [
      ("120%", "found “120%”, expected a charge such as 80%, or a mapping such as { charge: 80%, lasts: 2y }"),
      ("low", "found “low”, expected a charge such as 80%, or a mapping such as { charge: 80%, lasts: 2y }"),
      ("{ charge: 5 }", "found 5, expected a charge from 0% to 100%"),
      ("{ type: D }", "found “D”, expected “AA”, “AAA”, “CR123A”, “CR2”, “CR2032”, “CR2450”, “9V” or “lithium ion”"),
      ("{ cells: 0 }", "found 0, expected a number of cells from 1 to 16"),
      ("{ lasts: 100y }", "found “100y”, expected a time from 1m to 30y, such as 18h, 90d or 2y"),
      ("{ lasts: 1s }", "found “1s”, expected a time from 1m to 30y, such as 18h, 90d or 2y"),
      ("{ chargesIn: 1h }", "found “chargesIn”, expected this key only beside “type: lithium ion”"),
      ("{ size: 3 }", "found key “size”, expected charge, type, cells, lasts, perUse or chargesIn"),
    ]
  ) func rejectsBattery(_ text: String, _ expected: String) {
    #expect(problem("{ name: A, type: plug, battery: \(text) }") == expected)
  }

  @Test func batteryFollowsCourse() throws {
    let course = "{ powerSource.batPercentRemaining: { steps: [90% for 1h, 3%] } }"
    var engine = try DeviceEngine(load("{ name: A, type: smoke alarm, behave: \(course) }"))
    #expect(engine.value(PowerSource.batPercentRemaining, on: 0) == .value(180))
    #expect(engine.value(SmokeCoAlarm.expressedState, on: 1) == .normal)
    engine.advance(to: .zero + .seconds(3600))
    #expect(engine.value(PowerSource.batPercentRemaining, on: 0) == .value(6))
    #expect(engine.value(SmokeCoAlarm.expressedState, on: 1) == .batteryAlert)
    #expect(
      problem("{ name: A, type: plug, behave: \(course) }")
        == "found 1.powerSource.batPercentRemaining, expected an attribute that the device has")
  }

  // MARK: Alarms

  @Test func alarmsOfBridgeAreInterconnected() throws {
    let alarms = "[{ name: A, type: smoke alarm }, { name: B, type: smoke CO alarm }, { name: C, type: CO alarm }]"
    var engine = try DeviceEngine(load("{ name: Hub, type: bridge, devices: \(alarms) }"))
    try engine.act(set: SmokeCoAlarm.smokeState, .critical, on: 2, at: .zero)
    #expect(engine.value(SmokeCoAlarm.expressedState, on: 2) == .smokeAlarm)
    #expect(engine.value(SmokeCoAlarm.interconnectSmokeAlarm, on: 3) == .critical)
    #expect(engine.value(SmokeCoAlarm.expressedState, on: 3) == .interconnectSmoke)
    #expect(engine.value(SmokeCoAlarm.expressedState, on: 4) == .normal)
    try engine.act(set: SmokeCoAlarm.smokeState, .warning, on: 3, at: .zero)
    #expect(engine.value(SmokeCoAlarm.expressedState, on: 3) == .smokeAlarm)
    try engine.act(set: SmokeCoAlarm.smokeState, .normal, on: 2, at: .zero)
    #expect(engine.value(SmokeCoAlarm.expressedState, on: 2) == .interconnectSmoke)
    #expect(engine.value(SmokeCoAlarm.interconnectSmokeAlarm, on: 3) == .normal)
  }

  /// Devices of one home, each on a loop of its own.
  private func withHome(
    _ text: String, _ body: (_ devices: [NIOLoopBound<VirtualDevice>]) async throws -> Void
  ) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/hearth-alarms-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (machine, rooms) = (HostMachine(), Rooms())
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var devices: [NIOLoopBound<VirtualDevice>] = []
    for definition in try HomeDefinition.load(simulating: [("home.yaml", text)]).devices {
      let loop = machine.nextEventLoop()
      devices.append(
        try await loop.submit {
          var environment = VirtualDevice.Environment(
            machine: machine,
            discovery: try machine.openDiscovery(.off, .loopback, registry: nil, on: loop, logger: logger), loop: loop,
            interfaces: .loopback, directory: directory + "/" + definition.uniqueID, logger: logger)
          environment.rooms = rooms
          let device = try VirtualDevice(
            definition, port: nil, random: SeededRandomSource(seed: 1), in: environment)
          return NIOLoopBound(device, eventLoop: loop)
        }.get())
    }
    try await body(devices)
    for device in devices { try await device.eventLoop.submit { device.value.stop() }.get() }
  }

  private func set(
    _ attribute: Attribute<SmokeCoAlarm, SmokeCoAlarm.AlarmState>, _ state: SmokeCoAlarm.AlarmState,
    _ device: NIOLoopBound<VirtualDevice>, on endpoint: EndpointID = 1
  ) async throws {
    try await device.eventLoop.submit { try device.value.set(SmokeCoAlarm.id, attribute.id, state.tlv, on: [endpoint]) }
      .get()
  }

  // The loop performs an earlier change of another device first.
  private func state(
    _ device: NIOLoopBound<VirtualDevice>, on endpoint: EndpointID = 1
  ) async throws -> [SmokeCoAlarm.AlarmState?] {
    try await device.eventLoop.submit {
      device.value.host?.perform { engine, _ in
        [SmokeCoAlarm.interconnectSmokeAlarm, SmokeCoAlarm.interconnectCOAlarm].map { engine.value($0, on: endpoint) }
      } ?? []
    }.get()
  }

  private func expressed(
    _ device: NIOLoopBound<VirtualDevice>, on endpoint: EndpointID = 1
  ) async throws -> SmokeCoAlarm.ExpressedState? {
    try await device.eventLoop.submit {
      device.value.host?.perform { engine, _ in engine.value(SmokeCoAlarm.expressedState, on: endpoint) }
    }.get()
  }

  @Test("an alarm of one device is an interconnected alarm of the others of the home") func interconnectsDevices()
    async throws
  {
    typealias Alarm = SmokeCoAlarm
    let text = """
      devices:
        - { name: Hall, type: smoke CO alarm }
        - { name: Attic, type: smoke alarm }
        - { name: Hub, type: bridge, devices: [{ name: Cellar, type: smoke CO alarm }] }
      """
    try await withHome(text) { devices in
      let (hall, attic, hub) = (devices[0], devices[1], devices[2])
      try await set(Alarm.smokeState, .critical, hall)
      #expect(try await expressed(hall) == .smokeAlarm)
      #expect(try await state(hall) == [.normal, .normal])
      #expect(try await state(attic) == [.critical, nil])
      #expect(try await expressed(attic) == .interconnectSmoke)
      #expect(try await state(hub, on: 2) == [.critical, .normal])
      // The most severe one counts, and an own alarm has priority.
      try await set(Alarm.smokeState, .warning, attic)
      #expect(try await state(hall) == [.warning, .normal])
      #expect(try await expressed(hall) == .smokeAlarm)
      #expect(try await state(hub, on: 2) == [.critical, .normal])
      try await set(Alarm.smokeState, .normal, hall)
      #expect(try await expressed(hall) == .interconnectSmoke)
      #expect(try await state(hub, on: 2) == [.warning, .normal])
      #expect(try await state(attic) == [.normal, nil])
      // CO does not reach an alarm without that sensor.
      try await set(Alarm.smokeState, .normal, attic)
      try await set(Alarm.coState, .warning, hub, on: 2)
      #expect(try await state(hall) == [.normal, .warning])
      #expect(try await expressed(hall) == .interconnectCO)
      #expect(try await expressed(attic) == .normal)
      // One that starts meanwhile joins in; one without power ends.
      try await hall.eventLoop.submit {
        hall.value.cutPower()
        try hall.value.restorePower()
      }.get()
      #expect(try await expressed(hall) == .interconnectCO)
      try await hub.eventLoop.submit { hub.value.cutPower() }.get()
      #expect(try await expressed(hall) == .normal)
      #expect(try await state(hall) == [.normal, .normal])
    }
  }

  @Test("keeps the interconnected alarm of a test event while own alarms change") func keepsTestEvent() async throws {
    typealias Alarm = SmokeCoAlarm
    let text = """
      devices:
        - { name: Hall, type: smoke CO alarm }
        - { name: Attic, type: smoke alarm }
      """
    try await withHome(text) { devices in
      let (hall, attic) = (devices[0], devices[1])
      try await set(Alarm.interconnectSmokeAlarm, .warning, hall)
      try await set(Alarm.coState, .warning, hall)
      #expect(try await state(hall) == [.warning, .normal])
      try await set(Alarm.coState, .normal, hall)
      #expect(try await expressed(hall) == .interconnectSmoke)
      // A change of another device replaces it.
      try await set(Alarm.smokeState, .critical, attic)
      #expect(try await state(hall) == [.critical, .normal])
      // The end of a test event does not end the alarm of the other one.
      try await set(Alarm.interconnectSmokeAlarm, .normal, hall)
      #expect(try await state(hall) == [.critical, .normal])
      try await set(Alarm.smokeState, .normal, attic)
      #expect(try await state(hall) == [.normal, .normal])
    }
  }

  @Test func causesTestEvents() throws {
    var engine = try DeviceEngine(load("{ name: A, type: CO alarm }"))
    let names = engine.testEvents.map(\.name)
    #expect(names.contains("coWarning") && !names.contains("smokeWarning") && Set(names).count == names.count)
    let event = try #require(engine.testEvents.first { $0.name == "coCritical" })
    #expect(event.trigger == 0x005C_0001_0000_009D)
    try engine.cause(event.trigger, at: .zero)
    #expect(engine.value(SmokeCoAlarm.coState, on: 1) == .critical)
    #expect(throws: StatusError.self) { try engine.cause(0x005C_0001_0000_0090, at: .zero) }
    var motion = try DeviceEngine(load("{ name: A, type: occupancy sensor }"))
    try motion.cause(0x0406_0000_0000_0000, at: .zero)
    #expect(motion.value(OccupancySensing.occupancy, on: 1) == .occupied)
    try motion.cause(0x0406_0000_0000_0001, at: .zero)
    motion.advance(to: .zero + .seconds(11))
    #expect(motion.value(OccupancySensing.occupancy, on: 1) == [])
  }

  @Test("rejects test events of bridged devices without power") func refusesEventsWithoutPower() throws {
    var engine = try DeviceEngine(load("{ name: B, type: bridge, devices: [{ name: A, type: smoke alarm }] }"))
    try engine.power(false, bridgedOn: 2, at: .zero)
    let error = #expect(throws: StatusError.self) { try engine.cause(0x005C_0002_0000_0090, at: .zero) }
    #expect(error?.status.code == .failure)
    #expect(engine.value(SmokeCoAlarm.smokeState, on: 2) == .normal)
  }

  // MARK: Air

  @Test func servesFurtherConcentrationsThatAreNamed() throws {
    let usual = try DeviceEngine(load("{ name: A, type: air quality sensor }"))
    let served = Set(usual.attributes.map(\.path.cluster))
    #expect(served.contains(CarbonDioxideConcentrationMeasurement.id))
    #expect(!served.contains(RadonConcentrationMeasurement.id))
    for server in AirQualityServers.concentrations {
      let name = NormalizedName.camelCase(server.cluster.name)
      var engine = try DeviceEngine(
        load("{ name: A, type: air quality sensor, behave: { \(name).measuredValue: { steps: [1.5 for 1h, 990] } } }"))
      #expect(findings(engine) == [])
      let path = ConcreteAttributePath(1, server.id, CarbonDioxideConcentrationMeasurement.measuredValue.id)
      #expect(engine.value(of: path, at: .zero) == Float(1.5).tlv)
      #expect(engine.value(AirQuality.airQuality, on: 1) == .good)
      engine.advance(to: .zero + .seconds(3600))
      #expect(engine.value(of: path, at: .zero) == Float(990).tlv)
      #expect(engine.value(AirQuality.airQuality, on: 1) != .good, "\(name)")
    }
    #expect(
      problem("{ name: A, type: air quality sensor, attributes: { radonConcentrationMeasurement.measuredValue: -3 } }")
        != nil)
    let course = "{ airQuality.airQuality: { steps: [VeryPoor for 1h, Good] } }"
    var fixed = try DeviceEngine(load("{ name: A, type: air quality sensor, behave: \(course) }"))
    #expect(fixed.value(AirQuality.airQuality, on: 1) == .veryPoor)
    #expect(problem("{ name: A, type: plug, attributes: { radonConcentrationMeasurement.measuredValue: 3 } }") != nil)
  }
}
