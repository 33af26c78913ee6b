import MatterClusters
import MatterDevice
import MatterModel

/// The composition and the usual program of a kind of appliance.
struct Appliance: Sendable {
  let kind: DeviceKind
  /// The program of a device whose definition states none.
  let program: ApplianceProgram
  /// The keys of a definition that change the program.
  var keys: [Key] = []
  /// The tags of the modes by number.
  var tags: [UInt64: String] = [:]
  /// Tags: at least one mode must have one of them.
  var required: [UInt16] = []
  /// Returns the application endpoints of a device with a program.
  let units: @Sendable (ApplianceProgram) -> [DeviceAssembly.Unit]

  /// A key of a definition file.
  enum Key: String, CaseIterable, Sendable { case phases, modes, areas, compartments, doorAlarm }

  /// Returns the appliance of a kind; nil for other kinds.
  static func of(_ kind: DeviceKind) -> Appliance? { byKind[kind] }

  private static let byKind = Dictionary(
    [laundryWasher, laundryDryer, dishwasher, robotVacuum, refrigerator, microwaveOven, oven, cooktop].map {
      ($0.kind, $0)
    },
    uniquingKeysWith: { first, _ in first })

  /// Returns a device with one endpoint.
  private static func unit(_ kind: DeviceKind, _ servers: [ClusterServer]) -> [DeviceAssembly.Unit] {
    [.init(type: DeviceTypes.named(kind.deviceType), servers: [IdentifyServer.make(.audibleBeep)] + servers)]
  }

  private static func minutes(_ minutes: Int64) -> Duration { .seconds(60 * minutes) }

  // MARK: Kinds

  private static let laundryWasher = Appliance(
    kind: .laundryWasher,
    program: ApplianceProgram(
      phases: [
        .init("Pre-soak", minutes(10)), .init("Washing", minutes(45)), .init("Rinsing", minutes(25)),
        .init("Spinning", minutes(10)),
      ],
      modes: laundryModes([("Whites", .whites, 130)])),
    keys: [.phases, .modes], tags: LaundryWasherMode.ModeTag.names,
    required: [LaundryWasherMode.ModeTag.normal.rawValue],
    units: { unit(.laundryWasher, ApplianceServers.laundryWasher($0)) })

  private static let laundryDryer = Appliance(
    kind: .laundryDryer,
    program: ApplianceProgram(
      phases: [.init("Drying", minutes(60)), .init("Cooling", minutes(10))], modes: laundryModes([])),
    keys: [.phases, .modes], tags: LaundryWasherMode.ModeTag.names,
    required: [LaundryWasherMode.ModeTag.normal.rawValue],
    units: { unit(.laundryDryer, ApplianceServers.laundryDryer($0)) })

  private static func laundryModes(_ more: [(String, LaundryWasherMode.ModeTag, Int)]) -> [ApplianceMode] {
    let modes: [(String, LaundryWasherMode.ModeTag, Int)] =
      [("Normal", .normal, 100), ("Delicate", .delicate, 80), ("Heavy", .heavy, 150), ("Quick", .quick, 40)] + more
    return modes.map { ApplianceMode($0.0, [$0.1.rawValue], pace: $0.2) }
  }

  private static let dishwasher = Appliance(
    kind: .dishwasher,
    program: ApplianceProgram(
      phases: [
        .init("Pre-rinse", minutes(10)), .init("Washing", minutes(60)), .init("Rinsing", minutes(20)),
        .init("Drying", minutes(30)),
      ],
      modes: [
        ApplianceMode("Normal", [DishwasherMode.ModeTag.normal.rawValue]),
        ApplianceMode("Heavy", [DishwasherMode.ModeTag.heavy.rawValue], pace: 140),
        ApplianceMode(
          "Light", [DishwasherMode.ModeTag.light.rawValue, DishwasherMode.ModeTag.quick.rawValue], pace: 35),
        ApplianceMode(
          "Eco", [DishwasherMode.ModeTag.normal.rawValue, DishwasherMode.ModeTag.lowEnergy.rawValue], pace: 170),
      ]),
    keys: [.phases, .modes], tags: DishwasherMode.ModeTag.names, required: [DishwasherMode.ModeTag.normal.rawValue],
    units: { unit(.dishwasher, ApplianceServers.dishwasher($0)) })

  private static let robotVacuum = Appliance(
    kind: .robotVacuum,
    program: ApplianceProgram(
      modes: [
        ApplianceMode("Vacuum", [RvcCleanMode.ModeTag.vacuum.rawValue]),
        ApplianceMode("Mop", [RvcCleanMode.ModeTag.mop.rawValue], pace: 130),
        ApplianceMode(
          "Deep clean", [RvcCleanMode.ModeTag.deepClean.rawValue, RvcCleanMode.ModeTag.vacuumThenMop.rawValue],
          pace: 220),
        ApplianceMode("Quick", [RvcCleanMode.ModeTag.vacuum.rawValue, RvcCleanMode.ModeTag.quick.rawValue], pace: 60),
      ],
      areas: [
        .init("Living Room", .livingRoom, minutes(15)), .init("Kitchen", .kitchen, minutes(8)),
        .init("Hallway", .hallway, minutes(4)), .init("Bedroom", .bedroom, minutes(10)),
      ]),
    keys: [.modes, .areas], tags: RvcCleanMode.ModeTag.names,
    required: [RvcCleanMode.ModeTag.vacuum.rawValue, RvcCleanMode.ModeTag.mop.rawValue],
    units: { unit(.robotVacuum, ApplianceServers.robotVacuum($0)) })

