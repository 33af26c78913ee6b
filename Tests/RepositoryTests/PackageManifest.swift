import Foundation

/// The targets of Package.swift with the modules that they may import, read textually.
struct PackageManifest {
  /// The targets with sources, in the order of their declaration.
  private(set) var targets: [String] = []
  /// The dependencies of each target: other targets, and products of packages.
  private(set) var imports: [String: [String]] = [:]
  /// The global constants that stand for dependencies.
  private var constants: [String: [String]] = [:]

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static let current = PackageManifest(
    (try? String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)) ?? "")

  init(_ text: String) {
    let code = text.split(separator: "\n").filter { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("//") }
      .joined(separator: "\n")
    for match in code.matches(of: #/let (\w+): \[?Target\.Dependency\]? = /#) {
      constants[String(match.1)] = modules(in: Self.prefix(of: code[match.range.upperBound...], upTo: "\n"))
    }
    let declaration = #/(?:\bmodule|\.target|\.systemLibrary|\.executableTarget|\.plugin)\(\s*(?:name: )?"([\w-]+)"/#
    for match in code.matches(of: declaration) {
      let name = String(match.1)
      targets.append(name)
      let arguments = Self.prefix(of: code[match.range.upperBound...], upTo: ")")
      guard let label = arguments.firstRange(of: #/\b(?:imports|dependencies):/#) else {
        imports[name] = []
        continue
      }
      imports[name] = modules(in: Self.prefix(of: arguments[label.upperBound...], upTo: ","))
    }
  }

  /// Returns the text before the first `end` that is not in brackets.
  private static func prefix(of text: Substring, upTo end: Character) -> Substring {
    var depth = 0
    for index in text.indices {
      let character = text[index]
      if depth == 0, character == end { return text[..<index] }
      if "([".contains(character) { depth += 1 }
      if ")]".contains(character) { depth -= 1 }
    }
    return text
  }

  /// Returns the modules of a dependency expression: products, names of targets, and constants.
  private func modules(in expression: Substring) -> [String] {
    let product = #/\.product\(\s*name: "([^"]+)"[^)]*\)/#
    let string = #/"([^"]+)"/#
    var rest = String(expression)
    var result = rest.matches(of: product).map { String($0.1) }
    rest.replace(product, with: "")
    result += rest.matches(of: string).map { String($0.1) }
    rest.replace(string, with: "")
    return result + rest.matches(of: #/\w+/#).flatMap { constants[String($0.0)] ?? [] }
  }
}
