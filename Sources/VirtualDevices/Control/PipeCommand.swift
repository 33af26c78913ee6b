internal import Foundation
internal import MatterClusters
internal import MatterDevice
internal import MatterModel
internal import MatterProtocol
internal import Runtime

/// A command of an app pipe: `{"Name": "SetOccupancy", "EndpointId": 1, "Occupancy": 1}`.
///
/// The names are those of the Matter SDK's example apps. Each command is a physical action that `hearth sim` has as
/// well. “Node” with the path of a device is an addition, for processes with several.
struct PipeCommand: Sendable, Hashable {
  indirect enum Action: Sendable, Hashable {
    /// Sets an attribute as the physical device does, to an encoded value.
    case set(ClusterID, AttributeID, [UInt8])
    case move([SwitchMove])
    /// Moves a part that no attribute describes, such as a door.
    case part(String, to: String)
    case addArea(ServiceArea.AreaStruct)
    case removeArea(UInt32)
    /// Performs actions one after the other, up to the first that fails.
    case all([Action])
    /// The composition of the device changes: adds one to ConfigurationVersion.
    case reconfigure
    /// Starts the device again, after a loss of power or an orderly shutdown.
    case restart(isOrderly: Bool)
  }

  /// The path of the device, of one behind a bridge, or of a part; nil for the only device.
  var node: String?
  /// Nil for the first endpoint with the attribute. Those of a device behind a bridge and of a part are numbered within
  /// it.
  var endpoint: UInt16?
  var action: Action

  /// - Throws: `badRequest` with the expected names or fields.
  init(_ text: String) throws(ControlError) {
    guard let fields = try? JSONDecoder().decode([String: Field].self, from: Data(text.utf8)) else {
      throw ControlError(
        .badRequest, "not a JSON object with single values; expected {\"Name\": …, \"EndpointId\": 1, …}")
    }
    guard case .text(let name)? = fields["Name"]?.value else {
      throw ControlError(.badRequest, "no “Name”; expected \(Self.names)")
    }
    guard let read = Self.commands.first(where: { $0.name == name })?.read else {
      throw ControlError(.badRequest, "unknown name “\(name)”; expected \(Self.names)")
    }
    if case .text(let path)? = fields["Node"]?.value { node = path }
    if fields["EndpointId"] != nil { endpoint = try Self.number("EndpointId", in: fields) }
    action = try read(fields)
  }

  // MARK: Commands

  typealias Fields = [String: Field]
  typealias Read = @Sendable (Fields) throws(ControlError) -> Action

  private static let commands = sensorsAndSwitches + appliances

  private static let sensorsAndSwitches: [(name: String, read: Read)] = [
    ("SetOccupancy", setting(OccupancySensing.occupancy, to: "Occupancy")),
    ("SetAirQuality", setting(AirQuality.airQuality, to: "NewValue")),
    ("SetSimulatedSoilMoisture", setting(SoilMeasurement.soilMoistureMeasuredValue, to: "SoilMoistureValue")),
    ("SimulateLatchPosition", setting(Switch.currentPosition, to: "PositionId")),
    ("SwitchLatched", setting(Switch.currentPosition, to: "NewPosition")),
    ("InitialPress", setting(Switch.currentPosition, to: "NewPosition")),
    ("ShortRelease", { _ in .move([SwitchMove(to: 0)]) }),
    ("LongRelease", { _ in .move([SwitchMove(to: 0)]) }),
    ("SimulateSwitchIdle", { _ in .move([SwitchMove(to: 0)]) }),
    (
      "SimulateLongPress",
      { fields throws(ControlError) in
        let hold: UInt16 = try number("LongPressDurationMillis", in: fields)
        return .move(
          SwitchMove.presses(at: try number("ButtonId", in: fields), hold: .milliseconds(Int64(hold))))
      }
    ),
    (
      "SimulateMultiPress",
      { fields throws(ControlError) in
        let hold: UInt16 = try number("MultiPressPressedTimeMillis", in: fields)
        let gap: UInt16 = try number("MultiPressReleasedTimeMillis", in: fields)
        let count: UInt8 = try number("MultiPressNumPresses", in: fields)
        return .move(
          SwitchMove.presses(
            Int(count), at: try number("ButtonId", in: fields), hold: .milliseconds(Int64(hold)),
            gap: .milliseconds(Int64(gap))))
      }
    ),
    ("SimulateConfigurationVersionChange", { _ in .reconfigure }),
    ("PowerOnReboot", { _ in .restart(isOrderly: false) }),
    ("SoftwareReset", { _ in .restart(isOrderly: true) }),
  ]

