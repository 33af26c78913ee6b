import HearthHome

typealias JSON = JSONValue

extension JSONValue {
  /// The number, or null.
  static func optional(_ number: (some FixedWidthInteger)?) -> JSON { number.map { .int($0) } ?? .null }
  /// The flag, or null.
  static func optional(_ flag: Bool?) -> JSON { flag.map { .bool($0) } ?? .null }
  /// An array of strings.
  static func texts(_ texts: some Sequence<String>) -> JSON { .array(texts.map { .string($0) }) }

  /// The value of encoded JSON.
  static func encoded(_ text: String) -> JSON { (try? JSONParser.parse(Array(text.utf8))) ?? .string(text) }

  /// Returns the object with an additional member.
  func adding(_ key: String, _ value: JSON) -> JSON { adding(.object([Member(key, value)])) }

  /// Returns the object followed by the members of another one.
  func adding(_ other: JSON) -> JSON {
    guard case .object(let members) = self, case .object(let more) = other else { return self }
    return .object(members + more)
  }
}
