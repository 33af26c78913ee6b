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
  /// What the plug reports takes four seconds; the home hears of it unless there is no way any more at their end. On a machine that
  /// stands still for as long as that it is over before anything goes wrong: then it takes longer, and has to hold all the same.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ("plug: mute", false), ("plug: partition", false), ("hub: deaf", false), ("hub: multicast", true),
    ]) func aReportIsUnderWay(_ fault: String, _ arrives: Bool) async throws
  {
    func scenario(_ latency: Int) throws -> ScenarioDefinition {
      try ScenarioFileTests.load(
        """
        devices:
          - { name: Plug, type: plug }
        steps:
          - net: { plug: { latency: \(latency)s } }
          - set: { plug.onOff: true }
          - after: 500ms
            net: { \(fault) }
          - expect: { plug.onOff: false }
          - after: \(latency + 2)s
            expect: { actual plug.onOff: true, plug.onOff: \(arrives), within: \(arrives ? "120s" : "0s") }
        """)
    }
    let latencies = [4, 30]
    for latency in latencies {
      let simulated = await (try scenario(latency)).simulate(seed: 1).result
      #expect(simulated.isPassed, "\(simulated)")
    }
    var real = await (try scenario(latencies[0])).playInRealTime()
    if !real.isPassed { real = await (try scenario(latencies[1])).playInRealTime() }
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

    func inject(_ from: FaultyMachine, _ transport: any DatagramTransport, _ to: FaultyMachine) throws {
      switch self {
      case .cutSender: from.inject(.mute)
      case .cutReceiver: to.inject(.deaf)
      case .deafSender: from.inject(.deaf)
      case .noAddress: to.inject(.family(.v6, isOn: false))
      case .otherFamily: to.inject(.family(.v4, isOn: false))
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

  private typealias Ends = (
    mishap: Mishap, sender: FaultyMachine, from: any DatagramTransport, receiver: FaultyMachine,
    to: any DatagramTransport
  )

  @Test(.timeLimit(.minutes(10))) func oneDatagramIsUnderWay() async throws {
    let loop = HostMachine().nextEventLoop()
    // On a machine that stands still for long they have arrived before anything happens: then they take longer.
    for latency in [2, 20, 60] {
      let heard = Heard()
      let pairs = try await send(taking: .seconds(latency), heard, loop)
      try await Task.sleep(for: .milliseconds(200))
      let isInTime = try await loop.submit {
        guard heard.numbers.withLock(\.isEmpty) else { return false }
        for pair in pairs.value { try pair.mishap.inject(pair.sender, pair.from, pair.receiver) }
        return true
      }.get()
      if isInTime {
        let expected = Set(Mishap.allCases.filter(\.arrives).map(\.rawValue))
        for _ in 0..<30_000 where !expected.isSubset(of: heard.numbers.withLock(\.self)) {
          try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(200))
        let numbers = heard.numbers.withLock(\.self)
        for mishap in Mishap.allCases { #expect(numbers.contains(mishap.rawValue) == mishap.arrives, "\(mishap)") }
      }
      try await loop.submit {
        for pair in pairs.value {
          pair.from.close()
          pair.to.close()
        }
      }.get()
      if isInTime { return }
    }
    #expect(Bool(false), "the datagrams were always there before anything happened")
  }

  /// Sends a datagram for each mishap, between machines of its own.
  /// - Parameter latency: what each end adds to the way.
  private func send(
    taking latency: Duration, _ heard: Heard, _ loop: any EventLoop
  ) async throws -> NIOLoopBound<[Ends]> {
    let networks = RealNetworks()
    return try await loop.submit {
      let pairs = try Mishap.allCases.map { mishap -> Ends in
        let (sender, receiver) = (FaultyMachine(on: loop, in: networks), FaultyMachine(on: loop, in: networks))
        let from = try sender.openTransport(.loopback, port: nil, on: loop)
        let to = try receiver.openTransport(.loopback, port: nil, on: loop)
        to.onDatagram = { bytes, _ in
          guard let header = try? MessageHeader.decode(bytes).header else { return }
          heard.numbers.withLock { _ = $0.insert(header.counter) }
        }
        for machine in [sender, receiver] { machine.inject(.conditions(LinkConditions(latency: latency))) }
        return (mishap, sender, from, receiver, to)
      }
      for pair in pairs {
        var bytes: [UInt8] = []
        MessageHeader(sessionID: 1, counter: pair.mishap.rawValue).encode(to: &bytes)
        pair.from.send(bytes, to: SocketAddress(.loopback6, port: pair.to.port))
      }
      return NIOLoopBound(pairs, eventLoop: loop)
    }.get()
  }
}
