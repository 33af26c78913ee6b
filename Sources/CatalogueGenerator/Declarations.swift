/// The declarations of all catalogue files.
struct Catalogue {
  /// Sorted by id.
  var clusters: [ClusterDeclaration] = []
  /// Types that several clusters use.
  var types: [TypeDeclaration] = []
  /// In the order of the file.
  var deviceTypes: [DeviceTypeDeclaration] = []

  /// Returns the type with this name for the declarations of a cluster.
  func type(_ name: String, in cluster: ClusterDeclaration?) -> TypeDeclaration? {
    cluster?.types.first { $0.name == name } ?? types.first { $0.name == name }
  }
}

/// The documentation of a declaration: a note and its section of the standard.
struct Reference {
  var note: String?
  /// The section with its book: "Matter Core § 9.5".
  var section: String?

  init(_ line: SourceLine, book: String) {
    note = line.note
    section = line.section.map { section in
      let (other, number) = Self.parts(section)
      return [other.isEmpty ? book : other, number.map { "§ \($0)" }].compactMap(\.self).joined(separator: " ")
    }
  }

  /// Returns the book and the number of a section: "Matter Core 9.5", "9.5", "Application Clusters".
  static func parts(_ section: String) -> (book: String, number: String?) {
    let start = section.lastIndex(of: " ").map(section.index(after:)) ?? section.startIndex
    let last = section[start...]
    guard last.first?.isNumber == true else { return (section, nil) }
    return (String(section[..<start].dropLast()), String(last))
  }

  /// The lines of a documentation comment; empty without a title, note and section.
  func comment(indent: String, title: String? = nil) -> String {
    let sentences = [title, note, section].compactMap { $0.map(Self.sentence) }
    return sentences.isEmpty ? "" : "\(indent)/// \(sentences.joined(separator: " "))\n"
  }

  private static func sentence(_ note: String) -> String { note.hasSuffix(".") ? note : note + "." }
}

struct ClusterDeclaration {
  var id = 0
  /// The name of the standard without blanks: `LevelControl`.
  var name = ""
  /// The name of the standard: "Level Control".
  var title = ""
  var revision = 0
  var qualities: [String] = []
  var reference: Reference
  var features: [FeatureDeclaration] = []
  var attributes: [AttributeDeclaration] = []
  var commands: [CommandDeclaration] = []
  var events: [EventDeclaration] = []
  /// Enumerations, bitmaps and structures, with those of the fields of commands and events.
  var types: [TypeDeclaration] = []
  /// The ids of response commands by the name of their type.
  var responses: [String: Int] = [:]

  /// The names that conformance expressions refer to.
  var names: [String] {
    features.map(\.code) + attributes.map(\.name) + commands.map(\.name) + events.map(\.name)
  }

  /// Sorts the elements by id: a cluster has those of its base as well.
  mutating func sort() {
    features.sort { $0.bit < $1.bit }
    attributes.sort { $0.id < $1.id }
    commands.sort { $0.id < $1.id }
    events.sort { $0.id < $1.id }
  }
}

struct FeatureDeclaration {
  var line: SourceLine
  var bit: Int
  var code: String
  var name: String
  var conformance: Conformance
}

/// A type as an attribute or field names it.
struct TypeReference {
  /// The name of a base type of the standard, such as `uint8`, or of a declared type.
  var name: String
  var isList: Bool
  var isNullable: Bool
}

struct AttributeDeclaration {
  var line: SourceLine
  var id: Int
  var name: String
  var type: TypeReference
  var conformance: Conformance
  var constraint: Constraint?
  var qualities: [String]
  var read: String?
  var write: String?
  var initial: String?
}

struct CommandDeclaration {
  var line: SourceLine
  var id: Int
  var name: String
  var reference: Reference
  var conformance: Conformance
  var qualities: [String]
  var invoke: String?
  /// The name of the type with the fields; nil without fields.
  var request: String?
  /// The name of the type of the response; nil for a status.
  var response: String?
}

struct EventDeclaration {
  var line: SourceLine
  var id: Int
  var name: String
  var priority: String
  var conformance: Conformance
  var read: String?
  var isFabricSensitive: Bool
  /// The name of the type with the fields; nil without fields.
  var payload: String?
}

/// A limit of the values of an attribute: `max 254`, `1 to 64`, `16`.
struct Constraint {
  var minimum: Int?
  var maximum: Int?
}

struct FieldDeclaration {
  var line: SourceLine
  var id: Int
  var name: String
  var type: TypeReference
  var isOptional: Bool
  /// The default of the argument of the command's method.
  var initial: String?
}

struct TypeDeclaration {
  enum Content {
    case structure([FieldDeclaration])
    case enumeration(bits: Int, [CodeDeclaration])
    case bitmap(bits: Int, [CodeDeclaration], isInverted: Bool)
  }

  var name: String
  var reference: Reference
  var content: Content

  /// The fields of a structure.
  var fields: [FieldDeclaration] {
    if case .structure(let fields) = content { fields } else { [] }
  }
  /// Whether an entry of this type belongs to a fabric.
  var isFabricScoped: Bool { fields.last?.id == 254 }
}

/// A value of an enumeration, or a field of a bitmap.
struct CodeDeclaration {
  /// The value, or the lowest bit.
  var number: Int
  /// The highest bit of a field of a bitmap.
  var last: Int
  var name: String
  /// The name in Swift.
  var constant: String
}

struct DeviceTypeDeclaration {
  var id: Int
  /// The name in the Device Library: "Dimmable Light".
  var title: String
  /// The name in Swift: `dimmableLight`.
  var constant: String
  var revision: Int
  /// The class of the standard: "simple", "utility" or "node".
  var deviceClass: String
  var reference: Reference
  /// Names or numbers of clusters.
  var servers: [String] = []
  var clients: [String] = []
  /// The names of required elements, by the name of the server cluster.
  var elements: [(cluster: String, names: [String])] = []
}
