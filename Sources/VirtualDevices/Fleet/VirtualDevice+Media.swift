import MatterClusters
import MatterDevice
import MatterModel

// The states of video players and selectors, for display.
extension VirtualDevice {
  /// Returns what a player plays, or the mode of a selector; nil without one, and while the player is off.
  static func media(_ engine: inout DeviceEngine, on endpoint: EndpointID) -> String? {
    if let mode = engine.value(ModeSelect.currentMode, on: endpoint) {
      return engine.value(ModeSelect.supportedModes, on: endpoint)?.first { $0.mode == mode }?.label
    }
    guard let state = engine.value(MediaPlayback.currentState, on: endpoint),
      engine.value(OnOff.onOff, on: endpoint) != false
    else { return nil }
    let words = MediaPlayback.words(state, engine.value(MediaPlayback.playbackSpeed, on: endpoint))
    return engine.nowPlaying(on: endpoint).map { "\(words), \($0)" } ?? words
  }
}
