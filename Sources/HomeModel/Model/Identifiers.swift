package import MatterCrypto

/// Ids for what people add to a home.
package enum Identifiers {
  /// One that nothing ever had: 16 small hexadecimal digits.
  /// - Parameter random: the machine's, so that a simulated home has the same ones each time.
  package static func new(_ random: any RandomSource = SystemRandomSource()) -> String {
    var random = random
    return hexadecimal(random.bytes(8))
  }
}
