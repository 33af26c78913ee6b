internal import Foundation
internal import MatterModel
public import Simulation
internal import VirtualDevices

/// A recorded run, with all that a replay needs.
///
/// A text file: the first line is JSON with the scenario's files and the seed; each further line is one entry of the
/// trace.
public struct TraceFile: Sendable {
  /// The first line: the inputs of the run.
  public struct Header: Codable, Sendable {
    /// The version of the format.
    public var hearthTrace = 2
    /// The seed of the run.
    public var seed: UInt64
    /// The hexadecimal digest of the run, including all random draws.
    public var digest: String?
    /// The seeded defect, if any.
    public var defect: String?
    /// The files of the scenario; the scenario file is first.
    public var files: [SourceFile]

    private enum CodingKeys: String, CodingKey {
      case hearthTrace, seed, digest, files
      case defect = "mutant"
    }
  }

  /// The header without the seed, to report an invalid seed by itself.
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
  /// The entries of the trace, as `Trace` records them, one line each.
  public var entries: [String]

  /// The seeded defect, if any.
  public var defect: SeededDefect? { header.defect.flatMap(SeededDefect.init(rawValue:)) }

  /// Creates the file for a run.
  public init(_ scenario: ScenarioDefinition, seed: UInt64, defect: SeededDefect? = nil, _ trace: Trace) {
    header = Header(
      seed: seed, digest: String(trace.digest, radix: 16), defect: defect?.rawValue,
      files: scenario.files)
    entries = trace.entries.map(\.recorded)
  }

  /// Parses a file.
  /// - Throws: `DefinitionError` if it is not a trace.
  public init(name: String, text: String) throws {
    // Split at bytes: Unicode has line separators that JSON doesn't escape.
    var lines = text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
      String(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }
    func problem(
      _ found: String, expected: String = "a trace that `hearth test --trace DIR` wrote"
    ) -> DefinitionError {
      DefinitionError(at: SourceMark(file: name, line: 1, column: 1), found: found, expected: expected)
    }
    guard let first = lines.first else { throw problem("an empty file") }
    guard let rest = try? JSONDecoder().decode(SeedlessHeader.self, from: Data(first.utf8)), !rest.files.isEmpty else {
      throw problem("something else than a trace")
    }
    guard let header = try? JSONDecoder().decode(Header.self, from: Data(first.utf8)) else {
      throw problem("an invalid “seed”", expected: "a whole number from 0 to \(UInt64.max)")
    }
    guard header.hearthTrace == 2 else { throw problem("a trace of format \(header.hearthTrace)") }
    if let defect = header.defect, SeededDefect(rawValue: defect) == nil {
      let defects = SeededDefect.allCases.map(\.rawValue)
      throw problem("defect “\(defect)”", expected: "one of \(defects.joined(separator: ", "))")
    }
    lines.removeFirst()
    (self.header, entries) = (header, lines)
  }

  /// The contents of the file, ending in a newline.
  public var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let head = (try? encoder.encode(header)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    return ([head] + entries).joined(separator: "\n") + "\n"
  }

  /// Loads the scenario of the run.
  /// - Throws: `DefinitionError` if it is invalid.
  public func scenario() throws -> ScenarioDefinition {
    try ScenarioDefinition.load(header.files[0]) { name in
      guard let file = header.files.dropFirst().first(where: { $0.name == name || $0.name.hasSuffix("/" + name) })
      else {
        throw CocoaError(.fileNoSuchFile)
      }
      return file
    }
  }

  /// The first difference between two runs.
  public struct Difference: Hashable, Sendable {
    /// The number of the entry, from 1; one past the last if a run is shorter.
    public var entry: Int
    /// The offset of the first different byte in the entry's line.
    public var byte: Int
    /// The line of this trace; nil if it is shorter.
    public var recorded: String?
    /// The line of the other trace; nil if it is shorter.
    public var now: String?
  }

  /// Returns the first difference from another run; nil if both are the same to the byte.
  public func difference(from other: TraceFile) -> Difference? {
    for index in 0..<max(entries.count, other.entries.count) {
      let old = index < entries.count ? entries[index] : nil
      let new = index < other.entries.count ? other.entries[index] : nil
      // Strings may compare equal with different bytes.
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
  /// The entry as one line: nanoseconds, host, kind, packet, bytes, text.
  fileprivate var recorded: String {
    let digits = bytes.hexadecimal.lowercased()
    let text = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: " ")
    return
      "\(at.nanoseconds) \(host.map { "\($0)" } ?? "-") \(kind) \(packet.map { "#\($0)" } ?? "-") \(digits) \(text)"
  }
}
