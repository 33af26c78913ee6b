/// The HTTP header with the token of an invitation. RFC 6750 § 2.1.
package enum BearerToken {
  package static let header = "Authorization"

  package static func value(_ token: String) -> String { "Bearer \(token)" }

  /// Returns the token in a value of the header; nil if it has another scheme.
  package static func token(in value: String) -> String? {
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return parts[1].allSatisfy({ $0.isASCII && !$0.isWhitespace }) ? String(parts[1]) : nil
  }
}
