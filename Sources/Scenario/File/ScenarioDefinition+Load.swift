internal import Foundation
internal import VirtualDevices
internal import Yams

extension ScenarioDefinition {
  /// Reads a scenario file and the definition file that it refers to.
  /// - Throws: `DefinitionError` with all problems, or the system's error if a file can't be read.
  public static func load(_ path: String) throws -> ScenarioDefinition {
    try load(SourceFile(path, try TextFile.read(path))) { try open($0, besides: path) }
  }

  /// Reads a scenario file once for each value of its variable, `vary: {n: 1..40}`, replacing each “$n” with the value;
  /// a file without `vary` once.
  /// - Throws: as ``load(_:)``.
  public static func variants(_ path: String) throws -> [ScenarioDefinition] {
    let file = SourceFile(path, try TextFile.read(path))
    let document = YAMLDocument(file: path, text: file.text)
    guard case .mapping(let root)? = try document.root(), let node = root["vary"] else {
      return [try load(file) { try open($0, besides: path) }]
    }
    guard case .mapping(let mapping) = node, let (key, value) = mapping.first, mapping.count == 1,
      let name = key.scalar?.string, let numbers = Self.numbers(value.scalar?.string ?? "")
    else {
      throw DefinitionError(
        at: document.mark(of: node), found: node.summary,
        expected: "at most \(mostNumbers) numbers such as {n: 1..40} or {n: \"1..5, 9\"}")
    }
    var size = 0
    return try numbers.map { number in
      var variant = try load(SourceFile(path, file.text.replacing(name: name, with: number))) {
        try open($0, besides: path)
      }
      variant.name += ", \(name) \(number)"
      variant.variant = number
      size += variant.steps.count + variant.home.devices.reduce(0) { $0 + 1 + $1.bridged.count }
      guard size <= variantLimit else {
        throw DefinitionError(
          at: document.mark(of: node), found: "\(numbers.count) variants of a long scenario",
          expected: "at most \(variantLimit) devices and steps in all variants")
      }
      return variant
    }
  }

  /// The limit of devices and steps in all variants of a file together, as all are in memory at once.
  private static let variantLimit = 250_000

  /// The largest number of variants.
  private static let mostNumbers = 10_000

  /// Parses ranges and single numbers: “1..18, 21..45”.
  private static func numbers(_ text: String) -> [Int]? {
    var numbers: [Int] = []
    for part in text.components(separatedBy: ",") {
      let ends = part.components(separatedBy: "..").map { Int($0.filter { !$0.isWhitespace }) }
      guard let first = ends.first.flatMap(\.self), let last = ends.last.flatMap(\.self), ends.count <= 2,
        first <= last
      else { return nil }
      let (span, isOver) = last.subtractingReportingOverflow(first)
      guard !isOver, span < mostNumbers - numbers.count else { return nil }
      numbers += first...last
    }
    return numbers
  }

  private static func open(_ name: String, besides path: String) throws -> SourceFile {
    let found = TextFile.path(name, besides: path)
    return SourceFile(found, try TextFile.read(found))
  }

  /// Parses a scenario.
  /// - Parameter open: reads a file that the scenario refers to.
  public static func load(
    _ file: SourceFile, open: @escaping (String) throws -> SourceFile
  ) throws -> ScenarioDefinition {
    var reader = ScenarioReader(file)
    let start = reader.document.mark(line: 1, column: 1)
    guard let root = try reader.document.root(), !root.isNull else {
      throw DefinitionError(at: start, found: "an empty file", expected: "“steps:” and a list of steps")
    }
    guard let fields = reader.fields(of: root, known: ScenarioReader.keys, what: "a scenario") else {
      throw DefinitionError(problems: reader.problems)
    }
    var files = [file]
    let home: HomeDefinition
    var opened: [SourceFile] = []
    /// Opens a file of a behavior, and keeps it for replays.
    func openData(_ name: String) throws -> String {
      let other = try open(name)
      if !opened.contains(where: { $0.name == other.name }) { opened.append(other) }
      return other.text
    }
    if let node = fields["home"] {
      guard let name = node.scalar?.string, !node.isNull, !name.isEmpty else {
        throw DefinitionError(
          at: reader.document.mark(of: node), found: node.summary,
          expected: "a definition file, by its path from here")
      }
      let other: SourceFile
      do { other = try open(name) } catch let error as DefinitionError { throw error } catch {
        throw DefinitionError(
          at: reader.document.mark(of: node), found: "“\(name)”, which can't be read (\(error.localizedDescription))",
          expected: "a definition file, by its path from here")
      }
      files.append(other)
      home = try HomeDefinition.load(simulating: [(other.name, other.text)]) { data, _ in
        try openData(TextFile.path(data, besides: name))
      }
      for key in ["rooms", "clusters", "devices"] {
        if let node = fields[key] { reader.report(node, expected: "either “home: FILE” or devices here") }
      }
    } else {
      home = try HomeDefinition.load(
        simulating: [(file.name, file.text)],
        ignoring: ScenarioReader.keys.filter { !["rooms", "clusters", "devices"].contains($0) }
      ) { data, _ in try openData(data) }
    }
    let fallback = ((file.name as NSString).lastPathComponent as NSString).deletingPathExtension
    var scenario = ScenarioDefinition(
      name: fields["scenario"].flatMap { reader.text($0, "the scenario's name") } ?? fallback, home: home)
    scenario.files = files + opened
    reader.read(fields, into: &scenario)
    guard reader.problems.isEmpty else {
      throw DefinitionError(
        problems: reader.problems.sorted { ($0.mark.line, $0.mark.column) < ($1.mark.line, $1.mark.column) })
    }
    return scenario
  }
}

extension String {
  /// Returns the string with the number in place of each “$name” that isn't the start of a longer name.
  fileprivate func replacing(name: String, with number: Int) -> String {
    var parts = components(separatedBy: "$" + name)
    var result = parts.removeFirst()
    for part in parts {
      let isLonger = part.first.map { $0 == "_" || $0.isLetter || $0.isNumber } ?? false
      result += isLonger ? "$" + name + part : "\(number)" + part
    }
    return result
  }
}
