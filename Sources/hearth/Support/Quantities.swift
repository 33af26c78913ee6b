import ArgumentParser
import HearthHome
import MatterProtocol

/// A duration on the command line: `2s`, `150ms`, `1.5min`, `3m`, `1h`, `30d`. A number without a unit is seconds.
struct TimeSpan: ExpressibleByArgument, Hashable {
  var duration: Duration
  static let example = TimeText.example

  init(_ duration: Duration) { self.duration = duration }

  init?(argument: String) {
    guard let duration = TimeText.duration(argument) else { return nil }
    self.duration = duration
  }

  var defaultValueDescription: String { Self.text(duration) }

  static func text(_ duration: Duration) -> String { TimeText.text(duration) }

  /// Formats an age approximately: "2 s ago", "4 min ago".
  static func ago(milliseconds: Int64) -> String {
    let seconds = max(0, milliseconds / 1000)
    return switch seconds {
    case ..<1: "just now"
    case ..<120: "\(seconds) s ago"
    case ..<7200: "\(seconds / 60) min ago"
    case ..<172_800: "\(seconds / 3600) h ago"
    default: "\(seconds / 86_400) days ago"
    }
  }
}
