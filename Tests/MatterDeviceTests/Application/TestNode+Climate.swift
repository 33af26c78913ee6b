import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

extension TestNode {
  /// A node with a thermostat, whose clients of the fabrics 1 to 3 may administer it.
  static func thermostat(heats: Bool = true, cools: Bool = true, stored: StoredState = [:]) -> TestNode {
    let node = TestNode([ThermostatServer.make(heats: heats, cools: cools)], stored: stored)
    node.allowAll()
    return node
  }

  /// Heating and cooling set points for an occupied room.
  var setpoints: [Int16] { [self[Thermostat.occupiedHeatingSetpoint], self[Thermostat.occupiedCoolingSetpoint]] }

  func raise(_ mode: Thermostat.SetpointRaiseLowerMode, by amount: Int8) throws(StatusError) {
    try invoke(Thermostat.setpointRaiseLower, .init(mode: mode, amount: amount))
  }

  func atomic(
    _ type: Thermostat.AtomicRequestType, _ attributes: [AttributeID] = [Thermostat.presets.id],
    timeout: UInt16? = nil, fabric: FabricIndex = 1
  ) throws -> Thermostat.AtomicResponse {
    try #require(
      try invoke(
        Thermostat.atomicRequest, .init(requestType: type, attributeRequests: attributes, timeout: timeout),
        fabric: fabric))
  }

  func begin(_ attributes: [AttributeID] = [Thermostat.presets.id], fabric: FabricIndex = 1) throws {
    let response = try atomic(.beginWrite, attributes, timeout: 3000, fabric: fabric)
    try #require(response.statusCode == .success)
  }

  /// Begins an atomic write, writes, and commits.
  /// - Returns: the status of the attribute.
  func commit(_ presets: [Thermostat.PresetStruct]) throws -> StatusCode? {
    try begin()
    try write(Thermostat.presets, presets)
    return try atomic(.commitWrite).attributeStatus.first?.statusCode
  }

  func commit(_ schedules: [Thermostat.ScheduleStruct]) throws -> StatusCode? {
    try begin([Thermostat.schedules.id])
    try write(Thermostat.schedules, schedules)
    return try atomic(.commitWrite, [Thermostat.schedules.id]).attributeStatus.first?.statusCode
  }

  /// Returns the status with which the body fails.
  func status(_ body: () throws -> Void) -> StatusCode? {
    do { try body() } catch let error as StatusError { return error.status.code } catch { return nil }
    return .success
  }
}
