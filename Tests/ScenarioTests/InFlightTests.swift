import Foundation
import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Simulation
import Synchronization
import Testing
import VirtualDevices

@testable import Scenario

/// Datagrams in flight when a fault is injected: the receiving end is checked again on arrival, in real time as in
/// virtual time.
@Suite(.serialized) struct InFlightTests {
  /// A report takes four seconds, and arrives unless the route is cut by then. On a machine that stalls for that long
  /// the report arrives before the fault: then the test is repeated with a longer latency.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ("plug: mute", false), ("plug: partition", false), ("hub: deaf", false), ("hub: multicast", true),
    ]) func checksRouteOnArrivalOfReport(_ fault: String, _ arrives: Bool) async throws
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

  /// A fault while a datagram is in flight.
  private enum InFlightFault: UInt32, CaseIterable {
    case cutSender, cutReceiver, deafSender, noAddress, otherFamily, noPower, powerCycle, senderGone, otherPort
    /// The last one, so that its datagram arrives after all others.
    case none

    var arrives: Bool {
      switch self {
      case .deafSender, .otherFamily, .powerCycle, .senderGone, .none: true
      case .cutSender, .cutReceiver, .noAddress, .noPower, .otherPort: false
      }
    }

    func inject(_ from: RealMachine, _ transport: any DatagramTransport, _ to: RealMachine) throws {
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

  private final class ReceivedMessages: Sendable {
    let numbers = Mutex<Set<UInt32>>([])
  }

  private typealias Ends = (
    fault: InFlightFault, sender: RealMachine, from: any DatagramTransport, receiver: RealMachine,
    to: any DatagramTransport
  )

  @Test(.timeLimit(.minutes(10))) func checksReceiverOnArrivalOfDatagram() async throws {
    let loop = HostMachine().nextEventLoop()
    // On a machine that stalls the datagrams arrive before the faults: repeat with a longer latency.
    for latency in [2, 20, 60] {
      let received = ReceivedMessages()
      let pairs = try await send(taking: .seconds(latency), received, loop)
      try await Task.sleep(for: .milliseconds(200))
      let isInTime = try await loop.submit {
        guard received.numbers.withLock(\.isEmpty) else { return false }
        for pair in pairs.value { try pair.fault.inject(pair.sender, pair.from, pair.receiver) }
        return true
      }.get()
      if isInTime {
        let expected = Set(InFlightFault.allCases.filter(\.arrives).map(\.rawValue))
        for _ in 0..<30_000 where !expected.isSubset(of: received.numbers.withLock(\.self)) {
          try await Task.sleep(for: .milliseconds(10))
        }
        try await Task.sleep(for: .milliseconds(200))
        let numbers = received.numbers.withLock(\.self)
        for fault in InFlightFault.allCases { #expect(numbers.contains(fault.rawValue) == fault.arrives, "\(fault)") }
      }
      try await loop.submit {
        for pair in pairs.value {
          pair.from.close()
          pair.to.close()
        }
      }.get()
      if isInTime { return }
    }
    #expect(Bool(false), "the datagrams always arrived before the faults")
  }

  /// Sends a datagram for each fault, between machines of its own.
  /// - Parameter latency: the latency that each end adds.
  private func send(
    taking latency: Duration, _ received: ReceivedMessages, _ loop: any EventLoop
  ) async throws -> NIOLoopBound<[Ends]> {
    let networks = RealNetworks()
    return try await loop.submit {
      let pairs = try InFlightFault.allCases.map { fault -> Ends in
        let (sender, receiver) = (RealMachine(on: loop, in: networks), RealMachine(on: loop, in: networks))
        let from = try sender.impaired.openTransport(.loopback, port: nil, on: loop)
        let to = try receiver.impaired.openTransport(.loopback, port: nil, on: loop)
        to.onDatagram = { bytes, _ in
          guard let header = try? MessageHeader.decode(bytes).header else { return }
          received.numbers.withLock { _ = $0.insert(header.counter) }
        }
        for machine in [sender, receiver] { machine.inject(.conditions(LinkConditions(latency: latency))) }
        return (fault, sender, from, receiver, to)
      }
      for pair in pairs {
        var bytes: [UInt8] = []
        MessageHeader(sessionID: 1, counter: pair.fault.rawValue).encode(to: &bytes)
        pair.from.send(bytes, to: SocketAddress(.loopback6, port: pair.to.port))
      }
      return NIOLoopBound(pairs, eventLoop: loop)
    }.get()
  }
}
