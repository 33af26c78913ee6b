internal import MatterClusters
internal import MatterModel

/// A recursive-descent parser of expressions.
///
///     sum     = product { ("+" | "-") product }
///     product = factor { ("*" | "/") factor }
///     factor  = "-" factor | number [unit] | attribute | "(" sum ")" | ("min" | "max") "(" sum "," sum { "," sum } ")"
///
/// A hyphen or slash within the name of a device has no blanks around it. Quotation marks enclose the path of an attribute
/// with other operators.
struct ExpressionParser {
  private static let depthLimit = 32
  private static let attributeExample = "an attribute of a device such as kitchen/lamp.onOff.onOff"

  private let text: String
  /// The position of the text.
  private let start: SourceMark
  /// Whether the columns of the file are those of the text.
  private let isInline: Bool
  private let catalogue: AttributeCatalogue?
  private var rest: Substring.UnicodeScalarView
  private var steps: [AttributeExpression.Step] = []
  private var depth = 0

  private init(_ text: String, at start: SourceMark, isInline: Bool, catalogue: AttributeCatalogue?) {
    (self.text, self.start, self.isInline, self.catalogue) = (text, start, isInline, catalogue)
    rest = text[...].unicodeScalars
  }

  /// Parses an expression.
  /// - Parameters:
  ///   - start: The position of the first character.
  ///   - isInline: Whether the text is in one line of the file.
  static func parse(
    _ text: String, at start: SourceMark, isInline: Bool = true, catalogue: AttributeCatalogue?
  ) throws(DefinitionError) -> AttributeExpression {
    var parser = ExpressionParser(text, at: start, isInline: isInline, catalogue: catalogue)
    try parser.readSum()
    guard parser.rest.isEmpty else { throw parser.problem("an operator (+, -, * or /) or the end of the expression") }
    return AttributeExpression(steps: parser.steps)
  }

  // MARK: Rules

  private mutating func readSum() throws(DefinitionError) {
    try readProduct()
    while let sign = take("+-") {
      try readProduct()
      steps.append(.operation(sign == "+" ? .sum : .difference))
    }
  }

  private mutating func readProduct() throws(DefinitionError) {
    try readFactor()
    while let sign = take("*/") {
      try readFactor()
      steps.append(.operation(sign == "*" ? .product : .quotient))
    }
  }

  private mutating func readFactor() throws(DefinitionError) {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.depthLimit else {
      throw problem("at most \(Self.depthLimit) parentheses and signs within each other")
    }
    if take("-") != nil {
      steps.append(.number(0))
      try readFactor()
      steps.append(.operation(.difference))
    } else if take("(") != nil {
      try readSum()
      guard take(")") != nil else { throw problem("an operator or “)”") }
    } else if let number = takeNumber() {
      steps.append(.number(number))
    } else {
      try readName()
    }
  }

  /// Reads an attribute or a function.
  private mutating func readName() throws(DefinitionError) {
    let isQuoted = take("\"") != nil
    let mark = self.mark
    let name = isQuoted ? String(rest.prefix { $0 != "\"" }) : unquotedName
    guard !name.isEmpty else { throw problem("a number, \(Self.attributeExample), “min(”, “max(” or “(”") }
    rest.removeFirst(name.unicodeScalars.count)
    if isQuoted, take("\"") == nil { throw problem("a quotation mark at the end of the path") }
    let functions: [String: AttributeExpression.Operation] = ["min": .minimum, "max": .maximum]
    guard !isQuoted, let operation = functions[name.lowercased()], take("(") != nil else {
      return steps.append(.attribute(try operand(name, at: mark)))
    }
    try readSum()
    guard take(",") != nil else { throw problem("an operator, or “,” and a second value") }
    repeat {
      try readSum()
      steps.append(.operation(operation))
    } while take(",") != nil
    guard take(")") != nil else { throw problem("an operator, “,” or “)”") }
  }

