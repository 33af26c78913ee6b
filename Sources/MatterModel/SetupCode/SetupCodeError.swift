/// Why a text is not a setup code, or why a payload can't be written as one. Positions count characters from 1, blanks
/// and dashes included, so that they can be shown under the text that was typed.
public enum SetupCodeError: Error, Hashable, Sendable {
  /// There is nothing but blanks.
  case empty
  /// Neither `MT:` nor a digit comes first.
  case badPrefix(found: String)
  /// A character that can't occur there.
  case badCharacter(Character, position: Int, expected: String)
  /// Too few or too many characters; for a manual code only its digits count.
  case wrongLength(found: Int, expected: String)
  /// A group of characters or digits stands for a number that is too large for its bits.
  case groupTooLarge(String, position: Int)
  /// The last digit of a manual pairing code does not fit the others: one of them was mistyped.
  case wrongCheckDigit(found: Int, expected: Int)
  /// A format from the future.
  case unknownVersion(UInt8)
  /// The reserved value of the custom flow field.
  case unknownFlow(UInt8)
  /// The unused bits of a QR code are not zero.
  case nonzeroPadding(UInt8)
  /// Out of range, or one that anybody would guess.
  case invalidPasscode(UInt32)
  /// More than 12 bits (4 for a short one).
  case invalidDiscriminator(UInt16)
  /// A QR code needs all 12 bits of the discriminator.
  case shortDiscriminator
  /// A QR code needs the discovery capabilities.
  case missingDiscovery
  /// Bits of the discovery capabilities that have no meaning, in a code to be made.
  case unknownDiscovery(UInt8)
  /// A vendor id that is not a vendor's.
  case invalidVendor(UInt16)
  /// A vendor without a product.
  case missingProduct(vendorID: UInt16)
  /// One code for several devices, where one device was asked for.
  case severalCodes(count: Int)
}

extension SetupCodeError: CustomStringConvertible {
  /// A sentence part for people, without a full stop.
  public var description: String {
    switch self {
    case .empty: "the setup code is empty; expected “MT:…” or 11 or 21 digits"
    case .badPrefix(let found): "found “\(found)” at the start of the setup code, expected “MT:” or a digit"
    case .badCharacter(let character, let position, let expected):
      "found “\(character)” at character \(position) of the setup code, expected \(expected)"
    case .wrongLength(let found, let expected): "found \(found) characters in the setup code, expected \(expected)"
    case .groupTooLarge(let group, let position):
      "“\(group)” at character \(position) of the setup code stands for too large a number; a character is wrong"
    case .wrongCheckDigit(let found, let expected):
      "the check digit of the setup code is \(found), expected \(expected): a digit is wrong, or two are swapped"
    case .unknownVersion(let version): "the setup code has version \(version), expected 0"
    case .unknownFlow(let flow): "the setup code has commissioning flow \(flow), expected 0, 1 or 2"
    case .nonzeroPadding(let bits): "the unused bits of the setup code are \(bits), expected 0"
    case .invalidPasscode(let passcode):
      if SetupPasscode.range.contains(passcode) {
        "passcode \(passcode) is too easy to guess and not allowed; take another"
      } else {
        "found passcode \(passcode), expected 1 to 99999998"
      }
    case .invalidDiscriminator(let value): "found discriminator \(value), expected 0 to 4095 (0 to 15 for a short one)"
    case .shortDiscriminator:
      "a QR code needs the whole discriminator (0 to 4095), a manual code has its upper 4 bits only"
    case .missingDiscovery: "a QR code needs the discovery capabilities, a manual code has none"
    case .unknownDiscovery(let bits): "the discovery capabilities have unknown bits (\(bits)), expected 0 to 31"
    case .invalidVendor(let vendor): "found vendor \(hexadecimal(vendor)), expected 0 to 0xFFF4"
    case .missingProduct(let vendor): "vendor \(hexadecimal(vendor)) comes with product 0, expected 1 to 0xFFFF"
    case .severalCodes(let count): "the setup code is for \(count) devices, expected one"
    }
  }

  private func hexadecimal(_ value: UInt16) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}

extension Character {
  var isASCIIDigit: Bool { self >= "0" && self <= "9" }
}
