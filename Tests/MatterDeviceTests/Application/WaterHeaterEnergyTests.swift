import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

/// Device Energy Management of a water heater in virtual time.
@Suite("Energy management of water heaters") struct WaterHeaterEnergyTests {
  private typealias DEM = DeviceEnergyManagement

  /// A tank of 100 l at 20 °C, whose water is heated to 55 °C by 4182 W: 0.01 °C in a second.
  private func node(
    _ type: WaterHeaterManagement.WaterHeaterHeatSource = .immersionElement1, temperature: Double = 20, loss: Double = 0
  ) -> TestNode {
    let settings = WaterHeaterSettings(
      tank: WaterTank(volume: 100, temperature: temperature, cold: 20, loss: loss),
      sources: [.init(type, power: 4182)])
    let node = TestNode(
      WaterHeaterServer.servers(settings) + [
        WaterHeaterServer.energyManagement(settings), EnergyManagementModeServer.make(),
      ])
    node.setClock(800_000_000)
    node.wait(30_000)
    return node
  }

  private func isHeating(_ node: TestNode) -> Bool { !node[WaterHeaterManagement.heatDemand].isEmpty }

  @Test("conforms") func conforms() {
    expectConformance(of: WaterHeaterServer.energyManagement(WaterHeaterSettings()))
  }

  @Test("predicts the power until the set point is reached") func predictsHeating() throws {
    let node = node()
    let forecast = try #require(node[DEM.forecast].wrapped)
    #expect(forecast.activeSlotNumber == .value(0) && forecast.slots.map(\.nominalPower) == [4_182_000])
    #expect((3499...3501).contains(forecast.endTime - forecast.startTime))
    node.wait(1_200_000)
    let later = try #require(node[DEM.forecast].wrapped)
    #expect(later.forecastID == forecast.forecastID && later.endTime == forecast.endTime)
    #expect(
      later.slots[0].elapsedSlotTime == 1230 && later.slots[0].remainingSlotTime == forecast.endTime - 800_001_230)
    node.wait(2_400_000)
    #expect(!isHeating(node) && node[DEM.forecast] == .null, "without a loss, it never heats again")
  }

  @Test("predicts the next heating phase of a tank that loses heat") func predictsNextPhase() throws {
    let node = node(temperature: 55, loss: 10)
    #expect(!isHeating(node))
    let forecast = try #require(node[DEM.forecast].wrapped)
    #expect(forecast.activeSlotNumber == .null && forecast.startTime > 800_000_030)
    let delay = Int64(forecast.startTime) - 800_000_030
    node.wait((delay - 40) * 1000)
    #expect(!isHeating(node) && node[DEM.forecast].wrapped?.forecastID == forecast.forecastID)
    node.wait(80_000)
    #expect(isHeating(node) && node[DEM.forecast].wrapped?.activeSlotNumber == .value(0))
  }

  @Test("a client pauses the heating") func pauses() throws {
    let node = node()
    try node.invoke(DEM.pauseRequest, .init(duration: 600, cause: .gridOptimization))
    #expect(!isHeating(node) && node[DEM.esaState] == .paused)
    let forecast = try #require(node[DEM.forecast].wrapped)
    #expect(forecast.slots.map(\.remainingSlotTime) == [forecast.endTime - 800_000_030 - 600])
    node.wait(599_000)
    #expect(!isHeating(node))
    node.wait(2000)
    #expect(isHeating(node) && node[DEM.esaState] == .online)
  }

  @Test("a fuel has no forecast") func predictsNoFuel() {
    #expect(node(.boiler)[DEM.forecast] == .null)
  }
}
