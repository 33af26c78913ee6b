import ArgumentParser
import Foundation
import HearthHome
import Scenario
import Simulation
import VirtualDevices

/// `hearth replay`.
struct Replay: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Replay a recorded trace and compare every byte.",
    discussion: """
      A trace contains the scenario and its files. If the run differs, prints the first different byte and ends with exit code \
      11: either the code under test has changed since, or it depends on something other than the seed.
      """)
  @OptionGroup var options: GlobalOptions
  @Argument(help: "A trace of `hearth test --trace`.", completion: .file(extensions: ["trace"])) var file: String

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
      ["entries": .int(now.entries.count), "digest": .string(String(trace.digest, radix: 16))],
      "the same, byte for byte: \(now.entries.count) entries, digest \(String(trace.digest, radix: 16))")
  }
}
