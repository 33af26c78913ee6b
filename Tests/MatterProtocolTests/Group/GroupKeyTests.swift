import MatterCertificates
import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// With test vectors of the Matter SDK: TestGroupOperationalCredentials and TestSessionManagerDispatch.
@Suite struct GroupKeyTests {
  static let compressedFabricID: UInt64 = 0x87E1_B004_E235_A130

  @Test(arguments: [
    (
      "00000000000000000000000000000000", 0x479E, "c5f26901871151 50c356ad93b385bb0f",
      "f5ce81881d1118c5c891c9060bc77009"
    ),
    (
      "101112131415161718191a1b1c1d1e1f", 0xA512, "aed95695f375d2ce78556a41730c3f43", "dc90db2e61765a42607fafaf1637400a"
    ),
    (
      "202122232425262728292a2b2c2d2e2f", 0xD800, "35ca346e5e24bbbe889cf4d35c5e820a", "b1fb3e79a2ff27f3704d2be9192db607"
    ),
    (
      "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf", 0xDB7D, "ca92d7a0942d1a511a0e26ad074f4c2f", "bfe9da016a765365f2dd97a9f939e425"
    ),
  ])
  func derivesKeys(epochKey: String, sessionID: UInt16, operational: String, privacy: String) throws {
    let derived = try FabricIdentity.operationalKey(
      epochKey: hexadecimal(epochKey), compressedFabricID: Self.compressedFabricID)
    #expect(derived == hexadecimal(operational))
    #expect(try GroupKey.sessionID(of: derived) == sessionID)
    #expect(try GroupKey.privacyKey(of: derived) == hexadecimal(privacy))
    let key = try GroupKey(epochKey: hexadecimal(epochKey), compressedFabricID: Self.compressedFabricID)
    #expect(key.sessionID == sessionID)
  }

  /// Returns a new key, because a cipher must not be shared between threads.
  private static func makeKey() throws -> GroupKey {
    try GroupKey(epochKey: hexadecimal("b0b1b2b3b4b5b6b7b8b9babbbcbdbebf"), compressedFabricID: compressedFabricID)
  }

  /// Messages as plaintext and encrypted, without and with privacy.
  static let messages = [
    (
      "067ddb01785634120100000000000000020001 64ee0e207d",
      "067ddb017856341201000000000000000200 65c767bc6cda0106c9801323900e9b3ce6d4bb0327d6"
    ),
    (
      "067ddb81795634120100000000000000020001 64ee0e207d",
      "067ddb81d926afce24c8a0981bdd44f4e730 2b2f915a66c9596290ebe4408217b3c0c921a2fca4e1"
    ),
  ]

  @Test(arguments: messages) func decryptsPublishedMessages(clear: String, sent: String) throws {
    let bytes = hexadecimal(sent)
    let (header, end) = try MessageHeader.decode(bytes)
    let opened = GroupMessaging.decrypt(bytes, header, from: end, with: try Self.makeKey(), groups: [1, 2])
    let (found, content) = try #require(opened)
    #expect(content == hexadecimal(clear))
    #expect(found.source == 1 && found.destination == .group(2))
    #expect(
      GroupMessaging.decrypt(bytes, header, from: end, with: try Self.makeKey(), groups: [1, 3]) == nil,
      "the message is to another group")
  }

  @Test(arguments: messages) func encryptsPublishedMessages(clear: String, sent: String) throws {
    let key = try Self.makeKey()
    var bytes = hexadecimal(clear)
    let (header, end) = try MessageHeader.decode(bytes)
    let nonce = Nonce(securityFlags: header.securityFlags, messageCounter: header.counter, sourceNodeID: 1)
    try key.encryption.seal(&bytes, from: end, nonce: nonce, aad: 0..<end)
    if header.hasPrivacy { #expect(key.obfuscate(&bytes, headerEnd: end)) }
    #expect(bytes == hexadecimal(sent))
  }

  /// The message with privacy from the same file, with another tag.
  @Test func rejectsWrongTag() throws {
    var bytes = hexadecimal(Self.messages[1].1)
    bytes[bytes.count - 1] = 0xEE
    let (header, end) = try MessageHeader.decode(bytes)
    #expect(GroupMessaging.decrypt(bytes, header, from: end, with: try Self.makeKey(), groups: [2]) == nil)
  }

  @Test func derivesMulticastAddress() throws {
    let address = IPAddress.multicast(fabricID: 0x2906_C908_D115_D362, group: 0x0103)
    #expect("\(address)" == "ff35:40:fd29:6c9:8d1:15d3:6200:103")
    #expect(address.isMulticast && !IPAddress.loopback6.isMulticast)
    let set = GroupKeySet(id: 1, keys: [], groups: [7], usesAllNodesAddress: true)
    #expect(set.address(of: 7, fabricID: 1) == .multicast(fabricID: 1, group: 0xFFFF))
  }

  /// Sends with the second newest key, or with the only one.
  @Test func sendsWithSecondNewestKey() throws {
    let keys = try (0..<3 as Range<UInt8>).map {
      try GroupKey(epochKey: [UInt8](repeating: $0, count: 16), compressedFabricID: 1)
    }
    for (count, expected) in [(1, 0), (2, 0), (3, 1)] {
      let set = GroupKeySet(id: 1, keys: Array(keys.prefix(count)), groups: [])
      #expect(set.current?.epochKey == keys[expected].epochKey)
    }
    #expect(GroupKeySet(id: 1, keys: [], groups: []).current == nil)
  }
}
