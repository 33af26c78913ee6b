internal import MatterModel

/// Hashes that depend only on a text: the same in each run, on each machine and in each version of Hearth. A change
/// would alter the derived codes of all existing devices.
enum StableHash {
  /// Returns the 64-bit FNV-1a hash, mixed so that similar texts give values that differ in all bits.
  ///
  /// - Parameters:
  ///   - purpose: Separates the values for different uses of the same text.
  static func value(of text: String, for purpose: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in Array(purpose.utf8) + [0] + Array(text.utf8) {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    hash = (hash ^ hash >> 30) &* 0xBF58_476D_1CE4_E5B9
    hash = (hash ^ hash >> 27) &* 0x94D0_49BB_1331_11EB
    return hash ^ hash >> 31
  }

  /// Returns the upper `digits` hexadecimal digits of a value.
  static func hexadecimal(_ value: UInt64, digits: Int) -> String {
    String(value.hexadecimal(16).prefix(digits))
  }
}
