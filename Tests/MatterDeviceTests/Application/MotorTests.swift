import MatterProtocol
import Testing

@testable import MatterDevice

/// Motors over time, without a server.
@Suite("Motors") struct MotorTests {
  private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }
  private let still = TravelMotor(at: 0, in: 0...10_000, time: .seconds(20))

  @Test func travelsAtConstantSpeed() {
    var motor = still
    motor.start(to: 5000, at: at(100))
    #expect(motor.arrival == at(110))
    motor.advance(to: at(104))
    #expect(motor.position == 2000)
    motor.advance(to: at(110))
    #expect(motor.position == 5000)
    #expect(motor.target == nil)
    #expect(motor.arrival == nil)
  }

  @Test func reversesOnTheWay() {
    var motor = still
    motor.start(to: 10_000, at: at(0))
    motor.start(to: 0, at: at(8))
    motor.advance(to: at(10))
    #expect(motor.position == 3000)
    #expect(motor.arrival == at(16))
    motor.stop(at: at(11))
    motor.advance(to: at(50))
    #expect(motor.position == 2500)
  }

  @Test func staysInRange() {
    var motor = still
    motor.start(to: 20_000, at: at(0))
    motor.advance(to: at(100))
    #expect(motor.position == 10_000)
    motor.place(at: -5)
    #expect(motor.position == 0)
  }

  @Test func arrivesAtOnceWithoutTravelTime() {
    var motor = TravelMotor(at: 0, in: 0...100, time: .zero)
    motor.start(to: 70, at: at(1))
    motor.advance(to: at(1))
    #expect(motor.position == 70)
  }

  @Test("gives the same positions with fewer or more steps") func isIndependentOfSteps() {
    var (one, many) = (still, still)
    one.start(to: 9999, at: at(0))
    many.start(to: 9999, at: at(0))
    for step in 1...137 { many.advance(to: at(Double(step) / 10)) }
    one.advance(to: at(13.7))
    #expect(one.position == many.position)
    #expect(one.arrival == many.arrival)
  }

  // MARK: Knowledge of the position

  private func unknown(at position: Int64) -> PositionedMotor {
    PositionedMotor(TravelMotor(at: position, in: 0...10_000, time: .seconds(20)), isKnown: false)
  }

  @Test func findsPositionBeforeMovement() {
    var motor = unknown(at: 4000)
    motor.move(to: 5000, at: at(0))
    motor.advance(to: at(7))
    #expect(motor.position == nil)
    #expect(motor.goal == 5000)
    #expect(motor.motor.position == 500)
    motor.advance(to: at(12))
    #expect(motor.position == 2000)
    motor.advance(to: at(30))
    #expect(motor.position == 5000)
  }

  @Test func findsItsPositionAtAnEnd() {
    var motor = unknown(at: 4000)
    motor.move(to: 10_000, at: at(0))
    motor.advance(to: at(11.9))
    #expect(motor.position == nil)
    motor.advance(to: at(12))
    #expect(motor.position == 10_000)
  }

  @Test func staysUnknownAfterAStop() {
    var motor = unknown(at: 4000)
    motor.move(to: 0, at: at(0))
    motor.halt(at: at(3))
    motor.advance(to: at(60))
    #expect(motor.position == nil)
    #expect(motor.goal == nil)
    #expect(motor.motor.position == 2500)
  }

  @Test func calibratesAtBothEnds() {
    var motor = PositionedMotor(TravelMotor(at: 5000, in: 0...10_000, time: .seconds(20)))
    motor.calibrate(at: at(0))
    #expect(motor.position == nil)
    motor.advance(to: at(20))
    #expect(motor.position == nil)
    #expect(motor.motor.position == 5000)
    #expect(motor.isCalibrating)
    motor.advance(to: at(30))
    #expect(motor.position == 10_000)
    #expect(!motor.isCalibrating)
  }

  // MARK: Obstacles

  @Test func stopsAtAnObstacleAndPassesItAfterItsRemoval() {
    var motor = PositionedMotor(still)
    motor.move(to: 10_000, at: at(0))
    motor.obstruct(at: at(4))
    #expect(motor.position == 2000)
    #expect(motor.hasFailed)
    // Away from the obstacle.
    motor.move(to: 0, at: at(10))
    #expect(!motor.isObstructed)
    motor.advance(to: at(14))
    #expect(motor.position == 0)
    #expect(!motor.hasFailed)
    // Against it.
    motor.move(to: 5000, at: at(20))
    motor.advance(to: at(40))
    #expect(motor.position == 2000)
    #expect(motor.goal == 2000)
    #expect(motor.isObstructed && motor.hasFailed)
    motor.removeObstacle()
    motor.move(to: 5000, at: at(50))
    motor.advance(to: at(60))
    #expect(motor.position == 5000)
    #expect(!motor.hasFailed)
  }

  @Test("obstructs the direction of the movement") func obstructsOpening() {
    var motor = PositionedMotor(TravelMotor(at: 10_000, in: 0...10_000, time: .seconds(20)))
    motor.move(to: 0, at: at(0))
    motor.obstruct(at: at(10))
    motor.move(to: 10_000, at: at(10))
    motor.advance(to: at(20))
    #expect(motor.position == 10_000)
    motor.move(to: 0, at: at(20))
    motor.advance(to: at(60))
    #expect(motor.position == 5000)
  }

  // MARK: Power

  @Test func restoresMotorWithoutEncoder() throws {
    var motor = PositionedMotor(still)
    motor.move(to: 10_000, at: at(0))
    motor.advance(to: at(5))
    func restored(hasEncoder: Bool) throws -> PositionedMotor {
      try #require(
        PositionedMotor(stored: motor.stored, in: 0...10_000, time: .seconds(20), hasEncoder: hasEncoder))
    }
    #expect(try restored(hasEncoder: true).position == 2500)
    #expect(try restored(hasEncoder: false).position == nil)
    #expect(try restored(hasEncoder: false).motor.position == 2500)
    motor.halt(at: at(5))
    #expect(try restored(hasEncoder: false).position == 2500)
    #expect(PositionedMotor(stored: [0], in: 0...10_000, time: .seconds(20), hasEncoder: true) == nil)
    #expect(PositionedMotor(stored: nil, in: 0...10_000, time: .seconds(20), hasEncoder: true) == nil)
  }
}
