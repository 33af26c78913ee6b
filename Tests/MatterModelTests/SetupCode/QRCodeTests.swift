import Testing

@testable import MatterModel

@Suite("QR codes")
struct QRCodeTests {
  @Test("computes the error correction of a published example")
  func computesErrorCorrection() throws {
    let data: [UInt8] = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
    let segment = try QRSegment(text: "HELLO WORLD", alphanumericOnly: true)
    #expect(segment.padded(to: 16) == data)
    #expect(ReedSolomon.remainder(of: data, count: 10) == [196, 35, 39, 119, 235, 215, 231, 226, 93, 23])
    #expect(ReedSolomon.generator(degree: 7) == [127, 122, 154, 164, 11, 68, 117])
  }

  @Test("computes the format bits of level M for each mask")
  func computesFormatBits() {
    let expected = [
      0b1010100_00010010, 0b1010001_00100101, 0b1011110_01111100, 0b1011011_01001011,
      0b1000101_11111001, 0b1000000_11001110, 0b1001111_10010111, 0b1001010_10100000,
    ]
    #expect((0..<8).map(QRCanvas.formatBits(mask:)) == expected)
  }

  @Test("draws a code of version 1")
  func drawsVersion1() throws {
    let expected = """
      #######...#.#.#######
      #.....#.###...#.....#
      #.###.#...#.#.#.###.#
      #.###.#...#.#.#.###.#
      #.###.#.#.###.#.###.#
      #.....#..###..#.....#
      #######.#.#.#.#######
      .....................
      #.#.#.#..#..#...#..#.
      .####...#..#....#...#
      ...#######.#..#.##...
      ####.#.##..###.#.###.
      .#..####.#.#..###.#.#
      ........#.#...#...#.#
      #######.....#..#.##..
      #.....#..##...##.#...
      #.###.#.##..#.#######
      #.###.#...##.#.#...#.
      #.###.#.####.###.#..#
      #.....#....###...#.##
      #######.##.#.###....#
      """
    let code = try QRCode(alphanumeric: "HELLO WORLD")
    #expect(code.mask == 0)
    #expect(picture(of: code).joined(separator: "\n") == expected)
  }

  @Test("draws a setup code with each mask like another encoder")
  func appliesEachMask() throws {
    let expected: [UInt64] = [
      0x98F0_7A5D_202B_B163, 0xFEE9_967B_1A46_4209, 0x1974_B1E5_7ADF_6E91, 0x999F_890E_F61A_0F2B,
      0x9966_B3BD_9653_A2D1, 0x4759_B603_F583_81E8, 0x93E9_538E_B720_F703, 0x67B6_8A4D_A3DD_75A9,
    ]
    for mask in 0..<8 {
      let code = try QRCode(text: "MT:Y.K9042C00KA0648G00", mask: mask, alphanumericOnly: true)
      #expect(code.version == 2)
      #expect(fingerprint(of: code) == expected[mask], "mask \(mask)")
    }
    #expect(try QRCode(alphanumeric: "MT:Y.K9042C00KA0648G00").mask == 3)
  }

  @Test("draws each version in both modes like another encoder")
  func drawsEachVersion() throws {
    let alphanumeric: [UInt64] = [
      0x80AA_ABED_350D_B1FB, 0x3A0F_ED13_F991_D227, 0x973E_464F_2138_D963, 0xF382_2C79_84E5_1ECF,
      0x190B_3A88_4370_1562, 0x11A1_19E7_DA16_2405,
    ]
    let bytes: [UInt64] = [
      0x8A25_F5A7_2163_D83F, 0xF0F8_57E7_9E04_CDEA, 0xEEAC_F76B_8E6D_FCB0, 0x5F03_199F_4EF3_0EF8,
      0xDEFE_E8E1_93FE_3163, 0xE9A9_8C98_89C9_D049,
    ]
    for version in 1...6 {
      let code = try QRCode(text: "MT:Y.K9", mask: version, alphanumericOnly: true, minimumVersion: version)
      #expect(code.size == 17 + 4 * version)
      #expect(fingerprint(of: code) == alphanumeric[version - 1], "version \(version)")
      let other = try QRCode(
        text: "a short text", mask: 7 - version, alphanumericOnly: false, minimumVersion: version)
      #expect(fingerprint(of: other) == bytes[version - 1], "version \(version), bytes")
    }
  }

  @Test("selects the smallest version", arguments: [(20, 1), (21, 2), (38, 2), (39, 3), (61, 3), (154, 6)])
  func selectsSmallestVersion(length: Int, version: Int) throws {
    #expect(try QRCode(alphanumeric: String(repeating: "A", count: length)).version == version)
  }

  @Test("rejects long texts and invalid characters")
  func rejectsInvalidTexts() {
    #expect(throws: QRCodeError.tooLong(found: 155)) { try QRCode(alphanumeric: String(repeating: "A", count: 155)) }
    #expect(throws: QRCodeError.tooLong(found: 5000)) { try QRCode(text: String(repeating: "a", count: 5000)) }
    #expect(throws: QRCodeError.badCharacter("a", position: 2)) { try QRCode(alphanumeric: "Aa") }
  }

  @Test("renders half blocks in three styles")
  func rendersHalfBlocks() throws {
    let code = try QRCode(alphanumeric: "HELLO WORLD")
    let lines = code.lines
    #expect(lines.count == 13)
    #expect(lines.allSatisfy { $0.count == 25 })
    // The quiet zone, then the first two rows of the finder patterns.
    #expect(lines[0] == String(repeating: "█", count: 25))
    #expect(lines[1].hasPrefix("██ ▄▄▄▄▄ █"))
    #expect(code.lines(style: .lightBackground)[1].hasPrefix("  █▀▀▀▀▀█ "))
    #expect(code.lines(style: .ansi, quietZone: 0)[0].hasPrefix("\u{1B}[30;107m█▀▀▀▀▀█"))
    #expect(lines.last == String(repeating: "▀", count: 25))
  }

  private func picture(of code: QRCode) -> [String] {
    (0..<code.size).map { y in String((0..<code.size).map { code[$0, y] ? "#" as Character : "." }) }
  }

  private func fingerprint(of code: QRCode) -> UInt64 {
    picture(of: code).joined().utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
