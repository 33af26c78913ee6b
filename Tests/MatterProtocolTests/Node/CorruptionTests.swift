import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// Truncations and single-bit flips of all datagrams of a run: PASE, CASE, a request and its response. The fuzzer flips
/// more bits of payloads.
@Suite struct CorruptionTests {
  /// A datagram, and the state of its receiver just before the delivery.
  struct Moment: CustomTestStringConvertible {
    let number: Int
    let receiver: Int
    let core: NodeCore
    let bytes: [UInt8]
    let at: Instant
    let isSecured: Bool
    let opcode: UInt8?
    var testDescription: String { "\(number): \(opcode.map { "opcode \($0)" } ?? "secured"), \(bytes.count) B" }
  }

  /// Records the run, with a copy of the receiver for each datagram.
  static func record() throws -> [Moment] {
    var pair = try TestFabrics.pair()
    var moments: [Moment] = []
    func watch(_ pair: inout CorePair) throws {
      var seen = pair.packets.count
      repeat {
        for packet in pair.packets[seen...] {
          let clear = try? clearHeaders(packet.bytes)
          let isSecured = clear?.message.isUnsecured != true
          moments.append(
            Moment(
              number: packet.number, receiver: 1 - packet.sender, core: pair.cores[1 - packet.sender],
              bytes: packet.bytes, at: packet.sentAt + pair.latency, isSecured: isSecured,
              opcode: isSecured ? nil : clear?.payload.opcode))
        }
        seen = pair.packets.count
        try pair.step()
      } while pair.nextEvent != nil || seen < pair.packets.count
    }
    let parameters = try TestPasscode.parameters()
    pair.cores[1].openPASE(parameters)
    for index in 0..<3 {
      let before = pair.packets.count
      switch index {
      case 0: try pair.beginPASE()
      case 1: pair.beginCASE()
      default: _ = pair.request([1, 2, 3], on: pair.established(0)[1])
      }
      // Also records the datagram that was sent immediately.
      let first = pair.packets[before]
      let clear = try? clearHeaders(first.bytes)
      let isSecured = clear?.message.isUnsecured != true
      moments.append(
        Moment(
          number: first.number, receiver: 1, core: pair.cores[1], bytes: first.bytes, at: pair.now + pair.latency,
          isSecured: isSecured, opcode: isSecured ? nil : clear?.payload.opcode))
      try watch(&pair)
    }
    return moments
  }

  /// Passes a datagram to a copy of the receiver and runs it until no timer is left.
  private func feed(_ moment: Moment, _ bytes: [UInt8]) throws -> (core: NodeCore, outputs: [NodeOutput]) {
    var core = moment.core
    var outputs: [NodeOutput] = []
    var now = moment.at
    core.receive(bytes, from: CorePair.addresses[1 - moment.receiver], at: now)
    var steps = 0
    while true {
      while let output = core.nextOutput() { outputs.append(output) }
      guard let deadline = core.nextDeadline else { break }
      steps += 1
      guard steps < 200 else { throw CorePair.Livelock() }
      now = max(now, deadline)
      core.advance(to: now)
    }
    return (core, outputs)
  }

  private func check(_ moment: Moment, _ bytes: [UInt8], _ what: @autoclosure () -> String) throws {
    let (core, outputs) = try feed(moment, bytes)
    let drops = core.drops.total - moment.core.drops.total
    // No state remains except exchanges that wait for the response of their owner.
    #expect(core.handshakes.isEmpty, "\(what())")
    #expect(core.exchanges.due(at: Instant(nanoseconds: .max)).isEmpty, "\(what())")
    let delivered = outputs.contains { if case .message = $0 { true } else { false } }
    if moment.isSecured {
      #expect(drops == 1, "\(what())")
      #expect(!delivered, "\(what())")
      // The unaltered datagram is still accepted.
      var after = moment.core
      after.receive(bytes, from: CorePair.addresses[1 - moment.receiver], at: moment.at)
      let before = after.drops.total
      after.receive(moment.bytes, from: CorePair.addresses[1 - moment.receiver], at: moment.at)
      #expect(after.drops.total == before, "\(what())")
    } else {
      #expect(!delivered, "\(what())")
      // Unexpected acknowledgments are ignored, and a single bit turns Sigma1 into one.
      let isAck = [moment.opcode, (try? clearHeaders(bytes))?.payload.opcode].contains(
        SecureChannelOpcode.standaloneAck)
      if !isAck {
        #expect(drops > 0 || !outputs.isEmpty, "\(what())")
      }
    }
  }

  @Test func recordsCompleteRun() throws {
    let moments = try Self.record()
    #expect(
      moments.map(\.opcode) == [
        0x20, 0x21, 0x22, 0x23, 0x24, 0x40, 0x10, 0x30, 0x31, 0x32, 0x40, 0x10, nil, nil, nil,
      ])
    // Unaltered datagrams are accepted.
    for moment in moments {
      let (core, _) = try feed(moment, moment.bytes)
      #expect(core.drops.total == moment.core.drops.total, "\(moment.testDescription)")
    }
  }

  @Test(arguments: try CorruptionTests.record())
  func rejectsTruncations(moment: Moment) throws {
    for count in moment.bytes.indices {
      try check(moment, Array(moment.bytes[..<count]), "\(moment.testDescription), cut to \(count)")
    }
  }

  @Test(arguments: try CorruptionTests.record())
  func rejectsBitFlips(moment: Moment) throws {
    for index in moment.bytes.indices {
      // All bits of the headers and the first fields, then one bit of each byte.
      for bit in 0..<8 where index < 40 || bit == index % 8 {
        var bytes = moment.bytes
        bytes[index] ^= 1 << bit
        try check(moment, bytes, "\(moment.testDescription), bit \(bit) of byte \(index)")
      }
    }
  }

  /// An altered handshake message never establishes a session.
  @Test func rejectsAlteredProofs() throws {
    for moment in try Self.record() {
      guard let opcode = moment.opcode, [0x24, 0x32, 0x31, 0x23].contains(opcode) else { continue }
      let (_, end) = try MessageHeader.decode(moment.bytes)
      let (_, offset) = try PayloadHeader.decode(moment.bytes, at: end)
      for index in offset..<moment.bytes.count {
        var bytes = moment.bytes
        bytes[index] ^= 0x10
        let (_, outputs) = try feed(moment, bytes)
        let made = outputs.contains { if case .sessionEstablished = $0 { true } else { false } }
        #expect(!made, "\(moment.testDescription), byte \(index)")
      }
    }
  }
}
