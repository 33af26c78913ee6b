import Foundation

/// Formats points in time.
enum ClockText {
  /// `2026-03-04T05:06:07.089Z`.
  static func iso(milliseconds: Int64) -> String {
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// `05:06:07.089` in the local time zone.
  static func time(milliseconds: Int64) -> String {
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    let parts = Calendar.current.dateComponents([.hour, .minute, .second], from: date)
    func two(_ number: Int?) -> String { String(String(100 + (number ?? 0)).dropFirst()) }
    let rest = String(String(1000 + milliseconds % 1000).dropFirst())
    return "\(two(parts.hour)):\(two(parts.minute)):\(two(parts.second)).\(rest)"
  }
}
