/// An error in parsing or writing a setup code. Positions count characters from 1, including blanks and dashes, so that
/// they can be marked in the input.
public enum SetupCodeError: Error, Hashable, Sendable {
  /// The code is empty or blank.
  case empty
  /// The code starts with neither `MT:` nor a digit.
  case badPrefix(found: String)
  /// A character that is not allowed at its position.
  case badCharacter(Character, position: Int, expected: String)
  /// Too few or too many characters; in a manual code, digits.
  case wrongLength(found: Int, expected: String)
  /// A group of characters or digits encodes a number that is too large.
  case groupTooLarge(String, position: Int)
  /// The check digit of a manual pairing code does not match: a digit was mistyped.
  case wrongCheckDigit(found: Int, expected: Int)
  /// A version other than 0.
  case unknownVersion(UInt8)
  /// The reserved value of the custom flow field.
  case unknownFlow(UInt8)
  /// The unused bits of a QR code are not zero.
  case nonzeroPadding(UInt8)
  /// The passcode is out of range or trivial.
  case invalidPasscode(UInt32)
  /// The discriminator has more than 12 bits (4 if short).
  case invalidDiscriminator(UInt16)
  /// A QR code requires all 12 bits of the discriminator.
  case shortDiscriminator
  /// A QR code requires the discovery capabilities.
  case missingDiscovery
  /// Undefined bits of the discovery capabilities, when writing a code.
  case unknownDiscovery(UInt8)
  /// A vendor id out of range.
  case invalidVendor(UInt16)
  /// A vendor id without a product id.
  case missingProduct(vendorID: UInt16)
  /// A code for several devices where a code for one was expected.
  case severalCodes(count: Int)
}

extension SetupCodeError: CustomStringConvertible {
  /// A message for users, without a full stop.
  public var description: String {
    switch self {
    case .empty: "the setup code is empty; expected “MT:…” or 11 or 21 digits"
    case .badPrefix(let found): "found “\(found)” at the start of the setup code, expected “MT:” or a digit"
    case .badCharacter(let character, let position, let expected):
      "found “\(character)” at character \(position) of the setup code, expected \(expected)"
    case .wrongLength(let found, let expected): "found \(found) characters in the setup code, expected \(expected)"
    case .groupTooLarge(let group, let position):
      "“\(group)” at character \(position) of the setup code encodes a number that is too large; check the characters"
    case .wrongCheckDigit(let found, let expected):
      "the check digit of the setup code is \(found), expected \(expected); check for wrong or swapped digits"
    case .unknownVersion(let version): "the setup code has version \(version), expected 0"
    case .unknownFlow(let flow): "the setup code has commissioning flow \(flow), expected 0, 1 or 2"
    case .nonzeroPadding(let bits): "the unused bits of the setup code are \(bits), expected 0"
    case .invalidPasscode(let passcode):
      if SetupPasscode.range.contains(passcode) {
        "passcode \(passcode) is too easy to guess and not allowed; choose another"
      } else {
        "found passcode \(passcode), expected 1 to 99999998"
      }
    case .invalidDiscriminator(let value): "found discriminator \(value), expected 0 to 4095 (0 to 15 for a short one)"
    case .shortDiscriminator:
      "a QR code requires the full discriminator (0 to 4095); a manual code has only its upper 4 bits"
    case .missingDiscovery: "a QR code requires the discovery capabilities; a manual code has none"
    case .unknownDiscovery(let bits): "the discovery capabilities have unknown bits (\(bits)), expected 0 to 31"
    case .invalidVendor(let vendor): "found vendor \(VendorID(vendor)), expected 0 to 0xFFF4"
    case .missingProduct(let vendor):
      "vendor \(VendorID(vendor)) requires a product id; found 0, expected 1 to 0xFFFF"
    case .severalCodes(let count): "the setup code is for \(count) devices, expected one"
    }
  }
}

extension Character {
  var isASCIIDigit: Bool { self >= "0" && self <= "9" }
}
