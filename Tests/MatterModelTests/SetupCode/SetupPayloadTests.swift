import Testing

@testable import MatterModel

/// Vendor 12, product 1, discriminator 128, passcode 2048: the payload of the public test vectors.
func sample(passcode: UInt32 = 2048, discriminator: UInt16 = 128) -> SetupPayload {
  SetupPayload(
    vendorID: 12, productID: 1, discovery: .softAccessPoint, discriminator: .long(discriminator), passcode: passcode)
}

@Suite("Base 38")
struct Base38Tests {
  @Test(
    "round-trips bytes",
    arguments: [
      ([], ""), ([10], "A0"), ([10, 10], "OT10"), ([10, 10, 10], "-N.B0"), ([10, 10, 0], "OT100"),
      ([10, 10, 40], "Y6V91"), ([10, 10, 41], "KL0B1"), ([10, 10, 255], "Q-M08"), ([35], "Z0"), ([255, 0], "R600"),
      ([46, 0, 0], "81000"), ([255], "R6"), ([255, 255], "NE71"), ([255, 255, 255], "PLS18"), ([0, 1], "S600"),
      ([0, 0, 1], "OE710"), (Array("Hello World!".utf8), "KKHF3W2S013OPM3EJX11"),
    ] as [([UInt8], String)])
  func roundTrips(bytes: [UInt8], text: String) throws {
    #expect(Base38.encode(bytes) == text)
    #expect(try Base38.decode(Array(text)[...]) == bytes)
  }

  @Test(
    "rejects groups that are too large",
    arguments: ["S6", "OE71", "QLS18", "00000QLS18", "..", "....."])
  func rejectsOverflow(text: String) {
    let group = String(text.suffix(text.count > 5 ? 5 : text.count))
    #expect(throws: SetupCodeError.groupTooLarge(group, position: text.count > 5 ? 6 : 1)) {
      try Base38.decode(Array(text)[...])
    }
  }

  @Test("rejects characters outside of the alphabet", arguments: Array("\u{1}[ !\"#$%&'()*+,;<=>@a٣é"))
  func rejectsInvalidCharacters(character: Character) {
    for (position, text) in [(2, [Character("0"), character]), (1, [character, "0"])] {
      #expect(
        throws: SetupCodeError.badCharacter(
          character, position: position, expected: "a digit, a capital letter, “-” or “.”")
      ) { try Base38.decode(text[...]) }
    }
  }

  @Test("rejects invalid lengths", arguments: [1, 3, 6, 8])
  func rejectsInvalidLengths(count: Int) {
    #expect(throws: SetupCodeError.wrongLength(found: count, expected: "a multiple of 5, or 2 or 4 more")) {
      try Base38.decode(Array(repeating: "0", count: count)[...])
    }
  }
}

@Suite("QR code text")
struct QRTextTests {
  @Test("round-trips the public vector")
  func roundTripsPublicVector() throws {
    #expect(try sample().qrText == "MT:M5L90MP500K64J00000")
    #expect(try SetupPayload(parsing: "MT:M5L90MP500K64J00000") == sample())
    #expect(try SetupPayload(parsing: "  MT:M5L90MP500K64J00000\n") == sample())
  }

  @Test("parses the codes of the SDK's examples")
  func parsesExamples() throws {
    let light = SetupPayload(
      vendorID: 0xFFF1, productID: 0x8001, discovery: .bluetooth, discriminator: .long(3840), passcode: 20_202_021)
    #expect(try light.qrText == "MT:-24J042C00KA0648G00")
    #expect(try SetupPayload(parsing: "MT:-24J042C00KA0648G00") == light)
    let other = try SetupPayload(parsing: "MT:-24J0AFN00KA0648G00")
    #expect(other.discovery == .onNetwork)
    #expect(other.passcode == 20_202_021)
  }

