import ArgumentParser
import Foundation
import Home
import Scenario
import Simulation
import VirtualDevices

/// `hearth replay`.
struct Replay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a recorded trace again, and compare every byte.",
    discussion: """
      A trace has the scenario and its files in it. Exit code 11 where the run is another one now, with the first byte that \
      differs: then what the scenario runs has changed since, or something in it is left to real chance.
      """)
  @OptionGroup var options: GlobalOptions
  @Argument(help: "A trace that `hearth test --trace` wrote.", completion: .file(extensions: ["trace"])) var file:
    String

  func run() async throws {
    let recorded: TraceFile
    let scenario: ScenarioDefinition
    do {
      recorded = try TraceFile(name: file, text: try TextFile.read(file))
      scenario = try recorded.scenario()
    } catch {
      throw NamedFile.unusable(file, error)
    }
    let seed = recorded.header.seed
    let defect = recorded.defect
    let (_, trace) = await scenario.simulate(seed: seed, keepsTrace: true, defect: defect)
    let now = TraceFile(scenario, seed: seed, defect: defect, trace)
    if let difference = recorded.difference(from: now) {
      throw HomeError(
        .expectationFailed,
        """
        entry \(difference.entry) (line \(difference.entry + 1)) differs at byte \(difference.byte)
          recorded: \(difference.recorded ?? "nothing more")
          now:      \(difference.now ?? "nothing more")
        """)
    }
    options.output.result(
      ["entries": .integer(now.entries.count), "digest": .string(String(trace.digest, radix: 16))],
      "the same, byte for byte: \(now.entries.count) entries, digest \(String(trace.digest, radix: 16))")
  }
}
