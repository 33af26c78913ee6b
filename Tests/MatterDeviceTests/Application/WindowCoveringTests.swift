import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// Lift takes 20 s and tilt 4 s.
@Suite("Window covering") struct WindowCoveringTests {
  private typealias Covering = WindowCovering

  private func node(
    _ motors: MotorSettings = MotorSettings(tilt: .seconds(4)), stored: StoredState = [:]
  ) -> TestNode {
    TestNode([WindowCoveringServer.make(motors)], stored: stored)
  }

  private func lift(_ node: TestNode) -> UInt16? { node[Covering.currentPositionLiftPercent100ths].wrapped }
  private func tilt(_ node: TestNode) -> UInt16? { node[Covering.currentPositionTiltPercent100ths].wrapped }
  private func status(_ node: TestNode) -> UInt8 { node[Covering.operationalStatus].rawValue }

  private func expect(
    _ code: StatusCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(throws: StatusError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.status.code == code, sourceLocation: sourceLocation)
  }

  // MARK: Composition

  @Test(arguments: [
    MotorSettings(), MotorSettings(lift: nil, tilt: .seconds(3)), MotorSettings(tilt: .seconds(3), hasEncoder: false),
  ]) func servesMandatoryElementsWithValidValues(_ motors: MotorSettings) throws {
    let server = WindowCoveringServer.make(motors)
    expectConformance(of: server)
    let node = node(motors)
    #expect(node.accepts(Covering.goToLiftPercentage) == (motors.lift != nil))
    #expect(node.accepts(Covering.goToTiltPercentage) == (motors.tilt != nil))
    let config = node[Covering.configStatus]
    #expect(config.contains(.operational))
    #expect(config.contains(.liftPositionAware) == (motors.lift != nil))
    #expect(config.contains(.tiltPositionAware) == (motors.tilt != nil))
    #expect(config.contains(.liftEncoderControlled) == (motors.lift != nil && motors.hasEncoder))
  }

  // MARK: Movements

  @Test func closesAndOpens() throws {
    let node = node()
    try node.invoke(Covering.downOrClose)
    #expect(node[Covering.targetPositionLiftPercent100ths] == .value(10_000))
    #expect(node[Covering.targetPositionTiltPercent100ths] == .value(10_000))
    #expect(status(node) == 0b10_10_10)
    node.wait(5000)
    #expect(lift(node) == 2500)
    #expect(node[Covering.currentPositionLiftPercentage] == .value(25))
    // Only the lift still moves.
    #expect(tilt(node) == 10_000)
    #expect(status(node) == 0b00_10_10)
    node.wait(15_000)
    #expect(lift(node) == 10_000)
    #expect(status(node) == 0)
    try node.invoke(Covering.upOrOpen)
    #expect(status(node) == 0b01_01_01)
    node.wait(20_000)
    #expect(lift(node) == 0 && tilt(node) == 0)
    #expect(status(node) == 0)
    #expect(node[Covering.numberOfActuationsLift] == 2)
    #expect(node[Covering.numberOfActuationsTilt] == 2)
  }

  @Test func reportsTiltAsOverallMovementWhileLiftRests() throws {
    let node = node()
    try node.invoke(Covering.goToTiltPercentage, .init(tiltPercent100thsValue: 6005))
    #expect(status(node) == 0b10_00_10)
    node.wait(4000)
    #expect(tilt(node) == 6005)
    #expect(node[Covering.currentPositionTiltPercentage] == .value(60))
    #expect(lift(node) == 0)
  }

  @Test func stopsOnTheWay() throws {
    let node = node()
    try node.invoke(Covering.goToLiftPercentage, .init(liftPercent100thsValue: 7520))
    node.wait(3210)
    try node.invoke(Covering.stopMotion)
    #expect(lift(node) == 1605)
    #expect(node[Covering.targetPositionLiftPercent100ths] == .value(1605))
    #expect(status(node) == 0)
    node.wait(60_000)
    #expect(lift(node) == 1605)
  }

  @Test func reversesOnTheWay() throws {
    let node = node()
    try node.invoke(Covering.downOrClose)
    node.wait(6000)
    try node.invoke(Covering.upOrOpen)
    #expect(status(node) & 0b11_11 == 0b01_01)
    node.wait(2000)
    #expect(lift(node) == 2000)
  }

  @Test func reportsPositionsOnTheWay() throws {
    let node = node()
    _ = try node.takeReports(of: Covering.currentPositionLiftPercent100ths)
    try node.invoke(Covering.goToLiftPercentage, .init(liftPercent100thsValue: 1200))
    node.wait(10_000)
    let reports = try node.takeReports(of: Covering.currentPositionLiftPercent100ths)
    #expect(reports.map(\.at) == [1000, 2000, 2400])
    #expect(reports.map(\.value) == [.value(500), .value(1000), .value(1200)])
  }

