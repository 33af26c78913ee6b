import MatterProtocol
import Testing

@testable import MatterDevice

@Suite("Water tank") struct WaterTankTests {
  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  @Test("heats by its capacity") func heats() {
    var tank = WaterTank(volume: 100, temperature: 20, cold: 10, loss: 0)
    tank.setHeating(4182, at: .zero)
    tank.advance(to: at(1000))
    #expect(abs(tank.temperature - 30) < 1e-9)
    // The example of the specification: 4647 Wh from 20 °C to 60 °C.
    tank.setTemperature(20, at: at(1000))
    #expect(tank.heatRequired(target: 60) == 4_646_667)
    #expect(tank.heatRequired(target: 15) == 0)
  }

  @Test("loses heat to its surroundings") func loses() {
    var tank = WaterTank(volume: 100, temperature: 60, cold: 10, loss: 2)
    // The time constant is 209,100 s.
    tank.advance(to: at(209_100))
    #expect(abs(tank.temperature - (20 + 40 / 2.718281828)) < 1e-6)
    var whole = WaterTank(volume: 100, temperature: 60, cold: 10, loss: 2)
    for second in stride(from: 0 as Int64, through: 209_100, by: 41) { whole.advance(to: at(second)) }
    #expect(abs(whole.temperature - tank.temperature) < 1e-9, "the steps have no influence")
    whole.advance(to: .zero)
    #expect(abs(whole.temperature - tank.temperature) < 1e-9, "an earlier time has no effect")
  }

  @Test("replaces the water that is drawn") func draws() {
    var tank = WaterTank(volume: 100, temperature: 60, cold: 10, loss: 0)
    tank.setFlow(10, at: .zero)
    tank.advance(to: at(600))
    // The volume was replaced once, and mixed on the way.
    #expect(abs(tank.temperature - (10 + 50 / 2.718281828)) < 1e-6)
    tank.setFlow(0, at: at(600))
    tank.setTemperature(60, at: at(600))
    tank.draw(share: 0.25, at: at(600))
    #expect(abs(tank.temperature - 47.5) < 1e-9)
  }

  @Test(
    "rates the hot water by its target",
    arguments: [(20, 0), (40, 50), (59.9, 99), (60, 100), (70, 100), (5, 0)] as [(Double, UInt8)])
  func ratesHotWater(_ temperature: Double, _ percentage: UInt8) {
    let tank = WaterTank(volume: 100, temperature: temperature, cold: 20, loss: 0)
    #expect(tank.percentage(target: 60) == percentage)
    #expect(tank.percentage(target: 10) == 100, "a target below the cold water")
  }

  @Test("stays within its range") func isLimited() {
    var tank = WaterTank(volume: 1, temperature: 500, cold: 10, loss: 0)
    #expect(tank.temperature == 100)
    tank.setHeating(1e9, at: .zero)
    tank.advance(to: at(1000))
    #expect(tank.temperature == 100)
  }
}
