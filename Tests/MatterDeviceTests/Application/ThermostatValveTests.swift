import MatterClusters
import MatterModel
import MatterProtocol
import Testing

@testable import MatterDevice

@Suite("Thermostat of a radiator") struct ThermostatValveTests {
  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  @Test("opens by the deviation, and the farther the longer it lasts") func opens() {
    var valve = ThermostatValve()
    valve.advance(to: 1900, setpoint: 2000, at: .zero)
    #expect(valve.demand == 40)
    valve.advance(to: 1900, setpoint: 2000, at: at(900))
    #expect(valve.demand == 50)
    valve.advance(to: 2000, setpoint: 2000, at: at(900))
    #expect(valve.demand == 10, "the integral remains")
    valve.advance(to: 2100, setpoint: 2000, at: at(900))
    #expect(valve.demand == 0)
    valve.advance(to: 1500, setpoint: 2000, at: at(900))
    #expect(valve.demand == 100)
    // The integral does not grow while the valve is fully open.
    valve.advance(to: 1500, setpoint: 2000, at: at(90_000))
    valve.advance(to: 2000, setpoint: 2000, at: at(90_000))
    #expect(valve.demand == 10)
  }

  @Test("closes without a temperature or in the mode Off") func closes() {
    var valve = ThermostatValve()
    for (temperature, setpoint) in [(nil, 2000), (1500, nil)] as [(Int?, Int?)] {
      valve.advance(to: 1500, setpoint: 2000, at: .zero)
      #expect(valve.demand == 100)
      valve.advance(to: temperature, setpoint: setpoint, at: at(60))
      #expect(valve.demand == 0)
    }
  }

  @Test("serves the demand") func servesDemand() throws {
    let server = ThermostatServer.radiator()
    expectConformance(of: server)
    let node = TestNode([server])
    node.measure(.value(1950))
    #expect(node[Thermostat.piHeatingDemand] == 20 && node[Thermostat.thermostatRunningState] == .heat)
    node.wait(900_000)
    node.measure(.value(1950))
    #expect(node[Thermostat.piHeatingDemand] == 25, "also at the same temperature")
    try node.write(Thermostat.systemMode, .off)
    #expect(node[Thermostat.piHeatingDemand] == 0 && node[Thermostat.thermostatRunningState] == [])
    #expect(!TestNode.thermostat().serves(Thermostat.piHeatingDemand))
  }
}
