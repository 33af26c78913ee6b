import Testing

@testable import MatterModel

@Suite("Manual pairing codes")
struct ManualCodeTests {
  /// Appends the check digit to the digits of a text that may have dashes.
  private func checked(_ text: String) -> String {
    text + String(Verhoeff.checkDigit(of: text.compactMap(\.wholeNumberValue)))
  }

  private func payload(
    _ passcode: UInt32, _ discriminator: SetupDiscriminator, vendor: UInt16 = 0, product: UInt16 = 0,
    flow: CommissioningFlow = .standard
  ) -> SetupPayload {
    SetupPayload(
      vendorID: vendor, productID: product, flow: flow, discovery: nil, discriminator: discriminator,
      passcode: passcode)
  }

  @Test("computes check digits", arguments: [("236", 3), ("3497011233", 2), ("0020480000", 2), ("0", 4), ("", 0)])
  func computesCheckDigits(text: String, check: Int) {
    #expect(Verhoeff.checkDigit(of: text.compactMap(\.wholeNumberValue)) == check)
  }

  @Test("parses the codes of the SDK's examples")
  func parsesExamples() throws {
    let device = payload(20_202_021, .long(3840), vendor: 0xFFF1, product: 0x8001)
    #expect(try device.manualCode == "34970112332")
    #expect(try device.formattedManualCode == "3497-011-2332")
    #expect(try SetupPayload(parsing: "3497-011-2332") == payload(20_202_021, .short(15)))
    #expect(try SetupPayload(parsing: "00204800002") == payload(2048, .short(0)))
  }

  @Test("writes codes")
  func writesCodes() throws {
    #expect(try payload(12_345_679, .long(2560)).manualCode == checked("2412950753"))
    #expect(try payload(12_345_679, .short(10)).manualCode == checked("2412950753"))
    #expect(
      try payload(12_345_679, .long(2560), vendor: 45367, product: 14526).manualCode == checked("2412950753"))
    #expect(try payload(12_345_679, .long(2560), flow: .custom).manualCode == checked("64129507530000000000"))
    #expect(
      try payload(12_345_679, .long(2560), vendor: 1, product: 1, flow: .custom).manualCode
        == checked("64129507530000100001"))
    let long = payload(12_345_679, .long(2560), vendor: 45367, product: 14526, flow: .custom)
    #expect(try long.manualCode == checked("64129507534536714526"))
    #expect(try long.formattedManualCode == checked("6412-9507-5345-3671-4526-"))
    #expect(
      try payload(0x7FF_FFFF, .long(0xFFF), vendor: 65535, product: 65535, flow: .custom).manualDigits()
        == checked("76553581916553565535").compactMap(\.wholeNumberValue))
  }

  @Test("parses codes")
  func parsesCodes() throws {
    func expect(_ code: String, _ expected: SetupPayload) throws {
      #expect(try SetupPayload(parsing: checked(code), allowingInvalidValues: true) == expected, "\(code)")
    }
    try expect("63610875354536714526", payload(123_456_780, .short(10), vendor: 45367, product: 14526, flow: .custom))
    try expect(
      "6361-0875-3545-3671-4526", payload(123_456_780, .short(10), vendor: 45367, product: 14526, flow: .custom))
    try expect("52927623630456200032", payload(38_728_284, .short(5), vendor: 4562, product: 32, flow: .custom))
    try expect("40000100000000100001", payload(1, .short(0), vendor: 1, product: 1, flow: .custom))
    try expect("2361087535", payload(123_456_780, .short(10)))
    try expect("236-108753-5", payload(123_456_780, .short(10)))
    try expect(" 23 6108 7535 ", payload(123_456_780, .short(10)))
    try expect("0000010000", payload(1, .short(0)))
    try expect("63610875350000000000", payload(123_456_780, .short(10), flow: .custom))
    try expect("0033407535", payload(123_456_780, .short(0)))
    try expect("63610875350000014526", payload(123_456_780, .short(10), product: 14526, flow: .custom))
    try expect("63610875354536700000", payload(123_456_780, .short(10), vendor: 45367, flow: .custom))
  }

  @Test("round-trips the values that a manual code contains")
  func roundTrips() throws {
    let short = payload(12_345_679, .long(0xA1F))
    #expect(try SetupPayload(parsing: try short.manualCode) == payload(12_345_679, .short(0xA)))
    let long = payload(12_345_679, .long(0xB1F), vendor: 1, product: 1, flow: .userIntent)
    #expect(
      try SetupPayload(parsing: try long.manualCode)
        == payload(12_345_679, .short(0xB), vendor: 1, product: 1, flow: .custom))
  }

  @Test("rejects invalid codes")
  func rejectsInvalidCodes() {
    func expect(_ code: String, _ error: SetupCodeError) {
      #expect(throws: error, "\(code)") { try SetupPayload(parsing: code) }
    }
    let lengths = "11 or 21 digits"
    expect(checked("24184.2196"), .badCharacter(".", position: 6, expected: "a digit"))
    expect("2418x421961", .badCharacter("x", position: 5, expected: "a digit"))
    expect("2418٣421961", .badCharacter("٣", position: 5, expected: "a digit"))
    expect(checked("2456"), .wrongLength(found: 5, expected: lengths))
    expect(checked("123456789123456785671"), .wrongLength(found: 22, expected: lengths))
    expect(checked("12749875380"), .wrongLength(found: 12, expected: lengths))
    expect(
      checked("23456789123456785610"), .wrongLength(found: 21, expected: "11 digits in a code that begins with 2"))
    expect(checked("6361087535"), .wrongLength(found: 11, expected: "21 digits in a code that begins with 6"))
    expect(checked("2327680000"), .invalidPasscode(0))
    expect("01120767810", .invalidPasscode(111_111_111))
    expect(
      "02684354589", .wrongCheckDigit(found: 9, expected: Verhoeff.checkDigit(of: [0, 2, 6, 8, 4, 3, 5, 4, 5, 8])))
    expect(checked("8497011233"), .badCharacter("8", position: 1, expected: "0 to 7 as the first digit"))
    expect(checked("3-9970112-33"), .groupTooLarge("99701", position: 3))
    expect(checked("3497018192"), .groupTooLarge("8192", position: 7))
    expect(checked("76553512336553665535"), .groupTooLarge("65536", position: 11))
    expect(checked("76553512336553565536"), .groupTooLarge("65536", position: 16))
  }

  @Test("detects every wrong digit and every swap of adjacent digits")
  func detectsMistypedDigits() {
    let digits = Array("34970112332")
    for index in digits.indices {
      for replacement in "0123456789" where replacement != digits[index] {
        var changed = digits
        changed[index] = replacement
        #expect(throws: SetupCodeError.self) { try SetupPayload(parsing: String(changed)) }
      }
      if index > 0, digits[index] != digits[index - 1] {
        var changed = digits
        changed.swapAt(index, index - 1)
        #expect(throws: SetupCodeError.self) { try SetupPayload(parsing: String(changed)) }
      }
    }
  }
}
