import HearthHome

/// A table with headings. Each column is as wide as its widest cell, or narrower on a narrow terminal.
struct Table {
  var headings: [String]
  var rows: [[String]] = []
  /// The headings of columns that are never cut.
  var wholeColumns: Set<String> = []
  /// The headings of columns whose cells are wrapped instead of cut.
  var wrappedColumns: Set<String> = []
  /// The headings of columns that are left out, in this order, until a line fits.
  var optionalColumns: [String] = []

  init(_ headings: String...) { self.headings = headings }

  /// Adds a row. Line breaks and control characters in cells are escaped.
  mutating func add(_ cells: String...) { rows.append(cells.map { $0.shown() }) }

  /// The table without trailing blanks, fitted to the width of standard output.
  var text: String { text(columns: Terminal.columns) }

  /// The minimum width of a shortened column.
  private static let leastWidth = 6

  /// - Parameter columns: the maximum width of a line; nil: unlimited.
  func text(columns: Int?) -> String {
    var table = self
    var widths = table.widths
    if let columns {
      for heading in optionalColumns where Self.length(widths) > columns {
        table.remove(heading)
        widths = table.widths
      }
      table.fit(&widths, columns)
    }
    let lines =
      table.lines(table.headings, widths, wraps: false) + table.rows.flatMap { table.lines($0, widths, wraps: true) }
    return lines.joined(separator: "\n")
  }

  /// The width of each column's widest cell.
  private var widths: [Int] {
    var widths = headings.map(Self.width)
    for row in rows {
      for (column, cell) in row.enumerated() where column < widths.count {
        widths[column] = max(widths[column], Self.width(cell))
      }
    }
    return widths
  }

  /// The length of a line with columns of these widths.
  private static func length(_ widths: [Int]) -> Int { widths.reduce(2 * (widths.count - 1), +) }

  private mutating func remove(_ heading: String) {
    guard let column = headings.firstIndex(of: heading) else { return }
    headings.remove(at: column)
    for index in rows.indices where column < rows[index].count { rows[index].remove(at: column) }
  }

  /// The lines of a row, without blanks at their ends.
  private func lines(_ row: [String], _ widths: [Int], wraps: Bool) -> [String] {
    let cells = zip(row, zip(headings, widths)).map { cell, column in
      wraps && wrappedColumns.contains(column.0) ? Self.wrap(cell, column.1) : [Self.cut(cell, column.1)]
    }
    return (0..<(cells.map(\.count).max() ?? 0)).map { number in
      var line = ""
      for ((column, cell), width) in zip(cells.enumerated(), widths) {
        let text = number < cell.count ? cell[number] : ""
        line += text
        if column + 1 < cells.count { line += String(repeating: " ", count: max(0, width - Self.width(text)) + 2) }
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  /// Makes the widest columns narrower until a line fits, or none can be made narrower.
  private func fit(_ widths: inout [Int], _ columns: Int) {
    let narrowed = headings.indices.filter { !wholeColumns.contains(headings[$0]) }
    var rest = Self.length(widths) - columns
    while rest > 0, let column = narrowed.max(by: { (widths[$0], $0) < (widths[$1], $1) }),
      widths[column] > Self.leastWidth
    {
      widths[column] -= 1
      rest -= 1
    }
  }

  /// The text in lines of at most this width, broken at blanks, and within words that are longer.
  static func wrap(_ text: String, _ width: Int) -> [String] {
    guard Self.width(text) > width else { return [text] }
    var (lines, line) = ([String](), "")
    for word in text.split(separator: " ") {
      if !line.isEmpty, Self.width(line) + 1 + Self.width(String(word)) <= width {
        line += " \(word)"
        continue
      }
      if !line.isEmpty { lines.append(line) }
      line = ""
      for character in word {
        if !line.isEmpty, Self.width(line) + Self.width(String(character)) > width {
          lines.append(line)
          line = ""
        }
        line.append(character)
      }
    }
    return lines + [line]
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
