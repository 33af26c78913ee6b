import Testing

@testable import MatterCertificates

@Suite struct DERTests {
  private func written(_ seconds: Int64) -> [UInt8] {
    var writer = DERWriter()
    DERTime.write(seconds, to: &writer)
    return writer.bytes
  }

  private func read(_ encoded: [UInt8]) throws -> Int64 {
    var reader = DERReader(encoded)
    return try DERTime.read(from: &reader)
  }

  static let moments: [(Int64, String)] = [
    (Int64(0), "000101000000Z"), (5_097_600, "000229000000Z"), (1_582_934_400 - 946_684_800, "200229000000Z"),
    (678_205_423, "210628142343Z"), (1_577_923_199, "491231235959Z"), (1_577_923_200, "20500101000000Z"),
    (3_160_857_599, "21000228235959Z"), (3_160_857_600, "21000301000000Z"), (4_294_967_295, "21360207062815Z"),
    (252_455_615_999, "99991231235959Z"), (-1, "991231235959Z"), (-1_577_836_800, "500101000000Z"),
  ]

  @Test(arguments: moments)
  func convertsTimes(_ seconds: Int64, _ text: String) throws {
    let expected = [text.count == 13 ? 0x17 : 0x18, UInt8(text.count)] + Array(text.utf8)
    #expect(written(seconds) == expected)
    #expect(try read(expected) == seconds)
  }

  @Test(arguments: [
    "010229000000Z", "211301000000Z", "210001000000Z", "210132000000Z", "210100000000Z", "210101240000Z",
    "210101006000Z", "210101000060Z", "2101010000Z", "210101000000", "2101010000000", "21010100000aZ",
    "20490101000000Z", "19490101000000Z",
  ])
  func rejectsInvalidTimes(_ text: String) {
    #expect(throws: CertificateError.self) {
      try read([text.count == 15 ? 0x18 : 0x17, UInt8(text.count)] + Array(text.utf8))
    }
  }

  @Test func requiresShortestLengths() throws {
    for (encoded, count) in [("0400", 0), ("047F", 0x7F), ("048180", 0x80), ("04820100", 0x100)] {
      var reader = DERReader(bytes(encoded) + [UInt8](repeating: 0, count: count))
      #expect(try reader.read(DERTag.octetString).count == count)
      var writer = DERWriter()
      writer.write(octets: [UInt8](repeating: 0, count: count))
      #expect(writer.bytes == bytes(encoded) + [UInt8](repeating: 0, count: count))
    }
    for encoded in ["0480", "04810100", "0482000100", "04", "048201", "0403AABB", "1F0100", "04847FFFFFFF"] {
      var reader = DERReader(bytes(encoded))
      #expect(throws: CertificateError.self) { try reader.next() }
    }
  }

  @Test func requiresShortestIntegers() throws {
    for encoded in ["020100", "02017F", "02020080", "0201FF"] {
      var reader = DERReader(bytes(encoded))
      #expect(try reader.integer() == Array(bytes(encoded).dropFirst(2)))
    }
    for encoded in ["0200", "0202007F", "0202FF80"] {
      var reader = DERReader(bytes(encoded))
      #expect(throws: CertificateError.self) { try reader.integer() }
    }
  }

  @Test func convertsNamedBits() throws {
    for (bits, encoded) in [
      (UInt16(0), "030100"), (1, "03020780"), (0x60, "03020106"), (0x80, "03020001"), (0x101, "0303078080"),
    ] {
      var writer = DERWriter()
      writer.write(namedBits: bits)
      #expect(writer.bytes == bytes(encoded))
      var reader = DERReader(bytes(encoded))
      #expect(try reader.namedBits() == bits)
    }
    for encoded in ["0300", "030101", "03020080", "03020680", "0303070100", "030500FFFFFFFF", "030208FF"] {
      var reader = DERReader(bytes(encoded))
      #expect(throws: CertificateError.self) { try reader.namedBits() }
    }
  }

  @Test func readsBooleans() throws {
    var reader = DERReader(bytes("0101FF0500"))
    #expect(try reader.booleanIfTrue())
    #expect(try !reader.booleanIfTrue())
    for encoded in ["010100", "010101", "0100"] {
      var reader = DERReader(bytes(encoded))
      #expect(throws: CertificateError.self) { try reader.booleanIfTrue() }
    }
  }
}
