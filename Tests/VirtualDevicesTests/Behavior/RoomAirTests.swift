import MatterProtocol
import Testing

@testable import VirtualDevices

/// The air of a room over virtual time.
@Suite("Air of rooms") struct RoomAirTests {
  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  /// With a time constant of 25,000 seconds.
  private func room(temperature: Double = 20, outdoor: Double = 0) -> RoomAir {
    RoomAir(ClimateDefinition(), temperature: temperature, outdoor: outdoor, at: .zero)
  }

  private func isClose(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 1e-9 }

  @Test("a room cools down to the outdoor temperature") func coolsDown() {
    var room = room()
    room.advance(to: at(25_000))
    #expect(isClose(room.temperature, 20 * 0.367_879_441_171_442_3))
    room.advance(to: at(10_000_000))
    #expect(isClose(room.temperature, 0))
  }

  @Test("heat and loss balance") func balances() {
    var room = room(temperature: 0)
    room.setPower(1600, of: "a", at: at(100))
    #expect(isClose(room.temperature, 0))
    // At first, the whole heat warms the room: 0.8 mK each second.
    room.advance(to: at(101))
    #expect(abs(room.temperature - 0.0008) < 1e-7)
    room.advance(to: at(10_000_000))
    #expect(isClose(room.temperature, 20))
    room.setPower(-800, of: "b", at: at(10_000_000))
    room.setOutdoor(5, at: at(10_000_000))
    room.advance(to: at(20_000_000))
    #expect(isClose(room.temperature, 15))
  }

  @Test("the temperature does not depend on the times of its measurements") func isIndependentOfSteps() {
    var (once, often) = (room(), room())
    once.setPower(3000, of: "a", at: .zero)
    often.setPower(3000, of: "a", at: .zero)
    once.advance(to: at(36_000))
    for second in stride(from: 7 as Int64, through: 36_000, by: 7) { often.advance(to: at(second)) }
    often.advance(to: at(36_000))
    #expect(isClose(once.temperature, often.temperature))
  }

  @Test("an earlier time has no effect") func ignoresEarlierTimes() {
    var room = room()
    room.advance(to: at(1000))
    let temperature = room.temperature
    room.advance(to: at(10))
    room.setPower(3000, of: "a", at: at(20))
    #expect(room.temperature == temperature)
    room.setTemperature(12, at: at(1000))
    #expect(room.temperature == 12)
  }

  @Test func devicesOfARoomShareItsAir() {
    let rooms = Rooms()
    #expect(rooms.temperature(of: "Hall", at: .zero) == nil)
    rooms.withAir(of: "Hall") { $0 = room(temperature: 18, outdoor: 18) }
    rooms.withAir(of: "hall") { $0?.setPower(8000, of: "a", at: .zero) }
    rooms.endEffects(of: ["a"], at: at(10_000_000))
    #expect(rooms.temperature(of: "HALL", at: at(10_000_000)).map { isClose($0, 118) } == true)
    #expect(rooms.temperature(of: "Hall", at: at(20_000_000)).map { isClose($0, 18) } == true)
    #expect(rooms.temperature(of: "Kitchen", at: .zero) == nil)
  }
}