  @Test("parses a code for several devices")
  func parsesConcatenatedCodes() throws {
    let text = "MT:M5L90MP500K64J00000*M5L90U.D010K4J00000*M5L900CM02IX4J00000*M5L908OU03-85J00000"
    let expected = (0..<4).map { sample(passcode: 2048 + $0, discriminator: 128 + UInt16($0)) }
    #expect(try SetupPayload.parseAll(text) == expected)
    #expect(try SetupPayload.qrText(of: expected) == text)
    #expect(throws: SetupCodeError.severalCodes(count: 4)) { try SetupPayload(parsing: text) }
  }

  @Test("round-trips every flow and discovery capability")
  func roundTripsFlowsAndCapabilities() throws {
    for flow in CommissioningFlow.allCases {
      for capabilities in UInt8(0)..<32 {
        var payload = sample()
        payload.flow = flow
        payload.discovery = DiscoveryCapabilities(rawValue: capabilities)
        #expect(try SetupPayload(parsing: try payload.qrText) == payload)
      }
    }
  }

  @Test("rejects all ones, unless invalid values are allowed")
  func rejectsAllOnes() throws {
    let payload = SetupPayload(
      version: 7, vendorID: 0xFFFF, productID: 0xFFFF, flow: .custom, discovery: .all,
      discriminator: .long(0xFFF), passcode: 0x7FF_FFFF)
    let text = "MT:" + Base38.encode(try payload.qrBytes())
    #expect(try SetupPayload(parsing: text, allowingInvalidValues: true) == payload)
    #expect(throws: SetupCodeError.unknownVersion(7)) { try SetupPayload(parsing: text) }
    #expect(throws: SetupCodeError.unknownVersion(7)) { try payload.qrText }
  }

  @Test("keeps additional data")
  func keepsAdditionalData() throws {
    var payload = sample()
    // { 0: "123456789", 0x82: "myData" } as TLV
    payload.additionalData =
      [0x15, 0x2C, 0x00, 0x09] + Array("123456789".utf8) + [0x2C, 0x82, 0x06] + Array("myData".utf8) + [0x18]
    #expect(try SetupPayload(parsing: try payload.qrText) == payload)
  }

  @Test(
    "rejects invalid codes",
    arguments: [
      ("", .empty), (" \n", .empty),
      ("AT:M5L90MP500K64J00000", .badPrefix(found: "AT:")),
      ("mt:M5L90MP500K64J00000", .badPrefix(found: "mt:")),
      ("MT:", .wrongLength(found: 0, expected: "at least 19 after “MT:”")),
      ("MT:M5L90MP500K64J0000", .wrongLength(found: 18, expected: "a multiple of 5, or 2 or 4 more")),
      ("MT:M5L90MP500K640", .wrongLength(found: 14, expected: "at least 19 after “MT:”")),
      (
        "MT:M5L90MP5 0K64J00000",
        .badCharacter(" ", position: 12, expected: "a digit, a capital letter, “-” or “.”")
      ),
      (
        "MT:M5L90MP500K64J0000ß",
        .badCharacter("ß", position: 22, expected: "a digit, a capital letter, “-” or “.”")
      ),
      ("MT:M5L90.....K64J00000", .groupTooLarge(".....", position: 9)),
      ("MT:M5L90MP500W-GT68D20", .invalidPasscode(111_111_111)),
      ("MT:M5L90MP500K64J00000*M5L90MP500W-GT68D20", .invalidPasscode(111_111_111)),
      ("MT:M5L90MP500W-GT68D20*M5L90MP500K64J00000", .invalidPasscode(111_111_111)),
      ("MT:M5L90MP500K64J00000*", .wrongLength(found: 0, expected: "at least 19 after “MT:”")),
    ] as [(String, SetupCodeError)])
  func rejectsInvalidCodes(text: String, error: SetupCodeError) {
    #expect(throws: error) { try SetupPayload(parsing: text) }
  }

  @Test("rejects reserved values in well-formed codes")
  func rejectsReservedValues() throws {
    var bytes = try sample().qrBytes()
    bytes[10] |= 0x80
    #expect(throws: SetupCodeError.nonzeroPadding(8)) { try SetupPayload(parsing: "MT:" + Base38.encode(bytes)) }
    bytes = try sample().qrBytes()
    // The flow is in bits 35 and 36.
    bytes[4] |= 0b11000
    #expect(throws: SetupCodeError.unknownFlow(3)) { try SetupPayload(parsing: "MT:" + Base38.encode(bytes)) }
  }

