import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Simulation
import Synchronization
import Testing

@testable import Scenario

/// What befalls machines on real sockets befalls what they send to groups, and service discovery, too.
@Suite(.serialized) struct RealNetworkTests {
  private static let group = IPAddress.multicast(fabricID: 0x2345_6789_ABCD_EF01, group: 0x0103)

  /// A message for a group with this number, as far as anybody can read it.
  private static func message(_ counter: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    MessageHeader(
      sessionID: 1, sessionKind: .group, counter: counter, source: NodeID(5), destination: .group(GroupID(0x0103))
    ).encode(to: &bytes)
    return bytes
  }

  private final class Heard: Sendable {
    let counters = Mutex<[UInt32]>([])

    func add(_ bytes: [UInt8]) {
      guard let header = try? MessageHeader.decode(bytes).header else { return }
      counters.withLock { $0.append(header.counter) }
    }

    /// Whether it has come within two seconds.
    func has(_ counter: UInt32) async -> Bool {
      for _ in 0..<200 {
        if counters.withLock({ $0.contains(counter) }) { return true }
        try? await Task.sleep(for: .milliseconds(10))
      }
      return false
    }
  }

  @Test func whatIsSentToAGroupGetsNowhereWithoutMulticast() async throws {
    let loop = HostMachine().nextEventLoop()
    let networks = RealNetworks()
    let (sender, receiver) = (FaultyMachine(on: loop, in: networks), FaultyMachine(on: loop, in: networks))
    let heard = Heard()
    let (from, to) = try await loop.submit {
      let from = try sender.openTransport(.loopback, port: nil, on: loop)
      let to = try receiver.openTransport(.loopback, port: nil, on: loop)
      to.onDatagram = { bytes, _ in heard.add(bytes) }
      #expect(to.join(Self.group, port: 5540).isEmpty)
      return (NIOLoopBound(from, eventLoop: loop), NIOLoopBound(to, eventLoop: loop))
    }.get()
    func send(_ counter: UInt32) async throws {
      try await loop.submit { from.value.send(Self.message(counter), to: SocketAddress(Self.group, port: 5540)) }.get()
    }
    try await send(1)
    #expect(await heard.has(1))
    let faults: [(FaultyMachine, NetworkFault)] = [
      (sender, .multicast(false)), (receiver, .multicast(false)), (sender, .place("iot")), (receiver, .place("iot")),
    ]
    for (number, (machine, fault)) in faults.enumerated() {
      machine.befall(fault)
      let counter = UInt32(10 * (number + 1))
      try await send(counter)
      // What is for one machine gets through, and comes later than what did not.
      try await loop.submit {
        var bytes: [UInt8] = []
        MessageHeader(sessionID: 1, counter: counter + 1).encode(to: &bytes)
        from.value.send(bytes, to: SocketAddress(.loopback6, port: to.value.port))
      }.get()
      #expect(await heard.has(counter + 1), "\(fault)")
      #expect(!heard.counters.withLock { $0.contains(counter) }, "\(fault)")
      machine.befall(.heal)
      try await send(counter + 2)
      #expect(await heard.has(counter + 2), "\(fault)")
    }
    // Two in the same network, though not the home's own.
    for machine in [sender, receiver] { machine.befall(.place("iot")) }
    try await send(100)
    #expect(await heard.has(100))
    try await loop.submit {
      from.value.close()
      to.value.close()
    }.get()
  }

  /// Where everything is lost nothing is found, in virtual time and in real time.
  @Test(.timeLimit(.minutes(10))) func serviceDiscoveryLosesWhatTheLinkLoses() async throws {
    let text = """
      devices:
        - { name: Plug, type: plug }
      paired: false
      steps:
        - net: { plug: { loss: 100% } }
        - do: pair plug
        - expect: { hub.messages: 0 }
        - net: { plug: { loss: 40% } }
        - do: pair plug
        - net: { plug: heal }
        - do: pair plug
        - expect: { plug.connectivity: online, within: 60s }
      """
    let scenario = try ScenarioFileTests.load(text)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
  }
}
