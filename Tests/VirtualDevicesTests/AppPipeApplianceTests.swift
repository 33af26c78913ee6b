import Foundation
import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Testing

@testable import VirtualDevices

/// Commands of the Matter SDK's test scripts for appliances, on running devices.
@Suite("App pipe of appliances") struct AppPipeApplianceTests {
  /// A running device and its values.
  private struct Appliance {
    let device: VirtualDevice

    /// Performs a command; returns the error.
    func send(_ fields: String) -> String? {
      do throws(ControlError) {
        try device.perform(try PipeCommand("{\(fields)}"))
        return nil
      } catch {
        return error.message
      }
    }

    func operate(_ operation: String, of type: String = "Generic", _ more: String = "") -> String? {
      send(#""Name": "OperationalStateChange", "Device": "\#(type)", "Operation": "\#(operation)"\#(more)"#)
    }

    func value<C: Cluster, Value: ModelValue>(_ attribute: Attribute<C, Value>, on endpoint: EndpointID = 1) -> Value? {
      device.host?.perform { engine, _ in engine.value(attribute, on: endpoint) }
    }

    var robot: RvcOperationalState.OperationalState? { value(RvcOperationalState.operationalState) }
    var failure: RvcOperationalState.ErrorState? {
      value(RvcOperationalState.operationalError).map { .init($0.errorStateID) }
    }
  }

  private func run(_ fields: String, _ body: @escaping @Sendable (Appliance) throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/hearth-appliance-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let text = "devices:\n  - { name: A, \(fields) }\n"
    let definition = try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
    try await running(definition, in: directory) { try body(Appliance(device: $0)) }
  }

  @Test func changesOperationalState() async throws {
    try await run("type: dishwasher") { washer in
      func state() -> OperationalState.OperationalState? { washer.value(OperationalState.operationalState) }
      func error() -> UInt8? { washer.value(OperationalState.operationalError)?.errorStateID }
      #expect(washer.operate("Pause") == "the device can't do that now")
      for (operation, expected) in [
        ("Start", OperationalState.OperationalState.running), ("Pause", .paused), ("Resume", .running),
        ("Stop", .stopped), ("Start", .running),
      ] {
        #expect(washer.operate(operation, of: operation == "Stop" ? "Dishwasher" : "Generic") == nil)
        #expect(state() == expected)
      }
      #expect(washer.operate("OnFault", #", "Param": 1"#) == nil)
      #expect(state() == .error && error() == 1)
      #expect(washer.operate("OnFault") == nil)
      #expect(error() == 2)
      #expect(washer.operate("Stop") == nil)
      #expect(state() == .stopped && error() == 0)
      #expect(washer.operate("Start", of: "Oven") == "it has no cluster ovenCavityOperationalState")
    }
  }

  @Test func operatesOven() async throws {
    try await run("type: oven") { oven in
      func state() -> OperationalState.OperationalState? {
        oven.value(OvenCavityOperationalState.operationalState, on: 2).map { .init($0.rawValue) }
      }
      #expect(oven.operate("Start", of: "Oven") == nil)
      #expect(state() == .running)
      #expect(oven.operate("OnFault", of: "Oven", #", "Param": 3, "EndpointId": 2"#) == nil)
      #expect(oven.value(OvenCavityOperationalState.operationalError, on: 2)?.errorStateID == 3)
      #expect(oven.operate("Stop", of: "Oven") == nil)
      #expect(state() == .stopped)
    }
  }

  @Test("opens the door of a compartment, also by the endpoint of the refrigerator") func opensDoor() async throws {
    try await run("type: refrigerator, doorAlarm: 100ms") { refrigerator in
      for (number, endpoint) in [#", "EndpointId": 1"#, #", "EndpointId": 3"#, ""].enumerated() {
        #expect(refrigerator.send(#""Name": "SetRefrigeratorDoorStatus", "DoorOpen": 1"# + endpoint) == nil)
        refrigerator.device.host?.perform { engine, now in engine.advance(to: now + .seconds(number + 1)) }
        #expect(refrigerator.value(RefrigeratorAlarm.state) == .doorOpen)
        #expect(refrigerator.send(#""Name": "SetRefrigeratorDoorStatus", "DoorOpen": 0"# + endpoint) == nil)
        #expect(refrigerator.value(RefrigeratorAlarm.state) == [])
      }
    }
    try await run("type: plug") { plug in
      #expect(
        plug.send(#""Name": "SetRefrigeratorDoorStatus", "DoorOpen": 1"#)
          == "it has no part “door”; an attribute is DEVICE.CLUSTER.ATTRIBUTE")
    }
  }

