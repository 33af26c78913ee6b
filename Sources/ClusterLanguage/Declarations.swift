/// The declarations of all catalogue files.
package struct Catalogue {
  /// Sorted by id.
  package var clusters: [ClusterDeclaration] = []
  /// Types that several clusters use.
  package var types: [TypeDeclaration] = []
  /// In the order of the file.
  package var deviceTypes: [DeviceTypeDeclaration] = []

  package init() {}

  /// Returns the type with this name for the declarations of a cluster.
  package func type(_ name: String, in cluster: ClusterDeclaration?) -> TypeDeclaration? {
    cluster?.types.first { $0.name == name } ?? types.first { $0.name == name }
  }
}

/// The documentation of a declaration: a note and its section of the standard.
package struct Reference {
  package var note: String?
  /// The section with its book: "Matter Core § 9.5".
  package var section: String?

  package init(_ line: SourceLine, book: String) {
    note = line.note
    section = line.section.map { section in
      let (other, number) = Self.parts(section)
      return [other.isEmpty ? book : other, number.map { "§ \($0)" }].compactMap(\.self).joined(separator: " ")
    }
  }

  /// Returns the book and the number of a section: "Matter Core 9.5", "9.5", "Application Clusters".
  package static func parts(_ section: String) -> (book: String, number: String?) {
    let start = section.lastIndex(of: " ").map(section.index(after:)) ?? section.startIndex
    let last = section[start...]
    guard last.first?.isNumber == true else { return (section, nil) }
    return (String(section[..<start].dropLast()), String(last))
  }

  package var isEmpty: Bool { note == nil && section == nil }

  /// The lines of a documentation comment; empty without a title, note and section.
  package func comment(indent: String, title: String? = nil) -> String {
    let sentences = [title, note, section].compactMap { $0.map(Self.sentence) }
    return sentences.isEmpty ? "" : "\(indent)/// \(sentences.joined(separator: " "))\n"
  }

  private static func sentence(_ note: String) -> String { note.hasSuffix(".") ? note : note + "." }
}

package struct ClusterDeclaration {
  package var line: SourceLine
  package var id = 0
  /// The name of the standard without blanks: `LevelControl`.
  package var name = ""
  /// The name of the standard: "Level Control".
  package var title = ""
  package var revision = 0
  /// The name of the file with the declarations that it shares with other clusters.
  package var base: String?
  package var qualities: [String] = []
  package var reference: Reference
  package var features: [FeatureDeclaration] = []
  package var attributes: [AttributeDeclaration] = []
  package var commands: [CommandDeclaration] = []
  package var events: [EventDeclaration] = []
  /// Enumerations, bitmaps and structures, with those of the fields of commands and events.
  package var types: [TypeDeclaration] = []
  /// The ids of response commands by the name of their type.
  package var responses: [String: Int] = [:]

  /// The names that conformance expressions refer to.
  package var names: [String] {
    features.map(\.code) + attributes.map(\.name) + commands.map(\.name) + events.map(\.name)
  }

  /// Sorts the elements by id: a cluster has those of its base as well.
  package mutating func sort() {
    features.sort { $0.bit < $1.bit }
    attributes.sort { $0.id < $1.id }
    commands.sort { $0.id < $1.id }
    events.sort { $0.id < $1.id }
  }
}

package struct FeatureDeclaration {
  package var line: SourceLine
  package var bit: Int
  package var code: String
  package var name: String
  package var conformance: ConformanceText
}

/// An attribute, command or event.
package protocol ElementDeclaration {
  var line: SourceLine { get }
  var id: Int { get }
  var name: String { get }
  var conformance: ConformanceText { get }
}

