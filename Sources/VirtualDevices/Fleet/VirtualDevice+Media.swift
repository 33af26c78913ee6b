import MatterClusters
import MatterDevice
import MatterModel

// The states of video players, chimes and selectors, for display.
extension VirtualDevice {
  /// Returns what a player or chime plays, the selected sound of a chime, or the mode of a selector; nil
  /// without one, and while the player is off.
  static func media(_ engine: inout DeviceEngine, on endpoint: EndpointID) -> String? {
    if let mode = engine.value(ModeSelect.currentMode, on: endpoint) {
      return engine.value(ModeSelect.supportedModes, on: endpoint)?.first { $0.mode == mode }?.label
    }
    if let selected = engine.value(Chime.selectedChime, on: endpoint) {
      if let sound = engine.playingChime(on: endpoint) { return "playing \(sound)" }
      guard engine.value(Chime.enabled, on: endpoint) == true else { return "disabled" }
      return engine.value(Chime.installedChimeSounds, on: endpoint)?.first { $0.chimeID == selected }?.name
    }
    guard let state = engine.value(MediaPlayback.currentState, on: endpoint),
      engine.value(OnOff.onOff, on: endpoint) != false
    else { return nil }
    let words = MediaPlayback.words(state, engine.value(MediaPlayback.playbackSpeed, on: endpoint))
    return engine.nowPlaying(on: endpoint).map { "\(words), \($0)" } ?? words
  }
}
