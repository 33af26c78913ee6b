import MatterClusters
import MatterDevice
import MatterModel

// Closures and their panels.
extension DeviceAssembly {
  /// Returns the endpoints of a closure and its panels; nil for other kinds.
  static func closureUnits(of kind: DeviceKind, _ device: DeviceDefinition? = nil) -> [Unit]? {
    guard kind == .closure else { return nil }
    let definition = device?.closure ?? ClosureDefinition()
    var settings = definition.settings
    if let motors = device?.motors {
      settings.hasEncoder = motors.hasEncoder
      settings.travel = motors.lift ?? settings.travel
    }
    let panels = settings.panels.enumerated().map { index, panel in
      // The number distinguishes siblings, the label names them.
      let number = SemanticTagStruct(
        mfgCode: .null, namespaceID: 0x07, tag: UInt8(clamping: index + 1), label: .value(panel.name))
      return Unit(
        type: DeviceTypes.closurePanel, servers: [ClosureDimensionServer.make(panel, of: settings)],
        tags: [panel.motion.tag, number], isPart: true)
    }
    let whole = Unit(
      type: DeviceTypes.closure, servers: [IdentifyServer.make(.actuator), ClosureControlServer.make(settings)],
      tags: definition.use.tags)
    return [whole] + panels
  }

  /// The names of the panels of a closure; none for other kinds.
  static func closureParts(of device: DeviceDefinition) -> [String] {
    guard device.kind == .closure else { return [] }
    return (device.closure ?? ClosureDefinition()).settings.panels.map(\.name)
  }
}

extension ClosurePanelSettings.Motion {
  /// The tag of the standard namespace “Closure Panel”: lift, tilt, sliding or rotate.
  fileprivate var tag: SemanticTagStruct {
    let tag: UInt8 =
      switch self {
      case .translation(.upward), .translation(.downward), .translation(.verticalMask),
        .translation(.verticalSymmetry):
        0
      case .translation: 2
      case .rotation(.top, _), .rotation(.bottom, _), .rotation(.topAndBottom, _), .rotation(.centeredHorizontal, _),
        .modulation:
        1
      case .rotation: 3
      }
    return SemanticTagStruct(mfgCode: .null, namespaceID: 0x45, tag: tag)
  }
}
