/// A conformance expression of the standard: `M`, `O`, `LT`, `[LF&PA_LF]`, `P,!USR&(PIN|RID)`. Matter Core § 7.3.
struct Conformance {
  /// A condition on features.
  struct Condition {
    var all: [String] = []
    var any: [String] = []
    var none: [String] = []
    /// Whether it is a feature, or a choice of features.
    var isChoice: Bool { none.isEmpty && (any.isEmpty ? all.count == 1 : all.isEmpty) }
  }

  /// A part between commas; the first whose condition holds applies.
  enum Part {
    case mandatory, optional
    case mandatoryIf(Condition), optionalIf(Condition)
  }

  private(set) var isProvisional = false
  private(set) var parts: [Part] = []

  /// Parses an expression without spaces.
  init(_ text: String, in line: SourceLine) throws(CatalogueError) {
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      switch part {
      case "P": isProvisional = true
      case "M": parts.append(.mandatory)
      case "O": parts.append(.optional)
      case _ where part.hasPrefix("[") && part.hasSuffix("]"):
        parts.append(.optionalIf(try Self.condition(part.dropFirst().dropLast(), in: line)))
      default: parts.append(.mandatoryIf(try Self.condition(part, in: line)))
      }
    }
  }

  private static func condition(_ text: Substring, in line: SourceLine) throws(CatalogueError) -> Condition {
    var condition = Condition()
    guard text.contains("&") || text.hasPrefix("!") || text.hasPrefix("(") else {
      condition.any = try text.split(separator: "|", omittingEmptySubsequences: false).map {
        part throws(CatalogueError) in
        try feature(part, of: text, in: line)
      }
      return condition
    }
    for part in text.split(separator: "&", omittingEmptySubsequences: false) {
      if part.hasPrefix("("), part.hasSuffix(")"), condition.any.isEmpty {
        for choice in part.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false) {
          condition.any.append(try feature(choice, of: text, in: line))
        }
      } else if part.hasPrefix("!") {
        condition.none.append(try feature(part.dropFirst(), of: text, in: line))
      } else {
        condition.all.append(try feature(part, of: text, in: line))
      }
    }
    return condition
  }

  private static func feature(
    _ code: Substring, of text: Substring, in line: SourceLine
  ) throws(CatalogueError) -> String {
    guard !code.isEmpty, code.allSatisfy({ $0.isUppercase || $0.isNumber || $0 == "_" }) else {
      throw line.error(
        "conformance “\(text)”: “\(code)” is not a feature code; expected features joined by & or |, such as LF&PA_LF or "
          + "!USR&(PIN|RID)")
    }
    return String(code)
  }

  /// Returns the Swift expression; nil if mandatory.
  func swift(_ features: [FeatureDeclaration], in line: SourceLine) throws(CatalogueError) -> String? {
    func mask(_ codes: [String]) throws(CatalogueError) -> String {
      var mask: UInt32 = 0
      for code in codes {
        guard let feature = features.first(where: { $0.code == code }) else {
          throw line.error(
            "conformance: the cluster has no feature \(code); expected \(features.map(\.code).joined(separator: ", "))")
        }
        mask |= 1 << UInt32(feature.bit)
      }
      return "\(mask)"
    }
    func condition(_ condition: Condition) throws(CatalogueError) -> String {
      var parts: [String] = []
      for (label, codes) in [("all", condition.all), ("any", condition.any), ("none", condition.none)]
      where !codes.isEmpty { parts.append("\(label): \(try mask(codes))") }
      return ".init(\(parts.joined(separator: ", ")))"
    }
    switch (parts.first, parts.dropFirst().first, parts.count) {
    case (nil, _, _), (.mandatory, _, 1): return nil
    case (.optional, _, 1): return ".optional"
    case (.mandatoryIf(let choice), _, 1) where choice.isChoice:
      return ".features(\(try mask(choice.all + choice.any)))"
    case (.mandatoryIf(let other), _, 1): return ".when(\(try condition(other)))"
    case (.optionalIf(let choice), _, 1) where choice.isChoice:
      return ".optionalWith(\(try mask(choice.all + choice.any)))"
    case (.optionalIf(let other), _, 1): return ".optionalWhen(\(try condition(other)))"
    case (.mandatoryIf(let choice), .optional, 2) where choice.isChoice:
      return ".recommended(\(try mask(choice.all + choice.any)))"
    case (.mandatoryIf(let first), .optionalIf(let choice), 2) where choice.isChoice:
      return ".whenElseOptionalWith(\(try condition(first)), \(try mask(choice.all + choice.any)))"
    default:
      throw line.error(
        "conformance: MatterModel.Conformance has no case for this combination; expected one expression, or one followed "
          + "by O or by [A|B]")
    }
  }
}