  private static var names: String { DefinitionReader.list(commands.map(\.name)) }

  /// Returns the command that sets an attribute to a field.
  private static func setting<C: Cluster, Value: ModelValue>(
    _ attribute: Attribute<C, Value>, to field: String
  ) -> Read {
    { fields throws(ControlError) in
      guard let value = fields[field]?.value else { throw ControlError(.badRequest, "no “\(field)”") }
      return .set(C.id, attribute.id, value.tlv(as: Value.schema))
    }
  }

  static func number<Number: FixedWidthInteger>(
    _ name: String, in fields: Fields
  ) throws(ControlError) -> Number {
    guard case .integer(let value)? = fields[name]?.value, let number = Number(exactly: value) else {
      throw ControlError(
        .badRequest, "“\(name)” is missing or wrong; expected a number from \(Number.min) to \(Number.max)")
    }
    return number
  }
}

/// A single value of a JSON object.
struct Field: Decodable {
  let value: InitialValue.Value

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      value = .null
    } else if let boolean = try? container.decode(Bool.self) {
      value = .boolean(boolean)
    } else if let integer = try? container.decode(Int64.self) {
      value = .integer(integer)
    } else if let real = try? container.decode(Double.self) {
      value = .real(real)
    } else {
      value = .text(try container.decode(String.self))
    }
  }
}

extension VirtualDevice {
  /// Performs a command of an app pipe.
  func perform(_ command: PipeCommand) throws(ControlError) {
    guard let place = place(named: command.node ?? definition.path) else { return }
    try perform(command.action, on: place.endpoints(command.endpoint), at: place)
  }

  private func perform(_ action: PipeCommand.Action, on endpoints: [EndpointID], at place: Place) throws(ControlError) {
    switch action {
    case .set(let cluster, let attribute, let value): try set(cluster, attribute, value, on: endpoints)
    case .part(let name, let state):
      // The doors of a refrigerator are those of its compartments.
      let parts = host?.perform { engine, _ in
        endpoints.flatMap { [$0] + (engine.value(Descriptor.partsList, on: $0) ?? []) }
      }
      try move(part: name, to: state, on: parts ?? endpoints)
    case .addArea(let area): try changeAreas(on: endpoints) { $0.append(area) }
    case .removeArea(let id):
      try changeAreas(on: endpoints) { areas throws(ControlError) in
        guard let index = areas.firstIndex(where: { $0.areaID == id }) else {
          let ids = areas.map { "\($0.areaID)" }
          throw ControlError(.notFound, "it has no area \(id); expected \(DefinitionReader.list(ids))")
        }
        areas.remove(at: index)
      }
    case .all(let actions): for action in actions { try perform(action, on: endpoints, at: place) }
    case .move(let moves):
      try move(moves, on: try find(Switch.id, Switch.currentPosition.id, on: endpoints).endpoint)
    case .reconfigure:
      for (cluster, attribute) in [
        (BridgedDeviceBasicInformation.id, BridgedDeviceBasicInformation.configurationVersion.id),
        (BasicInformation.id, BasicInformation.configurationVersion.id),
      ] {
        guard let found = try? find(cluster, attribute, on: endpoints), let version = try? UInt32(tlv: found.value)
        else { continue }
        return try set(cluster, attribute, (version == .max ? 1 : version + 1).tlv, on: [found.endpoint])
      }
      throw ControlError(.notFound, "it has no ConfigurationVersion; expected a device with “provisional: true”")
    case .restart(let isOrderly):
      guard place.bridged == nil else {
        throw ControlError(.refused, "it restarts with its node; use “\(definition.path)”")
      }
      if isOrderly { stop() } else { cutPower() }
      try switchPower(true, at: place)
    }
  }

  /// Changes the areas of a robot.
  private func changeAreas(
    on endpoints: [EndpointID], _ change: (inout [ServiceArea.AreaStruct]) throws(ControlError) -> Void
  ) throws(ControlError) {
    let found = try find(ServiceArea.id, ServiceArea.supportedAreas.id, on: endpoints)
    var areas = (try? [ServiceArea.AreaStruct](tlv: found.value)) ?? []
    try change(&areas)
    try set(ServiceArea.id, ServiceArea.supportedAreas.id, areas.tlv, on: [found.endpoint])
  }
}