  @Test func refusesPositionsOutOfRange() {
    let node = node()
    for position in [10_001, 0x3000, 0xFFFF] as [UInt16] {
      expect(.constraintError) {
        try node.invoke(Covering.goToLiftPercentage, .init(liftPercent100thsValue: position))
      }
      expect(.constraintError) {
        try node.invoke(Covering.goToTiltPercentage, .init(tiltPercent100thsValue: position))
      }
    }
    #expect(status(node) == 0)
  }

  // MARK: Modes

  @Test func freezesInMaintenance() throws {
    let node = node()
    try node.invoke(Covering.downOrClose)
    node.wait(2000)
    try node.write(Covering.mode, .maintenanceMode)
    #expect(status(node) == 0)
    #expect(!node[Covering.configStatus].contains(.operational))
    for command in [Covering.upOrOpen, Covering.downOrClose, Covering.stopMotion] {
      expect(.busy) { try node.invoke(command) }
    }
    expect(.busy) { try node.invoke(Covering.goToLiftPercentage, .init(liftPercent100thsValue: 0)) }
    // The switch at the covering has no effect either.
    node.act(Covering.targetPositionLiftPercent100ths, .value(0))
    #expect(status(node) == 0)
    try node.write(Covering.mode, [])
    #expect(node[Covering.configStatus].contains(.operational))
    try node.invoke(Covering.downOrClose)
    #expect(status(node) != 0)
  }

  @Test func calibrates() throws {
    let node = node(MotorSettings())
    try node.invoke(Covering.goToLiftPercentage, .init(liftPercent100thsValue: 5000))
    node.wait(10_000)
    try node.write(Covering.mode, .calibrationMode)
    #expect(lift(node) == nil)
    #expect(node[Covering.currentPositionLiftPercentage] == .null)
    #expect(node[Covering.targetPositionLiftPercent100ths] == .null)
    #expect(!node[Covering.configStatus].contains(.operational))
    #expect(status(node) == 0b01_01)
    expect(.failure) { try node.invoke(Covering.downOrClose) }
    node.wait(15_000)
    #expect(status(node) == 0b10_10)
    #expect(lift(node) == nil)
    node.wait(15_000)
    #expect(lift(node) == 10_000)
    #expect(node[Covering.mode] == [])
    #expect(node[Covering.configStatus].contains(.operational))
    try node.invoke(Covering.upOrOpen)
  }

  @Test func abandonsACalibration() throws {
    let node = node(MotorSettings())
    try node.write(Covering.mode, .calibrationMode)
    node.wait(1000)
    try node.write(Covering.mode, [])
    #expect(status(node) == 0)
    #expect(lift(node) == nil)
    #expect(node[Covering.configStatus].contains(.operational))
    try node.invoke(Covering.downOrClose)
    node.wait(21_000)
    #expect(lift(node) == 10_000)
  }

  @Test func continuesACalibrationAfterALossOfPower() throws {
    let node = node(MotorSettings())
    try node.write(Covering.mode, .calibrationMode)
    node.wait(5000)
    let restarted = self.node(MotorSettings(), stored: node.stored)
    #expect(restarted[Covering.mode] == .calibrationMode)
    #expect(lift(restarted) == nil)
    restarted.wait(40_000)
    #expect(lift(restarted) == 10_000)
    #expect(restarted[Covering.mode] == [])
  }

  @Test func maintenanceTakesPrecedenceOverCalibration() throws {
    let node = node()
    try node.write(Covering.mode, [.maintenanceMode, .calibrationMode])
    #expect(node[Covering.mode] == .maintenanceMode)
    expect(.busy) { try node.invoke(Covering.upOrOpen) }
  }

  @Test func reflectsReversedDirection() throws {
    let node = node()
    try node.write(Covering.mode, .motorDirectionReversed)
    #expect(node[Covering.configStatus].isSuperset(of: [.liftMovementReversed, .operational]))
    try node.write(Covering.mode, [])
    #expect(!node[Covering.configStatus].contains(.liftMovementReversed))
    expect(.constraintError) { try node.write(Covering.mode, WindowCovering.Mode(rawValue: 0x10)) }
  }

  // MARK: Physical actions

  @Test func stopsAtAnObstacle() throws {
    let node = node(MotorSettings())
    try node.invoke(Covering.downOrClose)
    node.wait(8000)
    node.act(Covering.safetyStatus, .obstacleDetected)
    #expect(lift(node) == 4000)
    #expect(status(node) == 0)
    #expect(node[Covering.targetPositionLiftPercent100ths] == .value(4000))
    #expect(node[Covering.safetyStatus] == [.obstacleDetected, .positionFailure])
    // Opening is possible, closing ends at the obstacle.
    try node.invoke(Covering.upOrOpen)
    #expect(node[Covering.safetyStatus] == [])
    node.wait(8000)
    #expect(lift(node) == 0)
    try node.invoke(Covering.downOrClose)
    node.wait(20_000)
    #expect(lift(node) == 4000)
    #expect(node[Covering.safetyStatus] == [.obstacleDetected, .positionFailure])
    node.act(Covering.safetyStatus, [])
    #expect(node[Covering.safetyStatus] == [])
    try node.invoke(Covering.downOrClose)
    node.wait(12_000)
    #expect(lift(node) == 10_000)
  }

