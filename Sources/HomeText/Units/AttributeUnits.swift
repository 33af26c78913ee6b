package import HomeModel
internal import MatterClusters
package import MatterModel
internal import MatterProtocol

/// Attributes that people have units for.
package enum AttributeUnits {
  enum Unit {
    /// ``levelStep`` is a difference of levels.
    case level, levelStep, mireds, seconds, tenthsOfSecond, milliseconds, hundredthsOfDegree, tenthsOfDegree
    case hundredthsOfPercent, percent
  }

  private static let units: [ClusterPathID: Unit] = {
    var units: [ClusterPathID: Unit] = [:]
    func add<C: Cluster>(_ unit: Unit, _ cluster: C.Type, _ attributes: AttributeID...) {
      for attribute in attributes { units[ClusterPathID(cluster: C.id, attribute: attribute)] = unit }
    }
    add(
      .level, LevelControl.self, LevelControl.currentLevel.id, LevelControl.onLevel.id,
      LevelControl.startUpCurrentLevel.id)
    add(
      .tenthsOfSecond, LevelControl.self, LevelControl.remainingTime.id, LevelControl.onOffTransitionTime.id,
      LevelControl.onTransitionTime.id, LevelControl.offTransitionTime.id)
    add(.tenthsOfSecond, OnOff.self, OnOff.onTime.id, OnOff.offWaitTime.id)
    add(.tenthsOfSecond, ColorControl.self, ColorControl.remainingTime.id)
    add(
      .mireds, ColorControl.self, ColorControl.colorTemperatureMireds.id, ColorControl.colorTempPhysicalMinMireds.id,
      ColorControl.colorTempPhysicalMaxMireds.id, ColorControl.coupleColorTempToLevelMinMireds.id,
      ColorControl.startUpColorTemperatureMireds.id)
    add(
      .hundredthsOfDegree, TemperatureMeasurement.self, TemperatureMeasurement.measuredValue.id,
      TemperatureMeasurement.minMeasuredValue.id, TemperatureMeasurement.maxMeasuredValue.id,
      TemperatureMeasurement.tolerance.id)
    add(
      .hundredthsOfDegree, Thermostat.self, Thermostat.localTemperature.id, Thermostat.outdoorTemperature.id,
      Thermostat.absMinHeatSetpointLimit.id, Thermostat.absMaxHeatSetpointLimit.id,
      Thermostat.absMinCoolSetpointLimit.id, Thermostat.absMaxCoolSetpointLimit.id,
      Thermostat.occupiedCoolingSetpoint.id, Thermostat.occupiedHeatingSetpoint.id,
      Thermostat.unoccupiedCoolingSetpoint.id, Thermostat.unoccupiedHeatingSetpoint.id,
      Thermostat.minHeatSetpointLimit.id, Thermostat.maxHeatSetpointLimit.id, Thermostat.minCoolSetpointLimit.id,
      Thermostat.maxCoolSetpointLimit.id, Thermostat.setpointChangeAmount.id, Thermostat.acCoilTemperature.id)
    add(
      .tenthsOfDegree, Thermostat.self, Thermostat.localTemperatureCalibration.id, Thermostat.minSetpointDeadBand.id,
      Thermostat.occupiedSetback.id, Thermostat.occupiedSetbackMin.id, Thermostat.occupiedSetbackMax.id,
      Thermostat.unoccupiedSetback.id, Thermostat.unoccupiedSetbackMin.id, Thermostat.unoccupiedSetbackMax.id,
      Thermostat.emergencyHeatDelta.id)
    add(.percent, Thermostat.self, Thermostat.piCoolingDemand.id, Thermostat.piHeatingDemand.id)
    add(
      .hundredthsOfPercent, RelativeHumidityMeasurement.self, RelativeHumidityMeasurement.measuredValue.id,
      RelativeHumidityMeasurement.minMeasuredValue.id, RelativeHumidityMeasurement.maxMeasuredValue.id,
      RelativeHumidityMeasurement.tolerance.id)
    add(
      .hundredthsOfPercent, WindowCovering.self, WindowCovering.currentPositionLiftPercent100ths.id,
      WindowCovering.currentPositionTiltPercent100ths.id, WindowCovering.targetPositionLiftPercent100ths.id,
      WindowCovering.targetPositionTiltPercent100ths.id)
    add(
      .percent, WindowCovering.self, WindowCovering.currentPositionLiftPercentage.id,
      WindowCovering.currentPositionTiltPercentage.id)
    add(.percent, FanControl.self, FanControl.percentSetting.id, FanControl.percentCurrent.id)
    return units
  }()

  private struct ClusterPathID: Hashable {
    var cluster: ClusterID
    var attribute: AttributeID
  }

  private static func unit(_ cluster: ClusterID, _ attribute: AttributeID) -> Unit? {
    units[ClusterPathID(cluster: cluster, attribute: attribute)]
  }

  /// Whether percentages of the attribute are those of the levels that the device has.
  package static func isLevel(_ cluster: ClusterID, _ attribute: AttributeID) -> Bool {
    unit(cluster, attribute) == .level
  }

  /// The value with its unit, nil where it has none, or is null.
  /// - Parameter levels: those that the device has.
  package static func text(
    _ path: ConcreteAttributePath, _ value: [UInt8], levels: LevelRange = .standard
  ) -> String? {
    guard let unit = unit(path.cluster, path.attribute) else {
      guard hasUnits(inStructuresOf: path) else { return nil }
      return ElementNames.schema(path).text(of: value) { member, number in
        fieldUnit(path.cluster, member).flatMap { text(number, $0, levels: levels) }
      }
    }
    switch (try? TLVElement(decoding: value))?.value {
    case .unsigned(let value)?: return text(Int64(clamping: value), unit, levels: levels)
    case .signed(let value)?: return text(value, unit, levels: levels)
    default: return nil
    }
  }

  private static func text(_ number: Int64, _ unit: Unit, levels: LevelRange) -> String? {
    switch unit {
    case .level, .levelStep: number > 254 ? nil : "\(levels.percent(UInt8(clamping: number)))%"
    case .mireds: number > 0 ? "\(HomeUnits.kelvin(mireds: UInt16(clamping: number)))K" : nil
    case .seconds: TimeText.text(.milliseconds(number.saturatingMultiply(1000)))
    case .tenthsOfSecond: TimeText.text(.milliseconds(number.saturatingMultiply(100)))
    case .milliseconds: TimeText.text(.milliseconds(number))
    case .hundredthsOfDegree: "\(Double(number) / 100) °C"
    case .tenthsOfDegree: "\(Double(number) / 10) °C"
    case .hundredthsOfPercent: "\(Double(number) / 100)%"
    case .percent: "\(number)%"
    }
  }

  /// What was wanted and what is the case, both in the same words: with their units, but where they would look the same by these,
  /// and are not.
  /// - Parameters:
  ///   - levels: those that the device has.
  ///   - wantedLevels: those that a wanted percentage was encoded with.
  package static func told(
    _ wanted: [UInt8], beside actual: [UInt8], _ path: ConcreteAttributePath, levels: LevelRange = .standard,
    wantedLevels: LevelRange = .standard
  ) -> (wanted: String, actual: String) {
    let schema = ElementNames.schema(path)
    let told = (
      wanted: text(path, wanted, levels: wantedLevels) ?? schema.text(of: wanted),
      actual: text(path, actual, levels: levels) ?? schema.text(of: actual)
    )
    guard told.wanted == told.actual, wanted != actual else { return told }
    return (schema.text(of: wanted), schema.text(of: actual))
  }

  /// Encodes a value as it was written: with a unit, or as the wire has it.
  /// - Parameter levels: those that the device has.
  package static func parse(
    _ text: String, cluster: ClusterID, attribute: AttributeID, raw: Bool, named name: String,
    levels: LevelRange = .standard
  ) throws(HomeError) -> [UInt8] {
    let schema = ElementNames.info(attribute, of: cluster)?.schema ?? .any
    var text = text
    if !raw, let unit = unit(cluster, attribute) { text = try wire(text, unit, named: name, levels: levels) }
    var syntax = try HomeError.naming(name) { () throws(ValueTextError) in try schema.syntax(of: text) }
    if !raw { syntax = try wire(syntax, schema, of: cluster, named: name, levels: levels) }
    return try HomeError.naming(name) { () throws(ValueTextError) in try schema.encode(syntax) }
  }

  /// Returns the wire's number for a value with the unit, and any other text unchanged.
  static func wire(
    _ text: String, _ unit: Unit, named name: String, levels: LevelRange
  ) throws(HomeError) -> String {
    switch unit {
    case .level where text.hasSuffix("%"): "\(try LevelText.level(text, raw: false).level(in: levels))"
    case .levelStep where text.hasSuffix("%"):
      try multiple(Double(levels.highest) / 100, text, of: ["%"], named: name)
    case .mireds where text.last == "K" || text.last == "k": try mireds(text)
    case .seconds where isTime(text): try time(text, inUnitsOf: 1000, named: name)
    case .tenthsOfSecond where isTime(text): try time(text, inUnitsOf: 100, named: name)
    case .milliseconds where isTime(text): try time(text, inUnitsOf: 1, named: name)
    case .hundredthsOfDegree where isDegrees(text): try multiple(100, text, of: degrees, named: name)
    case .tenthsOfDegree where isDegrees(text): try multiple(10, text, of: degrees, named: name)
    case .hundredthsOfPercent where text.hasSuffix("%"): try multiple(100, text, of: ["%"], named: name)
    case .percent where text.hasSuffix("%"): try multiple(1, text, of: ["%"], named: name)
    default: text
    }
  }

  private static func mireds(_ text: String) throws(HomeError) -> String {
    guard case .kelvin(let kelvin) = try LightColor(text: text) else { return text }
    return "\(Int((1_000_000 / Double(kelvin)).rounded()))"
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

  private static let degrees = ["°C", "°c", "C", "c"]

  /// With a unit, or with decimals: the wire has none.
  private static func isDegrees(_ text: String) -> Bool {
    degrees.contains { text.hasSuffix($0) } || text.contains(".") && Double(text) != nil
  }

  /// `21.5 °C` as 2150.
  private static func multiple(
    _ factor: Double, _ text: String, of units: [String], named name: String
  ) throws(HomeError) -> String {
    let unit = units.first { text.hasSuffix($0) } ?? ""
    let digits = text.dropLast(unit.count).filter { !$0.isWhitespace }
    guard let number = Double(digits), abs(number) < 1000 else {
      throw HomeError(.badArguments, "\(name): “\(text)” is not a number of \(unit)")
    }
    return "\(Int((number * factor).rounded()))"
  }
}
