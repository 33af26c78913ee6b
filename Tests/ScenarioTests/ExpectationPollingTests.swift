import Foundation
import HearthHome
import MatterModel
import MatterProtocol
import Simulation
import Synchronization
import Testing
import VirtualDevices

@testable import Scenario

/// Checking expectations only after events gives the same result as checking them periodically.
@Suite struct ExpectationPollingTests {
  /// A simulated home that counts the checks.
  private struct CountingStage: Stage {
    let stage: SimulatedHome
    let checks: CheckCounter
    /// Whether to check at every pace.
    let checksAlways: Bool

    var now: Duration { stage.now }
    func sleep(for time: Duration) async throws { try await stage.sleep(for: time) }
    func sleepUntilNextEvent(within time: Duration, pace: Duration) async throws {
      checks.count.wrappingAdd(1, ordering: .relaxed)
      if checksAlways { return try await stage.sleep(for: min(time, pace)) }
      try await stage.sleepUntilNextEvent(within: time, pace: pace)
    }
    func naming<R: Sendable>(_ what: String, _ body: @Sendable () async throws -> R) async rethrows -> R {
      try await stage.naming(what, body)
    }
    func note(_ text: String) async { await stage.note(text) }
    var home: Home { get async throws(HomeError) { try await stage.home } }
    func perform(_ action: ScenarioStep.Action) async throws { try await stage.perform(action) }
    func value(of place: AttributePlace, in device: String) async -> [UInt8]? {
      await stage.value(of: place, in: device)
    }
    func messageCount(of device: String?) async -> Int { await stage.messageCount(of: device) }
    func watch(
      _ subjects: [Claim.Subject], _ onFact: @escaping @Sendable (Int, Fact, Duration) -> Void
    ) async { await stage.watch(subjects, onFact) }
    func stopWatching() async { await stage.stopWatching() }
    func pair(_ device: String) async throws { try await stage.pair(device) }
  }

  private final class CheckCounter: Sendable { let count = Atomic(0) }

  private struct Outcome: Equatable {
    var message: String?
    var lines: [String]
    var end: Instant
    /// The trace without the sleeps of the runner.
    var trace: [Trace.Entry]
  }

  private func play(
    _ scenario: ScenarioDefinition, seed: UInt64, checksAlways: Bool = false
  ) async throws -> (outcome: Outcome, checks: Int) {
    let (timeline, checks) = (Timeline(), CheckCounter())
    let run = await simulate(scenario.home, seed: seed) { _, world in
      let stage = CountingStage(stage: world, checks: checks, checksAlways: checksAlways)
      return (await ScenarioDefinition.play(scenario, on: stage, timeline), timeline.lines)
    }
    let (failure, lines) = try run.result.get()
    let trace = run.trace.entries.filter { !($0.kind == .timer && $0.host?.rawValue == 0) }
    let outcome = Outcome(message: failure?.message, lines: lines, end: run.end, trace: trace)
    return (outcome, checks.count.load(ordering: .relaxed))
  }

  /// Hours with few events, and an expectation that is never met.
  @Test func checksUnmetExpectationOnlyAfterEvents() async throws {
    let scenario = try ScenarioFileTests.load(
      ScenarioFileTests.lamp + "steps:\n  - expect: { lamp.onOff: true, actual plug.onOff: false, within: 3h }\n")
    let (outcome, checks) = try await play(scenario, seed: 1)
    #expect(outcome.message == "expected lamp.onOff: true: it is false, also after 180 min")
    #expect(outcome.end >= .zero + .seconds(3 * 3600))
    #expect(checks < 5_000, "\(checks) checks")
  }

  /// Compares the runs to the nanosecond and to the byte, with changes at a pace, between two paces, at the end and
  /// never.
  @Test func observesChangesAtTheSameTime() async throws {
    let scenario = try ScenarioFileTests.load(
      ScenarioFileTests.lamp + """
        always: { messages: "< 100000" }
        steps:
          - do: on lamp
          - expect: { lamp.onOff: true, actual lamp.onOff: true, within: 5s }
          - set: { plug.onOff: true }
          - expect: { plug.onOff: true, within: 5s }
          - net: { lamp: { latency: 10ms, jitter: 35ms, loss: 20% } }
          - { do: toggle lamp, times: 3 }
          - expect: { lamp.onOff: false, messages: "> 3", within: 25s }
          - net: { lamp: { latency: 0ms } }
          - { do: level lamp 40% }
          - expect: { lamp.currentLevel: 40%, within: 5s }
          - power: { plug: off }
          - expect: { plug.connectivity: offline, within: 3m }
          - power: { plug: on, hub: cycle }
          - expect: { plug.connectivity: online, lamp.locality: peer, within: 3m }
          - expect: { messages: "> 60", within: 15ms }
        """)
    let before = try await play(scenario, seed: 1, checksAlways: true)
    let now = try await play(scenario, seed: 1)
    #expect(now.outcome.message == before.outcome.message)
    #expect(now.outcome.lines == before.outcome.lines)
    let isSame = now.outcome == before.outcome
    #expect(isSame, "\(String(describing: zip(now.outcome.trace, before.outcome.trace).first { $0 != $1 }))")
    #expect(now.checks < before.checks)
  }
}
