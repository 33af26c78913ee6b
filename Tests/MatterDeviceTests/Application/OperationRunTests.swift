import MatterProtocol
import Testing

@testable import MatterDevice

@Suite("Run of an appliance") struct OperationRunTests {
  private func at(_ seconds: Int64) -> Instant { .zero + .seconds(seconds) }

  private func run(_ seconds: Int64...) -> OperationRun {
    OperationRun(seconds.enumerated().map { .init("\($0)", .seconds($1)) }, at: .zero)
  }

  @Test func advancesOverSeveralSteps() {
    var run = run(60, 30, 10)
    #expect(run.current == 0 && run.remaining == .seconds(100) && run.nextChange == at(60))
    run.advance(to: at(95))
    #expect(run.current == 2 && run.remaining == .seconds(5) && run.nextChange == at(100))
    #expect(run.steps.map(\.status) == [.completed, .completed, .operating])
    // A late advance does not prolong the run.
    run.advance(to: at(500))
    #expect(run.isComplete && run.total == .seconds(100) && run.remaining == .zero && run.nextChange == nil)
  }

  @Test func excludesPausesFromSteps() {
    var run = run(60, 30)
    run.pause(at: at(50))
    #expect(run.nextChange == nil)
    run.advance(to: at(200))
    #expect(run.current == 0 && run.remaining == .seconds(40) && run.paused == .seconds(150))
    run.resume(at: at(250))
    #expect(run.nextChange == at(260) && run.paused == .seconds(200))
    run.advance(to: at(1000))
    #expect(run.total == .seconds(290) && run.paused == .seconds(200))
  }

  @Test func skipsSteps() {
    var run = run(60, 30, 10)
    let isPendingSkipped = run.skip(1, at: at(10))
    #expect(isPendingSkipped && run.current == 0 && run.remaining == .seconds(60))
    let isCurrentSkipped = run.skip(0, at: at(20))
    #expect(isCurrentSkipped && run.current == 2 && run.nextChange == at(30))
    let isFinishedSkipped = run.skip(0, at: at(20))
    #expect(!isFinishedSkipped)
    let isUnknownSkipped = run.skip(7, at: at(20))
    #expect(!isUnknownSkipped)
    let isLastSkipped = run.skip(2, at: at(25))
    #expect(isLastSkipped && run.isComplete && run.total == .seconds(25))
    #expect(run.steps.map(\.status) == [.skipped, .skipped, .skipped])
    #expect(run.steps.map(\.elapsed) == [.seconds(20), .zero, .seconds(5)])
  }

  @Test func endsEarlyAndIsProlonged() {
    var run = run(60, 30)
    run.extend(by: .seconds(15))
    #expect(run.remaining == .seconds(105))
    run.advance(to: at(70))
    run.end(at: at(80))
    #expect(run.isComplete && run.steps.map(\.status) == [.completed, .skipped] && run.total == .seconds(80))
    run.extend(by: .seconds(15))
    #expect(run.isComplete)
  }

  @Test func passesEmptySteps() {
    let run = run(0, 0)
    #expect(run.isComplete && run.total == .zero)
    #expect(OperationRun([], at: .zero).isComplete)
  }

  @Test func dependsOnTimeOnly() {
    var (fine, coarse) = (run(7, 11, 13), run(7, 11, 13))
    for second in 1...25 as ClosedRange<Int64> { fine.advance(to: at(second)) }
    coarse.advance(to: at(25))
    #expect(fine == coarse)
    // Earlier times have no effect.
    fine.advance(to: at(3))
    #expect(fine == coarse)
  }
}