  // MARK: Kinds with parts

  /// Returns a device with an endpoint for each of its cabinets.
  private static func composed(
    _ kind: DeviceKind, _ servers: [ClusterServer], _ part: DeviceType, _ cabinets: [ApplianceCabinet],
    _ tag: (ApplianceCabinet) -> UInt8? = { _ in nil }, _ partServers: (ApplianceCabinet) -> [ClusterServer]
  ) -> [DeviceAssembly.Unit] {
    let parts = cabinets.enumerated().map { index, cabinet in
      // The number distinguishes siblings, the label names them.
      let number = SemanticTagStruct(
        mfgCode: .null, namespaceID: 0x07, tag: UInt8(clamping: index + 1), label: .value(cabinet.name))
      let kind = tag(cabinet).map { SemanticTagStruct(mfgCode: .null, namespaceID: 0x41, tag: $0) }
      return DeviceAssembly.Unit(
        type: part, servers: partServers(cabinet), tags: (kind.map { [$0] } ?? []) + [number], isPart: true)
    }
    return unit(kind, servers) + parts
  }

  /// The ranges of set points by the first one that fits.
  static let coolingRanges: [ClosedRange<Int16>] = [100...1000, -2500...(-1000)]

  private static let refrigerator = Appliance(
    kind: .refrigerator,
    program: ApplianceProgram(
      modes: [
        ApplianceMode("Auto", [CoolingMode.ModeTag.auto.rawValue]),
        ApplianceMode("Rapid cool", [CoolingMode.ModeTag.rapidCool.rawValue]),
        ApplianceMode("Rapid freeze", [CoolingMode.ModeTag.rapidFreeze.rawValue]),
        ApplianceMode("Eco", [CoolingMode.ModeTag.auto.rawValue, CoolingMode.ModeTag.lowEnergy.rawValue]),
      ],
      cabinets: [
        ApplianceCabinet("Fresh food", coolingRanges[0], setpoint: 400),
        ApplianceCabinet("Freezer", coolingRanges[1], setpoint: -1800),
      ]),
    keys: [.compartments, .doorAlarm],
    units: { program in
      // Tags of the standard namespace “Refrigerator”. Standard Namespaces § 15.
      composed(
        .refrigerator, ApplianceServers.refrigerator(program), DeviceTypes.temperatureControlledCabinet,
        program.cabinets, { $0.isFreezer ? 1 : 0 }
      ) { ApplianceServers.compartment($0, program.modes) }
    })

  private typealias CoolingMode = RefrigeratorAndTemperatureControlledCabinetMode

  private static let microwaveOven = Appliance(
    kind: .microwaveOven,
    program: ApplianceProgram(modes: [
      ApplianceMode("Normal", [MicrowaveOvenMode.ModeTag.normal.rawValue]),
      ApplianceMode("Defrost", [MicrowaveOvenMode.ModeTag.defrost.rawValue]),
    ]), units: { unit(.microwaveOven, ApplianceServers.microwaveOven($0)) })

  private static let oven = Appliance(
    kind: .oven,
    program: ApplianceProgram(
      phases: [.init("Heating", minutes(10)), .init("Baking", minutes(45))],
      modes: [
        ApplianceMode("Bake", [OvenMode.ModeTag.bake.rawValue]),
        ApplianceMode("Convection", [OvenMode.ModeTag.convection.rawValue], pace: 80),
        ApplianceMode("Grill", [OvenMode.ModeTag.grill.rawValue], pace: 40),
        ApplianceMode("Roast", [OvenMode.ModeTag.roast.rawValue], pace: 200),
      ],
      cabinets: [ApplianceCabinet("Cavity", 5000...25_000, setpoint: 18_000)]),
    keys: [.phases, .modes], tags: OvenMode.ModeTag.names, required: [OvenMode.ModeTag.bake.rawValue],
    units: { program in
      composed(.oven, [], DeviceTypes.temperatureControlledCabinet, program.cabinets) {
        ApplianceServers.ovenCavity($0, program)
      }
    })

  private static let cooktop = Appliance(
    kind: .cooktop,
    program: ApplianceProgram(
      cabinets: ["Front left", "Front right", "Back left", "Back right"].map { .init($0, 0...0, setpoint: 0) }),
    units: { program in
      composed(.cooktop, ApplianceServers.cooktop(), DeviceTypes.cookSurface, program.cabinets) { _ in
        ApplianceServers.cookSurface()
      }
    })
}
