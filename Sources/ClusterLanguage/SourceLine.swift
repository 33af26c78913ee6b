/// A line of a catalogue file, split into words: `attribute 0x0000 OnOff bool = false § 1.5.6.2 // Whether it is on`.
package struct SourceLine {
  /// The file and the number of the line, for messages.
  package let file: String
  package let number: Int
  /// Whether it belongs to the declaration above.
  package let isIndented: Bool
  /// The words before the section and the note. A text in quotes is one word, with its quotes.
  package private(set) var words: [Substring]
  /// The text after `§`.
  package let section: String?
  /// The text after `//`.
  package var note: String?

  /// The declarations of a file: without empty lines and comments (`#`), and with the notes of preceding lines.
  /// - Parameter offset: the number of lines of the file above the text.
  package static func lines(of text: String, file: String, offset: Int = 0) -> [SourceLine] {
    var notes: [String] = []
    var result: [SourceLine] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      var parsed = SourceLine(line, file: file, number: offset + index + 1)
      if parsed.words.isEmpty, parsed.section == nil {
        // A note on a line of its own belongs to the next declaration.
        if let note = parsed.note { notes.append(note) }
        continue
      }
      if !notes.isEmpty {
        parsed.note = (notes + [parsed.note].compactMap(\.self)).joined(separator: " ")
        notes = []
      }
      result.append(parsed)
    }
    return result
  }

  package init(_ line: Substring, file: String, number: Int) {
    (self.file, self.number) = (file, number)
    isIndented = line.first == " " || line.first == "\t"
    var words: [Substring] = []
    // Tabs are blanks.
    var rest = String(line.map { $0 == "\t" ? " " : $0 }).drop { $0 == " " }
    var (section, note): (String?, String?) = (nil, nil)
    while !rest.isEmpty {
      if rest.hasPrefix("#") { break }
      if rest.hasPrefix("//") {
        note = Self.trimmed(rest.dropFirst(2))
        break
      }
      if rest.hasPrefix("§") {
        let end = rest.firstRange(of: " //")?.lowerBound ?? rest.endIndex
        section = Self.trimmed(rest[rest.index(after: rest.startIndex)..<end])
        rest = rest[end...].drop { $0 == " " }
        continue
      }
      let isQuoted = rest.first == "\""
      let tail = isQuoted ? rest.dropFirst() : rest
      var end = tail.firstIndex(of: isQuoted ? "\"" : " ") ?? tail.endIndex
      if isQuoted, end < tail.endIndex { end = tail.index(after: end) }
      words.append(rest[..<end])
      rest = rest[end...].drop { $0 == " " }
    }
    (self.words, self.section, self.note) = (words, section, note)
  }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0 == " " }
    return String(start.prefix(upTo: start.lastIndex { $0 != " " }.map(start.index(after:)) ?? start.startIndex))
  }

  /// The next word, which remains.
  package var next: Substring? { words.first }

  /// Removes and returns the next word.
  /// - Parameter expected: a noun for the message if the line ends.
  package mutating func readWord(_ expected: String) throws(CatalogueError) -> String {
    guard let word = words.first else { throw error("the line ends; expected \(expected)") }
    words.removeFirst()
    return String(word)
  }

  /// Removes the next word if it is this one.
  package mutating func skip(_ word: String) -> Bool {
    guard words.first == word[...] else { return false }
    words.removeFirst()
    return true
  }

  /// Removes and returns a name of the standard.
  package mutating func readName(_ expected: String) throws(CatalogueError) -> String {
    let name = try readWord(expected)
    guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else {
      throw error("“\(name)” is not a name; expected \(expected): letters, digits and underscores")
    }
    return name
  }

  /// Removes and returns a text in quotes.
  package mutating func readText(_ expected: String) throws(CatalogueError) -> String {
    let word = try readWord(expected)
    guard word.count >= 2, word.hasPrefix("\""), word.hasSuffix("\"") else {
      throw error("\(word): not in quotes; expected \(expected)")
    }
    return String(word.dropFirst().dropLast())
  }

  /// Removes and returns a decimal or hexadecimal number.
  package mutating func readNumber(_ expected: String) throws(CatalogueError) -> Int {
    let word = try readWord(expected)
    guard let number = Self.number(word[...]) else { throw error("“\(word)” is not a number; expected \(expected)") }
    return number
  }

  /// Reports words that no rule of the line has removed.
  package func end(_ expected: String) throws(CatalogueError) {
    if let word = words.first { throw error("“\(word)” is unknown here; expected \(expected)") }
  }

  package func error(_ message: String) -> CatalogueError { .init(file: file, line: number, message: message) }

  package static func number(_ word: Substring) -> Int? {
    word.hasPrefix("0x") ? Int(word.dropFirst(2), radix: 16) : Int(word)
  }
}
