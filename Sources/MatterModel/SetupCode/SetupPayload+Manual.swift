// The manual pairing code: 10 or 20 digits and a check digit. Matter Core § 5.1.4.

extension SetupPayload {
  /// The manual pairing code: 11 digits, or 21 with vendor and product if the flow is not standard.
  ///
  /// - Throws: a ``SetupCodeError`` if a value is too large or not allowed.
  public var manualCode: String {
    get throws(SetupCodeError) {
      try validate()
      return try String(manualDigits().map { Character(String($0)) })
    }
  }

  /// The manual pairing code as printed on a label: `3497-011-2332`.
  public var formattedManualCode: String {
    get throws(SetupCodeError) {
      let digits = Array(try manualCode)
      let groups = digits.count == 11 ? [4, 3, 4] : [4, 4, 4, 4, 4, 1]
      var parts: [String] = []
      var start = 0
      for length in groups {
        parts.append(String(digits[start..<(start + length)]))
        start += length
      }
      return parts.joined(separator: "-")
    }
  }

  /// Returns the digits; checks only that each value fits.
  func manualDigits() throws(SetupCodeError) -> [Int] {
    if let long = discriminator.longValue, long > 0xFFF { throw .invalidDiscriminator(long) }
    if case .short(let short) = discriminator, short > 0xF { throw .invalidDiscriminator(UInt16(short)) }
    guard passcode < 1 << 27 else { throw .invalidPasscode(passcode) }
    let short = Int(discriminator.shortValue)
    let isLong = flow != .standard
    var digits: [Int] = []
    func append(_ value: Int, width: Int) {
      var rest = value
      var group: [Int] = []
      for _ in 0..<width {
        group.append(rest % 10)
        rest /= 10
      }
      digits += group.reversed()
    }
    append((isLong ? 4 : 0) | short >> 2, width: 1)
    append((short & 3) << 14 | Int(passcode & 0x3FFF), width: 5)
    append(Int(passcode >> 14), width: 4)
    if isLong {
      append(Int(vendorID), width: 5)
      append(Int(productID), width: 5)
    }
    return digits + [Verhoeff.checkDigit(of: digits)]
  }

  /// Parses a manual pairing code; ignores dashes and blanks.
  init(manual text: ArraySlice<Character>) throws(SetupCodeError) {
    var digits: [Int] = []
    var positions: [Int] = []
    for (index, character) in zip(text.indices, text) where character != "-" && !character.isWhitespace {
      guard character.isASCIIDigit, let digit = character.wholeNumberValue else {
        throw .badCharacter(character, position: index + 1, expected: "a digit")
      }
      digits.append(digit)
      positions.append(index + 1)
    }
    guard let first = digits.first, let check = digits.last else { throw .empty }
    guard digits.count == 11 || digits.count == 21 else {
      throw .wrongLength(found: digits.count, expected: "11 or 21 digits")
    }
    let expected = Verhoeff.checkDigit(of: digits.dropLast())
    guard check == expected else { throw .wrongCheckDigit(found: check, expected: expected) }
    guard first < 8 else {
      throw .badCharacter(Character(String(first)), position: positions[0], expected: "0 to 7 as the first digit")
    }
    let isLong = first & 4 != 0
    guard digits.count == (isLong ? 21 : 11) else {
      throw .wrongLength(
        found: digits.count, expected: "\(isLong ? 21 : 11) digits in a code that begins with \(first)")
    }
    func number(_ range: Range<Int>, below limit: Int) throws(SetupCodeError) -> Int {
      let group = digits[range]
      let value = group.reduce(0) { $0 * 10 + $1 }
      guard value < limit else {
        throw .groupTooLarge(group.map(String.init).joined(), position: positions[range.lowerBound])
      }
      return value
    }
    let middle = try number(1..<6, below: 1 << 16)
    let upper = try number(6..<10, below: 1 << 13)
    let vendorID = isLong ? try number(10..<15, below: 1 << 16) : 0
    let productID = isLong ? try number(15..<20, below: 1 << 16) : 0
    // The long form is for the custom flow, or for user intent, which the code cannot distinguish.
    self.init(
      vendorID: UInt16(truncatingIfNeeded: vendorID), productID: UInt16(truncatingIfNeeded: productID),
      flow: isLong ? .custom : .standard, discovery: nil,
      discriminator: .short(UInt8(truncatingIfNeeded: (first & 3) << 2 | middle >> 14)),
      passcode: UInt32(truncatingIfNeeded: upper << 14 | middle & 0x3FFF))
  }
}

/// The Verhoeff check digit, which detects every wrong digit and every swap of adjacent digits. Matter Core §
/// 5.1.4.1.5.
enum Verhoeff {
  static func checkDigit(of digits: some BidirectionalCollection<Int>) -> Int {
    var check = 0
    for (offset, digit) in digits.reversed().enumerated() {
      var permuted = digit
      // The permutation of the n-th digit is the first one applied n times; its period is 8.
      for _ in 0..<((offset + 1) % 8) { permuted = permutation[permuted] }
      check = multiply(check, permuted)
    }
    return (0..<10).first { multiply(check, $0) == 0 } ?? 0
  }

  private static let permutation = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]

  /// Multiplies in the symmetry group of the pentagon: 0…4 are rotations, 5…9 reflections.
  private static func multiply(_ a: Int, _ b: Int) -> Int {
    switch (a < 5, b < 5) {
    case (true, true): (a + b) % 5
    case (true, false): (a + b) % 5 + 5
    case (false, true): (a - b) % 5 + 5
    case (false, false): (a - b + 5) % 5
    }
  }
}
