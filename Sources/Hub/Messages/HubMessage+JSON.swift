internal import Foundation
internal import HomeControl
internal import HomeModel
package import NIOCore
internal import WebClient

/// The coders of messages with the prefix `hearth_`.
enum HubJSON {
  static let prefix = "hearth_"
  private static let decoder = JSONDecoder()
  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    // Slashes are frequent in base64.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  static func encode(_ value: some Encodable) throws -> ByteBuffer { ByteBuffer(bytes: try encoder.encode(value)) }

  static func decode<Value: Decodable>(_: Value.Type = Value.self, from bytes: [UInt8]) throws -> Value {
    try decoder.decode(Value.self, from: Data(bytes))
  }

  static func decode<Value: Decodable>(_: Value.Type = Value.self, from value: JSONValue) throws -> Value {
    try decoder.decode(Value.self, from: Data(value.bytes.readableBytesView))
  }

  static func value(of value: some Encodable) throws -> JSONValue {
    try JSONParser.parse([UInt8](try encoder.encode(value)))
  }

  /// Returns the path of the value that can't be decoded, and what was expected, without the names of Swift types.
  /// - Parameter root: the object that contains the value, which is not part of the path.
  static func text(of error: any Error, in root: String) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    let (path, expectation): ([any CodingKey], String)
    switch error {
    case .keyNotFound(let key, let context): (path, expectation) = (context.codingPath + [key], "missing")
    case .valueNotFound(_, let context): (path, expectation) = (context.codingPath, "missing")
    case .typeMismatch(let type, let context): (path, expectation) = (context.codingPath, "expected \(name(of: type))")
    case .dataCorrupted(let context): (path, expectation) = (context.codingPath, "invalid value")
    @unknown default: return "invalid arguments"
    }
    var names = path.map { key in key.intValue.map { String($0) } ?? key.stringValue }
    if names.first == root { names.removeFirst() }
    return names.isEmpty ? expectation : "\(names.joined(separator: ".")): \(expectation)"
  }

  static func isWithoutPath(_ error: any Error) -> Bool {
    if case .dataCorrupted(let context)? = error as? DecodingError { context.codingPath.isEmpty } else { false }
  }

  private static func name(of type: Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any Numeric.Type: "a number"
    case is [Any].Type: "an array"
    case is [String: Any].Type: "an object"
    // An enumeration is an object with the name of its case.
    default: "an object with one of the known members"
    }
  }
}

extension HubMessage {
  /// The commands of ``start(_:)`` and ``cancel(_:)``.
  static let start = HubJSON.prefix + "start", cancel = HubJSON.prefix + "cancel"

  /// Decodes a command.
  /// - Throws: `JSONParser.Failure` or `HomeError` `badArguments` if it is malformed.
  package init(_ bytes: [UInt8]) throws { try self.init(JSONParser.parse(bytes)) }

  /// Decodes a command; null arguments are empty ones.
  /// - Throws: `HomeError` `badArguments`. The cause of an unknown command is a `MatterServerError`.
  init(_ message: JSONValue) throws(HomeError) {
    guard let command = message["command"]?.text, command.hasPrefix(HubJSON.prefix),
      let id = message["message_id"]?.text
    else { throw HomeError(.badArguments, "not a command with the prefix \(HubJSON.prefix)") }
    let name = String(command.dropFirst(HubJSON.prefix.count))
    let arguments: JSONValue = if let given = message["args"], !given.isNull { given } else { .object([]) }
    guard [Self.start, Self.cancel].contains(command) || HomeRequest.CodingKeys(rawValue: name) != nil else {
      let text = "unknown command \(command)"
      throw HomeError(.badArguments, text, cause: MatterServerError(.invalidCommand, text))
    }
    do {
      if command == Self.start {
        self = .start(try HubJSON.decode(from: arguments))
      } else if command == Self.cancel {
        self = .cancel(id: try HubJSON.decode(Cancellation.self, from: arguments).id)
      } else {
        self = .request(
          id: id, try HubJSON.decode(from: .object([.init(name, arguments)])), origin: message["origin"]?.text,
          options: try message["options"].map { try HubJSON.decode(from: $0) } ?? RequestOptions())
      }
    } catch {
      let path = Self.numberOutOfRange(error, name, arguments).map { "\($0): " } ?? ""
      throw HomeError(.badArguments, "\(command): \(path)\(HubJSON.text(of: error, in: name))", cause: error)
    }
  }

