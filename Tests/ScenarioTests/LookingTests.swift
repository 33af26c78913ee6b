import Foundation
import Home
import MatterModel
import MatterProtocol
import Simulation
import Synchronization
import Testing
import VirtualDevices

@testable import Scenario

/// Whoever waits for something looks where something has happened, and comes to the same as who looks at every pace.
@Suite struct LookingTests {
  /// A simulated home that counts how often somebody looks.
  private struct WatchedStage: Stage {
    let stage: SimulatedHome
    let looks: Looks
    /// Whether it is looked at every pace.
    let looksAlways: Bool

    var now: Duration { stage.now }
    func sleep(for time: Duration) async throws { try await stage.sleep(for: time) }
    func sleepUntilNews(within time: Duration, pace: Duration) async throws {
      looks.count.wrappingAdd(1, ordering: .relaxed)
      if looksAlways { return try await stage.sleep(for: min(time, pace)) }
      try await stage.sleepUntilNews(within: time, pace: pace)
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
      _ subjects: [Claim.Subject], _ tell: @escaping @Sendable (Int, Fact, Duration) -> Void
    ) async { await stage.watch(subjects, tell) }
    func stopWatching() async { await stage.stopWatching() }
    func pair(_ device: String) async throws { try await stage.pair(device) }
  }

  private final class Looks: Sendable { let count = Atomic(0) }

  private struct Outcome: Equatable {
    var message: String?
    var lines: [String]
    var end: Instant
    /// All that is in the trace but that whoever looks has slept.
    var trace: [Trace.Entry]
  }

  private func play(
    _ scenario: ScenarioDefinition, seed: UInt64, looksAlways: Bool = false
  ) async throws -> (outcome: Outcome, looks: Int) {
    let (timeline, looks) = (Timeline(), Looks())
    let run = await simulate(scenario.home, seed: seed) { _, world in
      let stage = WatchedStage(stage: world, looks: looks, looksAlways: looksAlways)
      return (await ScenarioDefinition.play(scenario, on: stage, timeline), timeline.lines)
    }
    let (failure, lines) = try run.result.get()
    let trace = run.trace.entries.filter { !($0.kind == .timer && $0.host?.rawValue == 0) }
    let outcome = Outcome(message: failure?.message, lines: lines, end: run.end, trace: trace)
    return (outcome, looks.count.load(ordering: .relaxed))
  }

  /// Hours in which hardly anything happens, and what is waited for does not come.
  @Test func waitingInVainCostsWhatHappens() async throws {
    let scenario = try ScenarioFileTests.load(
      ScenarioFileTests.lamp + "steps:\n  - expect: { lamp.onOff: true, actual plug.onOff: false, within: 3h }\n")
    let (outcome, looks) = try await play(scenario, seed: 1)
    #expect(outcome.message == "expected lamp.onOff: true: it is false, also after 180 min")
    #expect(outcome.end >= .zero + .seconds(3 * 3600))
    #expect(looks < 5_000, "looked \(looks) times")
  }

  /// To the nanosecond and to the byte: what comes at a pace, between two of them and at the end, and what never comes.
  @Test(arguments: [1, 2, 3] as [UInt64]) func whatComesIsSeenWhenItWasSeenBefore(seed: UInt64) async throws {
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
    let before = try await play(scenario, seed: seed, looksAlways: true)
    let now = try await play(scenario, seed: seed)
    #expect(now.outcome.message == before.outcome.message)
    #expect(now.outcome.lines == before.outcome.lines)
    let isSame = now.outcome == before.outcome
    #expect(isSame, "\(String(describing: zip(now.outcome.trace, before.outcome.trace).first { $0 != $1 }))")
    #expect(now.looks < before.looks)
  }
}
