package import HomeModel
internal import MatterClusters
internal import MatterProtocol
internal import MatterTLV

/// Values of attributes, and of fields of commands, with their units.
package enum AttributeUnits {
  /// Whether the attribute is a level, which is a percentage of the device's highest level.
  package static func isLevel(_ cluster: ClusterID, _ attribute: AttributeID) -> Bool {
    ValueUnit(cluster, attribute) == .level
  }

  // MARK: Text

  /// Returns a value with its unit, or the values of a structure with theirs; nil for null, and without a unit.
  /// - Parameter levels: the levels of the device.
  package static func text(
    _ path: ConcreteAttributePath, _ value: [UInt8], levels: LevelRange = .standard
  ) -> String? {
    guard let unit = ValueUnit(path.cluster, path.attribute) else {
      var hasUnits = false
      let result = ElementNames.schema(path).text(of: value) { member, number in
        let withUnit = text(number, of: member, path.cluster, levels: levels)
        hasUnits = hasUnits || withUnit != nil
        return withUnit
      }
      return hasUnits ? result : nil
    }
    switch (try? TLVElement(decoding: value))?.value {
    case .unsigned(let value)?: return text(Int64(clamping: value), unit, levels: levels)
    case .signed(let value)?: return text(value, unit, levels: levels)
    default: return nil
    }
  }

  /// Returns the payload of an event, its values with their units.
  package static func text(event: EventID, of cluster: ClusterID, payload: [UInt8]) -> String {
    ElementNames.event(payloadOf: event, of: cluster).text(of: payload) { member, number in
      text(number, of: member, cluster, levels: .standard)
    }
  }

  /// Returns a member of a structure with its unit, or the name of an error of an appliance; nil for the number itself.
  private static func text(
    _ number: Int64, of member: String, _ cluster: ClusterID, levels: LevelRange
  ) -> String? {
    if member == "errorStateID" {
      return UInt8(exactly: number).flatMap { ElementNames.clusterStatus($0, of: cluster) }
    }
    return ValueUnit(cluster, member).flatMap { text(number, $0, levels: levels) }
  }

  private static func text(_ number: Int64, _ unit: ValueUnit, levels: LevelRange) -> String? {
    switch unit {
    case .level, .levelStep: number > 254 ? nil : "\(levels.percent(UInt8(clamping: number)))%"
    case .mireds: LightColor(mireds: UInt16(clamping: number))?.description
    case .seconds: TimeText.text(.milliseconds(number.saturatingMultiply(1000)))
    case .tenthsOfSecond: TimeText.text(.milliseconds(number.saturatingMultiply(100)))
    case .milliseconds: TimeText.text(.milliseconds(number))
    default: unit.text(number)
    }
  }

  /// Returns two values in the same format: with units, unless two different values have the same text with units.
  /// - Parameters:
  ///   - levels: the levels of the device.
  ///   - wantedLevels: the levels that a wanted percentage was encoded with.
  package static func texts(
    wanted: [UInt8], actual: [UInt8], _ path: ConcreteAttributePath, levels: LevelRange = .standard,
    wantedLevels: LevelRange = .standard
  ) -> (wanted: String, actual: String) {
    let schema = ElementNames.schema(path)
    let texts = (
      wanted: text(path, wanted, levels: wantedLevels) ?? schema.text(of: wanted),
      actual: text(path, actual, levels: levels) ?? schema.text(of: actual)
    )
    guard texts.wanted == texts.actual, wanted != actual else { return texts }
    return (schema.text(of: wanted), schema.text(of: actual))
  }

  // MARK: Parsing

  /// Encodes the text of a value.
  /// - Parameters:
  ///   - raw: whether the text is an encoded value, without a unit.
  ///   - levels: the levels of the device.
  package static func parse(
    _ text: String, cluster: ClusterID, attribute: AttributeID, raw: Bool, named name: String,
    levels: LevelRange = .standard
  ) throws(HomeError) -> [UInt8] {
    let schema = ElementNames.info(attribute, of: cluster)?.schema ?? .any
    let given = text
    var text = text
    if !raw, let unit = ValueUnit(cluster, attribute) {
      let trimmed = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      text = try encoded(trimmed, unit, named: name, levels: levels)
      if text != given, let number = Int64(text), let range = schema.range, !range.contains(number) {
        let ends = [range.lowerBound, range.upperBound].map { self.text($0, unit, levels: levels) ?? "\($0)" }
        throw HomeError(
          .badArguments, "\(name): “\(given)” is out of range; expected \(ends.joined(separator: " to "))")
      }
    }
    var syntax = try HomeError.naming(name) { () throws(ValueTextError) in try schema.syntax(of: text) }
    if !raw { syntax = try encoded(syntax, schema, of: cluster, named: name, levels: levels) }
    return try HomeError.naming(name) { () throws(ValueTextError) in try schema.encode(syntax) }
  }

  /// Replaces the values with units in members of structures by encoded numbers.
  static func encoded(
    _ syntax: ValueSyntax, _ schema: Schema, of cluster: ClusterID, named name: String, levels: LevelRange
  ) throws(HomeError) -> ValueSyntax {
    switch (schema, syntax) {
    case (.nullable(let wrapped), _): return try encoded(syntax, wrapped, of: cluster, named: name, levels: levels)
    case (.list(let element), .list(var entries)):
      for index in entries.indices {
        entries[index] = try encoded(entries[index], element, of: cluster, named: name, levels: levels)
      }
      return .list(entries)
    case (.structure(let members), .object(var fields)):
      for (index, field) in fields.enumerated() {
        guard let member = members.first(where: { $0.isNamed(field.name) }) else { continue }
        if case .word(let text) = field.value, let unit = ValueUnit(cluster, member.name) {
          fields[index].value = .word(
            try encoded(text, unit, named: "\(name): \(NormalizedName.camelCase(member.name))", levels: levels))
        } else {
          fields[index].value = try encoded(field.value, member.schema, of: cluster, named: name, levels: levels)
        }
      }
      return .object(fields)
    default: return syntax
    }
  }

  /// Returns the encoded number for a value with the unit, and any other text unchanged.
  private static func encoded(
    _ text: String, _ unit: ValueUnit, named name: String, levels: LevelRange
  ) throws(HomeError) -> String {
    switch unit {
    case .level where text.hasSuffix("%"): "\(try WantedLevel(text: text, raw: false).level(in: levels))"
    case .levelStep where text.hasSuffix("%"):
      "\(Int((try measure(text, .percent, named: name) * Double(levels.highest) / 100).rounded()))"
    case .mireds where text.last == "K" || text.last == "k": try LightColor(text: text).mireds.map { "\($0)" } ?? text
    case .seconds where isTime(text): try time(text, inUnitsOf: 1000, named: name)
    case .tenthsOfSecond where isTime(text): try time(text, inUnitsOf: 100, named: name)
    case .milliseconds where isTime(text): try time(text, inUnitsOf: 1, named: name)
    case .hundredthsOfDegree where isDecimal(text), .tenthsOfDegree where isDecimal(text):
      "\(unit.encoded(try measure(text + "C", unit, named: name)))"
    case _ where unit.symbols.contains(where: { text.hasSuffix($0) }):
      "\(unit.encoded(try measure(text, unit, named: name)))"
    default: text
    }
  }

  private static func isTime(_ text: String) -> Bool {
    text.last?.isLetter == true && text.first?.isNumber == true && !text.lowercased().hasPrefix("0x")
  }

  /// - Parameter milliseconds: the length of the unit.
  private static func time(
    _ text: String, inUnitsOf milliseconds: Int64, named name: String
  ) throws(HomeError) -> String {
    guard let span = TimeText.duration(text) else {
      throw HomeError(.badArguments, "\(name): “\(text)” is not a time; \(TimeText.example)")
    }
    return "\((span.milliseconds + milliseconds / 2) / milliseconds)"
  }

  /// Whether a temperature without a unit has decimals, which an encoded number does not have.
  private static func isDecimal(_ text: String) -> Bool { text.contains(".") && Double(text) != nil }

  /// Returns 21.5 for `21.5 °C`.
  private static func measure(_ text: String, _ unit: ValueUnit, named name: String) throws(HomeError) -> Double {
    if let measure = unit.measure(text) { return measure }
    let symbol = unit.symbols.first { text.hasSuffix($0) } ?? ""
    throw HomeError(.badArguments, "\(name): “\(text)” is not a number of \(symbol)")
  }
}

extension HomeError {
  /// Rethrows the error of a value's text with the name of the value.
  static func naming<R>(_ name: String, _ body: () throws(ValueTextError) -> R) throws(HomeError) -> R {
    do throws(ValueTextError) {
      return try body()
    } catch {
      throw HomeError(.badArguments, "\(name): \(error)", cause: error)
    }
  }
}
