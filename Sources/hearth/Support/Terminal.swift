import Foundation
import Glibc

/// The terminal behind a descriptor.
enum Terminal {
  /// The number of columns of standard output's terminal; nil for a pipe or a file, or if the number is not known.
  static var columns: Int? { size(\.ws_col) }
  /// The number of its lines, likewise.
  static var rows: Int? { size(\.ws_row) }

  private static func size(_ dimension: KeyPath<winsize, UInt16>) -> Int? {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size[keyPath: dimension] > 0 else { return nil }
    return Int(size[keyPath: dimension])
  }

  /// Returns whether to write colors to a descriptor: only to a terminal that supports them, and not if `NO_COLOR` is set
  /// (https://no-color.org).
  static func hasColors(_ descriptor: Int32) -> Bool {
    isatty(descriptor) != 0 && allowsColors(ProcessInfo.processInfo.environment)
  }

  static func allowsColors(_ environment: [String: String]) -> Bool {
    (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }
}

/// Colors results and messages, without changing their text or width.
enum Paint {
  private enum Style: String { case bold = "1", faint = "2", red = "31", green = "32", yellow = "33" }

  /// The colors of cells that consist of a state.
  private static let cells: [String: Style] = [
    "online": .green, "partiallyOnline": .yellow, "offline": .red, "unknown": .faint, "unreachable": .red,
    "no power": .red, "suspended": .yellow, "–": .faint, "ok": .green, "note": .yellow, "problem": .red,
  ]

  /// The colors of words at the beginning of a result.
  private static let beginnings: [(String, Style)] = [("passed", .green), ("FAILED", .red)]

  /// Colors a result: the headings and states of a table, or the outcome of a run.
  static func result(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.first else { return text }
    if isHeading(first) {
      return ([apply(.bold, first)] + lines.dropFirst().map(row)).joined(separator: "\n")
    }
    for (word, style) in beginnings where text.hasPrefix(word + " ") {
      return apply(style, word) + text.dropFirst(word.count)
    }
    return text
  }

  /// Colors a message: red for an error, yellow for a warning.
  static func message(_ text: String) -> String {
    for (start, style) in [("hearth: warning:", Style.yellow), ("hearth:", .red)] where text.hasPrefix(start) {
      return apply(style, start) + text.dropFirst(start.count)
    }
    return text
  }

  /// Returns whether a line has the headings of a ``Table``, which are the only lines in capitals with columns.
  private static func isHeading(_ line: Substring) -> Bool {
    line.contains("  ") && line.allSatisfy { $0.isUppercase || $0 == " " || $0 == "…" }
  }

  /// Colors the cells of a row, which are separated by at least two blanks.
  private static func row(_ line: Substring) -> String {
    var (result, cell, blanks) = ("", "", 0)
    func painted(_ cell: String) -> String { cells[cell].map { apply($0, cell) } ?? cell }
    for character in line {
      guard character == " " else {
        if blanks > 1 {
          result += painted(cell)
          cell = ""
        }
        // A single blank belongs to the cell; two or more separate cells.
        let gap = String(repeating: " ", count: blanks)
        if cell.isEmpty { result += gap } else { cell += gap }
        blanks = 0
        cell.append(character)
        continue
      }
      blanks += 1
    }
    return result + painted(cell) + String(repeating: " ", count: blanks)
  }

  private static func apply(_ style: Style, _ text: some StringProtocol) -> String {
    "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
  }
}
