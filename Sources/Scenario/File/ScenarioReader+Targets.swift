internal import MatterModel
internal import VirtualDevices
internal import Yams

// Parses the targets of commands: `lamp`, `lamp strip`, `den`, `'den/*'`, `group:NAME`, `'*'`.
extension ScenarioReader {
  /// The largest number of words in a name.
  private static let nameLimit = 60

  /// Splits a command at spaces. Words in quotation marks stay together, as in a shell.
  static func splitWords(_ text: String) -> [String] {
    var words: [String] = []
    var rest = text.drop { $0 == " " }
    while let mark = rest.first {
      let quoted = rest.dropFirst()
      let end = quoted.indices.first { index in
        quoted[index] == mark && [nil, " "].contains(quoted[index...].dropFirst().first)
      }
      if mark == "'" || mark == "\"", let end {
        words.append(String(quoted[..<end]))
        rest = quoted[end...].dropFirst()
      } else {
        let word = rest.prefix { $0 != " " }
        words.append(String(word))
        rest = rest.dropFirst(word.count)
      }
      rest = rest.drop { $0 == " " }
    }
    return words
  }

  /// Parses one or several targets, and reports words that name none or that may name different ones.
  mutating func targets(of words: ArraySlice<String>, _ node: Node) -> [TargetName]? {
    let found = readings(of: words)
    if let only = found.readings.first, found.readings.count == 1 { return only }
    guard found.readings.isEmpty else {
      let choices = found.readings.map { reading in reading.map { "“\($0.text)”" }.joined(separator: " and ") }
        .joined(separator: ", or ")
      report(
        at: document.mark(of: node), found: "“\(words.joined(separator: " "))”, which may be \(choices)",
        expected: "a name with spaces in quotation marks, or room/name")
      return nil
    }
    reportUnknownTarget(words.dropFirst(found.known), node)
    return nil
  }

  /// Returns the ways to read words as targets, at most two, and the number of words at the beginning that are targets.
  func readings(of words: ArraySlice<String>) -> (readings: [[TargetName]], known: Int) {
    let words = Array(words)
    // The readings of the first words, by their number.
    var readings: [[[TargetName]]] = Array(repeating: [], count: words.count + 1)
    readings[0] = [[]]
    for start in words.indices where !readings[start].isEmpty {
      for end in start + 1...min(words.count, start + Self.nameLimit) {
        guard readings[end].count < 2, let target = target(of: words[start..<end]) else { continue }
        readings[end] = Array((readings[end] + readings[start].map { $0 + [target] }).prefix(2))
      }
    }
    return (words.isEmpty ? [] : readings[words.count], readings.lastIndex { !$0.isEmpty } ?? 0)
  }

  /// Returns the target with this name; nil if there is none or more than one. Groups are known when the step runs.
  private func target(of words: ArraySlice<String>) -> TargetName? {
    let name = words.joined(separator: " ")
    if name == "*" { return .several(name) }
    if name.hasSuffix("/*") { return names.room(String(name.dropLast(2))).map { .several("\($0)/*") } }
    switch (names.find(name), names.room(name)) {
    case (.success(let device), nil): return .device(device.path)
    case (.failure(let miss), let room?) where miss.candidates.isEmpty: return .several("\(room)/*")
    case (.failure(let miss), nil) where miss.candidates.isEmpty:
      let isGroup = words.count == 1 && name.lowercased().hasPrefix("group:")
      return isGroup ? .several(name) : nil
    default: return nil
    }
  }

  private mutating func reportUnknownTarget(_ words: ArraySlice<String>, _ node: Node) {
    // The longest ambiguous name, or all words.
    for count in stride(from: min(words.count, Self.nameLimit), to: 0, by: -1) {
      let name = words.prefix(count).joined(separator: " ")
      switch (names.find(name), names.room(name)) {
      case (.success(let device), let room?):
        let path = device.path.lowercased() == name.lowercased() ? "another name" : "“\(device.path)”"
        return report(
          at: document.mark(of: node), found: "“\(name)”, a room and a device",
          expected: "“\(room)/*” for the room, or \(path) for the device")
      case (.failure(let miss), _) where !miss.candidates.isEmpty:
        _ = device(name, node)
        return
      default: break
      }
    }
    let name = words.joined(separator: " ")
    let suggestions = names.suggestions(for: name)
    report(
      at: document.mark(of: node), found: name.hasSuffix("/*") ? "room “\(name)”" : "device “\(name)”",
      expected: "a device or a room of the home",
      suggestions: suggestions.isEmpty ? NearestName.suggestions(for: name, in: names.rooms) : suggestions)
  }
}

extension TargetName {
  /// The target in the syntax of commands.
  fileprivate var text: String {
    switch self {
    case .device(let text), .several(let text): text
    }
  }
}
