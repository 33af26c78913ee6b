/// Names in Swift, derived from names of the standard.
package enum Names {
  /// Returns a name of the standard in camel case: "CSRNonce" is `csrNonce`.
  package static func camelCase(_ name: String) -> String {
    let letters = Array(name)
    var capitals = letters.prefix { $0.isUppercase }.count
    guard capitals > 0 else { return name }
    let follower = capitals < letters.count ? letters[capitals] : nil
    let isPlural =
      follower == "s" && capitals > 1 && (capitals + 1 == letters.count || letters[capitals + 1].isUppercase)
    // The last capital starts the next word, except in plurals and in "IPv", which is one word.
    if let follower, capitals > 1, !isPlural, follower.isLetter, !name.hasPrefix("IPv") { capitals -= 1 }
    return String(letters.prefix(capitals)).lowercased() + String(letters.dropFirst(capitals))
  }

  /// Returns the name of a device type: "On/Off Plug-in Unit" is `onOffPlugInUnit`.
  package static func deviceType(_ title: String) -> String {
    camelCase(
      title.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
  }

  /// Returns a name with its first letter in upper case.
  package static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

  /// Returns a name as an identifier: in backticks if it is a keyword.
  package static func identifier(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  private static let keywords: Set = [
    "as", "break", "case", "catch", "class", "continue", "default", "defer", "do", "else", "enum", "extension", "false",
    "for", "func", "guard", "if", "import", "in", "init", "internal", "is", "let", "nil", "operator", "private",
    "protocol", "public", "repeat", "return", "self", "static", "struct", "subscript", "super", "switch", "throw",
    "throws", "true", "try", "var", "where", "while",
  ]
}
