import Foundation
import Glibc
import HearthHome
import MatterCrypto
import MatterModel
import MatterProtocol
import Runtime

/// `hearth-bench log [SECONDS] [KILLS] [SEED]`: a writer appends 1,000 changes a second to the log of a home, and a
/// reader follows it by its anchor. Each runs in a process that is killed with SIGKILL at random: nothing may be
/// lost, repeated or reordered.
final class LogKill {
  static let rate = 1000

  private let directory: String
  private var random: SeededRandomSource
  private var problems: [String] = []

  /// - Parameter kills: the number of kills of the writer, and of the reader.
  /// - Returns: whether no fault was found.
  static func run(seconds: Int, kills: Int, seed: UInt64) throws -> Bool {
    print("the change log: \(rate) changes a second for \(seconds) s, \(kills) kills each, seed \(seed)")
    let run = try LogKill(seed)
    defer { try? FileManager.default.removeItem(atPath: run.directory) }
    try run.run(seconds, kills)
    for problem in run.problems { print("  FAULT: \(problem)") }
    print(run.problems.isEmpty ? "nothing was lost, repeated or reordered" : "\(run.problems.count) problems")
    return run.problems.isEmpty
  }

  private init(_ seed: UInt64) throws {
    random = SeededRandomSource(seed: seed)
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-log-\(getpid())").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  private func run(_ seconds: Int, _ kills: Int) throws {
    let files = LogFiles(directory)
    var writer = try start("log-writer")
    var reader = try start("log-reader")
    let begin = HostClock.now()
    // Random moments in ascending order.
    let moments = (0..<kills * 2).map { _ in random.next() % (UInt64(seconds) * 1_000_000) }.sorted()
    for (index, moment) in moments.enumerated() {
      let wait = Int64(moment) * 1000 - (HostClock.now() - begin).nanoseconds
      if wait > 0 { usleep(UInt32(clamping: wait / 1000)) }
      if index % 2 == 0 {
        check(&writer, "the writer")
        writer = try start("log-writer")
      } else {
        check(&reader, "the reader")
        reader = try start("log-reader")
      }
    }
    let rest = Int64(seconds) * 1_000_000_000 - (HostClock.now() - begin).nanoseconds
    if rest > 0 { usleep(UInt32(clamping: rest / 1000)) }
    check(&writer, "the writer")
    let database = try HomeDatabase.open(files.database)
    let last = try LogWriter.last(in: database.load().state)
    let end = HostClock.now() + .seconds(30)
    while try LogReader.Progress(files.progress).number < last, HostClock.now() < end { usleep(20_000) }
    check(&reader, "the reader")
    let progress = try LogReader.Progress(files.progress)
    if progress.number != last { problems.append("the reader has \(progress.number) of \(last) changes") }
    if progress.count != last { problems.append("the reader got \(progress.count) changes, not \(last)") }
    let acknowledged = LogWriter.acknowledged(files.acknowledged)
    if acknowledged > last { problems.append("\(acknowledged) changes were committed, \(last) were found") }
    let wanted = UInt64(Self.rate * seconds)
    print(
      "  \(last) changes, \(acknowledged) known to their writer; \(kills) kills of the writer, \(kills) of the reader")
    // No changes are written while a killed writer restarts.
    if last < wanted * 3 / 4 { problems.append("only \(last) of \(wanted) changes were made") }
  }

  private func start(_ role: String) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [role, directory]
    try process.run()
    return process
  }

  private func check(_ process: inout Process, _ name: String) {
    if process.isRunning {
      kill(process.processIdentifier, SIGKILL)
    } else {
      problems.append("\(name) ended by itself")
    }
    process.waitUntilExit()
  }
}

/// The files that the processes share.
struct LogFiles {
  let database: String
  /// The position of the reader.
  let progress: String
  /// The last change known to be committed.
  let acknowledged: String

  init(_ directory: String) {
    database = directory + "/home.sqlite"
    progress = directory + "/progress"
    acknowledged = directory + "/acknowledged"
  }
}

