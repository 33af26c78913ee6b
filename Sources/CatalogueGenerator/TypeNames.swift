internal import ClusterLanguage

/// The base types of the standard (Matter Core § 7.19) in Swift.
struct BaseType {
  var swift: String
  /// The initial value of a field.
  var zero: String

  static func named(_ name: String) -> BaseType? { all[name] }

  /// The names of all base types, sorted.
  static var names: [String] { all.keys.sorted() }

  private static let all: [String: BaseType] = [
    "bool": .init(swift: "Bool", zero: "false"),
    "uint8": .init(swift: "UInt8", zero: "0"), "uint16": .init(swift: "UInt16", zero: "0"),
    "uint32": .init(swift: "UInt32", zero: "0"), "uint64": .init(swift: "UInt64", zero: "0"),
    "int8": .init(swift: "Int8", zero: "0"), "int16": .init(swift: "Int16", zero: "0"),
    "int32": .init(swift: "Int32", zero: "0"), "int64": .init(swift: "Int64", zero: "0"),
    "single": .init(swift: "Float", zero: "0"), "double": .init(swift: "Double", zero: "0"),
    "string": .init(swift: "String", zero: "\"\""), "octstr": .init(swift: "OctetString", zero: "[]"),
    "status": .init(swift: "StatusCode", zero: ".success"),
    "fabric-idx": .init(swift: "FabricIndex", zero: ".none"), "fabric-id": .init(swift: "FabricID", zero: "0"),
    "node-id": .init(swift: "NodeID", zero: "0"), "group-id": .init(swift: "GroupID", zero: "0"),
    "endpoint-no": .init(swift: "EndpointID", zero: "0"), "vendor-id": .init(swift: "VendorID", zero: "0"),
    "devtype-id": .init(swift: "DeviceTypeID", zero: "0"), "cluster-id": .init(swift: "ClusterID", zero: "0"),
    "attrib-id": .init(swift: "AttributeID", zero: "0"), "command-id": .init(swift: "CommandID", zero: "0"),
    "event-id": .init(swift: "EventID", zero: "0"),
  ]
}

/// The types of a cluster in Swift.
struct TypeNames {
  let catalogue: Catalogue
  /// Nil for types that several clusters use.
  let cluster: ClusterDeclaration?
  /// A prefix for types of the cluster: `OnOff.` outside of the cluster.
  var prefix = ""

  /// Returns the type without optionality: `[UInt8]`, `Nullable<LevelControl.Options>`.
  func swift(_ type: TypeReference, in line: SourceLine) throws(CatalogueError) -> String {
    let element = try swiftElement(type, in: line)
    let value = type.isList ? "[\(element)]" : element
    return type.isNullable ? "Nullable<\(value)>" : value
  }

  /// Returns the type of a list's entry, or of the value.
  func swiftElement(_ type: TypeReference, in line: SourceLine) throws(CatalogueError) -> String {
    if let base = BaseType.named(type.name) { return base.swift }
    guard catalogue.type(type.name, in: cluster) != nil else {
      throw line.error(
        "\(type.name): no such type; expected a type of this cluster, or one of \(BaseType.names.joined(separator: ", "))"
      )
    }
    return cluster?.types.contains { $0.name == type.name } == true ? prefix + type.name : type.name
  }

  /// Returns the value with which a field starts.
  func zero(_ type: TypeReference) -> String {
    if type.isNullable { return ".null" }
    if type.isList { return "[]" }
    if let base = BaseType.named(type.name) { return base.zero }
    return switch catalogue.type(type.name, in: cluster)?.content {
    case .enumeration(_, let codes): codes.first.map { "." + $0.constant } ?? ".init(rawValue: 0)"
    case .bitmap: "[]"
    default: ".init()"
    }
  }

  /// Returns an initial value: `true`, `5`, `.null`, `[]`, `"XX"`, or the constant of an enumeration value.
  func value(_ text: String, of type: TypeReference, in line: SourceLine) throws(CatalogueError) -> String {
    let value: String
    switch try catalogue.value(text, of: type, in: cluster, line) {
    case .null: return ".null"
    case .empty: value = "[]"
    case .boolean, .number, .text: value = text
    case .code(let number): value = ".init(rawValue: \(number))"
    case .named(_, let constant): value = "\(try swiftElement(type, in: line)).\(constant)"
    }
    return type.isNullable ? ".value(\(value))" : value
  }
}
