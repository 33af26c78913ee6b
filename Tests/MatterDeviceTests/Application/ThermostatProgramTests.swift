import MatterClusters
import MatterModel
import MatterProtocol
import MatterTLV
import Testing

@testable import MatterDevice

/// Presets, schedules and their atomic writes, based on the public certification script TC-TSTAT-4.2.
@Suite("Presets and schedules of a thermostat") struct ThermostatProgramTests {
  private typealias Preset = Thermostat.PresetStruct
  private typealias Schedule = Thermostat.ScheduleStruct
  private let node = TestNode.thermostat()

  private func preset(
    _ scenario: Thermostat.PresetScenario, handle: Nullable<OctetString> = .null, name: String? = nil,
    heat: Int16? = 1800, cool: Int16? = 2500, builtIn: Nullable<Bool> = .value(false)
  ) -> Preset {
    Preset(
      presetHandle: handle, presetScenario: scenario, name: name.map { .value($0) }, coolingSetpoint: cool,
      heatingSetpoint: heat, builtIn: builtIn)
  }

  /// Returns the status of a write within an atomic write.
  private func status(ofWriting presets: [Preset]) throws -> StatusCode? {
    try node.begin()
    defer { _ = try? node.atomic(.rollbackWrite) }
    return node.status { try node.write(Thermostat.presets, presets) }
  }

  // MARK: Atomic writes

  @Test func writesOnlyAtomically() throws {
    #expect(node.status { try node.write(Thermostat.presets, node[Thermostat.presets]) } == .invalidInState)
    let response = try node.atomic(.beginWrite, timeout: 5000)
    #expect(response.timeout == 3000 && response.attributeStatus.map(\.statusCode) == [.success])
    let both = try TestNode.thermostat().atomic(
      .beginWrite, [Thermostat.presets.id, Thermostat.schedules.id], timeout: 60_000)
    #expect(both.timeout == 12_000)
    // The attribute is not part of the write.
    #expect(node.status { try node.write(Thermostat.schedules, []) } == .invalidInState)
    #expect(node.status { _ = try node.atomic(.beginWrite, timeout: 100) } == .invalidInState)
  }

  @Test func showsPendingValuesToTheirClientOnly() throws {
    let present = node[Thermostat.presets]
    try node.begin()
    try node.write(Thermostat.presets, present + [preset(.sleep, name: "Night")])
    // The subject of the last write reads them.
    #expect(node[Thermostat.presets].count == 3)
    #expect(try node.takeReports(of: Thermostat.presets).isEmpty)
    node.measure(.value(2000))
    #expect(node[Thermostat.presets].count == 2)
    #expect(try node.atomic(.rollbackWrite).statusCode == .success)
    #expect(node[Thermostat.presets] == present)
    #expect(node.status { _ = try node.atomic(.commitWrite) } == .invalidInState)
  }

  @Test func commitsWithNewHandles() throws {
    let added = [preset(.sleep, name: "Night"), preset(.userDefined, builtIn: .null)]
    #expect(try node.commit(node[Thermostat.presets] + added) == .success)
    let presets = node[Thermostat.presets]
    #expect(presets.map(\.presetHandle) == [.value([1]), .value([2]), .value([3]), .value([4])])
    #expect(presets.map(\.builtIn) == [.value(true), .value(true), .value(false), .value(false)])
    #expect(try node.takeReports(of: Thermostat.presets).count == 1)
    #expect(TestNode.thermostat(stored: node.stored)[Thermostat.presets] == presets)
  }

  @Test func endsAtItsTimeout() throws {
    try node.begin()
    try node.write(Thermostat.presets, [])
    node.wait(3001)
    #expect(node.status { _ = try node.atomic(.commitWrite) } == .invalidInState)
    #expect(node[Thermostat.presets].count == 2)
  }

  @Test func excludesOtherClients() throws {
    try node.begin()
    let other = try node.atomic(.beginWrite, timeout: 3000, fabric: 2)
    #expect(other.statusCode == .failure && other.attributeStatus.map(\.statusCode) == [.busy])
    #expect(node.status { try node.write(Thermostat.presets, [], fabric: 2) } == .busy)
    #expect(node.status { _ = try node.atomic(.commitWrite, fabric: 2) } == .invalidInState)
    // The write ends with its fabric.
    node.removeFabric(1)
    try node.begin(fabric: 2)
  }

  @Test func rejectsInvalidAtomicRequests() throws {
    let presets = Thermostat.presets.id
    #expect(node.status { _ = try node.atomic(.beginWrite, [], timeout: 100) } == .invalidCommand)
    #expect(node.status { _ = try node.atomic(.beginWrite, [presets, presets], timeout: 100) } == .invalidCommand)
    #expect(node.status { _ = try node.atomic(.beginWrite, [0x7777], timeout: 100) } == .invalidCommand)
    #expect(node.status { _ = try node.atomic(.beginWrite) } == .invalidCommand)
    #expect(node.status { _ = try node.atomic(.init(9), timeout: 100) } == .invalidCommand)
    let mixed = try node.atomic(.beginWrite, [presets, Thermostat.systemMode.id], timeout: 100)
    #expect(mixed.statusCode == .failure && mixed.attributeStatus.map(\.statusCode) == [.success, .invalidCommand])
    try node.begin()
    #expect(node.status { _ = try node.atomic(.commitWrite, [Thermostat.schedules.id]) } == .invalidInState)
  }