  @Test func movesRobot() async throws {
    try await run("type: robotic vacuum cleaner") { robot in
      func start() throws { try robot.device.set(RvcRunMode.id, RvcRunMode.currentMode.id, UInt8(1).tlv, on: [1]) }
      func send(_ name: String) -> String? { robot.send(#""Name": "\#(name)""#) }
      #expect(send("Reset") == nil)
      #expect(robot.robot == .stopped)
      for (name, state) in [
        ("Docked", RvcOperationalState.OperationalState.docked), ("Charging", .charging), ("Charged", .docked),
        ("EmptyingDustBin", .emptyingDustBin), ("CleaningMop", .cleaningMop), ("FillingWaterTank", .fillingWaterTank),
        ("UpdatingMaps", .updatingMaps), ("Reset", .stopped),
      ] {
        #expect(send(name) == nil)
        #expect(robot.robot == state)
      }
      // It charges in between, and continues.
      try start()
      #expect(send("LowCharge") == nil)
      #expect(robot.robot == .seekingCharger)
      #expect(send("ChargerFound") == nil)
      #expect(robot.robot == .charging && robot.value(RvcRunMode.currentMode) == 1)
      #expect(send("Charged") == nil)
      #expect(robot.robot == .running && robot.value(RvcRunMode.currentMode) == 1)
      #expect(send("ActivityComplete") == nil)
      #expect(robot.robot == .seekingCharger && robot.value(RvcRunMode.currentMode) == 0)
      // Reset also ends an interrupted run with a low battery.
      try start()
      #expect(send("LowCharge") == nil)
      try robot.device.set(ServiceArea.id, ServiceArea.selectedAreas.id, [UInt32(2)].tlv, on: [1])
      #expect(send("Reset") == nil)
      #expect(robot.robot == .stopped && robot.value(RvcRunMode.currentMode) == 0)
      #expect(robot.value(ServiceArea.selectedAreas) == [])
      try start()
      #expect(robot.robot == .running)
    }
  }

  @Test func causesErrorsOfRobot() async throws {
    try await run("type: robotic vacuum cleaner") { robot in
      typealias Failure = RvcOperationalState.ErrorState
      for (name, error) in [
        ("UnableToStartOrResume", Failure.unableToStartOrResume), ("CommandInvalidInState", .commandInvalidInState),
        ("FailedToFindChargingDock", .failedToFindChargingDock), ("Stuck", .stuck), ("LowBattery", .lowBattery),
        ("BatteryLow", .lowBattery), ("NavigationSensorObscured", .navigationSensorObscured),
      ] {
        #expect(robot.send(#""Name": "ErrorEvent", "Error": "\#(name)""#) == nil)
        #expect(robot.robot == .error && robot.failure == error)
      }
      #expect(robot.send(#""Name": "ClearError""#) == nil)
      #expect(robot.robot == .paused || robot.robot == .stopped)
      #expect(robot.failure == .noError)
      #expect(robot.send(#""Name": "ErrorEvent", "Error": "Stuck""#) == nil)
      #expect(robot.send(#""Name": "Reset""#) == nil)
      #expect(robot.robot == .stopped && robot.failure == .noError)
    }
  }

  @Test func changesAreasOfRobot() async throws {
    try await run("type: robotic vacuum cleaner, areas: { Kitchen: 8m, Hall: 2m }") { robot in
      func areas() -> [UInt32]? { robot.value(ServiceArea.supportedAreas)?.map(\.areaID) }
      #expect(
        robot.send(#""Name": "AddArea", "AreaId": 42, "MapId": 1, "LocationName": "Attic", "FloorNumber": 2"#) == nil)
      #expect(areas() == [1, 2, 42])
      let added = robot.value(ServiceArea.supportedAreas)?.last
      #expect(added?.mapID == .null)
      #expect(added?.areaInfo.locationInfo.wrapped?.locationName == "Attic")
      #expect(added?.areaInfo.locationInfo.wrapped?.floorNumber == .value(2))
      #expect(robot.send(#""Name": "RemoveArea", "AreaId": 2"#) == nil)
      #expect(areas() == [1, 42])
      #expect(robot.send(#""Name": "RemoveArea", "AreaId": 2"#) == "it has no area 2; expected 1 or 42")
      #expect(robot.send(#""Name": "AddArea", "AreaId": 42, "LocationName": "Cellar""#)?.contains("range") == true)
      let long = String(repeating: "x", count: 300)
      #expect(robot.send(#""Name": "AddArea", "AreaId": 43, "LocationName": "\#(long)""#)?.contains("range") == true)
      #expect(areas() == [1, 42])
    }
  }

  @Test func explainsWrongFields() {
    for (fields, message) in [
      (
        #""Name": "OperationalStateChange", "Operation": "Start""#,
        "“Device” is missing or wrong; expected Generic, Dishwasher or Oven"
      ),
      (
        #""Name": "OperationalStateChange", "Device": "Generic", "Operation": "Go""#,
        "“Operation” is missing or wrong; expected Start, Resume, Pause, Stop or OnFault"
      ),
      (
        #""Name": "SetRefrigeratorDoorStatus", "DoorOpen": "yes""#,
        "“DoorOpen” is missing or wrong; expected a number from 0 to 255"
      ),
      (#""Name": "AddArea", "AreaId": 1"#, "no “LocationName”"),
      (
        #""Name": "AddArea", "AreaId": 1, "LocationName": "A", "FloorNumber": 40000"#,
        "“FloorNumber” is missing or wrong; expected a number from -32768 to 32767"
      ),
    ] {
      let error = #expect(throws: ControlError.self) { try PipeCommand("{\(fields)}") }
      #expect(error?.message == message)
    }
  }
}