/// Writes changes numbered from 1, without end.
enum LogWriter {
  /// The number of nodes, to which the changes are assigned in turn.
  private static let nodes: UInt64 = 50
  private static let path = ConcreteAttributePath(1, 6, 0x4000)

  static func run(_ directory: String) throws {
    let files = LogFiles(directory)
    let database = try HomeDatabase.open(files.database)
    let state = try database.load().state
    var number = try last(in: state)
    // The values must match the log.
    for old in (number > nodes ? number - nodes + 1 : 1)..<(number + 1) {
      guard try value(of: NodeID(old % nodes + 1), in: state) == old else { throw BenchError("\(old) is not there") }
    }
    let acknowledgment = open(files.acknowledged, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let first = number
    let start = HostClock.now()
    var nextCompaction = start + .seconds(10)
    while true {
      let due = first + UInt64((HostClock.now() - start).nanoseconds / (1_000_000_000 / Int64(LogKill.rate)))
      guard number < due else {
        usleep(2_000)
        continue
      }
      var updates: [HomeUpdate] = []
      while number < due, updates.count < 200 {
        // Updates with one, two and three changes.
        let count = min(due - number, number % 3 + 1)
        let changes = (1...count).map { change(number + $0) }
        updates.append(HomeUpdate(changes, at: HostClock.unixMicroseconds()))
        number += count
      }
      try database.commit(updates)
      var known = number
      pwrite(acknowledgment, &known, 8, 0)
      if HostClock.now() > nextCompaction {
        while try database.compact(keeping: 300_000) > 0 {}
        nextCompaction = HostClock.now() + .seconds(10)
      }
    }
  }

  private static func change(_ number: UInt64) -> HomeChange {
    .attribute(NodeID(number % nodes + 1), path, value: bytes(number))
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { [0x07] + $0 }
  }

  /// Decodes the number in a value.
  static func number(_ bytes: [UInt8]) throws -> UInt64 {
    guard bytes.count == 9 else { throw BenchError("a value of \(bytes.count) bytes") }
    return bytes.dropFirst().reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func value(of node: NodeID, in state: HomeState) throws -> UInt64? {
    try state.value(node, path).map { try number($0) }
  }

  static func last(in state: HomeState) throws -> UInt64 {
    try state.values.keys.compactMap { try value(of: $0, in: state) }.max() ?? 0
  }

  static func acknowledged(_ path: String) -> UInt64 {
    guard let data = FileManager.default.contents(atPath: path), data.count == 8 else { return 0 }
    return data.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// Reads the log by its anchor, and checks the order of the numbers.
enum LogReader {
  /// The position of the reader, stored atomically.
  struct Progress {
    var anchor: Anchor?
    var number: UInt64 = 0
    var count: UInt64 = 0

    init(_ path: String) throws {
      guard let data = FileManager.default.contents(atPath: path) else { return }
      let words = String(decoding: data, as: UTF8.self).split(separator: " ")
      guard words.count == 3, let anchor = Anchor(String(words[0])), let number = UInt64(words[1]),
        let count = UInt64(words[2])
      else { throw BenchError("the reader's file is damaged") }
      (self.anchor, self.number, self.count) = (anchor, number, count)
    }

    func store(_ path: String) throws {
      guard let anchor else { return }
      try Data("\(anchor) \(number) \(count)".utf8).write(to: URL(filePath: path), options: .atomic)
    }
  }

  static func run(_ directory: String) throws {
    let files = LogFiles(directory)
    let database = try HomeDatabase.open(files.database)
    var progress = try Progress(files.progress)
    while true {
      let result = try database.samples(after: progress.anchor, limit: 500)
      guard case .samples(let samples, let next, let isComplete) = result else {
        throw BenchError("the log was compacted before the reader saw it")
      }
      for sample in samples {
        guard let value = sample.attribute?.value else { throw BenchError("a sample of another kind") }
        let number = try LogWriter.number(value)
        guard number == progress.number + 1 else { throw BenchError("\(number) comes after \(progress.number)") }
        progress.number = number
        progress.count += 1
      }
      progress.anchor = next
      if !samples.isEmpty { try progress.store(files.progress) }
      if isComplete { usleep(10_000) }
    }
  }
}
