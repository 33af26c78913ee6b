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
}

extension HubMessage {
  /// The commands of ``start(_:)`` and ``cancel(_:)``.
  static let start = HubJSON.prefix + "start", cancel = HubJSON.prefix + "cancel"

  /// Decodes a command.
  /// - Throws: `JSONParser.Failure` or `DecodingError` if it is malformed.
  package init(_ bytes: [UInt8]) throws { try self.init(JSONParser.parse(bytes)) }

  init(_ message: JSONValue) throws {
    let invalid = DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not a command"))
    guard let command = message["command"]?.text, command.hasPrefix(HubJSON.prefix),
      let id = message["message_id"]?.text
    else { throw invalid }
    if command == Self.start {
      self = .start(try HubJSON.decode(from: message["args"] ?? .null))
    } else if command == Self.cancel {
      guard let id = message["args"]?["id"]?.text else { throw invalid }
      self = .cancel(id: id)
    } else {
      self = .request(
        id: id, try HomeRequest(command: command, message["args"]), origin: message["origin"]?.text,
        options: try message["options"].map { try HubJSON.decode(from: $0) } ?? RequestOptions())
    }
  }

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

extension HomeRequest {
  /// Decodes a request from its command and arguments; null arguments are empty ones.
  init(command: String, _ arguments: JSONValue?) throws {
    let values: JSONValue = if let arguments, !arguments.isNull { arguments } else { .object([]) }
    let name = String(command.dropFirst(HubJSON.prefix.count))
    self = try HubJSON.decode(from: .object([.init(name, values)]))
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
