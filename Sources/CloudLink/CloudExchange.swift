internal import Foundation
internal import NIOCore
internal import Runtime
internal import WebClient

/// A request to a cloud.
enum CloudExchange {
  /// Sends a request, and returns the answer.
  static func post(
    _ request: JSONValue, _ account: StoredCloudAccount, _ settings: CloudOptions, _ machine: any Machine
  ) async throws(CloudFailure) -> JSONValue {
    let reply: CloudReply
    do {
      reply = try await settings.transport.post(
        Array(buffer: request.bytes), to: account.account.address, token: account.token, limit: settings.largestAnswer)
    } catch CloudTransportError.tooLarge {
      throw .tooLarge
    } catch CloudTransportError.unreachable(let reason) {
      throw .unreachable(reason)
    } catch {
      throw .unreachable("\(error)")
    }
    switch reply.status {
    case 200..<300: break
    case 401, 403: throw .refused(reply.status)
    case 429, 503:
      throw .status(reply.status, after: reply.retryAfter.flatMap { pause($0, at: machine.unixMicroseconds()) })
    default: throw .status(reply.status)
    }
    guard reply.body.count <= settings.largestAnswer else { throw .tooLarge }
    do { return try JSONParser.parse(reply.body) } catch { throw .unreadable("it is not JSON") }
  }

  /// The maximum pause in seconds.
  private static let longestPause: Int64 = 3600

  /// Returns the pause that a cloud requests with the field Retry-After of an answer with status 429 or 503. RFC 9110
  /// § 10.2.3.
  /// - Parameters:
  ///   - field: seconds, or a date: `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///   - time: now, in microseconds since 1970.
  /// - Returns: nil if the field is invalid or the date has passed.
  static func pause(_ field: String, at time: Int64) -> Duration? {
    let text = field.trimmingCharacters(in: .whitespaces)
    if !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }) {
      return .seconds(min(Int64(text) ?? longestPause, longestPause))
    }
    guard let date = try? Date(text, strategy: dateFormat) else { return nil }
    let seconds = date.timeIntervalSince1970 - Double(time) / 1_000_000
    return seconds > 0 ? .seconds(min(seconds, Double(longestPause))) : nil
  }

  private static let dateFormat = Date.ParseStrategy(
    format: """
      \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
      \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) 'GMT'
      """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt)
}
