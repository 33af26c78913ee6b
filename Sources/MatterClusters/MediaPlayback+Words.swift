internal import MatterModel

extension MediaPlayback {
  /// Returns the state of a player: "playing", "playing at 4x", "paused".
  /// - Parameter speed: the value of PlaybackSpeed; nil if it is not served.
  package static func words(_ state: PlaybackState, _ speed: Float?) -> String {
    let name = state.isKnown ? state.words : "state \(state.rawValue)"
    guard state == .playing, let speed, speed != 1 else { return name }
    return "\(name) at \(speed == speed.rounded() && abs(speed) < 1000 ? "\(Int(speed))" : "\(speed)")x"
  }
}
