import Home

/// Rows under headings, each column as wide as its widest cell.
struct Table {
  var headings: [String]
  var rows: [[String]] = []

  init(_ headings: String...) { self.headings = headings }

  /// A cell is one line, whatever a device says of itself.
  mutating func add(_ cells: String...) { rows.append(cells.map { $0.shown() }) }

  /// The lines joined, without blanks at their ends.
  var text: String {
    var widths = headings.map(Self.width)
    for row in rows {
      for (column, cell) in row.enumerated() where column < widths.count {
        widths[column] = max(widths[column], Self.width(cell))
      }
    }
    return ([headings] + rows).map { row in
      var line = ""
      for (column, cell) in row.enumerated() where column < widths.count {
        line += cell
        if column + 1 < row.count { line += String(repeating: " ", count: widths[column] - Self.width(cell) + 2) }
      }
      while line.last == " " { line.removeLast() }
      return line
    }.joined(separator: "\n")
  }

  /// How many columns of a terminal a text takes: wide characters of East Asia and pictures take two.
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
