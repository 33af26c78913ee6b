import MatterModel

/// A JSON value that keeps the order of its keys.
enum JSON: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral, ExpressibleByIntegerLiteral
{
  case null
  case bool(Bool)
  case number(Int64)
  case decimal(Double)
  case string(String)
  case array([JSON])
  case object([Member])
  /// Encoded JSON, which is printed unchanged.
  case encoded(String)

  struct Member: Hashable, Sendable {
    var key: String
    var value: JSON
  }

  init(stringLiteral value: String) { self = .string(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(integerLiteral value: Int64) { self = .number(value) }
  init(nilLiteral: ()) { self = .null }
  init(arrayLiteral elements: JSON...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements.map { Member(key: $0, value: $1) }) }

  static func optional(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
  static func integer(_ number: some BinaryInteger) -> JSON { .number(Int64(clamping: number)) }

  /// Returns the object with an additional member.
  func adding(_ key: String, _ value: JSON) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members + [Member(key: key, value: value)])
  }

  /// Returns the object followed by the members of another one.
  func adding(_ other: JSON) -> JSON {
    guard case .object(let members) = self, case .object(let more) = other else { return self }
    return .object(members + more)
  }

  /// The encoded value on one line, without blanks.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let value): "\(value)"
    case .decimal(let value): value.isFinite ? "\(value)" : "null"
    case .string(let value): Self.quoted(value)
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
    case .encoded(let text): text
    }
  }

  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
