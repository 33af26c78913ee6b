internal import Foundation

/// The pause that a cloud requests with the field Retry-After of an answer with status 429 or 503. RFC 9110 § 10.2.3.
enum CloudRetry {
  /// The maximum pause.
  static let longest: Duration = .seconds(3600)

  /// - Parameters:
  ///   - field: seconds, or a date: `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///   - time: now, in microseconds since 1970.
  /// - Returns: nil if the field is invalid or the date has passed.
  static func duration(_ field: String, at time: Int64) -> Duration? {
    let text = field.trimmingCharacters(in: .whitespaces)
    if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) {
      return Int64(text).map { min(.seconds(min($0, 86_400)), longest) } ?? longest
    }
    guard let date = try? Date(text, strategy: dateFormat) else { return nil }
    let seconds = date.timeIntervalSince1970 - Double(time) / 1_000_000
    return seconds > 0 ? min(.seconds(min(seconds, 86_400)), longest) : nil
  }

  private static let dateFormat = Date.ParseStrategy(
    format: """
      \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
      \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) 'GMT'
      """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt)
}
