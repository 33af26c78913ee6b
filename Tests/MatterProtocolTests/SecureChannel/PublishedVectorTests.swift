import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

@Suite struct PublishedVectorTests {
  /// The example of the specification, § 4.14.2.4.1, also in TestCASESession.cpp of the SDK.
  @Test func derivesDestinationID() throws {
    let root = hexadecimal(
      """
      044a9f42b1ca4840d37292bbc7f6a7e11e22200c976fc900dbc98a7a383a641cb8254a2e56d4e295a847943b4e3897c4a773e930277b4d9f\
      bede8a052686bfacfa
      """)
    let key = hexadecimal("9bc61cd9c62a2df6d64dfcaa9dc472d4")
    let random = hexadecimal("7e171231568dfa17206b3accf8faec2f4d21b580113196f47c7c4deb810a73dc")
    let expected = hexadecimal("dc35dd5fc9134cc5544538c9c3fc4297c1ec3370c839136a80e10796451d4c53")
    let fabric: FabricID = 0x2906_C908_D115_D362
    #expect(
      try CASEKeys.destinationID(
        identityProtectionKey: key, random: random, rootPublicKey: root, fabricID: fabric,
        nodeID: 0xCD55_44AA_7B13_EF14) == expected)
    #expect(
      try CASEKeys.destinationID(
        identityProtectionKey: key, random: random, rootPublicKey: root, fabricID: fabric,
        nodeID: 0xCD55_44AA_7B13_EF15) != expected)
  }

  /// Returns a table with session 3000 of the SDK (TestSessionManagerDispatch.cpp), which uses one key in both
  /// directions.
  private func sessions() throws -> SessionTable {
    let key = hexadecimal("5eded244e5532b3cdc23409dbad052d2")
    let keys = EstablishedKeys(
      keys: key + key + [UInt8](repeating: 0, count: 16), peerSessionID: 3000, parameters: .init())
    var sessions = SessionTable(capacity: 1, lastNumber: 0)
    _ = try sessions.add(
      keys, number: 3000, kind: .pase, isInitiator: false, localNodeID: .unspecified, peer: CorePair.addresses[0],
      counter: 12345, at: .zero)
    return sessions
  }

  /// Opcode 0x64, exchange 0x0EEE, protocol 0x7D20, from the initiator and to be acknowledged.
  @Test(arguments: [
    ("", "00b80b0039300000 5a989ae42e8d 847f535c3007e6150cd65867f2b817db"),
    ("1122334455", "00b80b0039300000 5a989ae42e8d 0f7f885dfb 2faa8949cf730a5728e0354610a0c4a7"),
  ])
  func decryptsAndEncryptsPublishedMessages(payload: String, encrypted: String) throws {
    let expected = PayloadHeader(
      isFromInitiator: true, needsAck: true, opcode: 0x64, exchange: 0x0EEE, protocolID: ProtocolID(0x7D20))
    var sessions = try sessions()
    var bytes = hexadecimal(encrypted)
    let (header, end) = try MessageHeader.decode(bytes)
    _ = try sessions.open(&bytes, header, from: end)
    let (opened, offset) = try PayloadHeader.decode(bytes, at: end)
    #expect(opened == expected)
    #expect(Array(bytes[offset...]) == hexadecimal(payload))

    // Sending produces the same bytes.
    let sent = try sessions.seal(expected, on: SessionID(local: 3000), at: .zero, capacity: 8) {
      $0.append(raw: hexadecimal(payload))
    }
    #expect(sent.bytes == hexadecimal(encrypted))
  }

  @Test(arguments: [
    "00b80b0039300000 5a989ae42e8d 847f535c3007e6150cd65867f2b817dd",
    "00b80b0039300000 5a989ae42e8d 0f7f885dfb 2faa8949cf730a5728e0354610a0c4aa",
    // With the privacy flag, which unicast messages never have.
    "00b80b8087beef06 aa26a0f901ef ce9f9a67c8 137917d15b81d15d313308319758ea3f",
  ])
  func rejectsCorruptedMessages(encrypted: String) throws {
    let sessions = try sessions()
    var bytes = hexadecimal(encrypted)
    let (header, end) = try MessageHeader.decode(bytes)
    #expect(throws: DropReason.decryptionFailed) { _ = try sessions.open(&bytes, header, from: end) }
  }
}
