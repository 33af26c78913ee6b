import MatterClusters
import MatterModel

/// The Mode Select server: a mode from a list of names. Application Clusters § 1.9.
public enum ModeSelectServer {
  /// Returns the server. The number of a mode is its index. The mode and StartUpMode survive a restart.
  /// - Parameter modes: The names, at most 64 bytes each, 255 at most. An empty list has the effect of one mode.
  public static func make(_ modes: [String]) -> ClusterServer {
    let options = modes.enumerated().map {
      ModeSelect.ModeOptionStruct(label: $1, mode: UInt8(clamping: $0), semanticTags: [])
    }
    let numbers = 0...Int64(max(min(modes.count, 255), 1) - 1)
    return ClusterServer(ModeSelect.self)
      .initial(ModeSelect.description, "Mode")
      .initial(ModeSelect.supportedModes, options)
      .serving(ModeSelect.startUpMode)
      .limiting(ModeSelect.currentMode, to: numbers)
      .limiting(ModeSelect.startUpMode, to: numbers)
      .on(ModeSelect.changeToMode) { context, request throws(StatusError) in
        guard numbers.contains(Int64(request.newMode)) else { throw StatusError(.invalidCommand) }
        context[ModeSelect.currentMode] = request.newMode
      }
      .onStart { context in
        // A changed definition may have fewer modes than the last run.
        if let mode = context[ModeSelect.startUpMode].wrapped, !numbers.contains(Int64(mode)) {
          context[ModeSelect.startUpMode] = .null
        }
        let mode = context[ModeSelect.startUpMode].wrapped ?? context[ModeSelect.currentMode]
        context[ModeSelect.currentMode] = numbers.contains(Int64(mode)) ? mode : 0
      }
  }
}