  @Test func refusesCommandsWhileTheMotorIsJammed() throws {
    let node = node()
    try node.invoke(Covering.downOrClose)
    node.wait(1000)
    node.act(Covering.safetyStatus, .motorJammed)
    #expect(status(node) == 0)
    #expect(node[Covering.safetyStatus] == [.motorJammed, .positionFailure])
    #expect(!node[Covering.configStatus].contains(.operational))
    expect(.failure) { try node.invoke(Covering.upOrOpen) }
    node.act(Covering.safetyStatus, [])
    try node.invoke(Covering.upOrOpen)
    node.wait(20_000)
    #expect(lift(node) == 0)
  }

  @Test func noticesAMovementByHandWithAnEncoder() throws {
    let node = node()
    try node.invoke(Covering.downOrClose)
    node.wait(1000)
    node.act(Covering.currentPositionLiftPercent100ths, .value(3000))
    #expect(lift(node) == 3000)
    #expect(node[Covering.targetPositionLiftPercent100ths] == .value(3000))
    #expect(node[Covering.currentPositionLiftPercentage] == .value(30))
    node.act(Covering.currentPositionLiftPercentage, .value(55))
    #expect(lift(node) == 5500)
    // The tilt continues.
    node.wait(4000)
    #expect(tilt(node) == 10_000)
  }

  @Test func losesItsPositionByHandWithoutAnEncoder() throws {
    let node = node(MotorSettings(hasEncoder: false))
    node.act(Covering.currentPositionLiftPercent100ths, .value(3000))
    #expect(lift(node) == nil)
    #expect(node[Covering.targetPositionLiftPercent100ths] == .null)
    // The covering finds its open end first: 6 s, and then 10 s.
    try node.invoke(Covering.goToLiftPercentage, .init(liftPercent100thsValue: 5000))
    #expect(node[Covering.targetPositionLiftPercent100ths] == .value(5000))
    #expect(status(node) == 0b01_01)
    node.wait(7000)
    #expect(lift(node) == 500)
    #expect(status(node) == 0b10_10)
    node.wait(9000)
    #expect(lift(node) == 5000)
  }

  @Test func obeysTheSwitchAtTheCovering() {
    let node = node()
    node.act(Covering.targetPositionTiltPercent100ths, .value(5000))
    node.wait(1000)
    #expect(tilt(node) == 2500)
    node.act(Covering.operationalStatus, [])
    node.wait(5000)
    #expect(tilt(node) == 2500)
  }

  // MARK: Power

  @Test(arguments: [true, false]) func keepsItsPositionAtRest(_ hasEncoder: Bool) throws {
    let motors = MotorSettings(tilt: .seconds(4), hasEncoder: hasEncoder)
    let node = node(motors)
    try node.invoke(Covering.goToLiftPercentage, .init(liftPercent100thsValue: 2500))
    try node.invoke(Covering.goToTiltPercentage, .init(tiltPercent100thsValue: 9000))
    node.wait(20_000)
    let restarted = self.node(motors, stored: node.stored)
    #expect(lift(restarted) == 2500)
    #expect(tilt(restarted) == 9000)
    #expect(restarted[Covering.targetPositionLiftPercent100ths] == .value(2500))
    #expect(restarted[Covering.numberOfActuationsLift] == 1)
    #expect(status(restarted) == 0)
  }

  @Test func losesPowerOnTheWay() throws {
    for hasEncoder in [true, false] {
      let motors = MotorSettings(hasEncoder: hasEncoder)
      let node = node(motors)
      try node.invoke(Covering.downOrClose)
      node.wait(8000)
      let restarted = self.node(motors, stored: node.stored)
      #expect(status(restarted) == 0)
      #expect(lift(restarted) == (hasEncoder ? 4000 : nil))
      // Still unknown after another loss of power.
      let again = self.node(motors, stored: restarted.stored)
      #expect(lift(again) == (hasEncoder ? 4000 : nil))
      try again.invoke(Covering.downOrClose)
      again.wait(12_000)
      #expect(lift(again) == 10_000)
    }
  }

  @Test func startsWithAnUnknownPosition() throws {
    let server = WindowCoveringServer.make().initial(Covering.currentPositionLiftPercent100ths, .null)
    let node = TestNode([server])
    #expect(lift(node) == nil)
    try node.invoke(Covering.upOrOpen)
    #expect(status(node) == 0b01_01)
    node.wait(20_000)
    #expect(lift(node) == 0)
  }

  @Test func bridgedCoveringStaysWithoutPower() throws {
    let facts = BridgedDeviceFacts(
      vendorName: "", vendorID: VendorID(1), productName: "", productID: 1, nodeLabel: "", serialNumber: "",
      uniqueID: "1")
    let node = TestNode([BridgedDeviceServer.make(facts), WindowCoveringServer.make()])
    try node.invoke(Covering.downOrClose)
    node.wait(4000)
    node.power(false)
    node.wait(60_000)
    #expect(lift(node) == 2000)
  }
}
