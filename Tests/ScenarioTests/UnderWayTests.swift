import Foundation
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Simulation
import Synchronization
import Testing

@testable import Scenario

/// A datagram that is under way when something goes wrong: the receiving end is looked at again when it arrives, in real time as in
/// virtual time.
@Suite(.serialized) struct UnderWayTests {
  /// What the plug reports takes four seconds; the home hears of it unless there is no way any more at their end.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ("plug: mute", false), ("plug: partition", false), ("hub: deaf", false), ("hub: multicast", true),
    ]) func aReportIsUnderWay(_ fault: String, _ arrives: Bool) async throws
  {
    let text = """
      devices:
        - { name: Plug, type: plug }
      steps:
        - net: { plug: { latency: 4s } }
        - set: { plug.onOff: true }
        - after: 500ms
          net: { \(fault) }
        - expect: { plug.onOff: false }
        - after: 6s
          expect: { actual plug.onOff: true, plug.onOff: \(arrives), within: \(arrives ? "60s" : "0s") }
      """
    let scenario = try ScenarioFileTests.load(text)
    let simulated = await scenario.simulate(seed: 1).result
    #expect(simulated.isPassed, "\(simulated)")
    let real = await scenario.playInRealTime()
    #expect(real.isPassed, "\(real)")
  }

  // MARK: One datagram

  /// What happens while a datagram is under way.
  private enum Mishap: UInt32, CaseIterable {
    case cutSender, cutReceiver, deafSender, noAddress, otherFamily, noPower, powerCycle, senderGone, otherPort
    /// Last, so that all others would have come before it.
    case none

    var arrives: Bool {
      switch self {
      case .deafSender, .otherFamily, .powerCycle, .senderGone, .none: true
      case .cutSender, .cutReceiver, .noAddress, .noPower, .otherPort: false
      }
    }

    func befall(_ from: FaultyMachine, _ transport: any DatagramTransport, _ to: FaultyMachine) throws {
      switch self {
      case .cutSender: from.befall(.mute)
      case .cutReceiver: to.befall(.deaf)
      case .deafSender: from.befall(.deaf)
      case .noAddress: to.befall(.family(.v6, isOn: false))
      case .otherFamily: to.befall(.family(.v4, isOn: false))
      case .noPower: to.losePower()
      case .powerCycle:
        to.losePower()
        to.restorePower()
      case .senderGone:
        from.losePower()
        transport.close()
      case .otherPort: try to.move()
      case .none: break
      }
    }
  }

  private final class Heard: Sendable {
    let numbers = Mutex<Set<UInt32>>([])
  }

  @Test(.timeLimit(.minutes(10))) func oneDatagramIsUnderWay() async throws {
    typealias Ends = (
      mishap: Mishap, sender: FaultyMachine, from: any DatagramTransport, receiver: FaultyMachine,
      to: any DatagramTransport
    )
    let loop = HostMachine().nextEventLoop()
    let networks = RealNetworks()
    let heard = Heard()
    let pairs = try await loop.submit {
      let pairs = try Mishap.allCases.map { mishap -> Ends in
        let (sender, receiver) = (FaultyMachine(on: loop, in: networks), FaultyMachine(on: loop, in: networks))
        let from = try sender.openTransport(.loopback, port: nil, on: loop)
        let to = try receiver.openTransport(.loopback, port: nil, on: loop)
        to.onDatagram = { bytes, _ in
          guard let header = try? MessageHeader.decode(bytes).header else { return }
          heard.numbers.withLock { _ = $0.insert(header.counter) }
        }
        // Each end has its part in it.
        for machine in [sender, receiver] { machine.befall(.conditions(LinkConditions(latency: .seconds(2)))) }
        return (mishap, sender, from, receiver, to)
      }
      for pair in pairs {
        var bytes: [UInt8] = []
        MessageHeader(sessionID: 1, counter: pair.mishap.rawValue).encode(to: &bytes)
        pair.from.send(bytes, to: SocketAddress(.loopback6, port: pair.to.port))
      }
      return NIOLoopBound(pairs, eventLoop: loop)
    }.get()
    try await Task.sleep(for: .milliseconds(200))
    try await loop.submit {
      #expect(heard.numbers.withLock(\.self).isEmpty)
      for pair in pairs.value { try pair.mishap.befall(pair.sender, pair.from, pair.receiver) }
    }.get()
    for _ in 0..<6000 where !heard.numbers.withLock({ $0.contains(Mishap.none.rawValue) }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    try await Task.sleep(for: .milliseconds(200))
    for mishap in Mishap.allCases {
      #expect(heard.numbers.withLock { $0.contains(mishap.rawValue) } == mishap.arrives, "\(mishap)")
    }
    try await loop.submit {
      for pair in pairs.value {
        pair.from.close()
        pair.to.close()
      }
    }.get()
  }
}
