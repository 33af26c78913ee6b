internal import MatterModel
package import Yams

/// Reads the nodes of a document, and collects all problems instead of stopping at the first.
package protocol DocumentReader {
  var document: YAMLDocument { get }
  var problems: [DefinitionProblem] { get set }
}

extension DocumentReader {
  /// Returns the values of a mapping by key, and reports keys that are not `known`. Nil if the node is not a mapping.
  package mutating func fields(of node: Node, known: [String], what: String) -> [String: Node]? {
    guard case .mapping(let mapping) = node else {
      report(node, expected: "\(what) with \(DefinitionReader.list(known.prefix(3).map { "“\($0):”" }, last: "and"))")
      return nil
    }
    var fields: [String: Node] = [:]
    for (key, value) in mapping {
      if let text = key.scalar?.string, known.contains(text) {
        fields[text] = value
      } else {
        let suggestions = NearestName.suggestions(for: key.scalar?.string ?? "", in: known)
        report(
          at: document.mark(of: key), found: "key \(key.summary)",
          expected: suggestions.isEmpty ? DefinitionReader.list(known) : "a key of \(what)", suggestions: suggestions)
      }
    }
    return fields
  }

  package mutating func boolean(_ node: Node?) -> Bool? {
    guard let node else { return nil }
    guard let value = node.scalar.flatMap({ ScalarReading.boolean($0.string) }), !node.isNull else {
      report(node, expected: "true or false")
      return nil
    }
    return value
  }

  /// Returns the value with a name in any spelling, and reports another name.
  package mutating func choice<Value>(_ node: Node?, _ choices: [(name: String, value: Value)]) -> Value? {
    guard let node else { return nil }
    let text = node.scalar?.string ?? ""
    if let found = choices.first(where: { NormalizedName($0.name) == NormalizedName(text) }) { return found.value }
    let names = choices.map(\.name)
    report(
      at: document.mark(of: node), found: node.summary, expected: DefinitionReader.list(names.map { "“\($0)”" }),
      suggestions: NearestName.suggestions(for: text, in: names))
    return nil
  }

  package mutating func report(_ node: Node, expected: String) {
    report(at: document.mark(of: node), found: node.summary, expected: expected)
  }

  package mutating func report(at mark: SourceMark, found: String, expected: String, suggestions: [String] = []) {
    problems.append(DefinitionProblem(at: mark, found: found, expected: expected, suggestions: suggestions))
  }
}
