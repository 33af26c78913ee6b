internal import Foundation

/// A JSON value as a cloud tells it: it can be asked for anything, and has it or has not.
package enum CloudJSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  /// A whole number that would be another as a `number`: an id that a cloud wants back.
  case large(Int64)
  case text(String)
  indirect case array([CloudJSON])
  indirect case object([String: CloudJSON])

  /// - Throws: where it is no JSON, or lies deeper than anybody means it.
  init(_ bytes: [UInt8]) throws { self = try JSONDecoder().decode(CloudJSON.self, from: Data(bytes)) }

  /// The same value each time for the same thing: members in the order of their names.
  package var bytes: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // What came in as JSON, or was made here of finite numbers, can be written.
    return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
  }

  // MARK: Asking

  /// A member of an object.
  package subscript(name: String) -> CloudJSON? { object?[name] }

  package var isTrue: Bool? { if case .bool(let value) = self { value } else { nil } }
  package var number: Double? {
    switch self {
    case .number(let value): value.isFinite ? value : nil
    case .large(let value): Double(value)
    default: nil
    }
  }
  package var text: String? { if case .text(let value) = self { value } else { nil } }
  package var array: [CloudJSON]? { if case .array(let value) = self { value } else { nil } }
  package var object: [String: CloudJSON]? { if case .object(let value) = self { value } else { nil } }
  /// The texts of a list, without what is none.
  package var texts: [String]? { array?.compactMap(\.text) }
}

extension CloudJSON: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      let whole = Int64(exactly: value) == nil || abs(value) >= 0x1p53 ? try? container.decode(Int64.self) : nil
      self = whole.map { .large($0) } ?? .number(value)
    } else if let value = try? container.decode([String: CloudJSON].self) {
      self = .object(value)
    } else {
      self = .array(try container.decode([CloudJSON].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    // Who expects a whole number gets one.
    case .number(let value):
      if let whole = Int64(exactly: value) { try container.encode(whole) } else { try container.encode(value) }
    case .large(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension CloudJSON: ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(arrayLiteral elements: CloudJSON...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, CloudJSON)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { first, _ in first }))
  }
}

extension Decodable {
  /// What can be read of an object: a member that is not as expected is left out.
  /// - Returns: nil where it can't be read without one that it left out.
  static func lenient(_ json: CloudJSON) -> Self? {
    guard var members = json.object else { return nil }
    // One at a time is found and left out; nobody has more than a few.
    for _ in 0..<16 {
      do {
        return try JSONDecoder().decode(Self.self, from: Data(CloudJSON.object(members).bytes))
      } catch let error as DecodingError {
        guard let name = error.path.first?.stringValue, members.removeValue(forKey: name) != nil else { return nil }
      } catch {
        return nil
      }
    }
    return nil
  }
}

extension DecodingError {
  fileprivate var path: [any CodingKey] {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context.codingPath
    @unknown default: []
    }
  }
}
