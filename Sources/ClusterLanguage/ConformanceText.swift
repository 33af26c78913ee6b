/// A conformance expression of the standard: `M`, `O`, `LT`, `[LF&PA_LF]`, `P,!USR&(PIN|RID)`. Matter Core § 7.3.
///
/// MatterModel, which imports this module, evaluates it. Here it is only checked, to report errors with their line.
package struct ConformanceText {
  package let text: String
  private static let keywords: Set = ["M", "O", "P", "D", "X", "desc"]

  /// Throws if a name is not in the list, or if operators and brackets are misplaced.
  package func check(names: [String], in line: SourceLine) throws(CatalogueError) {
    func fail(_ problem: String) -> CatalogueError { line.error("conformance “\(text)”: \(problem)") }
    // The evaluator is recursive.
    guard text.utf8.count <= 1000 else { throw fail("too long; expected at most 1,000 bytes") }
    var brackets: [Character] = []
    /// Whether a name or an opening bracket must follow.
    var needsOperand = true
    var rest = text[...]
    while let next = rest.first {
      let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      let token = word.isEmpty ? rest.prefix(1) : word
      rest.removeFirst(token.count)
      if !word.isEmpty {
        guard needsOperand else { throw fail("“\(word)” follows an operand; expected an operator") }
        guard Self.keywords.contains(String(word)) || Int(word) != nil || names.contains(String(word)) else {
          throw fail(
            "the cluster has no \(word); expected a feature code such as \(names.first ?? "LT"), or an element")
        }
        needsOperand = false
      } else if next == "[" || next == "(" || (next == "!" && rest.first != "=") {
        guard needsOperand else { throw fail("“\(next)” follows an operand; expected an operator") }
        if next != "!" { brackets.append(next == "[" ? "]" : ")") }
      } else {
        guard !needsOperand else { throw fail("“\(next)” follows an operator; expected a name") }
        switch next {
        case "]", ")":
          guard brackets.popLast() == next else { throw fail("“\(next)” closes nothing; expected pairs of brackets") }
        case ".":
          // The letter of a choice with its limit.
          rest = rest.drop { $0.isLetter || $0.isNumber || $0 == "+" || $0 == "-" }
        case "&", "|", "^", ",": needsOperand = true
        case "<", ">", "=", "!":
          if rest.first == "=" { rest.removeFirst() }
          needsOperand = true
        default: throw fail("“\(next)” is unknown here; expected names, & | ^ ! , and brackets")
        }
      }
    }
    guard !needsOperand, brackets.isEmpty else { throw fail("the end is missing; expected a name or a bracket") }
  }
}