  @Test("rejects payloads that a QR code cannot contain")
  func rejectsUnencodablePayloads() {
    func expect(_ error: SetupCodeError, _ change: (inout SetupPayload) -> Void) {
      var payload = sample()
      change(&payload)
      #expect(throws: error) { try payload.qrText }
    }
    expect(.shortDiscriminator) { $0.discriminator = .short(1) }
    expect(.missingDiscovery) { $0.discovery = nil }
    expect(.unknownDiscovery(32)) { $0.discovery = DiscoveryCapabilities(rawValue: 32) }
    expect(.invalidDiscriminator(4096)) { $0.discriminator = .long(4096) }
    expect(.invalidPasscode(1 << 27)) { $0.passcode = 1 << 27 }
    expect(.invalidVendor(0xFFF5)) { $0.vendorID = 0xFFF5 }
    expect(.missingProduct(vendorID: 12)) { $0.productID = 0 }
    expect(.unknownVersion(1)) { $0.version = 1 }
    #expect(throws: SetupCodeError.empty) { try SetupPayload.qrText(of: []) }
  }

  @Test("parses every changed character to another payload or an error")
  func handlesMutations() throws {
    let text = Array("MT:M5L90MP500K64J00000")
    for index in text.indices {
      for replacement in Base38.alphabet + ["*", "%", " ", "é"] where replacement != text[index] {
        var changed = text
        changed[index] = replacement
        let parsed = try? SetupPayload(parsing: String(changed), allowingInvalidValues: true)
        #expect(parsed != sample(), "\(String(changed))")
      }
    }
  }
}

@Suite("Passcodes and discriminators")
struct SetupValueTests {
  @Test("rejects invalid passcodes")
  func rejectsInvalidPasscodes() {
    let trivial: [UInt32] = (0...9).map { $0 * 11_111_111 } + [12_345_678, 87_654_321]
    for passcode in trivial + [100_000_000, .max] { #expect(!SetupPasscode.isValid(passcode)) }
    for passcode: UInt32 in [1, 2048, 12_345_679, 20_202_021, 99_999_998] { #expect(SetupPasscode.isValid(passcode)) }
  }

  @Test("shortens a discriminator to its upper bits")
  func shortensDiscriminators() {
    #expect(SetupDiscriminator.long(0xA1F).shortValue == 0xA)
  }

  @Test("describes errors with position and expected input")
  func describesErrors() {
    #expect(
      SetupCodeError.badCharacter("?", position: 5, expected: "a digit").description
        == "found “?” at character 5 of the setup code, expected a digit")
    #expect(SetupCodeError.invalidPasscode(0).description == "found passcode 0, expected 1 to 99999998")
    #expect(SetupCodeError.invalidPasscode(11_111_111).description.contains("too easy to guess"))
    #expect(SetupCodeError.missingProduct(vendorID: 12).description.contains("0x000C"))
  }
}

@Suite("Setup codes of the certification tests")
struct PublicCodeTests {
  @Test("round-trips QR codes", arguments: PublicVectors.qr)
  func roundTripsQRCodes(vector: PublicVectors.QR) throws {
    let payload = try SetupPayload(parsing: vector.code, allowingInvalidValues: true)
    #expect(payload.version == vector.version)
    #expect(payload.vendorID == vector.vendorID && payload.productID == vector.productID)
    #expect(payload.flow == vector.flow && payload.discovery?.rawValue == vector.discovery)
    #expect(payload.discriminator == .long(vector.discriminator) && payload.passcode == vector.passcode)
    #expect(payload.serialNumber == vector.serialNumber)
    let error: SetupCodeError? =
      vector.version != 0
      ? .unknownVersion(vector.version)
      : SetupPasscode.isValid(vector.passcode) ? nil : .invalidPasscode(vector.passcode)
    if let error {
      #expect(throws: error) { try SetupPayload(parsing: vector.code) }
      #expect(throws: error) { try payload.qrText }
    } else {
      #expect(try SetupPayload(parsing: vector.code) == payload)
      #expect(try payload.qrText == vector.code)
    }
    #expect("MT:" + Base38.encode(try payload.qrBytes()) == vector.code)
  }

