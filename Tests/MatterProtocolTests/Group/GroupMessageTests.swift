import MatterCrypto
import MatterModel
import Testing

@testable import MatterProtocol

/// Group messages between two cores.
@Suite struct GroupMessageTests {
  private var cores: [NodeCore]

  init() throws {
    cores = try TestFabrics.make().enumerated().map { index, fabric in
      var core = NodeCore(
        random: SeededRandomSource(seed: 9 + UInt64(index)), signatures: DeterministicSignatures(), fabrics: [fabric])
      let key = try GroupKey(
        epochKey: GroupMessagingTests.epochKey, compressedFabricID: fabric.compressedFabricID)
      core.setGroupKeys([GroupKeySet(id: 1, keys: [key], groups: [7])], of: 1)
      return core
    }
  }

  private mutating func drain(_ index: Int) -> [NodeOutput] {
    var result: [NodeOutput] = []
    while let output = cores[index].nextOutput() { result.append(output) }
    return result
  }

  @Test mutating func deliversMessageWithoutAnswer() throws {
    let isSent = cores[0].sendToGroup(7, fabric: 1, 8, payload: [1, 2, 3])
    #expect(isSent)
    let sent = drain(0)
    // The counter is stored before it is used.
    guard case .groupCounterReserved? = sent.first, case .send(let bytes, let address)? = sent.last, sent.count == 2
    else {
      Issue.record("\(sent)")
      return
    }
    #expect(address == SocketAddress(.multicast(fabricID: 0xFAB, group: 7), port: 5540))
    let source = SocketAddress(.loopback6, port: 40_000)
    cores[1].receive(bytes, from: source, at: .zero)
    let received = drain(1)
    guard case .groupMessage(let message)? = received.first, received.count == 1 else {
      Issue.record("\(received)")
      return
    }
    #expect(Array(message.bytes[message.payload]) == [1, 2, 3])
    #expect(cores[1].nextDeadline == nil, "no acknowledgment is pending")
    #expect(cores[1].drops.total == 0)

    cores[1].receive(bytes, from: source, at: .zero)
    #expect(cores[1].drops[.duplicate] == 1 && drain(1).isEmpty)
    cores[1].removeFabric(1, at: .zero)
    cores[1].receive(bytes, from: source, at: .zero)
    #expect(cores[1].drops[.unknownGroupKey] == 1 && drain(1).isEmpty)
    // A group header without a source is malformed.
    cores[1].receive([2] + bytes.dropFirst(), from: source, at: .zero)
    #expect(cores[1].drops[.malformedHeader] == 1 && drain(1).isEmpty)
  }

  @Test mutating func refusesToSend() {
    let isSent = [
      cores[0].sendToGroup(9, fabric: 1, 8, payload: []), cores[0].sendToGroup(7, fabric: 2, 8, payload: []),
    ]
    #expect(isSent == [false, false])
    #expect(drain(0).isEmpty)
  }
}
