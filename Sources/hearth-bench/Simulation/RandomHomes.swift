import Foundation
import MatterProtocol
import Runtime
import Scenario
import Simulation

extension HearthBench {
  /// `random SEEDS [FIRST [DEVICES STEPS]]`: runs random homes. Exits with 1 if one fails. In the environment,
  /// `VERBOSE` prints a line per home, and `DEFECT=sendsOnce` seeds a defect.
  static func randomHomes() {
    let words = PositionalArguments()
    let count = words.number(0, "SEEDS") ?? 200
    if count == 0 { words.refuse("found “0” for SEEDS, expected at least 1") }
    let first = words.number(1, "FIRST") ?? 1
    let (end, isTooFar) = first.addingReportingOverflow(count)
    if isTooFar { words.refuse("there are no \(count) seeds from \(first) on") }
    if let defect = RandomHomes.environment, RandomHomes.defect == nil {
      let defects = SeededDefect.allCases.map(\.rawValue)
      words.refuse("found “\(defect)” for DEFECT, expected one of \(defects.joined(separator: ", "))")
    }
    do {
      let isFine = try waitFor {
        if let devices = words[2], let steps = words[3] {
          return await RandomHomes.one(RandomPlan(seed: first).keeping(devices: devices, steps: steps))
        }
        return await RandomHomes.all(first..<end)
      }
      if !isFine { exit(1) }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }
}

enum RandomHomes {
  fileprivate static let environment = ProcessInfo.processInfo.environment["DEFECT"]
  fileprivate static let defect = environment.flatMap(SeededDefect.init(rawValue:))

  /// The command that repeats a run, without its arguments.
  private static let command =
    (defect.map { "DEFECT=\($0.rawValue) " } ?? "") + "\(CommandLine.arguments[0]) random"

  /// Runs one plan and prints its steps.
  static func one(_ plan: RandomPlan) async -> Bool {
    for line in plan.lines { print(line) }
    let outcome = await RandomHome.run(plan, defect: defect)
    print("digest \(String(outcome.digest, radix: 16))")
    print(outcome.failure.map { "FAILED: \($0)" } ?? "all agree")
    return outcome.failure == nil
  }

  static let measuredDevices = 8

  /// Returns the number of random homes that one thread runs in a second.
  static func rate(runs: Int) async throws -> Double {
    let begin = HostClock.now()
    for seed in 1...UInt64(max(1, runs)) {
      let plan = RandomPlan(seed: seed, devices: measuredDevices...measuredDevices)
      if let failure = await RandomHome.run(plan).failure { throw BenchError("seed \(seed): \(failure)") }
    }
    return Double(max(1, runs)) * 1e9 / Double((HostClock.now() - begin).nanoseconds)
  }

  static func all(_ seeds: Range<UInt64>) async -> Bool {
    var failures: [RandomHome.Outcome] = []
    var converged: [Duration] = []
    var digests: [UInt64] = []
    let verbose = ProcessInfo.processInfo.environment["VERBOSE"] != nil
    for seed in seeds {
      let outcome = await RandomHome.run(RandomPlan(seed: seed), defect: defect)
      digests.append(outcome.digest)
      if let time = outcome.converged { converged.append(time) }
      if outcome.failure != nil { failures.append(outcome) }
      if verbose { print("seed \(seed): \(String(outcome.digest, radix: 16)) \(outcome.failure ?? "agrees")") }
    }
    // Only the first failures are shrunk thoroughly, because many failures usually have the same cause.
    for (index, failed) in failures.enumerated() {
      let least = await RandomHome.shrink(failed, attempts: index < 5 ? 60 : 10, defect: defect)
      print("seed \(failed.plan.seed) FAILED: \(failed.failure ?? "")")
      print("  shrunk: \(least.failure ?? "")")
      for line in least.plan.lines { print("    \(line)") }
      print("  again: \(command) \(least.plan.arguments)")
    }
    let half = ScoreCard.percentile(50, of: converged)?.nanoseconds ?? 0
    let most = converged.max()?.nanoseconds ?? 0
    print(
      """
      \(seeds.count) random homes from seed \(seeds.lowerBound) on, \(failures.count) failed; agreed after \
      \(half / 1_000_000_000) s (median), \(most / 1_000_000_000) s (at most)
      """)
    // FNV-1a over all digests, in order.
    let digest = digests.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ $1) &* 0x100_0000_01B3 }
    print("digest \(String(digest, radix: 16))")
    return failures.isEmpty
  }
}
