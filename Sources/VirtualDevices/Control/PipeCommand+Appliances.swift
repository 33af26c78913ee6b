internal import MatterClusters
internal import MatterModel

// The commands of the Matter SDK's apps for appliances.
extension PipeCommand {
  static let appliances: [(name: String, read: Read)] = [
    ("OperationalStateChange", operation),
    (
      "SetRefrigeratorDoorStatus",
      { fields throws(ControlError) in
        let isOpen: UInt8 = try number("DoorOpen", in: fields)
        return .part("door", to: isOpen == 0 ? "closed" : "open")
      }
    ),
    ("Reset", { _ in reset }),
    (
      "ErrorEvent",
      { fields throws(ControlError) in
        setting(error: try choice("Error", in: fields, robotErrors), of: RvcOperationalState.id)
      }
    ),
    ("ClearError", { _ in setting(error: 0, of: RvcOperationalState.id) }),
    ("ChargerFound", robot(.charging)),
    ("Charging", robot(.charging)),
    ("Charged", robot(.docked)),
    ("Docked", robot(.docked)),
    ("EmptyingDustBin", robot(.emptyingDustBin)),
    ("CleaningMop", robot(.cleaningMop)),
    ("FillingWaterTank", robot(.fillingWaterTank)),
    ("UpdatingMaps", robot(.updatingMaps)),
    ("LowCharge", { _ in .part("battery", to: "low") }),
    ("ActivityComplete", robot(.seekingCharger)),
    ("AddArea", area),
    ("RemoveArea", { fields throws(ControlError) in .removeArea(try number("AreaId", in: fields)) }),
  ]

  private static let operation: Read = { fields throws(ControlError) in
    typealias State = OperationalState.OperationalState
    let devices: [(name: String, value: ClusterID)] = [
      ("Generic", OperationalState.id), ("Dishwasher", OperationalState.id), ("Oven", OvenCavityOperationalState.id),
    ]
    let operations: [(name: String, value: State)] = [
      ("Start", .running), ("Resume", .running), ("Pause", .paused), ("Stop", .stopped), ("OnFault", .error),
    ]
    let cluster = try choice("Device", in: fields, devices)
    let state = try choice("Operation", in: fields, operations)
    // The derived clusters have the attributes of Operational State.
    guard state == .error else { return .set(cluster, OperationalState.operationalState.id, state.tlv) }
    let isDefault = (fields["Param"]?.value ?? .null) == .null
    let usual = OperationalState.ErrorState.unableToCompleteOperation.rawValue
    return setting(error: isDefault ? usual : try number("Param", in: fields), of: cluster)
  }

  private static func setting(error: UInt8, of cluster: ClusterID) -> Action {
    let error = OperationalState.ErrorStateStruct(errorStateID: error)
    return .set(cluster, OperationalState.operationalError.id, error.tlv)
  }

  // MARK: Robots

  private static func robot(_ state: RvcOperationalState.OperationalState) -> Read { { _ in setting(robot: state) } }

  private static func setting(robot state: RvcOperationalState.OperationalState) -> Action {
    .set(RvcOperationalState.id, RvcOperationalState.operationalState.id, state.tlv)
  }

  /// Stops the robot with a charged battery, without an error or selected areas.
  private static let reset = Action.all([
    setting(error: 0, of: RvcOperationalState.id), setting(robot: .stopped), .part("battery", to: "ok"),
    .set(ServiceArea.id, ServiceArea.selectedAreas.id, [UInt32]().tlv),
  ])

  /// The errors by name. The scripts call a low battery “BatteryLow”.
  private static let robotErrors: [(name: String, value: UInt8)] =
    RvcOperationalState.ErrorState.names.sorted { $0.key < $1.key }.map { ($0.value, UInt8(clamping: $0.key)) }
    + [("BatteryLow", RvcOperationalState.ErrorState.lowBattery.rawValue)]

  /// A robot has no maps: “MapId” is ignored.
  private static let area: Read = { fields throws(ControlError) in
    guard case .text(let name)? = fields["LocationName"]?.value else {
      throw ControlError(.badRequest, "no “LocationName”")
    }
    let floor: Int16? = fields["FloorNumber"] == nil ? nil : try number("FloorNumber", in: fields)
    let kind: UInt8? = fields["AreaType"] == nil ? nil : try number("AreaType", in: fields)
    let location = LocationDescriptorStruct(
      locationName: name, floorNumber: Nullable(floor), areaType: Nullable(kind.map { AreaTypeTag($0) }))
    return .addArea(
      .init(
        areaID: try number("AreaId", in: fields), mapID: .null,
        areaInfo: .init(locationInfo: .value(location), landmarkInfo: .null)))
  }

  /// Returns the value that a field names.
  private static func choice<Value>(
    _ name: String, in fields: Fields, _ values: [(name: String, value: Value)]
  ) throws(ControlError) -> Value {
    guard case .text(let text)? = fields[name]?.value, let found = values.first(where: { $0.name == text }) else {
      throw ControlError(
        .badRequest, "“\(name)” is missing or wrong; expected \(DefinitionReader.list(values.map(\.name)))")
    }
    return found.value
  }
}