  // MARK: Presets

  @Test func rejectsInvalidPresets() throws {
    let present = node[Thermostat.presets]
    var changed = present
    changed[0].builtIn = .value(false)
    #expect(try status(ofWriting: changed) == .constraintError)
    changed[0].builtIn = .null
    #expect(try status(ofWriting: changed) == .success)
    #expect(try status(ofWriting: present + [preset(.sleep, builtIn: .value(true))]) == .constraintError)
    #expect(
      try status(ofWriting: present + [preset(.wake, handle: .value([9, 9]), builtIn: .value(true))]) == .notFound)
    #expect(try status(ofWriting: present + [preset(.sleep, handle: .value([1]))]) == .constraintError)
    changed[0].name = .value("Name")
    #expect(try status(ofWriting: changed) == .constraintError)
    #expect(try status(ofWriting: present + [preset(.goingToSleep)]) == .constraintError)
    #expect(try status(ofWriting: present + [preset(.sleep, heat: nil)]) == .constraintError)
    #expect(try status(ofWriting: present + [preset(.sleep, heat: 3001)]) == .constraintError)
    let twins = [preset(.userDefined, name: "A"), preset(.userDefined, name: "A")]
    #expect(try status(ofWriting: present + twins) == .constraintError)
    #expect(try status(ofWriting: present + [preset(.occupied)]) == .resourceExhausted)
    let many = [preset(.sleep), preset(.wake), preset(.vacation)] + Array(repeating: preset(.userDefined), count: 4)
    #expect(try status(ofWriting: present + many.dropLast()) == .success)
    #expect(try status(ofWriting: present + many) == .resourceExhausted)
  }

  @Test func keepsPresetsThatAreInUse() throws {
    let present = node[Thermostat.presets]
    #expect(try node.commit(Array(present.dropFirst())) == .constraintError)
    #expect(try node.commit(present + [preset(.sleep)]) == .success)
    try node.invoke(Thermostat.setActivePresetRequest, .init(presetHandle: .value([3])))
    #expect(try node.commit(present) == .invalidInState)
    #expect(node[Thermostat.presets].count == 3)
    // A set point of its own deactivates the preset.
    try node.write(Thermostat.occupiedHeatingSetpoint, 1900)
    #expect(node[Thermostat.activePresetHandle] == .null)
    #expect(try node.commit(present) == .success)
  }

  @Test func activatesPresets() throws {
    #expect(
      node.status { try node.invoke(Thermostat.setActivePresetRequest, .init(presetHandle: .value([7]))) }
        == .invalidCommand)
    try node.invoke(Thermostat.setActivePresetRequest, .init(presetHandle: .value([2])))
    #expect(node.setpoints == [1600, 2800] && node[Thermostat.activePresetHandle] == .value([2]))
    #expect(node[Thermostat.setpointChangeSource] == .external)
    try node.invoke(Thermostat.setActivePresetRequest, .init(presetHandle: .null))
    #expect(node.setpoints == [1600, 2800] && node[Thermostat.activePresetHandle] == .null)
  }

  // MARK: Schedules

  private func transition(
    _ days: Thermostat.ScheduleDayOfWeek, _ minute: UInt16, heat: Int16? = nil, preset: OctetString? = nil,
    mode: Thermostat.SystemMode? = nil
  ) -> Thermostat.ScheduleTransitionStruct {
    .init(
      dayOfWeek: days, transitionTime: minute, presetHandle: preset, systemMode: mode, heatingSetpoint: heat)
  }

  private func schedule(
    _ transitions: [Thermostat.ScheduleTransitionStruct], mode: Thermostat.SystemMode = .heat
  ) -> Schedule {
    Schedule(scheduleHandle: .null, systemMode: mode, transitions: transitions, builtIn: .value(false))
  }

  private let workdays: Thermostat.ScheduleDayOfWeek = [.monday, .tuesday, .wednesday, .thursday, .friday]

  /// 2026-07-06, a Monday, at 00:00 UTC, in seconds since 2000.
  private let monday: UInt64 = 9683 * 86_400

  private func minutes(_ minutes: Int64) { node.wait(minutes * 60_000) }

  @Test func followsItsSchedule() throws {
    node.setClock(monday + 5 * 3600)
    let week = schedule([
      transition(workdays, 360, heat: 2100), transition(workdays, 1320, preset: [2]),
      transition([.saturday], 480, mode: .off),
    ])
    #expect(try node.commit([week]) == .success)
    #expect(
      node.status { try node.invoke(Thermostat.setActiveScheduleRequest, .init(scheduleHandle: [9])) }
        == .invalidCommand)
    try node.invoke(Thermostat.setActiveScheduleRequest, .init(scheduleHandle: [1]))
    // Since Saturday.
    #expect(node[Thermostat.systemMode] == .off)
    minutes(59)
    #expect(node[Thermostat.systemMode] == .off)
    minutes(2)
    #expect(node[Thermostat.systemMode] == .heat && node.setpoints == [2100, 2600])
    #expect(node[Thermostat.setpointChangeSource] == .schedule)
    // A change stays until the next transition.
    try node.write(Thermostat.occupiedHeatingSetpoint, 2300)
    minutes(15 * 60)
    #expect(node.setpoints == [2300, 2600])
    minutes(61)
    #expect(node.setpoints == [1600, 2800] && node[Thermostat.activePresetHandle] == .value([2]))
    #expect(try node.commit([] as [Schedule]) == .invalidInState)
    minutes(4 * 24 * 60 + 12 * 60)
    #expect(node[Thermostat.systemMode] == .off)
  }

  @Test func holdsSetpoints() throws {
    node.setClock(monday + 5 * 3600)
    #expect(
      try node.commit([schedule([transition(workdays, 360, heat: 2100), transition(workdays, 0, heat: 1700)])])
        == .success)
    try node.invoke(Thermostat.setActiveScheduleRequest, .init(scheduleHandle: [1]))
    #expect(node[Thermostat.occupiedHeatingSetpoint] == 1700)
    try node.write(Thermostat.temperatureSetpointHoldDuration, .value(90))
    try node.write(Thermostat.temperatureSetpointHold, .setpointHoldOn)
    #expect(node[Thermostat.setpointHoldExpiryTimestamp] == .value(UInt32(monday) + 6 * 3600 + 1800))
    minutes(75)
    #expect(node[Thermostat.occupiedHeatingSetpoint] == 1700)
    minutes(16)
    #expect(node[Thermostat.temperatureSetpointHold] == .setpointHoldOff)
    #expect(node[Thermostat.setpointHoldExpiryTimestamp] == .null)
    #expect(node[Thermostat.occupiedHeatingSetpoint] == 2100)
  }

  @Test("without a time, a schedule waits for it") func waitsForTime() throws {
    #expect(try node.commit([schedule([transition(workdays, 0, heat: 2200)])]) == .success)
    try node.invoke(Thermostat.setActiveScheduleRequest, .init(scheduleHandle: [1]))
    minutes(5)
    #expect(node[Thermostat.occupiedHeatingSetpoint] == 2000)
    node.setClock(monday)
    #expect(node[Thermostat.occupiedHeatingSetpoint] == 2200)
  }

  @Test("after a restart, a schedule does not repeat a transition") func resumesSchedule() throws {
    node.setClock(monday)
    #expect(try node.commit([schedule([transition(workdays, 0, heat: 2200)])]) == .success)
    try node.invoke(Thermostat.setActiveScheduleRequest, .init(scheduleHandle: [1]))
    try node.write(Thermostat.occupiedHeatingSetpoint, 1800)
    let restarted = TestNode.thermostat(stored: node.stored)
    restarted.setClock(monday + 3600)
    restarted.wait(120_000)
    #expect(restarted[Thermostat.occupiedHeatingSetpoint] == 1800)
    restarted.wait(24 * 3_600_000)
    #expect(restarted[Thermostat.occupiedHeatingSetpoint] == 2200)
  }

  @Test func rejectsInvalidSchedules() throws {
    func status(_ schedules: [Schedule]) throws -> StatusCode? {
      try node.begin([Thermostat.schedules.id])
      defer { _ = try? node.atomic(.rollbackWrite, [Thermostat.schedules.id]) }
      return node.status { try node.write(Thermostat.schedules, schedules) }
    }
    let good = transition(workdays, 60, heat: 2000)
    #expect(try status([schedule([good])]) == .success)
    #expect(try status([schedule([])]) == .constraintError)
    #expect(try status([schedule([good], mode: .dry)]) == .constraintError)
    #expect(try status([schedule([transition([], 60, heat: 2000)])]) == .constraintError)
    #expect(try status([schedule([transition([.away], 60, heat: 2000)])]) == .constraintError)
    #expect(try status([schedule([transition(workdays, 1440, heat: 2000)])]) == .constraintError)
    #expect(try status([schedule([transition(workdays, 60)])]) == .constraintError)
    #expect(try status([schedule([transition(workdays, 60, heat: 100)])]) == .constraintError)
    #expect(try status([schedule([transition(workdays, 60, heat: 2000, mode: .cool)])]) == .constraintError)
    #expect(try status([schedule([good], mode: .auto)]) == .constraintError)
    let seven = (0..<7 as Range<UInt16>).map { transition([.sunday], $0, heat: 2000) }
    #expect(try status([schedule(seven)]) == .resourceExhausted)
    #expect(try status(Array(repeating: schedule([good]), count: 4)) == .resourceExhausted)
    #expect(try node.commit([schedule([transition(workdays, 60, preset: [9])])]) == .constraintError)
    #expect(node[Thermostat.schedules].isEmpty)
  }
}
