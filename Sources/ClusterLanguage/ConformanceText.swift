/// A conformance expression of the standard: `M`, `O`, `LT`, `[LF&PA_LF]`, `P,!USR&(PIN|RID)`. Matter Core § 7.3.
///
/// MatterModel, which imports this module, evaluates it. Here it is only checked, to report errors with their line.
package struct ConformanceText {
  package let text: String

  /// Throws if the text is not an expression, or if a name is not in the list.
  package func check(names: [String], in line: SourceLine) throws(CatalogueError) {
    func fail(_ problem: String) -> CatalogueError { line.error("conformance “\(text)”: \(problem)") }
    // The parser is recursive.
    guard text.utf8.count <= 1000 else { throw fail("too long; expected at most 1,000 bytes") }
    var parser = ConformanceParser(text) { _ in nil }
    do throws(ConformanceSyntaxError) { _ = try parser.parts() } catch {
      throw fail("error at offset \(error.position); expected \(error.expected)")
    }
    if let unknown = parser.names.first(where: { !names.contains($0) }) {
      throw fail("the cluster has no \(unknown); expected a feature code such as \(names.first ?? "LT"), or an element")
    }
  }
}
