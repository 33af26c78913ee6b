import MatterClusters
import MatterDevice
import MatterModel

// The states of window coverings, closures and valves, for display.
extension VirtualDevice {
  /// Returns the position of a window covering, a closure or a valve as text; nil without one.
  static func position(_ engine: inout DeviceEngine, on endpoint: EndpointID) -> String? {
    if let status = engine.value(WindowCovering.operationalStatus, on: endpoint) {
      let lift = engine.value(WindowCovering.currentPositionLiftPercentage, on: endpoint).map(text)
      let tilt = engine.value(WindowCovering.currentPositionTiltPercentage, on: endpoint).map { "tilt " + text($0) }
      let movement = status.contains(.init(rawValue: 1)) ? "opening" : status.isEmpty ? nil : "closing"
      return [lift, tilt, movement].compactMap { $0 }.joined(separator: ", ")
    }
    if let state = engine.value(ClosureControl.mainState, on: endpoint) {
      let current = engine.value(ClosureControl.overallCurrentState, on: endpoint)?.wrapped
      let errors = engine.value(ClosureControl.currentErrorList, on: endpoint) ?? []
      return [current.map(ClosureControl.words), ClosureControl.words(state, errors)].compactMap { $0 }
        .joined(separator: ", ")
    }
    guard let state = engine.value(ValveConfigurationAndControl.currentState, on: endpoint) else { return nil }
    guard let state = state.wrapped else { return "unknown" }
    if state == .closed { return "closed" }
    let level = engine.value(ValveConfigurationAndControl.currentLevel, on: endpoint)?.wrapped ?? 0
    guard state == .transitioning else { return "open \(level)%" }
    let isClosing = engine.value(ValveConfigurationAndControl.targetState, on: endpoint) == .value(.closed)
    return "open \(level)%, \(isClosing ? "closing" : "moving")"
  }

  /// Returns the text of a position in percent; 100 is closed.
  private static func text(_ position: Nullable<UInt8>) -> String {
    switch position.wrapped {
    case nil: "unknown"
    case 0: "open"
    case 100: "closed"
    case let position?: "\(position)% closed"
    }
  }
}
