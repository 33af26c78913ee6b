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
  /// The report arrives unless the route is cut while it is in flight. On a machine that stalls it arrives before the
  /// fault: then the test is repeated with a longer latency.
  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      ("plug: mute", false), ("plug: partition", false), ("hub: deaf", false), ("hub: multicast", true),
    ]) func checksRouteOnArrivalOfReport(_ fault: String, _ arrives: Bool) async throws
  {
    var real: ScenarioResult?
    for latency in [2, 8, 30] where real?.isPassed != true {
      let scenario = try ScenarioFileTests.load(
        """
        devices:
          - { name: Plug, type: plug }
        steps:
          - net: { plug: { latency: \(latency)s } }
          - set: { plug.onOff: true }
          - after: 300ms
            net: { \(fault) }
          - expect: { plug.onOff: false }
          - after: \(latency + 1)s
            expect: { actual plug.onOff: true, plug.onOff: \(arrives), within: \(arrives ? "120s" : "0s") }
        """)
      let simulated = await scenario.simulate(seed: 1).result
      #expect(simulated.isPassed, "\(simulated)")
      real = await scenario.playInRealTime()
    }
    #expect(real?.isPassed == true, "\(String(describing: real))")
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
    for latency in [Duration.milliseconds(500), .seconds(10), .seconds(100)] {
      let received = ReceivedMessages()
      let pairs = try await send(taking: latency, received, loop)
      // All datagrams before this one have been read, and are in flight.
      #expect(await eventually { received.numbers.withLock { $0.contains(Self.marker) } })
      let isInTime = try await loop.submit {
        guard received.numbers.withLock({ $0 == [Self.marker] }) else { return false }
        for pair in pairs.value.dropLast() { try pair.fault.inject(pair.sender, pair.from, pair.receiver) }
        return true
      }.get()
      if isInTime {
        let expected = Set(InFlightFault.allCases.filter(\.arrives).map(\.rawValue))
        #expect(await eventually { expected.isSubset(of: received.numbers.withLock(\.self)) })
        // Other datagrams would be due before this timer.
        try await loop.scheduleTask(in: .milliseconds(50)) {}.futureResult.get()
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

  /// The number of the last datagram, which is sent without a latency.
  private static let marker: UInt32 = 1000

  /// Sends a datagram for each fault, between machines of its own, and then the marker.
  /// - Parameter latency: the latency that each end adds.
  private func send(
    taking latency: Duration, _ received: ReceivedMessages, _ loop: any EventLoop
  ) async throws -> NIOLoopBound<[Ends]> {
    let networks = RealNetworks()
    return try await loop.submit {
      func pair(_ fault: InFlightFault, _ latency: Duration) throws -> Ends {
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
      func send(_ number: UInt32, _ pair: Ends) {
        var bytes: [UInt8] = []
        MessageHeader(sessionID: 1, counter: number).encode(to: &bytes)
        pair.from.send(bytes, to: SocketAddress(.loopback6, port: pair.to.port))
      }
      let pairs = try InFlightFault.allCases.map { try pair($0, latency) }
      let last = try pair(.none, .zero)
      for pair in pairs { send(pair.fault.rawValue, pair) }
      send(Self.marker, last)
      return NIOLoopBound(pairs + [last], eventLoop: loop)
    }.get()
  }
}
