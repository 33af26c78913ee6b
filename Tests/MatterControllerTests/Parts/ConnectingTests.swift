import MatterModel
@testable import MatterProtocol
import Testing

@testable import MatterController

/// The search for a session. An address is identified by its port, a handshake by the port of its address.
@Suite struct ConnectingTests {
  private let refused = HandshakeError.refused(StatusReport(.failure, .noSharedTrustRoots))

  private func address(_ port: UInt16) -> SocketAddress { SocketAddress(.loopback6, port: port) }

  private func search(_ ports: [UInt16], restartTime: Duration? = nil) -> Connecting {
    Connecting(
      .operational(compressedFabricID: 1, nodeID: 2), addresses: ports.map(address), parameters: SessionParameters(),
      restartTime: restartTime, end: .at(5))
  }

  private func service(_ ports: UInt16, _ addresses: [IPAddress] = [.loopback6]) -> MatterService {
    MatterService(
      kind: .operational(compressedFabricID: 1, nodeID: 2), hostName: "000000000001", port: ports,
      addresses: addresses)
  }

  /// Performs the actions until the search waits or fails.
  /// - Parameter answered: the handshakes of which a message was received.
  private func advance(
    _ connecting: inout Connecting, to now: Instant, isResumption: Bool = false, answered: Set<UInt32> = []
  ) -> (actions: [String], last: Connecting.Step) {
    var actions: [String] = []
    while true {
      let step = connecting.next(at: now) { answered.contains($0.rawValue) }
      switch step {
      case .start(let address):
        actions.append("start \(address.port)")
        connecting.started(.number(UInt32(address.port)), at: address, isResumption: isResumption, now: now)
      case .cancel(let handshake): actions.append("cancel \(handshake.rawValue)")
      case .wait, .fail: return (actions, step)
      }
    }
  }

  private func fail(
    _ connecting: inout Connecting, _ port: UInt32, _ error: HandshakeError = .timedOut, at now: Instant
  ) -> Bool {
    connecting.failed(.number(port), error, busyRetries: 3, at: now)
  }

  @Test("tries a further address every second, at most three at a time") func staggersAttempts() {
    var connecting = search([1, 2, 3, 4, 1])
    var log: [[String]] = []
    var steps: [Connecting.Step] = []
    for second in 0...3 {
      let (actions, last) = advance(&connecting, to: .at(Double(second)))
      log.append(actions)
      steps.append(last)
    }
    #expect(log == [["start 1"], ["start 2"], ["start 3"], []])
    #expect(steps == [.wait(.at(1)), .wait(.at(2)), .wait(nil), .wait(nil)])
    _ = fail(&connecting, 2, at: .at(3))
    let next = advance(&connecting, to: .at(3))
    #expect(next.actions == ["start 4"])
    #expect(connecting.attempts.map(\.address.port) == [1, 3, 4])
    connecting.remove(.number(3))
    #expect(connecting.attempts.map(\.address.port) == [1, 4])
  }

  @Test("fails after three attempts at an address, one second apart") func exhaustsRetries() {
    var connecting = search([1])
    for second in 0...2 {
      let (actions, _) = advance(&connecting, to: .at(Double(second)))
      #expect(actions == ["start 1"])
      _ = fail(&connecting, 1, at: .at(Double(second)))
    }
    let waiting = advance(&connecting, to: .at(3))
    #expect(waiting.actions.isEmpty && waiting.last == .wait(.at(5)), "waits for an announcement")
    let end = advance(&connecting, to: .at(5))
    #expect(end.actions.isEmpty && end.last == .fail(.unreachable))
  }

  @Test("schedules no retry that would start after the end of the search") func respectsEnd() {
    var connecting = search([1])
    _ = advance(&connecting, to: .zero)
    _ = fail(&connecting, 1, at: .at(4))
    let last = advance(&connecting, to: .at(4)).last
    #expect(last == .wait(.at(5)))
  }

  @Test func waitsForAnnouncementWithoutAddress() {
    var connecting = search([])
    let first = advance(&connecting, to: .zero).last
    #expect(first == .wait(.at(5)))
    connecting.offer(service(7), at: .at(2))
    let second = advance(&connecting, to: .at(2)).actions
    #expect(second == ["start 7"])
  }

  @Test("retries a busy node after the wait that it asks for, also after the end of the search") func waitsForBusyNode()
  {
    var connecting = search([1])
    var now = Instant.zero
    for wait in [2, 60, 60] {
      let actions = advance(&connecting, to: now).actions
      #expect(actions == ["start 1"])
      // The wait is at most one minute.
      _ = fail(&connecting, 1, .busy(wait: .seconds(wait == 2 ? 2 : 600)), at: now)
      let last = advance(&connecting, to: now).last
      #expect(last == .wait(now + .seconds(wait)))
      now += .seconds(wait)
    }
    _ = advance(&connecting, to: now)
    _ = fail(&connecting, 1, .busy(wait: .seconds(2)), at: now)
    let last = advance(&connecting, to: now).last
    #expect(last == .fail(.busy), "more than three retries")
  }

