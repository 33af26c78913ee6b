internal import MatterCrypto

/// Ids for what people add to a home.
package enum Identifiers {
  /// One that nothing ever had: 16 small hexadecimal digits.
  package static func new() -> String {
    var random = SystemRandomSource()
    return hexadecimal(random.bytes(8))
  }
}
