internal import Foundation

/// A JSON value in requests and answers, with accessors that return nil for values of another type.
package enum CloudJSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  /// An integer that a `number` can't represent exactly, such as an id.
  case large(Int64)
  case text(String)
  indirect case array([CloudJSON])
  indirect case object([String: CloudJSON])

  /// - Throws: if the JSON is invalid or nested too deeply.
  init(_ bytes: [UInt8]) throws { self = try JSONDecoder().decode(CloudJSON.self, from: Data(bytes)) }

  /// The encoded value; members are sorted by name, so that equal values have equal bytes.
  package var bytes: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Decoded JSON, and values made from finite numbers, can be encoded.
    return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
  }

  // MARK: Accessors

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
  /// The texts of an array; other elements are left out.
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
    // Encodes whole numbers as integers.
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
  /// Decodes an object without the members that are invalid.
  /// - Returns: nil if a required member is invalid.
  static func lenient(_ json: CloudJSON) -> Self? {
    guard var members = json.object else { return nil }
    // Each attempt removes one invalid member; an object has only a few.
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
