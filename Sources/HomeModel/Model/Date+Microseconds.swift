package import Foundation

// Internal times are microseconds since 1970, which are exact and ordered like the database's; public ones are dates.
extension Date {
  /// - Parameter microseconds: the time since 1970.
  package init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
}
