/// An error in a declaration of a cluster or device type. Its description is a compiler message, which SwiftPM and editors
/// show at its line.
package struct CatalogueError: Error, Equatable, CustomStringConvertible {
  package var file: String
  package var line: Int
  /// `<what>: <what is wrong>; <what was expected>`.
  package var message: String

  package init(file: String, line: Int, message: String) {
    (self.file, self.line, self.message) = (file, line, message)
  }

  package var description: String { "\(file):\(line): error: \(message)" }
}