  private func operand(_ name: String, at mark: SourceMark) throws(DefinitionError) -> AttributeExpression.Operand {
    guard let path = DottedPath(name, names: 2), !path.device.isEmpty else {
      throw DefinitionError(at: mark, found: "“\(name)”", expected: Self.attributeExample)
    }
    let device = path.device
    var later = mark
    if isInline { later.column += device.unicodeScalars.count + 1 }
    let attribute = try AttributeReading.attribute(
      ((path.endpoint.map { ["\($0)"] } ?? []) + path.names).joined(separator: "."), mark: later, catalogue: catalogue)
    guard attribute.target?.schema.hasNumber != false else {
      throw DefinitionError(
        at: later, found: "attribute “\(attribute.attribute)”", expected: "an attribute with a number, or true or false"
      )
    }
    return AttributeExpression.Operand(device: device, attribute: attribute, mark: mark)
  }

  // MARK: Tokens

  /// Takes one of these characters, if it is the next one after blanks.
  private mutating func take(_ characters: String) -> Unicode.Scalar? {
    skipBlanks()
    guard let first = rest.first, characters.unicodeScalars.contains(first) else { return nil }
    return rest.removeFirst()
  }

  private mutating func skipBlanks() { rest = rest.drop { $0.properties.isWhitespace } }

  /// Takes a number, with its unit if it has one. A name may also begin with a digit.
  private mutating func takeNumber() -> Double? {
    skipBlanks()
    let digits = rest.prefix { ("0"..."9").contains($0) || $0 == "." }
    guard let number = Double(String(digits)), number < 1e9 else { return nil }
    let tail = rest.dropFirst(digits.count)
    let word = tail.drop { $0.properties.isWhitespace }
    let units = ValueUnit.allCases.flatMap { unit in unit.symbols.map { (symbol: $0, unit: unit) } }
      .filter { word.starts(with: $0.symbol.unicodeScalars) && isEnd(word.dropFirst($0.symbol.unicodeScalars.count)) }
    if let (symbol, unit) = units.max(by: { $0.symbol.count < $1.symbol.count }) {
      rest = word.dropFirst(symbol.unicodeScalars.count)
      return unit.measure(String(digits) + symbol)
    }
    guard isEnd(tail) else { return nil }
    rest = tail
    return number
  }

  /// Returns whether a word ends before the rest of the text.
  private func isEnd(_ rest: Substring.UnicodeScalarView) -> Bool {
    rest.first.map { $0.properties.isWhitespace || "+-*/(),".unicodeScalars.contains($0) } ?? true
  }

  /// The text until an operator, without blanks at its end.
  private var unquotedName: String {
    var name = ""
    var wasBlank = false
    for (index, character) in zip(rest.indices, rest) {
      if "()*+,\"".unicodeScalars.contains(character) { break }
      if character == "-" || character == "/" {
        let next = rest[rest.index(after: index)...].first
        if wasBlank || next?.properties.isWhitespace ?? true { break }
      }
      wasBlank = character.properties.isWhitespace
      name.unicodeScalars.append(character)
    }
    while name.unicodeScalars.last?.properties.isWhitespace == true { name.unicodeScalars.removeLast() }
    return name
  }

  // MARK: Problems

  /// The position of the next character.
  private var mark: SourceMark {
    var mark = start
    if isInline { mark.column += text.unicodeScalars.count - rest.count }
    return mark
  }

  /// Returns the problem that something else was expected next.
  private func problem(_ expected: String) -> DefinitionError {
    let word = rest.prefix { !$0.properties.isWhitespace }.prefix(40)
    return DefinitionError(
      at: mark, found: word.isEmpty ? "the end of the expression" : "“\(String(word))”", expected: expected)
  }
}

extension Schema {
  /// Whether values are numbers, or true or false.
  fileprivate var hasNumber: Bool {
    switch self {
    case .boolean, .unsigned, .signed, .float, .double, .enumeration, .bitmap: true
    case .nullable(let inner): inner.hasNumber
    default: false
    }
  }
}
