package import MatterCrypto

/// Ids of structures, rooms and other objects that users add to a home.
package enum Identifiers {
  /// Returns a new random id: 16 upper-case hexadecimal digits.
  /// - Parameter random: the source of the machine, so that a simulation has the same ids in each run.
  package static func new(_ random: any RandomSource = SystemRandomSource()) -> String {
    var random = random
    return random.bytes(8).hexadecimal
  }
}
