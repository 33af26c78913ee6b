internal import HomeModel
internal import MatterClusters
internal import MatterModel

// The units of fields of commands and of members of structures.
extension AttributeUnits {
  private struct FieldName: Hashable {
    var cluster: ClusterID
    var name: NormalizedName
  }

  /// A cluster gives all fields and members of one name the same unit.
  private static let fieldUnits: [FieldName: Unit] = {
    var units: [FieldName: Unit] = [:]
    func add<C: Cluster>(_ unit: Unit, _ cluster: C.Type, _ names: String...) {
      for name in names { units[FieldName(cluster: C.id, name: NormalizedName(name))] = unit }
    }
    add(.level, LevelControl.self, "Level")
    add(.levelStep, LevelControl.self, "StepSize", "Rate")
    add(.tenthsOfSecond, LevelControl.self, "TransitionTime")
    add(.tenthsOfSecond, OnOff.self, "OnTime", "OffWaitTime")
    add(.tenthsOfSecond, ColorControl.self, "TransitionTime")
    add(.seconds, ColorControl.self, "Time")
    add(
      .mireds, ColorControl.self, "ColorTemperatureMireds", "ColorTemperatureMinimumMireds",
      "ColorTemperatureMaximumMireds")
    add(.milliseconds, ScenesManagement.self, "TransitionTime")
    add(.seconds, Identify.self, "IdentifyTime")
    add(.tenthsOfDegree, Thermostat.self, "Amount")
    add(
      .hundredthsOfDegree, Thermostat.self, "CoolingSetpoint", "HeatingSetpoint", "CoolSetpoint", "HeatSetpoint")
    add(.milliseconds, Thermostat.self, "Timeout")
    add(.hundredthsOfPercent, WindowCovering.self, "LiftPercent100thsValue", "TiltPercent100thsValue")
    add(.seconds, DoorLock.self, "Timeout")
    add(.seconds, AdministratorCommissioning.self, "CommissioningTimeout")
    add(.seconds, GeneralCommissioning.self, "ExpiryLengthSeconds")
    add(.milliseconds, IcdManagement.self, "StayActiveDuration")
    add(.milliseconds, BridgedDeviceBasicInformation.self, "StayActiveDuration", "TimeoutMs")
    return units
  }()

  static func fieldUnit(_ cluster: ClusterID, _ name: String) -> Unit? {
    fieldUnits[FieldName(cluster: cluster, name: NormalizedName(name))]
  }

  /// Whether members of the attribute's structures have units.
  static func hasUnits(inStructuresOf path: ConcreteAttributePath) -> Bool {
    func hasUnits(_ schema: Schema) -> Bool {
      switch schema {
      case .nullable(let wrapped): hasUnits(wrapped)
      case .list(let element): hasUnits(element)
      case .structure(let members):
        members.contains { fieldUnit(path.cluster, $0.name) != nil || hasUnits($0.schema) }
      default: false
      }
    }
    return hasUnits(ElementNames.schema(path))
  }

  /// Replaces the values with units in members of structures by the wire's numbers.
  static func wire(
    _ syntax: ValueSyntax, _ schema: Schema, of cluster: ClusterID, named name: String, levels: LevelRange
  ) throws(HomeError) -> ValueSyntax {
    switch (schema, syntax) {
    case (.nullable(let wrapped), _): return try wire(syntax, wrapped, of: cluster, named: name, levels: levels)
    case (.list(let element), .list(var entries)):
      for index in entries.indices {
        entries[index] = try wire(entries[index], element, of: cluster, named: name, levels: levels)
      }
      return .list(entries)
    case (.structure(let members), .object(var fields)):
      for (index, field) in fields.enumerated() {
        guard let member = members.first(where: { $0.isNamed(field.name) }) else { continue }
        if case .word(let text) = field.value, let unit = fieldUnit(cluster, member.name) {
          fields[index].value = .word(
            try wire(text, unit, named: "\(name): \(camelCase(member.name))", levels: levels))
        } else {
          fields[index].value = try wire(field.value, member.schema, of: cluster, named: name, levels: levels)
        }
      }
      return .object(fields)
    default: return syntax
    }
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
