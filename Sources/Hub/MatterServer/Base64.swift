internal import Foundation

/// Octet strings on the wire: standard base64 with padding.
enum Base64 {
  static func encode(_ octets: [UInt8]) -> String { Data(octets).base64EncodedString() }
  static func decode(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map { [UInt8]($0) } }
}
