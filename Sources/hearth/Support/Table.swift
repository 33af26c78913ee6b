import Home

/// A table with headings. Each column is as wide as its widest cell, or narrower on a narrow terminal.
struct Table {
  var headings: [String]
  var rows: [[String]] = []

  init(_ headings: String...) { self.headings = headings }

  /// Adds a row. Line breaks and control characters in cells are escaped.
  mutating func add(_ cells: String...) { rows.append(cells.map { $0.shown() }) }

  /// The table without trailing blanks, fitted to the width of standard output.
  var text: String { text(columns: Terminal.columns) }

  /// The minimum width of a shortened column.
  private static let leastWidth = 6

  /// - Parameter columns: the maximum width of a line; nil: unlimited.
  func text(columns: Int?) -> String {
    var widths = headings.map(Self.width)
    for row in rows {
      for (column, cell) in row.enumerated() where column < widths.count {
        widths[column] = max(widths[column], Self.width(cell))
      }
    }
    if let columns { Self.fit(&widths, columns) }
    return ([headings] + rows).map { row in
      var line = ""
      for (column, cell) in row.enumerated() where column < widths.count {
        let cell = Self.cut(cell, widths[column])
        line += cell
        if column + 1 < row.count { line += String(repeating: " ", count: widths[column] - Self.width(cell) + 2) }
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  /// Makes the widest columns narrower until a line fits, or none can be made narrower.
  private static func fit(_ widths: inout [Int], _ columns: Int) {
    var rest = widths.reduce(2 * (widths.count - 1), +) - columns
    while rest > 0, let widest = widths.max(), widest > leastWidth, let column = widths.lastIndex(of: widest) {
      widths[column] -= 1
      rest -= 1
    }
  }

  /// Returns the text, or its beginning and “…” if it is too long.
  static func cut(_ text: String, _ width: Int) -> String {
    guard Self.width(text) > width else { return text }
    var (result, used) = ("", 0)
    for character in text {
      let next = Self.width(String(character))
      guard used + next < width else { break }
      result.append(character)
      used += next
    }
    return result + "…"
  }

  /// Returns the number of terminal columns of a text. East Asian wide characters and emoji take two columns.
  static func width(_ text: String) -> Int {
    text.reduce(0) { sum, character in
      guard let scalar = character.unicodeScalars.first else { return sum }
      let isWide =
        scalar.properties.isEmojiPresentation || (0x1100...0x115F).contains(scalar.value)
        || (0x2E80...0xA4CF).contains(scalar.value) || (0xAC00...0xD7A3).contains(scalar.value)
        || (0xF900...0xFAFF).contains(scalar.value) || (0xFE30...0xFE6F).contains(scalar.value)
        || (0xFF00...0xFF60).contains(scalar.value) || (0x20000...0x3FFFD).contains(scalar.value)
      return sum + (isWide ? 2 : 1)
    }
  }
}