/// A type as an attribute or field names it.
package struct TypeReference {
  /// The name of a base type of the standard, such as `uint8`, or of a declared type.
  package var name: String
  package var isList = false
  package var isNullable = false
  /// The unit of a number, one of ``units``.
  package var unit: String?

  /// The units of numbers: the cases of `ValueUnit`, which the generator writes.
  ///
  /// `levelStep` is a difference of levels. `illuminance` is 10,000 · log10(lux) + 1; 0 is too dark to be measured
  /// (Application Clusters § 2.2.5.1). `hectopascals` is a tenth of a kilopascal.
  package static let units = [
    "level", "levelStep", "mireds", "seconds", "tenthsOfSecond", "milliseconds", "hundredthsOfDegree", "tenthsOfDegree",
    "hundredthsOfPercent", "halfPercent", "percent", "illuminance", "hectopascals", "tenthsOfCubicMeterPerHour",
    "milliwatts", "millivolts", "milliamperes", "millihertz", "milliwattHours",
  ]

  package init(name: String) { self.name = name }
}

package struct AttributeDeclaration: ElementDeclaration {
  package var line: SourceLine
  package var id: Int
  package var name: String
  package var type: TypeReference
  package var conformance: ConformanceText
  package var constraint: Limits?
  package var qualities: [String]
  package var read: String?
  package var write: String?
  package var initial: String?
}

package struct CommandDeclaration: ElementDeclaration {
  package var line: SourceLine
  package var id: Int
  package var name: String
  package var reference: Reference
  package var conformance: ConformanceText
  package var qualities: [String]
  package var invoke: String?
  /// The name of the type with the fields; nil without fields.
  package var request: String?
  /// The name of the type of the response; nil for a status.
  package var response: String?
  /// What the command of a manufacturer's cluster does.
  package var effects: [EffectDeclaration] = []
}

package struct EventDeclaration: ElementDeclaration {
  package var line: SourceLine
  package var id: Int
  package var name: String
  package var priority: String
  package var conformance: ConformanceText
  package var read: String?
  package var isFabricSensitive: Bool
  /// The name of the type with the fields; nil without fields.
  package var payload: String?
}

/// A limit of the values of an attribute: `max 254`, `1 to 64`, `16`.
package struct Limits {
  package var minimum: Int?
  package var maximum: Int?
}

package struct FieldDeclaration {
  package var line: SourceLine
  package var id: Int
  package var name: String
  package var type: TypeReference
  package var isOptional: Bool
  /// The default of the argument of the command's method.
  package var initial: String?
}

package struct TypeDeclaration {
  package enum Content {
    case structure([FieldDeclaration])
    case enumeration(bits: Int, [CodeDeclaration])
    case bitmap(bits: Int, [CodeDeclaration], isInverted: Bool)
  }

  package var name: String
  package var reference: Reference
  package var content: Content
  /// The name of the declared type that this one is another name of.
  package var original: String?

  /// The word that begins the declaration.
  package var keyword: String {
    switch content {
    case .structure: "struct"
    case .enumeration(let bits, _): "enum\(bits)"
    case .bitmap(let bits, _, _): "map\(bits)"
    }
  }
  /// The values of an enumeration, or the fields of a bitmap.
  package var codes: [CodeDeclaration] {
    switch content {
    case .enumeration(_, let codes), .bitmap(_, let codes, _): codes
    case .structure: []
    }
  }
  /// The fields of a structure.
  package var fields: [FieldDeclaration] {
    if case .structure(let fields) = content { fields } else { [] }
  }
  /// Whether an entry of this type belongs to a fabric.
  package var isFabricScoped: Bool { fields.last?.id == 254 }
}

/// A value of an enumeration, or a field of a bitmap.
package struct CodeDeclaration {
  /// The value, or the lowest bit.
  package var number: Int
  /// The highest bit of a field of a bitmap.
  package var last: Int
  package var name: String
  /// The name in Swift.
  package var constant: String
}

package struct DeviceTypeDeclaration {
  package var id: Int
  /// The name in the Device Library: "Dimmable Light".
  package var title: String
  /// The name in Swift: `dimmableLight`.
  package var constant: String
  package var revision: Int
  /// The class of the standard: "simple", "utility" or "node".
  package var deviceClass: String
  package var reference: Reference
  /// Names or numbers of clusters.
  package var servers: [String] = []
  package var clients: [String] = []
  /// The names of required elements, by the name of the server cluster.
  package var elements: [(cluster: String, names: [String])] = []
}
