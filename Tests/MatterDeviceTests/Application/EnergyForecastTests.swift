import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Forecasts of Device Energy Management and their changes by clients, in virtual time.
@Suite("energy forecasts") struct EnergyForecastTests {
  private typealias DEM = DeviceEnergyManagement
  private typealias Power = ElectricalPowerMeasurement

  /// 2026-01-05 at 20:00 UTC, in seconds since 2000.
  private static let evening: UInt32 = 820_958_400

  /// A battery of 10 kWh that is half full.
  private func storage() -> TestNode {
    let battery = StorageBattery(capacity: 10_000_000, charge: 50, charging: 4_000_000, discharging: 2_000_000)
    let node = TestNode([
      StorageServer.make(battery), StorageServer.power(ElectricalPowerServer.make(), isLeading: true),
      StorageServer.energyManagement(battery),
    ])
    node.setClock(UInt64(Self.evening))
    return node
  }

  private func station() -> TestNode {
    let vehicle = ElectricVehicle(capacity: 60_000_000, charge: 50)
    let node = TestNode([EvseServer.make(vehicle), EvseModeServer.make(), EvseServer.energyManagement()])
    node.setClock(UInt64(Self.evening))
    return node
  }

  private func cause(_ code: UInt64, _ node: TestNode) throws { try node.cause(0x0098_0000_0000_0000 | code) }
  private func forecast(_ node: TestNode) throws -> DEM.ForecastStruct { try #require(node[DEM.forecast].wrapped) }

  private func modify(
    _ node: TestNode, _ id: UInt32, _ adjustments: [DEM.SlotAdjustmentStruct],
    _ cause: DEM.AdjustmentCause = .gridOptimization
  ) throws {
    try node.invoke(
      DEM.modifyForecastRequest, .init(forecastID: id, slotAdjustments: adjustments, cause: cause))
  }

  private func constrain(
    _ node: TestNode, _ constraints: [DEM.ConstraintsStruct], _ cause: DEM.AdjustmentCause = .gridOptimization
  ) throws {
    try node.invoke(DEM.requestConstraintBasedForecast, .init(constraints: constraints, cause: cause))
  }

  @Test func conforms() {
    let battery = StorageBattery()
    #expect(StorageServer.energyManagement(battery).violations == [])
    #expect(SolarArray().energyManagement().violations == [])
    #expect(EvseServer.energyManagement().violations == [])
  }

  /// The steps of TC_DEM_2_5.
  @Test("adjusts the slots of a test") func adjustsTest() throws {
    let node = storage()
    try cause(0x0A, node)
    var shown = try forecast(node)
    let slot = try #require(shown.slots.first)
    let (lowest, highest) = (try #require(slot.minPowerAdjustment), try #require(slot.maxPowerAdjustment))
    let (shortest, longest) = (try #require(slot.minDurationAdjustment), try #require(slot.maxDurationAdjustment))
    let valid = DEM.SlotAdjustmentStruct(slotIndex: 0, nominalPower: lowest, duration: longest)
    for (adjustments, id, status) in [
      ([.init(slotIndex: 0, duration: shortest)], shown.forecastID, .constraintError),
      ([valid], shown.forecastID + 1, .failure),
      ([.init(slotIndex: 2, nominalPower: lowest, duration: longest)], shown.forecastID, .failure),
      ([.init(slotIndex: 0, nominalPower: lowest - 1, duration: longest)], shown.forecastID, .constraintError),
      ([.init(slotIndex: 0, nominalPower: highest + 1, duration: longest)], shown.forecastID, .constraintError),
      ([.init(slotIndex: 0, nominalPower: lowest, duration: longest + 1)], shown.forecastID, .constraintError),
      ([.init(slotIndex: 0, nominalPower: lowest, duration: shortest - 1)], shown.forecastID, .constraintError),
      ([valid, .init(slotIndex: 4, nominalPower: lowest, duration: longest)], shown.forecastID, .failure),
    ] as [([DEM.SlotAdjustmentStruct], UInt32, StatusCode)] {
      #expect(throws: StatusError(status)) { try modify(node, id, adjustments) }
    }
    try cause(0x02, node)
    #expect(throws: StatusError(.constraintError)) { try modify(node, shown.forecastID, [valid], .localOptimization) }
    try modify(node, shown.forecastID, [valid])
    #expect(try forecast(node).forecastUpdateReason == .gridOptimization)
    try node.invoke(DEM.cancelRequest)
    shown = try forecast(node)
    #expect(shown.forecastUpdateReason == .internalOptimization)
    let later = DEM.SlotAdjustmentStruct(slotIndex: 1, nominalPower: lowest, duration: 1800)
    try modify(node, shown.forecastID, [later])
    #expect(try forecast(node).slots[1].nominalPower == lowest && forecast(node).endTime == shown.endTime - 1800)
    try cause(0x03, node)
    #expect(try forecast(node).forecastUpdateReason == .internalOptimization)
    try cause(0x04, node)
    try cause(0x0B, node)
    #expect(throws: StatusError(.constraintError)) { try modify(node, shown.forecastID, [valid]) }
    #expect(throws: StatusError(.invalidInState)) { try node.invoke(DEM.cancelRequest) }
    try cause(0x0C, node)
    #expect(node[DEM.forecast] == .null)
  }

  /// The steps of TC_DEM_2_7.
  @Test("constrains the forecast of a test") func constrainsTest() throws {
    let node = station()
    try cause(0x0D, node)
    let start = try forecast(node).startTime
    func window(_ delay: Int64, _ power: Int64? = 2_000_000, _ energy: Int64? = 2_000_000) -> DEM.ConstraintsStruct {
      .init(
        startTime: UInt32(Int64(Self.evening) + delay), duration: 20, nominalPower: power, maximumEnergy: energy)
    }
    for (constraints, status) in [
      ([window(-10)], .constraintError), ([window(10), window(20), window(40)], .constraintError),
      ([window(10), window(30), window(40)], .constraintError),
      ([window(30), window(10), window(50)], .constraintError),
      ([window(10), window(50), window(30)], .constraintError),
      ([window(10, node[DEM.absMaxPower] + 1)], .constraintError),
      ([window(10, node[DEM.absMinPower] - 1)], .constraintError), ([window(10, 2_000_000, nil)], .invalidCommand),
      ([window(10, nil)], .invalidCommand),
    ] as [([DEM.ConstraintsStruct], StatusCode)] {
      #expect(throws: StatusError(status)) { try constrain(node, constraints) }
    }
    let valid = DEM.ConstraintsStruct(
      startTime: start, duration: 1800, nominalPower: 2_500_000, maximumEnergy: 1_250_000)
    try constrain(node, [valid])
    #expect(try forecast(node).forecastUpdateReason == .gridOptimization)
    try node.invoke(DEM.cancelRequest)
    #expect(try forecast(node).forecastUpdateReason == .internalOptimization)
    #expect(throws: StatusError(.invalidInState)) { try node.invoke(DEM.cancelRequest) }
    try cause(0x0E, node)
  }

  @Test("predicts when a battery is full, and charges it as requested") func chargesAsRequested() throws {
    let node = storage()
    #expect(node[DEM.forecast] == .null)
    node.act(Power.activePower, .value(2_000_000))
    let first = try forecast(node)
    // 5 kWh at 2 kW, or at 0.4 to 4 kW.
    #expect(first.startTime == Self.evening && first.endTime == Self.evening + 9000)
    #expect(first.slots.first?.nominalEnergy == 5_000_000 && first.slots.first?.minDuration == 4500)
    node.wait(3_600_000)
    let later = try forecast(node)
    #expect(later.forecastID == first.forecastID && later.endTime == first.endTime)
    #expect(later.slots.first?.remainingSlotTime ?? .max < 9000)
    try modify(node, later.forecastID, [.init(slotIndex: 0, nominalPower: 1_000_000, duration: 7200)])
    #expect(node[Power.activePower] == .value(1_000_000))
    let slower = try forecast(node)
    #expect(slower.endTime == Self.evening + 3600 + 10_800 && slower.forecastUpdateReason == .gridOptimization)
    node.wait(3_600_000)
    #expect(node[Power.activePower] == .value(2_000_000), "the adjusted time is over")
    #expect(node[PowerSource.batPercentRemaining] == .value(160))
    #expect(try forecast(node).endTime == Self.evening + 7200 + 3600)
    node.wait(3_600_000)
    #expect(node[DEM.forecast] == .null && node[PowerSource.batPercentRemaining] == .value(200))
  }

  @Test("charges a vehicle within constraints") func chargesWithinConstraints() throws {
    typealias Evse = EnergyEvse
    let node = station()
    try node.invoke(
      Evse.enableCharging,
      .init(chargingEnabledUntil: .null, minimumChargeCurrent: 6000, maximumChargeCurrent: 16_000))
    try node.move("cable", "plugged in")
    let start = Self.evening + 3600
    try constrain(
      node,
      [
        .init(startTime: start, duration: 3600, nominalPower: 2_000_000, maximumEnergy: 2_000_000),
        .init(startTime: start + 3601, duration: 3599, nominalPower: 2_000_000, maximumEnergy: 1000),
      ])
    node.wait(3_600_000)
    #expect(node[Evse.sessionEnergyCharged] == .value(3_680_000))
    node.wait(3_600_000)
    #expect(node[Evse.sessionEnergyCharged] == .value(5_680_000))
    node.wait(600_000)
    #expect(node[Evse.state] == .value(.pluggedInDemand), "the energy does not suffice")
    try node.invoke(DEM.cancelRequest)
    #expect(node[Evse.state] == .value(.pluggedInCharging))
  }

  @Test("predicts that a charge ends with its permission") func endsWithPermission() throws {
    let node = station()
    try node.invoke(
      EnergyEvse.enableCharging,
      .init(
        chargingEnabledUntil: .value(Self.evening + 1800), minimumChargeCurrent: 6000, maximumChargeCurrent: 16_000))
    try node.move("cable", "plugged in")
    let shown = try forecast(node)
    #expect(shown.endTime == Self.evening + 1800 && shown.latestEndTime == shown.endTime)
    #expect(shown.slots.map(\.remainingSlotTime) == [1800] && shown.slots.map(\.nominalEnergy) == [1_840_000])
  }

  @Test("predicts the power of a solar array from daylight") func predictsDaylight() throws {
    let array = SolarArray(peak: 5_000_000, latitude: 48, clouds: 0.4)
    let node = TestNode([ElectricalPowerServer.make().measuring(array), array.energyManagement()])
    // 2026-06-21 at 12:00 UTC.
    let noon: UInt32 = 1_782_000_000 + 43_200 - 946_684_800
    node.setClock(UInt64(noon))
    node.wait(60_000)
    let first = try forecast(node)
    #expect(first.startTime == noon && first.endTime == noon + 36_000 && first.slots.count == 10)
    let powers = first.slots.compactMap(\.nominalPower)
    #expect(powers.first ?? 0 < -3_500_000 && powers.last == 0, "noon and night")
    #expect(first.slots.allSatisfy { $0.minPower ?? 1 <= $0.nominalPower ?? 0 })
    let actual = try #require(node[Power.activePower].wrapped)
    #expect((first.slots[0].minPower ?? 0) - 100_000...(first.slots[0].maxPower ?? 0) + 100_000 ~= actual)
    node.wait(1_800_000)
    #expect(try forecast(node).forecastID == first.forecastID)
    node.wait(1_800_000)
    #expect(try forecast(node).startTime == noon + 3600 && forecast(node).forecastID == first.forecastID + 1)
  }
}
