import MatterClusters
import MatterModel

/// The presets of a thermostat: named pairs of set points. Application Clusters § 4.3.9.49.
enum ThermostatPresets {
  typealias Preset = Thermostat.PresetStruct
  private typealias Kind = Thermostat.PresetTypeStruct

  /// Fewer than the types permit together.
  private static let limit = 8
  private static let longestName = 64
  private static let types: [Kind] =
    [.occupied, .unoccupied].map { Kind(presetScenario: $0, numberOfPresets: 1, presetTypeFeatures: []) }
    + [.sleep, .wake, .vacation].map {
      Kind(presetScenario: $0, numberOfPresets: 1, presetTypeFeatures: .supportsNames)
    } + [Kind(presetScenario: .userDefined, numberOfPresets: 4, presetTypeFeatures: .supportsNames)]

  static func serve(
    _ sides: [ThermostatSetpoints.Side], _ range: ThermostatRange, _ server: ClusterServer
  ) -> ClusterServer {
    func builtIn(_ handle: UInt8, _ scenario: Thermostat.PresetScenario, cool: Int16, heat: Int16) -> Preset {
      Preset(
        presetHandle: .value(OctetString([handle])), presetScenario: scenario,
        coolingSetpoint: sides.contains(.cool) ? cool : nil, heatingSetpoint: sides.contains(.heat) ? heat : nil,
        builtIn: .value(true))
    }
    return
      server
      .initial(Thermostat.presetTypes, types)
      .initial(Thermostat.numberOfPresets, UInt8(limit))
      .initial(
        Thermostat.presets,
        [
          builtIn(1, .occupied, cool: 2600, heat: range.occupied),
          builtIn(2, .unoccupied, cool: 2800, heat: range.unoccupied),
        ]
      )
      .onWrite(Thermostat.presets, check)
      .on(Thermostat.setActivePresetRequest) { context, request throws(StatusError) in
        guard let handle = request.presetHandle.wrapped else {
          context[Thermostat.activePresetHandle] = .null
          return
        }
        guard activate(handle, .external, &context) else { throw StatusError(.invalidCommand) }
      }
  }

  /// Applies the set points of a preset to the present occupancy.
  /// - Returns: false if the preset does not exist.
  static func activate(
    _ handle: OctetString, _ source: Thermostat.SetpointChangeSource, _ context: inout ServerContext
  ) -> Bool {
    let presets = context.committedValue(Thermostat.presets) ?? []
    guard let preset = presets.first(where: { $0.presetHandle == .value(handle) }) else { return false }
    let setpoints = context.setpoints(heat: preset.heatingSetpoint, cool: preset.coolingSetpoint)
    ThermostatServer.apply(setpoints, source, preset: handle, &context)
    return true
  }

  // MARK: Changes

  /// Checks the written presets, and completes their BuiltIn fields. § 4.3.11.1.
  private static func check(_ context: inout ServerContext, _ presets: inout [Preset]) throws(StatusError) {
    let present = context.committedValue(Thermostat.presets) ?? []
    let setpoints = context.thermostatSetpoints
    for index in presets.indices {
      let preset = presets[index]
      presets[index].builtIn = .value(
        try isBuiltIn(
          preset.presetHandle, preset.builtIn, before: presets[..<index].map(\.presetHandle),
          present: present.map { ($0.presetHandle, $0.builtIn) }))
      guard let type = types.first(where: { $0.presetScenario == preset.presetScenario }) else {
        throw StatusError(.constraintError)
      }
      if let name = preset.name?.wrapped {
        let isTaken = presets[..<index].contains {
          $0.presetScenario == preset.presetScenario && $0.name == .value(name)
        }
        guard type.presetTypeFeatures.contains(.supportsNames), name.utf8.count <= longestName, !isTaken else {
          throw StatusError(.constraintError)
        }
      }
      for side in ThermostatSetpoints.Side.allCases {
        guard let values = setpoints[side] else { continue }
        let setpoint = side == .heat ? preset.heatingSetpoint : preset.coolingSetpoint
        guard let setpoint, values.allows(Int(setpoint)) else { throw StatusError(.constraintError) }
      }
      let same = presets[...index].count { $0.presetScenario == preset.presetScenario }
      guard index < limit, same <= Int(type.numberOfPresets) else { throw StatusError(.resourceExhausted) }
    }
  }

  /// Returns the BuiltIn field of a written entry, which must be that of the present entry with the handle.
  /// - Parameter before: The handles of the written entries before it.
  static func isBuiltIn(
    _ handle: Nullable<OctetString>, _ builtIn: Nullable<Bool>, before: [Nullable<OctetString>],
    present: [(handle: Nullable<OctetString>, builtIn: Nullable<Bool>)]
  ) throws(StatusError) -> Bool {
    guard handle != .null else {
      guard builtIn.wrapped != true else { throw StatusError(.constraintError) }
      return false
    }
    guard let known = present.first(where: { $0.handle == handle }) else { throw StatusError(.notFound) }
    let isSame = builtIn == .null || builtIn == known.builtIn
    guard !before.contains(handle), isSame else { throw StatusError(.constraintError) }
    return known.builtIn.wrapped ?? false
  }

  /// Checks presets that are to be stored: built-in presets, the active one and those of schedules must remain.
  static func checkComplete(
    _ presets: [Preset], _ schedules: [Thermostat.ScheduleStruct], _ context: inout ServerContext
  ) throws(StatusError) {
    let handles = Set(presets.compactMap(\.presetHandle.wrapped?.bytes))
    let present = context.committedValue(Thermostat.presets) ?? []
    try ThermostatHandles.checkBuiltIn(present.map { ($0.presetHandle, $0.builtIn) }, remainIn: handles)
    var used = schedules.flatMap { [$0.presetHandle] + $0.transitions.map(\.presetHandle) }
    used.append(context[Thermostat.activePresetHandle].wrapped)
    guard used.allSatisfy({ $0.map { handles.contains($0.bytes) } ?? true }) else {
      throw StatusError(.invalidInState)
    }
  }
}

extension ServerContext {
  /// Returns the set points with other values for the present occupancy, within the limits and the dead band.
  mutating func setpoints(heat: Int16?, cool: Int16?) -> ThermostatSetpoints {
    var setpoints = thermostatSetpoints
    let member: ThermostatSetpoints.Member =
      self[Thermostat.occupancy].contains(.occupied) ? \.occupied : \.unoccupied
    for (side, value) in [(ThermostatSetpoints.Side.heat, heat), (.cool, cool)] {
      guard let value, let values = setpoints[side] else { continue }
      try? setpoints.set(member, of: side, to: values.clamped(Int(value)))
    }
    return setpoints
  }
}
