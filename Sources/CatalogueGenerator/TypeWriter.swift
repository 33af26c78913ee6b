internal import ClusterLanguage

/// Writes the Swift types of enumerations, bitmaps and structures.
struct TypeWriter {
  let names: TypeNames
  let indent: String

  func types(_ types: [TypeDeclaration]) throws(CatalogueError) -> String {
    var text = ""
    for type in types {
      text += type.reference.comment(indent: indent)
      if let original = type.original {
        text += "\(indent)public typealias \(type.name) = \(original)\n\n"
        continue
      }
      switch type.content {
      case .structure(let fields): text += try structure(type, fields)
      case .enumeration(let bits, let codes): text += enumeration(type.name, bits, codes)
      case .bitmap(let bits, let codes, let isInverted): text += bitmap(type.name, bits, codes, isInverted)
      }
      text += "\(indent)}\n\n"
    }
    return text
  }

  private func head(_ name: String, _ conformance: String, bits: Int) -> String {
    """
    \(indent)public struct \(name): \(conformance) {
    \(indent)  public var rawValue: UInt\(bits)
    \(indent)  public init(rawValue: UInt\(bits)) { self.rawValue = rawValue }

    """
  }

  private func enumeration(_ name: String, _ bits: Int, _ codes: [CodeDeclaration]) -> String {
    var text = head(name, "WireCode", bits: bits)
    // A stored constant would need an initializer that runs once, which takes the compiler a third longer.
    for code in codes {
      text +=
        "\(indent)  public static var \(Names.identifier(code.constant)): Self { .init(rawValue: \(code.number)) }\n"
    }
    let pairs = codes.map { "\($0.number): \"\($0.name)\"" }.joined(separator: ", ")
    return text + "\(indent)  public static let names: [UInt64: String] = [\(codes.isEmpty ? ":" : pairs)]\n"
  }

  private func bitmap(_ name: String, _ bits: Int, _ codes: [CodeDeclaration], _ isInverted: Bool) -> String {
    var text = head(name, "WireBitmap", bits: bits)
    for code in codes {
      let mask = (code.number...code.last).reduce(UInt64(0)) { $0 | 1 << UInt64($1) }
      text += "\(indent)  public static var \(Names.identifier(code.constant)): Self { .init(rawValue: \(mask)) }\n"
    }
    let pairs = codes.flatMap { code in (code.number...code.last).map { "\($0): \"\(code.name)\"" } }
      .joined(separator: ", ")
    text += "\(indent)  public static let names: [Int: String] = [\(codes.isEmpty ? ":" : pairs)]\n"
    return isInverted ? text + "\(indent)  public static let isInverted = true\n" : text
  }

  private func structure(_ type: TypeDeclaration, _ fields: [FieldDeclaration]) throws(CatalogueError) -> String {
    var text = "\(indent)public struct \(type.name): \(type.isFabricScoped ? "FabricScoped" : "ModelStruct") {\n"
    var (table, parameters, assignments): ([String], [String], [String]) = ([], [], [])
    for field in fields {
      let name = Names.identifier(Names.camelCase(field.name))
      let value = try names.swift(field.type, in: field.line)
      if let note = field.line.note { text += "\(indent)  /// \(Names.capitalized(note)).\n" }
      if field.isOptional {
        text += "\(indent)  public var \(name): \(value)?\n"
        parameters.append("\(name): \(value)? = nil")
      } else {
        text += "\(indent)  public var \(name): \(value) = \(names.zero(field.type))\n"
        parameters.append("\(name): \(value)\(field.id == 254 ? " = .none" : "")")
      }
      table.append(
        field.id == 254 ? ".init(fabricIndex: \\.\(name))" : ".init(\(field.id), \"\(field.name)\", \\.\(name))")
      assignments.append("\(indent)    self.\(name) = \(name)\n")
    }
    text += "\(indent)  public static let fields: [Field<Self>] = [\(table.joined(separator: ", "))]\n"
    text += "\(indent)  public init() {}\n"
    guard !fields.isEmpty else { return text }
    text += "\(indent)  public init(\(parameters.joined(separator: ", "))) {\n\(assignments.joined())\(indent)  }\n"
    return text
  }
}
