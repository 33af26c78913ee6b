internal import MatterClusters
package import MatterModel
internal import MatterProtocol
internal import MatterTLV

/// Attributes that people have units for.
package enum AttributeUnits {
  private enum Unit { case level, mireds, tenthsOfSecond, hundredthsOfDegree, hundredthsOfPercent }

  private static func unit(_ cluster: ClusterID, _ attribute: AttributeID) -> Unit? {
    switch (cluster, attribute) {
    case (LevelControl.id, LevelControl.currentLevel.id), (LevelControl.id, LevelControl.minLevel.id),
      (LevelControl.id, LevelControl.maxLevel.id), (LevelControl.id, LevelControl.onLevel.id),
      (LevelControl.id, LevelControl.startUpCurrentLevel.id):
      .level
    case (LevelControl.id, LevelControl.remainingTime.id), (LevelControl.id, LevelControl.onOffTransitionTime.id),
      (LevelControl.id, LevelControl.onTransitionTime.id), (LevelControl.id, LevelControl.offTransitionTime.id),
      (OnOff.id, OnOff.onTime.id), (OnOff.id, OnOff.offWaitTime.id), (ColorControl.id, ColorControl.remainingTime.id):
      .tenthsOfSecond
    case (ColorControl.id, ColorControl.colorTemperatureMireds.id),
      (ColorControl.id, ColorControl.colorTempPhysicalMinMireds.id),
      (ColorControl.id, ColorControl.colorTempPhysicalMaxMireds.id),
      (ColorControl.id, ColorControl.coupleColorTempToLevelMinMireds.id),
      (ColorControl.id, ColorControl.startUpColorTemperatureMireds.id):
      .mireds
    case (TemperatureMeasurement.id, TemperatureMeasurement.measuredValue.id): .hundredthsOfDegree
    case (RelativeHumidityMeasurement.id, RelativeHumidityMeasurement.measuredValue.id): .hundredthsOfPercent
    default: nil
    }
  }

  /// The value with its unit, nil where it has none, or is null.
  package static func text(_ path: ConcreteAttributePath, _ value: [UInt8]) -> String? {
    guard let unit = unit(path.cluster, path.attribute), let element = try? TLVElement(decoding: value) else {
      return nil
    }
    let number: Int64
    switch element.value {
    case .unsigned(let value): number = Int64(clamping: value)
    case .signed(let value): number = value
    default: return nil
    }
    switch unit {
    case .level: return number > 254 ? nil : LevelText.percent(UInt8(clamping: number))
    case .mireds: return number > 0 ? "\(HomeUnits.kelvin(mireds: UInt16(clamping: number)))K" : nil
    case .tenthsOfSecond: return TimeText.text(.milliseconds(number.saturatingMultiply(100)))
    case .hundredthsOfDegree: return "\(Double(number) / 100) °C"
    case .hundredthsOfPercent: return "\(Double(number) / 100)%"
    }
  }

  /// What was wanted and what is the case, both in the same words: with their units, but where they would look the same by these,
  /// and are not.
  package static func told(
    _ wanted: [UInt8], beside actual: [UInt8], _ path: ConcreteAttributePath
  ) -> (wanted: String, actual: String) {
    let schema = ElementNames.schema(path)
    let told = (
      wanted: text(path, wanted) ?? schema.text(of: wanted), actual: text(path, actual) ?? schema.text(of: actual)
    )
    guard told.wanted == told.actual, wanted != actual else { return told }
    return (schema.text(of: wanted), schema.text(of: actual))
  }

  /// Encodes what somebody wrote.
  package static func parse(
    _ text: String, cluster: ClusterID, attribute: AttributeID, raw: Bool, named name: String
  ) throws(HomeError) -> [UInt8] {
    var text = text
    if !raw {
      switch unit(cluster, attribute) {
      case .level where text.hasSuffix("%"): text = "\(try LevelText.level(text, raw: false))"
      case .mireds where text.last == "K" || text.last == "k":
        guard case .kelvin(let kelvin) = try LightColor(text: text) else { break }
        text = "\(Int((1_000_000 / Double(kelvin)).rounded()))"
      case .tenthsOfSecond where text.last?.isLetter == true && text != "null":
        guard let span = TimeText.duration(text) else {
          throw HomeError(.badArguments, "\(name): “\(text)” is no time; \(TimeText.example)")
        }
        text = "\(try TransitionTime.tenths(span))"
      case .hundredthsOfDegree where text.hasSuffix("C"): text = try hundredths(text, of: ["°C", "C"], named: name)
      case .hundredthsOfPercent where text.hasSuffix("%"): text = try hundredths(text, of: ["%"], named: name)
      default: break
      }
    }
    let schema = ElementNames.info(attribute, of: cluster)?.schema ?? .any
    do throws(ValueTextError) {
      return try schema.parse(text: text)
    } catch {
      throw HomeError(.badArguments, "\(name): \(error)", cause: error)
    }
  }

  /// `21.5 °C` as 2150.
  private static func hundredths(_ text: String, of units: [String], named name: String) throws(HomeError) -> String {
    let unit = units.first { text.hasSuffix($0) } ?? ""
    let digits = text.dropLast(unit.count).filter { !$0.isWhitespace }
    guard let number = Double(digits), abs(number) < 1000 else {
      throw HomeError(.badArguments, "\(name): “\(text)” is no number of \(unit)")
    }
    return "\(Int((number * 100).rounded()))"
  }
}