  @Test("contains all vectors")
  func containsAllVectors() {
    #expect(PublicVectors.qr.count == 55)
    #expect(PublicVectors.qr.count { !SetupPasscode.isValid($0.passcode) } == 13)
    #expect(PublicVectors.manual.count == 22 && PublicVectors.invalidManual.count == 40)
  }

  @Test("rejects a group that is too large")
  func rejectsLargeGroup() {
    #expect(throws: SetupCodeError.groupTooLarge("-034J", position: 4)) {
      try SetupPayload(parsing: "MT:-034J029Q00KA0648G00", allowingInvalidValues: true)
    }
  }

  @Test("parses a thousand bytes of additional data and rejects truncated data")
  func parsesLongAdditionalData() throws {
    let payload = try SetupPayload(parsing: PublicVectors.long)
    #expect(payload.passcode == 20_202_021 && payload.discriminator == .long(3840) && payload.vendorID == 0xFFF1)
    let digits = String((0..<1000).map { Character(String(($0 + 1) % 10)) })
    #expect(payload.extraMembers.map(\.tag) == [0x82])
    #expect(payload.extraMembers.first?.value == .string(digits))
    #expect(try payload.qrText == PublicVectors.long)
    for broken in PublicVectors.longBroken {
      #expect(throws: SetupCodeError.self) { try SetupPayload(parsing: broken, allowingInvalidValues: true) }
    }
  }

  @Test("round-trips manual codes", arguments: PublicVectors.manual)
  func roundTripsManualCodes(vector: PublicVectors.Manual) throws {
    let payload = try SetupPayload(parsing: vector.code)
    #expect(payload.discriminator == .short(vector.discriminator) && payload.passcode == vector.passcode)
    #expect(payload.vendorID == vector.vendorID && payload.productID == vector.productID)
    #expect(payload.flow == (vector.code.count == 21 ? .custom : .standard))
    #expect(try payload.manualCode == vector.code)
    #expect(try SetupPayload(parsing: payload.formattedManualCode) == payload)
  }

  @Test("rejects invalid manual codes", arguments: PublicVectors.invalidManual)
  func rejectsInvalidManualCodes(code: String, fault: PublicVectors.Fault) {
    do {
      let payload = try SetupPayload(parsing: code)
      Issue.record("\(code) is \(payload)")
    } catch {
      let found: PublicVectors.Fault? =
        switch error {
        case .wrongCheckDigit: .checkDigit
        case .badCharacter: .version
        case .wrongLength: .length
        case .groupTooLarge: .range
        case .invalidPasscode: .passcode
        case .invalidVendor: .vendor
        case .missingProduct: .product
        default: nil
        }
      #expect(found == fault, "\(error)")
    }
  }

  @Test("decodes additional data by tag")
  func decodesExtraMembers() throws {
    // { 0: "123456789", 0x82: "myData", 0x83: 12 }
    let members: [SetupPayload.ExtraMember] = [
      .init(tag: 0x82, value: .string("myData")), .init(tag: 0x83, value: .unsigned(12)),
      .init(tag: 0, value: .string("123456789")),
    ]
    var payload = sample()
    payload.additionalData = SetupPayload.additionalData(members)
    let parsed = try SetupPayload(parsing: try payload.qrText)
    #expect(parsed.serialNumber == "123456789")
    #expect(parsed.extraMembers.map(\.tag) == [0, 0x82, 0x83])
    #expect(parsed.extraMembers.map(\.isMakers) == [false, true, true])
    #expect(try SetupPayload(parsing: "MT:-24J042C00KA064IJ3P0IXZB0DK5N1K8SQ1RYCU1-A40").serialNumber == "1234567890")
    // Invalid data does not prevent commissioning.
    payload.additionalData = [0x15, 0x2C]
    #expect(try SetupPayload(parsing: try payload.qrText).extraMembers.isEmpty)
  }
}
