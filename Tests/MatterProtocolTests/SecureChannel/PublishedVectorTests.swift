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

  /// Returns a node with session 3000 of the SDK (TestSessionManagerDispatch.cpp), which uses one key in both
  /// directions.
  private func core(peerCounter: UInt32? = nil) throws -> NodeCore {
    var core = NodeCore(random: SeededRandomSource(seed: 1))
    let key = hexadecimal("5eded244e5532b3cdc23409dbad052d2")
    let keys = EstablishedKeys(
      keys: key + key + [UInt8](repeating: 0, count: 16), peerSessionID: 3000, parameters: .init())
    _ = try core.addSession(
      keys, number: 3000, kind: .pase, isInitiator: false, peer: CorePair.addresses[0], at: .zero)
    core.secured[3000]?.counter = 12345
    return core
  }

  /// Opcode 0x64, exchange 0x0EEE, protocol 0x7D20, from the initiator and to be acknowledged.
  @Test(arguments: [
    ("", "00b80b0039300000 5a989ae42e8d 847f535c3007e6150cd65867f2b817db"),
    ("1122334455", "00b80b0039300000 5a989ae42e8d 0f7f885dfb 2faa8949cf730a5728e0354610a0c4a7"),
  ])
  func decryptsAndEncryptsPublishedMessages(payload: String, encrypted: String) throws {
    var receiver = try core()
    receiver.receive(hexadecimal(encrypted), from: CorePair.addresses[0], at: .zero)
    guard case .message(let message)? = receiver.nextOutput() else {
      Issue.record("dropped: \(receiver.drops.all)")
      return
    }
    #expect(message.opcode == 0x64 && message.protocolID == ProtocolID(0x7D20))
    #expect(message.exchange.number == 0x0EEE && !message.exchange.isInitiator && message.isFirst)
    #expect(message.content == hexadecimal(payload))

    // Sending produces the same bytes.
    var sender = try core()
    let header = PayloadHeader(
      isFromInitiator: true, needsAck: true, opcode: 0x64, exchange: 0x0EEE, protocolID: ProtocolID(0x7D20))
    let sent = try #require(
      sender.transmit(header, on: SessionID(local: 3000), at: .zero) { $0.append(raw: hexadecimal(payload)) })
    #expect(sent.bytes == hexadecimal(encrypted))
  }

  @Test(arguments: [
    "00b80b0039300000 5a989ae42e8d 847f535c3007e6150cd65867f2b817dd",
    "00b80b0039300000 5a989ae42e8d 0f7f885dfb 2faa8949cf730a5728e0354610a0c4aa",
    // With the privacy flag, which unicast messages never have.
    "00b80b8087beef06 aa26a0f901ef ce9f9a67c8 137917d15b81d15d313308319758ea3f",
  ])
  func rejectsCorruptedMessages(encrypted: String) throws {
    var receiver = try core()
    receiver.receive(hexadecimal(encrypted), from: CorePair.addresses[0], at: .zero)
    let output = receiver.nextOutput()
    #expect(output.map { "\($0)" } == nil)
    #expect(receiver.drops[.decryptionFailed] == 1)
  }
}
