/// The reason why a text is not a value of the requested type, with a description of the found and expected input.
public enum ValueTextError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A syntax error; `offset` counts characters from the start.
  case syntax(found: String, expected: String, offset: Int)
  /// The text is a value of another kind.
  case mismatch(found: String, expected: String)
  /// A number that does not fit the type.
  case outOfRange(found: String, allowed: String)
  /// A name that is not defined in the enumeration or bitmap.
  case unknownName(String, known: [String])
  /// A field that is not defined in the structure.
  case unknownField(String, known: [String])
  /// A missing mandatory field.
  case missingField(String)
  /// A field that occurs more than once.
  case duplicateField(String)
  /// Lists and structures are nested too deeply.
  case tooDeep

  public var description: String {
    switch self {
    case .syntax(let found, let expected, let offset):
      "found \(found) where \(expected) was expected, at character \(offset + 1)"
    case .mismatch(let found, let expected): "'\(found)' is not \(expected)"
    case .outOfRange(let found, let allowed): "\(found) is out of range; expected \(allowed)"
    case .unknownName(let name, let known): "unknown name '\(name)'; expected one of \(Self.listed(known))"
    case .unknownField(let name, let known):
      known.isEmpty
        ? "unknown field '\(name)'; no fields are expected"
        : "unknown field '\(name)'; expected one of \(Self.listed(known))"
    case .missingField(let name): "field '\(name)' is missing"
    case .duplicateField(let name): "field '\(name)' occurs twice"
    case .tooDeep: "lists and structures are nested too deeply"
    }
  }

  private static func listed(_ names: [String]) -> String { names.joined(separator: ", ") }
}
