import Foundation
import Testing

/// The figures of `make bench` that do not depend on the machine.
@Suite(.processes) struct BenchTests {
  @Test(
    "rejects invalid seeds before the first run",
    .timeLimit(.minutes(10)),
    arguments: [
      (["random", "some"], "found “some” for SEEDS, expected a whole number from 0 to 18446744073709551615"),
      (["random", "0"], "found “0” for SEEDS, expected at least 1"),
      (["random", "1", "-1"], "found “-1” for FIRST"),
      (["random", "2", "18446744073709551615"], "there are no 2 seeds"),
      (["kill", "1", "0x1"], "found “0x1” for SEED"), (["log", "1", "1", ""], "found “” for SEED"),
    ]) func rejectsInvalidSeeds(_ arguments: [String], _ expected: String) async throws
  {
    let result = try await Hearth.run(Hearth.bench, arguments)
    #expect(
      result.status == 64 && result.errors.contains("hearth-bench \(arguments[0]): \(expected)"), "\(result.errors)")
  }

  /// Ten minutes with two devices, which are offline for 20 s and for 100 s. Only the long outage can be detected.
  @Test(.timeLimit(.minutes(10))) func reportsScoreWithFaults() async throws {
    let result = try await Hearth.run(Hearth.bench, ["score", "2", "10"])
    #expect(result.status == 0)
    let text = result.output
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.contains { $0.hasPrefix("detected outages: 1 times") }, "\(text)")
    #expect(lines.contains { $0.hasPrefix("detected returns: 1 times") }, "\(text)")
    #expect(lines.contains("undetected outages: 1 times; the longest was 20.0 s"), "\(text)")
    #expect(lines.contains("false “offline”: 0") && lines.contains("false “online”: 0"), "\(text)")
    // Two devices, for ten minutes each.
    #expect(lines.contains { $0.hasPrefix("stale values:") && $0.contains("of 1200") }, "\(text)")
  }

  /// A failing seed is reduced to fewer actions with the same failure, and printed with the command that repeats it.
  @Test(.timeLimit(.minutes(10))) func shrinksFailingSeed() async throws {
    let fault = ["DEFECT": "staysAtAddress"]
    let first = try await Hearth.run(Hearth.bench, ["random", "1", "3"], environment: fault)
    let text = first.output
    #expect(first.status == 1 && text.contains("1 random homes from seed 3 on, 1 failed"), "\(text)")
    func part(behind words: String) throws -> String {
      try #require(
        text.components(separatedBy: words).dropFirst().first?.split(separator: "\n").first.map(String.init), "\(text)")
    }
    // The numbers of seconds may differ.
    let kind = try part(behind: "  shrunk: ").filter { !$0.isNumber }
    let again = try part(behind: "  again: ").split(separator: " ").map(String.init)
    #expect(again.first == "DEFECT=staysAtAddress" && again.dropFirst(2).first == "random", "\(again)")
    let repeated = try await Hearth.run(Hearth.bench, Array(again.dropFirst(2)), environment: fault)
    #expect(repeated.status == 1)
    let failure =
      repeated.output.components(separatedBy: "FAILED: ").last?.split(separator: "\n").first.map(String.init) ?? ""
    #expect(failure.filter { !$0.isNumber } == kind, "\(repeated.output)")
    // Without the fault the run passes.
    #expect(try await Hearth.run(Hearth.bench, Array(again.dropFirst(2))).status == 0)
  }
}
