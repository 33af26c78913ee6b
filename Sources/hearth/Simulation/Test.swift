import ArgumentParser
import Foundation
import Glibc
import HearthHome
import MatterProtocol
import Scenario
import Simulation
import VirtualDevices

/// `hearth test`.
struct Test: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test", abstract: "Run scenarios: virtual devices, events, and expected results.",
    discussion: """
      Scenarios run on virtual time and a simulated network: an hour takes a moment, and a seed reproduces a run byte by byte. \
      With --realtime they run on real sockets on the loopback interface. For example:
        hearth test devices/scenarios/*.yaml
        hearth test lamp.yaml --seeds 1..100 --junit results.xml --trace traces

      Ends with exit code 11 if an expectation fails, and prints the seed and the command that repeats the run. When \
      interrupted, writes the results so far, with the current run as failed; a second interrupt ends it at once.
      """)
  @OptionGroup var options: GlobalOptions
  // Unconditional parsing takes any next argument as the value; otherwise “-1” would be reported as a missing value.
  @Option(
    parsing: .unconditional, help: ArgumentHelp("The seed of the run.", valueName: "n"),
    transform: SeedArguments.seed)
  var seed: UInt64?
  @Option(
    parsing: .unconditional, help: ArgumentHelp("Run once for each of these seeds.", valueName: "a..b"),
    transform: SeedArguments.seeds)
  var seeds: ClosedRange<UInt64>?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Run only this part of all runs (scenarios, variants and seeds), such as 1/4 for the first of four.",
      valueName: "i/n"),
    transform: SeedArguments.shard)
  var shard = Shard.whole
  @Flag(help: "Use real sockets and the real clock.") var realtime = false
  @Option(help: ArgumentHelp("Write the results to this file as JUnit XML.", valueName: "file")) var junit: String?
  @Option(help: ArgumentHelp("Write a trace of each run to this directory, for `hearth replay`.", valueName: "dir"))
  var trace: String?
  @Option(
    name: [.customLong("defect"), .customLong("mutant")], parsing: .unconditional,
    help: ArgumentHelp("Inject a defect, to check that the scenario detects it.", valueName: "name"),
    transform: SeedArguments.defect)
  var defect: SeededDefect?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Run only the variant with this number, of a file with “vary”.", valueName: "n"),
    transform: SeedArguments.variant)
  var variant: Int?
  @Argument(help: "The scenario files.", completion: .file(extensions: ["yaml", "yml"])) var scenarios: [String]

  func validate() throws {
    if junit == "-" {
      throw ValidationError(
        "--junit: expected a file; standard output has the results already (use ./- for a file of this name)")
    }
    if seed != nil, seeds != nil { throw ValidationError("--seed and --seeds are mutually exclusive") }
    if realtime, seed != nil || seeds != nil || trace != nil {
      throw ValidationError("--realtime can't be combined with --seed, --seeds or --trace")
    }
  }

  func run() async throws {
    if let junit { try NamedFile.checkWritable(junit) }
    let loaded = Self.distinguished(
      try scenarios.flatMap { path in try Scenarios.load(path).map { (path, $0) } }
    )
    .filter { variant == nil || $0.1.variant == variant }
    if let variant, loaded.isEmpty { throw HomeError(.badArguments, "no file has a variant \(variant)") }
    var runs = self.runs(of: loaded).enumerated().lazy.filter { [shard] in shard.contains($0.offset) }
      .map(\.element).makeIterator()
    var next = runs.next()
    let progress = TestProgress()
    CrashReporter.install { number in report(progress, endedBy: number) }
    var names: Set<String> = []
    // The first failed run of each line and cause, by its key.
    var failures: [String: ScenarioResult] = [:]
    // The first error of writing a trace or the results. The results are written even if a trace can't be written.
    var unwritten: (any Error)?
    await progress.advance(to: next?.running)
    while let (path, run) = next {
      let (scenario, seed) = (run.scenario, run.seed)
      var result: ScenarioResult
      var trace: String?
      if let seed {
        let (played, events) = await scenario.simulate(
          seed: seed, keepsTrace: self.trace != nil, defect: defect, timeline: run.timeline)
        result = played
        if self.trace != nil { trace = TraceFile(scenario, seed: seed, defect: defect, events).text }
      } else {
        result = await scenario.playInRealTime(defect: defect, timeline: run.timeline)
      }
      next = runs.next()
      // Before printing, so that a run that was printed as passed is never reported as interrupted.
      await progress.advance(to: next?.running, after: result)
      report(result, like: result.failureKey.flatMap { failures[$0] })
      if let key = result.failureKey, failures[key] == nil { failures[key] = result }
      if let trace, let directory = self.trace {
        do { try NamedFile.write(trace, to: directory, Self.traceName(path, result, &names)) } catch {
          unwritten = unwritten ?? error
        }
      }
    }
    let results = await progress.finish()
    do {
      if let junit { try NamedFile.write(JUnitReport.text(results), to: junit) }
    } catch {
      unwritten = unwritten ?? error
    }
    // Only now, so that a stop during the writing does not end the process before the results are written.
    CrashReporter.uninstall()
    let failed = results.count { !$0.isPassed }
    guard failed == 0 else {
      let groups = FailureGroup.groups(of: results)
      if !options.json, groups.contains(where: { $0.results.count > 1 }) {
        for group in groups { options.output.text("\(group.seeds): \(group.message)") }
      }
      if let unwritten { options.output.note("hearth: \(unwritten)") }
      throw HomeError(.expectationFailed, "\(failed) of \(results.count) runs failed")
    }
    if let unwritten { throw unwritten }
    if !options.json { options.output.text(results.count == 1 ? "1 run passed" : "\(results.count) runs passed") }
  }

  /// Whether steps are printed: in real time, which is slow, and on a terminal.
  private var showsSteps: Bool { realtime || isatty(STDERR_FILENO) != 0 }

  /// Adds the file to a name that scenarios of several files have. All parts of a run load the same files, so a scenario
  /// has the same name in each.
  private static func distinguished(
    _ scenarios: [(path: String, ScenarioDefinition)]
  ) -> [(path: String, ScenarioDefinition)] {
    let files = Dictionary(grouping: scenarios, by: \.1.name).mapValues { Set($0.map(\.path)) }
    return scenarios.map { path, scenario in
      var scenario = scenario
      if let others = files[scenario.name], others.count > 1 { scenario.name += " (\(path))" }
      return (path, scenario)
    }
  }

  /// Returns all runs in order. The sequence is lazy, because ranges of seeds can be too large for an array.
  private func runs(
    of scenarios: [(path: String, ScenarioDefinition)]
  ) -> some Sequence<(path: String, running: TestProgress.Running)> {
    let range = seeds ?? { $0...$0 }(seed ?? 1)
    return scenarios.lazy.flatMap { path, scenario in
      (realtime ? 0...0 : range).lazy.map { number -> (path: String, running: TestProgress.Running) in
        let seed = realtime ? nil : number
        var run = TestProgress.Running(scenario: scenario, seed: seed, defect: defect)
        if showsSteps { run.timeline = Timeline { [output = options.output] in output.progress("  \($0)") } }
        return (path, run)
      }
    }
  }

  /// Returns the name of a trace file, such as `lamp-7.trace`, with the variant if the file has variants, and a number if the name
  /// is already used.
  private static func traceName(_ path: String, _ result: ScenarioResult, _ names: inout Set<String>) -> String {
    let file = URL(filePath: path).deletingPathExtension().lastPathComponent
    let whole = [file, result.variant.map(String.init), result.seed.map(String.init)].compactMap(\.self)
      .joined(separator: "-")
    var name = whole
    var number = 2
    while !names.insert(name).inserted {
      name = "\(whole)_\(number)"
      number += 1
    }
    return name + ".trace"
  }

  /// Writes the results and prints the current run after a signal.
  /// - Returns: false if the results are already being written.
  private func report(_ progress: TestProgress, endedBy signal: Int32) -> Bool {
    guard let (results, running) = progress.close() else {
      options.output.note("hearth: writing the results; interrupt again to exit without them")
      return false
    }
    let reason = CrashReporter.stops.contains(signal) ? "interrupted" : "the process crashed (signal \(signal))"
    let result = running?.result(reason)
    if realtime { ScenarioDefinition.removeRealTimeStores() }
    for line in result?.failure?.timeline.suffix(12) ?? [] { options.output.note("    \(line)") }
    let what = running.map { "\(reason) in \($0.name)" + ($0.again.map { "; again: \($0)" } ?? "") } ?? reason
    options.output.failure(HomeError(CrashReporter.stops.contains(signal) ? .interrupted : .internalError, what))
    // Last, because writing to a pipe may block.
    if let junit {
      let all = results + [result].compactMap(\.self)
      do { try NamedFile.write(JUnitReport.text(all), to: junit) } catch { options.output.note("hearth: \(error)") }
    }
    return true
  }

  /// Prints the result of a run.
  /// - Parameter first: the first run that failed with the same line and cause; nil if there is none.
  private func report(_ result: ScenarioResult, like first: ScenarioResult?) {
    var json: JSON = [
      "scenario": .string(result.scenario), "variant": .optional(result.variant),
      "seed": .optional(result.seed.map(String.init)),
      "passed": .bool(result.isPassed), "milliseconds": .int(result.duration.milliseconds),
      "elapsedMilliseconds": .int(result.elapsed.milliseconds),
      "digest": .string(String(result.digest, radix: 16)),
    ]
    if let failure = result.failure {
      json = json.adding("message", .string(failure.message)).adding("again", .optional(failure.again))
        .adding("place", .optional(failure.mark.map { "\($0)" })).adding("excerpt", .optional(failure.excerpt))
        .adding("timeline", .texts(failure.timeline))
    }
    if !result.remarks.isEmpty { json = json.adding("remarks", .texts(result.remarks)) }
    json = json.adding("commands", .array(result.commands.map(Self.json)))
      .adding("losses", .array(result.losses.map(Self.json)))
    guard let seed = result.seed, let again = result.failure?.again, let first = first?.seed else {
      return options.output.result(json, "\(result)")
    }
    options.output.result(
      json, "FAILED  \(result.scenario), seed \(seed): the same line and cause as seed \(first); again: \(again)")
  }

  private static func json(_ command: CommandRecord) -> JSON {
    [
      "command": .string(command.text), "place": .string("\(command.mark)"),
      "milliseconds": .int(command.time.milliseconds), "error": .optional(command.error),
      "count": .int(command.count),
    ]
  }

  private static func json(_ loss: NetworkLoss) -> JSON {
    [
      "from": .optional(loss.sender), "to": .optional(loss.receiver), "reason": .string(loss.reason.rawValue),
      "count": .int(loss.count), "firstMilliseconds": .int(loss.first.milliseconds),
      "lastMilliseconds": .int(loss.last.milliseconds),
    ]
  }
}

enum Scenarios {
  static func load(_ path: String) throws -> [ScenarioDefinition] {
    do {
      return try ScenarioDefinition.variants(path)
    } catch {
      throw NamedFile.unusable(path, error)
    }
  }
}
