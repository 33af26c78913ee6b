import HearthHome
import HomeAutomation
import MatterProtocol
import Testing

@Suite("Delivery schedule") struct DeliveryScheduleTests {
  private func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

  @Test func deliversAtOnceThenOncePerPeriod() {
    var schedule = DeliverySchedule(.init(period: .seconds(60)))
    #expect(schedule.deadline == nil)
    #expect(schedule.change(at: at(100)) == [.deliver(run: 1)])
    #expect(schedule.finish(run: 1, at: at(101)) == [])
    #expect(schedule.deadline == nil)
    #expect(schedule.change(at: at(110)) == [])
    #expect(schedule.change(at: at(111)) == [])
    #expect(schedule.deadline == at(160))
    #expect(schedule.advance(to: at(159)) == [])
    #expect(schedule.advance(to: at(160)) == [.deliver(run: 2)])
    // Changes during a run cause one more run.
    #expect(schedule.change(at: at(161)) == [] && schedule.change(at: at(162)) == [])
    #expect(schedule.finish(run: 2, at: at(163)) == [])
    #expect(schedule.advance(to: at(220)) == [.deliver(run: 3)])
    #expect(schedule.finish(run: 3, at: at(221)) == [])
    #expect(schedule.change(at: at(1000)) == [.deliver(run: 4)])
  }

  @Test func deliversBackToBackWithoutPeriod() {
    var schedule = DeliverySchedule()
    #expect(schedule.change(at: at(1)) == [.deliver(run: 1)])
    #expect(schedule.change(at: at(1)) == [])
    #expect(schedule.finish(run: 1, at: at(2)) == [.deliver(run: 2)])
    #expect(schedule.finish(run: 1, at: at(2)) == [], "a run that is over")
    #expect(schedule.isRunning)
  }

  @Test func suspendsAfterThreeStrikes() {
    var schedule = DeliverySchedule(.init(timeout: .seconds(30), firstRetry: .seconds(5)))
    #expect(schedule.change(at: at(0)) == [.deliver(run: 1)])
    #expect(schedule.fail(run: 1, at: at(1)) == [])
    #expect(schedule.deadline == at(6))
    #expect(schedule.change(at: at(2)) == [], "a change does not shorten the back-off")
    #expect(schedule.advance(to: at(6)) == [.deliver(run: 2)])
    #expect(schedule.deadline == at(36))
    #expect(schedule.advance(to: at(36)) == [.abandon(run: 2)])
    #expect(schedule.fail(run: 2, at: at(37)) == [], "the run timed out already")
    #expect(schedule.deadline == at(46))
    #expect(schedule.advance(to: at(46)) == [.deliver(run: 3)])
    #expect(schedule.fail(run: 3, at: at(47)) == [])
    #expect(schedule.isSuspended && schedule.deadline == nil)
    #expect(schedule.change(at: at(1000)) == [] && schedule.advance(to: at(2000)) == [])
    #expect(schedule.resume(at: at(3000)) == [.deliver(run: 4)])
    #expect(schedule.finish(run: 4, at: at(3001)) == [])
    #expect(schedule.strikes == 0 && !schedule.isPending)
  }

