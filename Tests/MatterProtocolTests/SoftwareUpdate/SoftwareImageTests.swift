import MatterCrypto
import MatterProtocol
import MatterTLV
import Testing

/// Reads images of the SDK's tests, and images that this library writes.
@Suite("Software images") struct SoftwareImageTests {
  private static let digest = "813ca5285c28ccee5cab8b10ebda9c908fd6d78ed9dc94cc65ea6cb67a7f13ae"
  private static let complete = hexadecimal(
    """
    1ef1ee1b 6e00000000000000 52000000 15 2500adde 2501efbe 2602ffffffff 2c0303312e30 24040c 240501 240602
    2c070a68747470733a2f2f726e 240801 300920
    """ + digest + "18 74657374207061796c6f6164")
  private static let minimal = hexadecimal(
    """
    1ef1ee1b 4400000000000000 34000000 15 240001 240101 240201 2c030131 240400 240809 30091c
    6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7 18
    """)

  @Test func decodes() throws {
    let image = try SoftwareImage(decoding: Self.complete)
    let header = image.header
    #expect((header.vendorID, header.productID, header.softwareVersion) == (0xDEAD, 0xBEEF, 0xFFFF_FFFF))
    #expect(header.softwareVersionString == "1.0" && header.payloadSize == 12)
    #expect(header.minimumApplicableVersion == 1 && header.maximumApplicableVersion == 2)
    #expect(header.releaseNotesURL == "https://rn" && header.digestType == SoftwareImage.sha256)
    #expect(header.digest.bytes == hexadecimal(Self.digest))
    #expect(image.payload == Array("test payload".utf8))
    try image.verify()
    #expect(image.encoded == Self.complete)
  }

  @Test func computesDigest() throws {
    var header = try SoftwareImage(decoding: Self.complete).header
    (header.payloadSize, header.digest, header.digestType) = (0, [], 0)
    #expect(SoftwareImage(header, payload: Array("test payload".utf8)).encoded == Self.complete)
  }

  @Test func readsUnsupportedDigest() throws {
    let image = try SoftwareImage(decoding: Self.minimal)
    #expect(image.header.digestType == 9 && image.payload == [])
    #expect(throws: SoftwareImageError.unsupportedDigest(9)) { try image.verify() }
  }

  @Test(arguments: [(2, 16), (3, 15), (4, 12), (5, 8), (6, 4)] as [(UInt8, Int)])
  func verifiesTruncatedDigest(_ type: UInt8, _ size: Int) throws {
    var image = try SoftwareImage(decoding: Self.complete)
    image.header.digestType = type
    #expect(throws: SoftwareImageError.digestMismatch) { try image.verify() }
    image.header.digest = OctetString(Array(hexadecimal(Self.digest).prefix(size)))
    try image.verify()
  }

  @Test func detectsChangedPayload() throws {
    var bytes = Self.complete
    bytes[bytes.count - 1] ^= 1
    let image = try SoftwareImage(decoding: bytes)
    #expect(throws: SoftwareImageError.digestMismatch) { try image.verify() }
  }

  private func error(_ bytes: [UInt8]) -> SoftwareImageError? {
    do throws(SoftwareImageError) { _ = try SoftwareImage(decoding: bytes) } catch { return error }
    return nil
  }

  @Test func rejectsBrokenFiles() {
    for count in 0..<Self.complete.count { #expect(error(Array(Self.complete.prefix(count))) == .truncated) }
    #expect(error(Self.complete + [0]) == .trailingBytes)
    #expect(error(hexadecimal("1ef1ee1c 1000000000000000 00000000")) == .notAnImage)
    #expect(error(hexadecimal("1ef1ee1b ffffffffffffffff 01040000")) == .headerTooLong)
    // The header without the vendor.
    var bytes = Self.minimal
    bytes.removeSubrange(17..<20)
    bytes[12] = 0x31
    #expect(error(bytes) == .malformedHeader(.missingMember(0)))
    // A payload size whose sum with the header overflows.
    var header = SoftwareImageHeader()
    (header.softwareVersionString, header.payloadSize) = ("1", .max)
    var image = SoftwareImage(header, payload: [])
    image.header.payloadSize = .max
    #expect(error(image.encoded) == .invalidField("PayloadSize"))
    image.header.payloadSize = 0
    for text in ["", String(repeating: "a", count: 65)] {
      image.header.softwareVersionString = text
      #expect(error(image.encoded) == .invalidField("SoftwareVersionString"))
    }
  }

  @Test func comparesVersions() {
    var header = SoftwareImageHeader()
    header.softwareVersion = 5
    #expect(header.isApplicable(to: 0) && header.isApplicable(to: 4))
    #expect(!header.isApplicable(to: 5) && !header.isApplicable(to: 6))
    (header.minimumApplicableVersion, header.maximumApplicableVersion) = (2, 3)
    #expect((0..<7).filter { header.isApplicable(to: $0) } == [2, 3])
  }
}
