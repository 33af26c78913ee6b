import CBench
import Foundation
import MatterCrypto

/// Measures the layers from the bottom up and prints a table. A report, not a test: the exit status is always 0.
@main enum HearthBench {
  static func main() {
    switch CommandLine.arguments.dropFirst().first {
    case "flood": return flood()
    case "kill": return kill()
    case "log": return log()
    case "log-writer", "log-reader": return logRole()
    case "home-restart": return restart()
    case "rejoin": return rejoin()
    case "home-fleet", "home-online": return rejoinRole()
    case "invokes": return invokesRole()
    case "hub-idle": return idleHub()
    case "simulate": return simulation()
    case "score": return score()
    case "random": return randomHomes()
    case "simulate-memory": return simulatedMemory()
    default: break
    }
    let options: Options
    do {
      options = try Options(CommandLine.arguments.dropFirst())
    } catch {
      FileHandle.standardError.write(Data("\(error)\n\(Options.usage)\n".utf8))
      exit(64)
    }
    if options.wantsHelp { return print(Options.usage) }
    var report = Report()
    let sizes = DatagramSizes()
    let sections: [(name: String, body: (inout Report) throws -> Void)] = [
      ("codec", { try codecRows(&$0, options) }),
      ("messages", { try coreRows(&$0, options, sizes) }),
      ("handshakes", { try handshakeRows(&$0, options) }),
      ("engines", { try engineRows(&$0, options) }),
      ("home", { try homeRows(&$0, options) }),
      ("fleet", { try fleetRows(&$0, options) }),
      ("hub", { try hubRows(&$0, options) }),
      ("simulation", { try simulationRows(&$0, options) }),
      ("loopback", { try loopbackRows(&$0, options, sizes) }),
    ]
    if let only = options.only, !sections.contains(where: { $0.name == only }) {
      let names = sections.map(\.name).joined(separator: ", ")
      FileHandle.standardError.write(Data("found “\(only)” after --only, expected one of \(names)\n".utf8))
      exit(64)
    }
    for (name, body) in sections where options.only.map({ $0 == name }) ?? true {
      // A failed section is reported; the others are still measured.
      do { try body(&report) } catch { report.failures.append("\(name): \(error)") }
    }
    print(options.wantsJSON ? report.json : report.table(sizes))
  }
}

extension HearthBench {
  /// Runs the flood test; exits with 1 if a light failed.
  private static func flood() {
    do {
      let seconds = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 10
      guard try Flood.run(seconds: min(max(seconds, 1), 60)) else { exit(1) }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }
}

extension HearthBench {
  /// Runs the kill test; exits with 1 if anything was lost.
  private static func kill() {
    do {
      let words = PositionalArguments()
      var random = SystemRandomSource()
      let seed = words.number(1, "SEED")
      let count = Int(clamping: words.number(0, "COUNT") ?? 20)
      guard try Kill.run(count: min(max(count, 1), 1000), seed: seed ?? random.next() >> 32) else { exit(1) }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }
}

extension HearthBench {
  /// Runs the test of the change log; exits with 1 if it found a fault.
  private static func log() {
    do {
      let words = PositionalArguments()
      var random = SystemRandomSource()
      let seconds = min(max(Int(clamping: words.number(0, "SECONDS") ?? 20), 1), 3600)
      let kills = min(Int(clamping: words.number(1, "KILLS") ?? 20), 1000)
      let seed = words.number(2, "SEED") ?? random.next() >> 32
      guard try LogKill.run(seconds: seconds, kills: kills, seed: seed) else { exit(1) }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  /// Runs the child process of the restart measurement.
  private static func restart() {
    do {
      guard CommandLine.arguments.count == 3 else { exit(64) }
      try Restart.child(CommandLine.arguments[2])
    } catch {
      FileHandle.standardError.write(Data("home-restart: \(error)\n".utf8))
      exit(1)
    }
  }

  /// Runs the process that scripts/profile observes: `invokes WINDOW LIGHTS SECONDS`.
  private static func invokesRole() {
    do {
      let words = PositionalArguments()
      let numbers = [("WINDOW", 1), ("LIGHTS", 1), ("SECONDS", 10)].enumerated().map { position, word in
        min(max(Int(clamping: words.number(position, word.0) ?? UInt64(word.1)), 1), 1000)
      }
      try invokes(window: numbers[0], lights: numbers[1], seconds: numbers[2])
    } catch {
      FileHandle.standardError.write(Data("invokes: \(error)\n".utf8))
      exit(1)
    }
  }

  /// Runs the child process of the measurement of idle clients.
  private static func idleHub() {
    do {
      guard CommandLine.arguments.count == 3 else { exit(64) }
      try IdleClients.serve(CommandLine.arguments[2])
    } catch {
      FileHandle.standardError.write(Data("hub-idle: \(error)\n".utf8))
      exit(1)
    }
  }

  /// Runs a child process of `log`, until it is killed or finds a fault.
  private static func logRole() {
    do {
      guard CommandLine.arguments.count == 3 else { exit(64) }
      let directory = CommandLine.arguments[2]
      if CommandLine.arguments[1] == "log-writer" {
        try LogWriter.run(directory)
      } else {
        try LogReader.run(directory)
      }
    } catch {
      FileHandle.standardError.write(Data("\(CommandLine.arguments[1]): \(error)\n".utf8))
      exit(1)
    }
  }
}

/// The options of the measurements.
struct Options {
  static let usage = """
    usage: hearth-bench [--quick] [--json] [--only PART]
           hearth-bench home [--quick] [--json]
           hearth-bench rejoin [DEVICES] [RESTARTS]
           hearth-bench flood [SECONDS]
           hearth-bench kill [COUNT] [SEED]
           hearth-bench log [SECONDS] [KILLS] [SEED]
           hearth-bench simulate [DEVICES] [HOURS] [RUNS]
           hearth-bench score [DEVICES] [MINUTES]
           hearth-bench random [SEEDS] [FIRST]
      --quick   a tenth of the repetitions
      --json    one JSON object instead of the table
      --only    codec, messages, handshakes, engines, home, fleet, hub, simulation or loopback
    """

  struct UsageError: Error, CustomStringConvertible { let description: String }

  var isQuick = false
  var wantsJSON = false
  var wantsHelp = false
  var only: String?

  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var arguments = arguments.makeIterator()
    while let argument = arguments.next() {
      switch argument {
      case "--quick": isQuick = true
      case "--json": wantsJSON = true
      case "home" where only == nil: only = "home"
      case "--only": only = arguments.next()
      case "--help", "-h": wantsHelp = true
      default: throw UsageError(description: "unknown option '\(argument)'")
      }
    }
  }

  /// Returns the number of repetitions, given that of a full run.
  func scaled(_ count: Int) -> Int { isQuick ? max(1, count / 10) : count }
}
