/// An error in a catalogue file, in the form of a compiler message, which SwiftPM and editors show at its line.
struct CatalogueError: Error, Equatable, CustomStringConvertible {
  var file: String
  var line: Int
  /// `<what>: <what is wrong>; <what was expected>`.
  var message: String

  var description: String { "\(file):\(line): error: \(message)" }
}
