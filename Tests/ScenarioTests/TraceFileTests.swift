import Foundation
import Scenario
import Simulation
import Testing
import VirtualDevices

/// Recorded traces, and their comparison.
@Suite("Trace files") struct TraceFileTests {
  @Test func replaysTrace() async throws {
    let scenario = try ScenarioFileTests.load(
      ScenarioFileTests.lamp
        + "steps:\n  - net: { lamp: { loss: 20%, jitter: 30ms } }\n  - { do: toggle lamp, times: 5 }")
    let recorded = TraceFile(scenario, seed: 3, await scenario.simulate(seed: 3, keepsTrace: true).trace)
    let read = try TraceFile(name: "t", text: recorded.text)
    let again = try read.scenario()
    #expect(
      read.difference(from: TraceFile(again, seed: 3, await again.simulate(seed: 3, keepsTrace: true).trace)) == nil)
    let other = TraceFile(again, seed: 4, await again.simulate(seed: 4, keepsTrace: true).trace)
    #expect(try #require(read.difference(from: other)).entry > 0)
  }

  @Test func findsFirstDifferentByte() throws {
    var first = try TraceFile(
      name: "t", text: "{\"hearthTrace\":2,\"seed\":1,\"files\":[{\"name\":\"a\",\"text\":\"\"}]}\n1 a\n2 bcd\n")
    var second = first
    first.entries[1] = "2 bXd"
    #expect(second.difference(from: first)?.entry == 2)
    #expect(second.difference(from: first)?.byte == 3)
    first.entries[1] = "2 bcd"
    (first.header.digest, second.header.digest) = ("1", "2")
    #expect(second.difference(from: first)?.entry == 3)
    first.entries = ["1 a"]
    let missing = try #require(second.difference(from: first))
    #expect(missing.entry == 2 && missing.byte == 0 && missing.now == nil)
    // Equal strings with different bytes.
    (first.entries, second.entries) = (["1 caf\u{E9}"], ["1 cafe\u{301}"])
    #expect(second.difference(from: first).map { [$0.entry, $0.byte] } == [1, 5])
  }

  /// Unicode line separators that JSON doesn't escape do not split a line.
  @Test func parsesTraceWithUnicodeLineSeparators() throws {
    let text = "scenario: \"one\u{2028}two\u{85}three\"\n" + ScenarioFileTests.lamp + "steps: []"
    let scenario = try ScenarioFileTests.load(text)
    let file = try TraceFile(name: "t", text: TraceFile(scenario, seed: 1, Trace()).text)
    #expect(file.header.files.map(\.text) == [text])
    #expect(file.entries.isEmpty)
  }

  /// A different random draw is detected at its position, before it has an effect.
  @Test func recordsRandomDraws() async throws {
    let scenario = try ScenarioFileTests.load(ScenarioFileTests.lamp + "steps:\n  - do: on lamp")
    var recorded = TraceFile(scenario, seed: 3, await scenario.simulate(seed: 3, keepsTrace: true).trace)
    let whole = recorded
    let index = try #require(recorded.entries.lastIndex { $0.contains(" draws ") })
    recorded.entries[index] += "0"
    #expect(whole.difference(from: recorded)?.entry == index + 1)
    let (draws, all) = (whole.entries.filter { $0.contains(" draws ") }, whole.entries)
    #expect(draws.count > 10)
    #expect(draws.reduce(0) { $0 + $1.utf8.count } * 10 < all.reduce(0) { $0 + $1.utf8.count }, "draws are too large")
  }

  /// Truncated traces, other line ends and invalid files.
  @Test func parsesDamagedTraces() async throws {
    let scenario = try ScenarioFileTests.load(ScenarioFileTests.lamp + "steps:\n  - do: on lamp")
    let whole = TraceFile(scenario, seed: 3, await scenario.simulate(seed: 3, keepsTrace: true).trace)
    let text = whole.text
    let half = try TraceFile(name: "t", text: String(text.prefix(text.count - 20)))
    #expect(half.difference(from: whole)?.entry == whole.entries.count)
    #expect(try TraceFile(name: "t", text: text.replacing("\n", with: "\r\n")).difference(from: whole) == nil)
    let other = text.replacing("\"hearthTrace\":2", with: "\"hearthTrace\":3")
    for (broken, found) in [
      ("", "an empty file"), (String(text.prefix(100)), "something else than a trace"), (other, "a trace of format 3"),
      ("{\"hearthTrace\":2,\"seed\":1,\"files\":[]}", "something else than a trace"),
    ] {
      let error = #expect(throws: DefinitionError.self) { try TraceFile(name: "t", text: broken) }
      #expect(error.map { "\($0)".contains(found) } == true, "\(String(describing: error))")
    }
    let noFile = "{\"hearthTrace\":2,\"seed\":1,\"files\":[{\"name\":\"a\",\"text\":\"home: b.yaml\\nsteps: []\"}]}"
    #expect(throws: DefinitionError.self) { try TraceFile(name: "t", text: noFile).scenario() }
  }
}
