import MatterProtocol
import Testing

@testable import MatterDevice

/// The bolt and the latch of a lock.
@Suite("Lock mechanism") struct LockMechanismTests {
  private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  /// Returns all outcomes until a time.
  private func outcomes(_ mechanism: inout LockMechanism, until now: Instant) -> [LockMechanism.Outcome] {
    var outcomes: [LockMechanism.Outcome] = []
    while let outcome = mechanism.advance(to: now) { outcomes.append(outcome) }
    return outcomes
  }

  @Test func takesTimeToMoveBolt() {
    var mechanism = LockMechanism(.unlocked)
    #expect(mechanism.nextOutcome == nil)
    mechanism.drive(to: .locked, at: at(100))
    #expect(mechanism.position == .between && mechanism.nextOutcome == at(600))
    #expect(outcomes(&mechanism, until: at(599)) == [])
    #expect(outcomes(&mechanism, until: at(600)) == [.reached(.locked)])
    #expect(mechanism.position == .locked && mechanism.nextOutcome == nil)
    mechanism.drive(to: .locked, at: at(700))
    #expect(outcomes(&mechanism, until: at(700)) == [.reached(.locked)], "nothing has to move")
  }

  @Test func holdsAndReleasesLatch() {
    var mechanism = LockMechanism(.locked)
    mechanism.drive(to: .unlatched, at: at(0))
    #expect(outcomes(&mechanism, until: at(699)) == [])
    #expect(outcomes(&mechanism, until: at(700)) == [.reached(.unlatched)])
    #expect(outcomes(&mechanism, until: at(3699)) == [])
    #expect(outcomes(&mechanism, until: at(3700)) == [.reached(.unlocked)])
    // The bolt is withdrawn already.
    mechanism.drive(to: .unlatched, at: at(4000))
    #expect(mechanism.position == .unlocked)
    #expect(outcomes(&mechanism, until: at(60_000)) == [.reached(.unlatched), .reached(.unlocked)])
  }

  @Test func jamsWhereBoltIsBlocked() {
    var mechanism = LockMechanism(.unlocked)
    mechanism.isBlocked = true
    mechanism.drive(to: .locked, at: at(0))
    #expect(outcomes(&mechanism, until: at(500)) == [.jammed])
    #expect(mechanism.position == .between && mechanism.nextOutcome == nil)
    // A key overcomes the obstacle that stops the motor.
    mechanism.turn(to: .unlocked, at: at(600))
    #expect(outcomes(&mechanism, until: at(600)) == [.reached(.unlocked)])
    // The latch is not blocked.
    mechanism.drive(to: .unlatched, at: at(700))
    #expect(outcomes(&mechanism, until: at(900)) == [.reached(.unlatched)])
    mechanism.isBlocked = false
    mechanism.drive(to: .locked, at: at(1000))
    #expect(outcomes(&mechanism, until: at(1500)) == [.reached(.locked)])
  }

  @Test func replacesMotion() {
    var mechanism = LockMechanism(.unlocked)
    mechanism.drive(to: .locked, at: at(0))
    mechanism.drive(to: .unlocked, at: at(300))
    #expect(outcomes(&mechanism, until: at(60_000)) == [.reached(.unlocked)])
    mechanism.drive(to: .unlatched, at: at(60_000))
    _ = outcomes(&mechanism, until: at(60_200))
    mechanism.drive(to: .locked, at: at(60_300))
    #expect(outcomes(&mechanism, until: at(70_000)) == [.reached(.locked)], "the latch is released on the way")
  }
}