  /// Returns the name of an argument that is a number out of range, because Foundation does not report its path; nil for
  /// another error.
  private static func numberOutOfRange(_ error: any Error, _ name: String, _ arguments: JSONValue) -> String? {
    // No request has more arguments.
    guard HubJSON.isWithoutPath(error), let members = arguments.members, members.count <= 8 else { return nil }
    for (index, member) in members.enumerated() where member.value.integer(as: Int128.self) != nil {
      var others = members
      others[index] = .init(member.name, 0)
      do { _ = try HubJSON.decode(HomeRequest.self, from: .object([.init(name, .object(others))])) } catch {
        guard !HubJSON.isWithoutPath(error) else { continue }
      }
      return member.name
    }
    return nil
  }

  /// The arguments of `hearth_cancel`.
  private struct Cancellation: Decodable { var id: String }

  package var text: ByteBuffer {
    get throws {
      func text(
        _ id: String, _ command: String, _ arguments: JSONValue, origin: String? = nil, options: JSONValue? = nil
      ) -> ByteBuffer {
        JSONValue.present([
          "message_id": .string(id), "command": .string(command), "args": arguments,
          "origin": origin.map { .string($0) }, "options": options,
        ]).bytes
      }
      switch self {
      case .start(let start): return text(Self.start, Self.start, try HubJSON.value(of: start))
      case .cancel(let id): return text(Self.cancel, Self.cancel, ["id": .string(id)])
      case .request(let id, let request, let origin, let options):
        // A request is encoded as an object with one member, which is named like the case.
        guard let member = try HubJSON.value(of: request).members?.first else {
          throw EncodingError.invalidValue(request, .init(codingPath: [], debugDescription: "not an object"))
        }
        var encoded: JSONValue?
        if options != RequestOptions() { encoded = try HubJSON.value(of: options) }
        return text(id, HubJSON.prefix + member.name, member.value, origin: origin, options: encoded)
      }
    }
  }
}

// The envelope of the standard API: results have the id of their command, events a name.
extension HubNews: Codable {
  private enum Keys: String, CodingKey {
    case event, data, result, details
    case id = "message_id", code = "error_code", error = "hearth_error"
  }

  private enum Event: String, Codable {
    case welcome = "hearth_welcome", refused = "hearth_refused", reset = "hearth_reset", part = "hearth_part",
      contacts = "hearth_contacts"
    case debouncer = "hearth_settling", synchronized = "hearth_synchronized", update = "hearth_update"
    case progress = "hearth_progress"
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    func data<Value: Decodable>() throws -> Value { try container.decode(Value.self, forKey: .data) }
    if let name = try container.decodeIfPresent(String.self, forKey: .event) {
      switch Event(rawValue: name) {
      case .welcome: self = .welcome(try data())
      case .refused: self = .refused(try data())
      case .reset: self = .reset
      case .part: self = .part(try data())
      case .contacts: self = .contacts(try data())
      case .debouncer: self = .debouncer(try data())
      case .synchronized: self = .synchronized(try data())
      case .update: self = .update(try data())
      case .progress: self = .progress(try data())
      case nil: self = .other
      }
      return
    }
    let id = try container.decodeIfPresent(String.self, forKey: .id)
    switch (id, container.contains(.code)) {
    case (let id?, true):
      let error =
        try container.decodeIfPresent(HomeError.self, forKey: .error)
        ?? HomeError(.badArguments, try container.decodeIfPresent(String.self, forKey: .details) ?? "invalid request")
      self = id == HubMessage.start ? .refused(error) : .reply(id: id, .failure(error))
    case (let id?, false) where id != HubMessage.start:
      self = .reply(id: id, .success(try container.decode(HomeReply.self, forKey: .result)))
    default: self = .other
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    func put(_ event: Event, _ data: some Encodable) throws {
      try container.encode(event, forKey: .event)
      try container.encode(data, forKey: .data)
    }
    switch self {
    case .welcome(let welcome): try put(.welcome, welcome)
    case .refused(let error): try put(.refused, error)
    case .reset: try put(.reset, [String: String]())
    case .part(let changes): try put(.part, changes)
    case .contacts(let contacts): try put(.contacts, contacts)
    case .debouncer(let debouncer): try put(.debouncer, debouncer)
    case .synchronized(let position): try put(.synchronized, position)
    case .update(let update): try put(.update, update)
    case .progress(let progress): try put(.progress, progress)
    case .reply(let id, let result):
      try container.encode(id, forKey: .id)
      switch result {
      case .success(let reply): try container.encode(reply, forKey: .result)
      case .failure(let error):
        try container.encode(MatterServerError(error).code.rawValue, forKey: .code)
        try container.encode(error.description, forKey: .details)
        try container.encode(error, forKey: .error)
      }
    case .other: break
    }
  }

  package init(_ bytes: [UInt8]) throws { self = try HubJSON.decode(from: bytes) }
  package var text: ByteBuffer { get throws { try HubJSON.encode(self) } }
}