  @Test func failsWithLastError() {
    for (error, expected) in [
      (refused, ControllerError.handshake(refused)), (.noResources, .busy), (.timedOut, .unreachable),
    ] {
      var connecting = search([1])
      _ = advance(&connecting, to: .zero)
      _ = fail(&connecting, 1, error, at: .at(5))
      let last = advance(&connecting, to: .at(5)).last
      #expect(last == .fail(expected))
      #expect(connecting.refusal == (error == refused ? expected : nil))
    }
  }

  @Test("restarts attempts without an answer, at most three times per address") func restartsUnanswered() {
    var connecting = search([1], restartTime: .seconds(2))
    let first = advance(&connecting, to: .zero)
    #expect(first.last == .wait(.at(2)))
    for second in [2, 4] {
      let (actions, last) = advance(&connecting, to: .at(Double(second)))
      #expect(actions == ["cancel 1", "start 1"] && last == .wait(.at(Double(second) + 2)))
    }
    let end = advance(&connecting, to: .at(6))
    #expect(end.actions == ["cancel 1"] && end.last == .fail(.unreachable))
  }

  @Test("restarts the latest unanswered attempt first") func ordersRestarts() {
    var connecting = search([1, 2], restartTime: .seconds(2))
    _ = advance(&connecting, to: .zero)
    _ = advance(&connecting, to: .at(1))
    let (actions, _) = advance(&connecting, to: .at(3))
    #expect(actions == ["cancel 2", "cancel 1", "start 2"])
  }

  @Test func keepsAnsweredAttempts() {
    var connecting = search([1], restartTime: .seconds(2))
    _ = advance(&connecting, to: .zero)
    let (actions, last) = advance(&connecting, to: .at(2), answered: [1])
    #expect(actions.isEmpty && last == .wait(nil))
    let later = advance(&connecting, to: .at(4))
    #expect(later.actions.isEmpty)
  }

  @Test("retries without resumption after a rejection, at once unless the attempt timed out") func rejectedResumption()
  {
    var connecting = search([1, 2])
    _ = advance(&connecting, to: .zero, isResumption: true)
    let isRejected = fail(&connecting, 1, refused, at: .zero)
    #expect(isRejected)
    let again = advance(&connecting, to: .zero)
    #expect(again.actions == ["start 1"])
    let isRejectedAgain = fail(&connecting, 1, refused, at: .zero)
    #expect(!isRejectedAgain, "the second attempt used certificates")

    var other = search([1])
    _ = advance(&other, to: .zero, isResumption: true)
    let mayBeRejected = fail(&other, 1, .timedOut, at: .zero)
    let last = advance(&other, to: .zero).last
    #expect(mayBeRejected && last == .wait(.at(1)))
    _ = advance(&other, to: .at(1), isResumption: true)
    let isBusy = fail(&other, 1, .busy(wait: .zero), at: .at(1))
    #expect(!isBusy, "a busy node does not reject the resumption")
  }

  @Test("tries a new address at once if the address under attempt is no longer announced") func prefersAnnouncement() {
    var connecting = search([1])
    _ = advance(&connecting, to: .zero)
    connecting.offer(service(2), at: .at(0.5))
    let moved = advance(&connecting, to: .at(0.5)).actions
    #expect(moved == ["start 2"])
    connecting.offer(service(2), at: .at(0.6))
    let again = advance(&connecting, to: .at(0.6)).actions
    #expect(again.isEmpty, "the address is known")

    var other = search([1])
    _ = advance(&other, to: .zero)
    other.offer(service(1, [.loopback4, .loopback6]), at: .at(0.5))
    let (actions, last) = advance(&other, to: .at(0.5))
    #expect(actions.isEmpty && last == .wait(.at(1)), "the address under attempt is announced")
  }

  @Test func ignoresAnnouncedAddressThatFailedThreeTimes() {
    var connecting = search([1])
    for second in 0...2 {
      _ = advance(&connecting, to: .at(Double(second)))
      _ = fail(&connecting, 1, at: .at(Double(second)))
    }
    connecting.offer(service(1), at: .at(3))
    let actions = advance(&connecting, to: .at(3)).actions
    #expect(actions.isEmpty)
  }

  @Test func usesAnnouncedParameters() {
    var connecting = search([])
    var announced = service(1)
    announced.idleInterval = .milliseconds(2500)
    connecting.offer(announced, at: .zero)
    #expect(connecting.parameters.idleInterval == .milliseconds(2500))
  }
}
