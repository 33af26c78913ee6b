internal import Foundation
public import MatterProtocol
public import Simulation
internal import VirtualDevices

/// A recorded run: what it takes to run it again, and every byte of what happened.
///
/// Lines of text: the first one is JSON, with the scenario's files and the seed; then one for each entry of the trace.
public struct TraceFile: Sendable {
  /// The first line: all that it takes to run it again.
  public struct Header: Codable, Sendable {
    /// Of this format.
    public var hearthTrace = 2
    /// What everything that was drawn was drawn from.
    public var seed: UInt64
    /// Of the whole run, with every random draw: hexadecimal.
    public var digest: String?
    /// A fault that was built in.
    public var defect: String?
    /// The scenario's file first.
    public var files: [SourceFile]

    private enum CodingKeys: String, CodingKey {
      case hearthTrace, seed, digest, files
      case defect = "mutant"
    }
  }

  /// All of it that may be right where the seed is not.
  private struct SeedlessHeader: Decodable {
    var hearthTrace: Int
    var digest: String?
    var defect: String?
    var files: [SourceFile]

    private enum CodingKeys: String, CodingKey {
      case hearthTrace, digest, files
      case defect = "mutant"
    }
  }

  public var header: Header
  /// A line for each thing that happened, as ``/Simulation/Trace`` records it.
  public var entries: [String]

  /// The fault that was built in, if one was.
  public var defect: SeededDefect? { header.defect.map(SeededDefect.init(rawValue:)) }

  /// A run that has just been.
  public init(_ scenario: ScenarioDefinition, seed: UInt64, defect: SeededDefect? = nil, _ trace: Trace) {
    header = Header(
      seed: seed, digest: String(trace.digest, radix: 16), defect: defect?.rawValue,
      files: scenario.files)
    entries = trace.entries.map(\.recorded)
  }

  /// Reads a file.
  /// - Throws: ``DefinitionError`` where it is no trace.
  public init(name: String, text: String) throws {
    // By bytes: there are more ends of lines in Unicode than JSON escapes.
    var lines = text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
      String(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }
    func problem(
      _ found: String, expected: String = "a trace that `hearth test --trace DIR` wrote"
    ) -> DefinitionError {
      DefinitionError(problems: [
        DefinitionProblem(at: SourceMark(file: name, line: 1, column: 1), found: found, expected: expected)
      ])
    }
    guard let first = lines.first else { throw problem("an empty file") }
    guard let rest = try? JSONDecoder().decode(SeedlessHeader.self, from: Data(first.utf8)), !rest.files.isEmpty else {
      throw problem("something else than a trace")
    }
    guard let header = try? JSONDecoder().decode(Header.self, from: Data(first.utf8)) else {
      throw problem("a “seed” that is none", expected: "a whole number from 0 to \(UInt64.max)")
    }
    guard header.hearthTrace == 2 else { throw problem("a trace of format \(header.hearthTrace)") }
    let defects = SeededDefect.allCases.map(\.rawValue)
    if let defect = header.defect, !defects.contains(defect) {
      throw problem("defect “\(defect)”", expected: "one of \(defects.joined(separator: ", "))")
    }
    lines.removeFirst()
    (self.header, entries) = (header, lines)
  }

  /// The file's content, with a new line at its end.
  public var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let head = (try? encoder.encode(header)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    return ([head] + entries).joined(separator: "\n") + "\n"
  }

  /// The scenario that it is a run of.
  /// - Throws: ``DefinitionError``
  public func scenario() throws -> ScenarioDefinition {
    try ScenarioDefinition.load(header.files[0]) { name in
      guard let file = header.files.dropFirst().first(where: { $0.name == name || $0.name.hasSuffix("/" + name) })
      else {
        throw CocoaError(.fileNoSuchFile)
      }
      return file
    }
  }

  /// Where another run of it first differs.
  public struct Difference: Hashable, Sendable {
    /// Of the entry, from 1; one behind the last where a run is shorter.
    public var entry: Int
    /// Of the first byte that differs, in the entry's line, from 0.
    public var byte: Int
    /// The line of this trace; nil: it has ended before.
    public var recorded: String?
    /// The line of the other one; nil: it has ended before.
    public var now: String?
  }

  /// - Returns: nil where both runs are the same, to the byte.
  public func difference(from other: TraceFile) -> Difference? {
    for index in 0..<max(entries.count, other.entries.count) {
      let old = index < entries.count ? entries[index] : nil
      let new = index < other.entries.count ? other.entries[index] : nil
      // Not as strings, which may be equal with other bytes.
      let isSame = if let old, let new { old.utf8.elementsEqual(new.utf8) } else { false }
      guard !isSame else { continue }
      let same = zip((old ?? "").utf8, (new ?? "").utf8).prefix { $0 == $1 }.count
      return Difference(entry: index + 1, byte: same, recorded: old, now: new)
    }
    guard let old = header.digest, let new = other.header.digest, old != new else { return nil }
    return Difference(
      entry: entries.count + 1, byte: 0, recorded: "digest \(old)",
      now: "digest \(new), of something that the lines do not show")
  }
}

extension Trace.Entry {
  /// One line: nanoseconds, host, what, packet, bytes, text.
  fileprivate var recorded: String {
    let digits = bytes.map { String(UInt16(0x100) + UInt16($0), radix: 16).dropFirst() }.joined()
    let text = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: " ")
    return
      "\(at.nanoseconds) \(host.map { "\($0)" } ?? "-") \(kind) \(packet.map { "#\($0)" } ?? "-") \(digits) \(text)"
  }
}