  @Test func acceptsLateCompletion() {
    let limits = DeliverySchedule.Limits(period: .seconds(40), timeout: .seconds(30), firstRetry: .seconds(5))
    var schedule = DeliverySchedule(limits)
    #expect(schedule.change(at: at(0)) == [.deliver(run: 1)])
    #expect(schedule.advance(to: at(30)) == [.abandon(run: 1)] && schedule.strikes == 1)
    // No retry, and a second completion has no effect.
    #expect(schedule.finish(run: 1, at: at(31)) == [] && schedule.strikes == 0 && schedule.deadline == nil)
    #expect(schedule.finish(run: 1, at: at(31)) == [] && !schedule.isOpen(1))
    #expect(schedule.change(at: at(32)) == [] && schedule.deadline == at(40))
    // A change during the run causes another run.
    #expect(schedule.advance(to: at(40)) == [.deliver(run: 2)])
    #expect(schedule.change(at: at(41)) == [])
    #expect(schedule.advance(to: at(70)) == [.abandon(run: 2)])
    #expect(schedule.finish(run: 2, at: at(80)) == [.deliver(run: 3)])
    // A slow target makes progress: its late completion also clears the strikes of the attempt after it.
    #expect(schedule.advance(to: at(110)) == [.abandon(run: 3)])
    #expect(schedule.advance(to: at(120)) == [.deliver(run: 4)])
    #expect(schedule.finish(run: 3, at: at(121)) == [] && schedule.strikes == 0 && schedule.isRunning(4))
    #expect(schedule.finish(run: 4, at: at(122)) == [] && !schedule.isPending)
    // Also after the last strike.
    schedule = DeliverySchedule(limits, strikes: 2)
    #expect(schedule.change(at: at(0)) == [.deliver(run: 1)])
    #expect(schedule.advance(to: at(30)) == [.abandon(run: 1)] && schedule.isSuspended)
    #expect(schedule.finish(run: 1, at: at(31)) == [] && !schedule.isSuspended)
  }

  @Test func retryKeepsPeriodAndSuccessResetsStrikes() {
    var schedule = DeliverySchedule(.init(period: .seconds(100), firstRetry: .seconds(5)), strikes: 1)
    #expect(schedule.change(at: at(0)) == [.deliver(run: 1)])
    #expect(schedule.fail(run: 1, at: at(1)) == [])
    #expect(schedule.deadline == at(100))
    #expect(schedule.advance(to: at(100)) == [.deliver(run: 2)])
    #expect(schedule.finish(run: 2, at: at(101)) == [] && schedule.strikes == 0)
  }

  @Test func withdrawnRunStartsNoPeriod() {
    var schedule = DeliverySchedule(.init(period: .seconds(60)), strikes: 1)
    #expect(schedule.change(at: at(100)) == [.deliver(run: 1)])
    #expect(schedule.withdraw(run: 1, at: at(100)) == [])
    #expect(schedule.strikes == 1 && !schedule.isRunning && schedule.deadline == nil)
    #expect(schedule.change(at: at(101)) == [.deliver(run: 2)])
    // A change during the check causes another check.
    #expect(schedule.change(at: at(102)) == [])
    #expect(schedule.withdraw(run: 2, at: at(103)) == [.deliver(run: 3)])
    #expect(schedule.finish(run: 3, at: at(104)) == [] && schedule.change(at: at(105)) == [])
    #expect(schedule.deadline == at(163))
  }

  @Test func resumeSkipsBackOff() {
    var schedule = DeliverySchedule(.init(period: .seconds(60), timeout: .seconds(30), firstRetry: .seconds(5)))
    #expect(schedule.change(at: at(0)) == [.deliver(run: 1)] && schedule.fail(run: 1, at: at(1)) == [])
    #expect(schedule.resume(at: at(2)) == [.deliver(run: 2)] && schedule.strikes == 0)
    #expect(schedule.finish(run: 2, at: at(3)) == [])
    // Without a failure the period holds.
    #expect(schedule.change(at: at(4)) == [] && schedule.resume(at: at(5)) == [] && schedule.deadline == at(62))
    // A resume during a run starts no second run.
    #expect(schedule.advance(to: at(62)) == [.deliver(run: 3)] && schedule.fail(run: 3, at: at(63)) == [])
    #expect(schedule.advance(to: at(122)) == [.deliver(run: 4)])
    #expect(schedule.resume(at: at(123)) == [] && schedule.isRunning(4) && schedule.strikes == 0)
    #expect(schedule.finish(run: 4, at: at(124)) == [] && !schedule.isPending)
  }

  @Test func staysSuspendedAfterRestart() {
    var schedule = DeliverySchedule(strikes: 3, isSuspended: true)
    #expect(schedule.change(at: at(0)) == [])
    #expect(schedule.resume(at: at(1)) == [.deliver(run: 1)])
  }
}
