/// An initial value in the terms of its type.
package enum ConstantValue: Equatable {
  case null
  /// A list, an octet string or a bitmap.
  case empty
  case boolean(Bool)
  /// A number in the text of the file.
  case number(String)
  /// A text without quotation marks.
  case text(String)
  /// A bitmap, or a value of an enumeration without its name.
  case code(Int)
  /// A value of an enumeration, with its name in Swift.
  case named(Int, constant: String)
}

/// A constraint in the terms of its type.
package enum TypeLimits: Equatable {
  case range(ClosedRange<Int64>), length(ClosedRange<Int>), entries(ClosedRange<Int>)
}

extension Catalogue {
  /// Returns an initial value: `true`, `5`, `null`, `empty`, `"XX"`, or the name of an enumeration value.
  package func value(
    _ text: String, of type: TypeReference, in cluster: ClusterDeclaration?, _ line: SourceLine
  ) throws(CatalogueError) -> ConstantValue {
    if text == "null", type.isNullable { return .null }
    let number = SourceLine.number(text[...])
    if type.isList || type.name == "octstr" {
      guard text == "empty" else {
        throw line.error("“\(text)” is not \(type.isList ? "a list" : "an octet string"); expected = empty")
      }
      return .empty
    }
    switch self.type(type.name, in: cluster)?.content {
    case .bitmap:
      if text == "empty" { return .empty }
      guard let number else { throw line.error("“\(text)” is not a bitmap; expected = empty, or a number") }
      return .code(number)
    case .enumeration(_, let codes):
      if let number { return .code(number) }
      guard let code = codes.first(where: { $0.name == text }) else {
        throw line.error("\(type.name) has no value \(text); expected \(codes.map(\.name).joined(separator: ", "))")
      }
      return .named(code.number, constant: code.constant)
    case .structure: throw line.error("\(text): a structure has no initial value; expected none")
    case nil: break
    }
    switch type.name {
    case "string" where text.count > 1 && text.hasPrefix("\"") && text.hasSuffix("\""):
      return .text(String(text.dropFirst().dropLast()))
    case "bool" where text == "true" || text == "false": return .boolean(text == "true")
    case "bool", "string": break
    case "single", "double": if number != nil || Double(text)?.isFinite == true { return .number(text) }
    default: if number != nil || UInt64(text) != nil { return .number(text) }
    }
    throw line.error("“\(text)” is not a \(type.name); expected a value of this type")
  }

  /// Returns the constraint of a type.
  package func limits(
    _ limits: Limits, of type: TypeReference, in cluster: ClusterDeclaration?, _ line: SourceLine
  ) throws(CatalogueError) -> TypeLimits {
    if type.isList {
      let (minimum, maximum) = (limits.minimum ?? 0, limits.maximum ?? .max)
      for (word, number) in [("min", minimum), ("max", maximum)] where number < 0 {
        throw line.error("\(word) \(number): no list is so short; expected 0 or more")
      }
      guard minimum <= maximum else { throw line.error("\(minimum) to \(maximum): empty; expected a range") }
      return .entries(minimum...maximum)
    }
    if type.name == "string" || type.name == "octstr" {
      guard let maximum = limits.maximum else {
        throw line.error("a length without a maximum is not supported; expected max and a number")
      }
      guard (limits.minimum ?? 0) <= maximum else {
        throw line.error("\(limits.minimum ?? 0) to \(maximum): empty; expected a range")
      }
      guard (limits.minimum ?? 0) >= 0 else {
        throw line.error("\(limits.minimum ?? 0) to \(maximum): no text is so short; expected 0 or more")
      }
      return .length((limits.minimum ?? 0)...maximum)
    }
    let base =
      switch self.type(type.name, in: cluster)?.content {
      case .bitmap(let bits, _, _), .enumeration(let bits, _): "uint\(bits)"
      default: type.name
      }
    guard let whole = Self.range(of: base) else {
      throw line.error("\(type.name): has no range; expected a constraint on a number, string or list only")
    }
    let (lowest, highest) = (
      limits.minimum.map(Int64.init) ?? whole.lowerBound, limits.maximum.map(Int64.init) ?? whole.upperBound
    )
    guard lowest <= highest else { throw line.error("\(lowest) to \(highest): empty; expected a range") }
    guard whole.contains(lowest), whole.contains(highest) else {
      throw line.error(
        "\(lowest) to \(highest): out of range; expected limits from \(whole.lowerBound) to \(whole.upperBound)")
    }
    return .range(lowest...highest)
  }

  /// The range of an integer of this width.
  private static func range(of type: String) -> ClosedRange<Int64>? {
    switch type {
    case "uint8": 0...255
    case "uint16": 0...65535
    case "uint32": 0...4_294_967_295
    case "uint64": 0...Int64.max
    case "int8": -128...127
    case "int16": -32768...32767
    case "int32": -2_147_483_648...2_147_483_647
    case "int64": Int64.min...Int64.max
    default: nil
    }
  }
}
