import Testing

@testable import MatterCrypto

@Suite struct ECDSASignatureTests {
  private static let pad = String(repeating: "00", count: 30)

  /// The P-256 vectors of the SDK's DerSigConversion_test_vectors.h, and the smallest numbers.
  @Test(arguments: [
    (
      String(repeating: "7e", count: 32) + String(repeating: "7f", count: 32),
      "30440220" + String(repeating: "7e", count: 32) + "0220" + String(repeating: "7f", count: 32)
    ),
    (
      String(repeating: "00", count: 16) + String(repeating: "80", count: 16)
        + String(repeating: "00", count: 16) + String(repeating: "81", count: 16),
      "3026021100" + String(repeating: "80", count: 16) + "021100" + String(repeating: "81", count: 16)
    ),
    (
      "80" + pad + "01" + "81" + pad + "02",
      "3046022100" + "80" + pad + "01" + "022100" + "81" + pad + "02"
    ),
    (pad + "0000" + pad + "0000", "3006020100020100"),
    (pad + "0001" + pad + "0080", "300702010102020080"),
  ])
  func `converts between raw and DER`(raw: String, der: String) throws {
    #expect(try ECDSASignature.der(fromRaw: hex(raw)) == hex(der))
    #expect(try ECDSASignature.raw(fromDER: hex(der)) == hex(raw))
  }

  @Test(arguments: [
    "", "30", "3000", "3003020101", "3006020101", "300602010102010100", "3106020101020101", "3006030101020101",
    "3006020101030101", "300502010102", "30050201010200", "30060201810201 01", "30070202000102 0101",
    "3007020101020200 7f", "308106020101020101", "3080020101020101", "3007020101020101", "3006020101020201",
    "3009020101020101 020101",
  ])
  func `rejects invalid DER`(der: String) {
    #expect(throws: CryptoError.invalidSignature) { try ECDSASignature.raw(fromDER: hex(der)) }
  }

  @Test func `rejects numbers of more than 256 bits`() {
    let long = String(repeating: "11", count: 33)
    let longest = "01" + String(repeating: "11", count: 32)
    for number in [long, longest] {
      #expect(throws: CryptoError.invalidSignature) {
        try ECDSASignature.raw(fromDER: hex("3026" + "0221" + number + "020101"))
      }
    }
  }

  @Test func `rejects raw signatures of other lengths`() {
    for count in [0, 63, 65] {
      #expect(throws: CryptoError.invalidLength(expected: 64, found: count)) {
        try ECDSASignature.der(fromRaw: [UInt8](repeating: 1, count: count))
      }
    }
  }
}
