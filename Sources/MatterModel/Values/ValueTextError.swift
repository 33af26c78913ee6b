/// Why a text is not a value of the type asked for. The description says what was found and what was expected.
public enum ValueTextError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The text itself cannot be read; `offset` counts characters from its beginning.
  case syntax(found: String, expected: String, offset: Int)
  /// The text is a value, but not of this kind.
  case mismatch(found: String, expected: String)
  /// A number, or a named bit, beyond what the type holds.
  case outOfRange(found: String, allowed: String)
  /// A name that the enumeration or bitmap does not have.
  case unknownName(String, known: [String])
  /// A field that the structure does not have.
  case unknownField(String, known: [String])
  /// A field that the structure must have.
  case missingField(String)
  /// A field that is there more than once.
  case duplicateField(String)
  /// Lists and structures nest deeper than any value of the standard.
  case tooDeep

  public var description: String {
    switch self {
    case .syntax(let found, let expected, let offset):
      "found \(found) where \(expected) was expected, at character \(offset + 1)"
    case .mismatch(let found, let expected): "'\(found)' is not \(expected)"
    case .outOfRange(let found, let allowed): "\(found) is out of range; allowed is \(allowed)"
    case .unknownName(let name, let known): "there is no '\(name)'; known are \(Self.listed(known))"
    case .unknownField(let name, let known):
      known.isEmpty
        ? "there is no field '\(name)': no fields are expected here"
        : "there is no field '\(name)'; known are \(Self.listed(known))"
    case .missingField(let name): "the field '\(name)' is missing"
    case .duplicateField(let name): "the field '\(name)' comes twice"
    case .tooDeep: "lists and structures nest too deep"
    }
  }

  private static func listed(_ names: [String]) -> String { names.joined(separator: ", ") }
}
