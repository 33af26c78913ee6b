import MatterModel
import MatterProtocol
import NIOCore
import Runtime
import Synchronization
import Testing

@testable import VirtualDevices

/// Impairments of transports and discoveries beyond those of a device's link.
@Suite struct NetworkImpairmentTests {
  /// Delays incoming datagrams by 20 ms, and the events of searches by as much if `delaysEvents` is set.
  private final class Impairment: NetworkImpairment {
    struct State {
      var hasPower = true
      var seesOthers = true
      /// The announced port; nil while services are hidden.
      var port: UInt16? = 5540
      var delaysEvents = false
      var records: [String] = []
      var transports: [NIOLoopBound<ImpairedTransport>] = []
    }

    let state = Mutex(State())
    let discovery = Mutex<ImpairedDiscovery?>(nil)
    let restarts = Atomic(0)

    func change(_ change: (inout State) -> Void) {
      state.withLock { change(&$0) }
      discovery.withLock(\.self)?.update()
    }

    func takesEffect() -> Bool { state.withLock(\.hasPower) }
    func delays(
      of _: [UInt8], _ direction: DatagramDirection, at _: @autoclosure () -> Instant
    ) -> [Duration]? {
      if case .incoming = direction { [.milliseconds(20)] } else { nil }
    }
    func getsThrough(_: DatagramDirection) -> Bool { takesEffect() }
    func opened(_ transport: ImpairedTransport) {
      let bound = NIOLoopBound(transport, eventLoop: transport.eventLoop)
      state.withLock { $0.transports.append(bound) }
    }
    func transport(on port: UInt16) -> ImpairedTransport? {
      state.withLock(\.transports).map(\.value).first { !$0.isClosed && $0.port == port }
    }

    func opened(_ opened: ImpairedDiscovery) { discovery.withLock { $0 = opened } }
    var seesOthers: Bool { state.withLock(\.seesOthers) }
    func announcement(of service: MatterService) -> MatterService? {
      state.withLock(\.port).map { port in
        var service = service
        service.port = port
        return service
      }
    }
    func recordPublication(of _: MatterService.Kind) { state.withLock { $0.records.append("publication") } }
    func recordGoodbye(for _: MatterService.Kind) { state.withLock { $0.records.append("goodbye") } }
    func makeSearch() -> (any SearchImpairment)? { state.withLock(\.delaysEvents) ? DelayedEvents(self) : nil }
  }

  private struct DelayedEvents: SearchImpairment {
    let impairment: Impairment
    var pending: [(due: Instant, event: ServiceDiscovery.Event)] = []

    init(_ impairment: Impairment) { self.impairment = impairment }

    mutating func restart() { impairment.restarts.add(1, ordering: .relaxed) }
    mutating func process(
      _ event: ServiceDiscovery.Event?, at now: Instant
    ) -> (events: [ServiceDiscovery.Event], deadline: Instant?) {
      if let event { pending.append((now + .milliseconds(20), event)) }
      let due = pending.prefix { $0.due <= now }.map(\.event)
      pending.removeFirst(due.count)
      return (due, pending.first?.due)
    }
  }

  private static let service = RecordingDiscovery.service
  private static let group = IPAddress.multicast(fabricID: 1, group: 1)

  // MARK: Transport

  /// A datagram in flight reaches the restarted node, which has the same port, but not the closed transport.
  @Test(.timeLimit(.minutes(10))) func deliversToNextTransportOnPort() async throws {
    let loop = HostMachine().nextEventLoop()
    let (impairment, old, new) = (Impairment(), Collector(), Collector())
    try await loop.submit {
      let sockets = RecordingSockets(loop)
      let closed = ImpairedTransport(sockets, impairment, on: loop)
      closed.onDatagram = { bytes, _ in old.bytes.withLock { $0 += bytes } }
      sockets.onDatagram?([1], RecordingSockets.somewhere)
      closed.close()
      let next = ImpairedTransport(RecordingSockets(loop), impairment, on: loop)
      next.onDatagram = { bytes, _ in new.bytes.withLock { $0 += bytes } }
    }.get()
    #expect(await new.has(1))
    #expect(old.bytes.withLock(\.self).isEmpty)
  }

  /// A transport that moves keeps its groups, and loses the datagrams in flight to its old port.
  @Test(.timeLimit(.minutes(10))) func movesToOtherSockets() async throws {
    let loop = HostMachine().nextEventLoop()
    let (impairment, out, into) = (Impairment(), Collector(), Collector())
    let calls = try await loop.submit {
      let (old, new) = (RecordingSockets(loop), RecordingSockets(loop, out, port: 5541))
      let transport = ImpairedTransport(old, impairment, on: loop)
      transport.onDatagram = { bytes, _ in into.bytes.withLock { $0 += bytes } }
      #expect(transport.join(Self.group, port: 1).isEmpty && transport.join(.loopback6, port: 2).isEmpty)
      transport.leave(Self.group)
      old.onDatagram?([1], RecordingSockets.somewhere)
      transport.move(to: new)
      #expect(transport.port == 5541)
      transport.send([3], to: RecordingSockets.somewhere)
      new.onDatagram?([2], RecordingSockets.somewhere)
      return [old.calls, new.calls]
    }.get()
    #expect(calls == [["join 1", "join 2", "leave", "close"], ["join 2"]])
    #expect(out.bytes.withLock(\.self) == [3])
    #expect(await into.has(2))
    #expect(into.bytes.withLock(\.self) == [2])
  }

  /// A machine without power changes no groups, publishes and searches nothing, and sends no goodbye.
  @Test func hasNoEffectWithoutPower() async throws {
    let loop = HostMachine().nextEventLoop()
    let (impairment, recorder) = (Impairment(), RecordingDiscovery(loop))
    let discovery = ImpairedDiscovery(recorder, impairment)
    discovery.publish(Self.service, on: nil, onConflict: nil)
    discovery.withdraw(Self.service, silently: false)
    discovery.publish(Self.service, on: nil, onConflict: nil)
    #expect(recorder.newRequests == ["publish", "withdraw", "publish"])
    impairment.change { $0.hasPower = false }
    discovery.publish(Self.service, on: nil, onConflict: nil)
    _ = discovery.browse(.commissionable(), on: loop) { _ in }
    #expect(recorder.newRequests.isEmpty)
    discovery.withdraw(Self.service, silently: false)
    #expect(recorder.newRequests == ["hide"])
    #expect(impairment.state.withLock(\.records) == ["publication", "goodbye", "publication"])
    let calls = try await loop.submit {
      let sockets = RecordingSockets(loop)
      let transport = ImpairedTransport(sockets, impairment, on: loop)
      #expect(transport.join(Self.group, port: 1).isEmpty)
      transport.leave(Self.group)
      return sockets.calls
    }.get()
    #expect(calls.isEmpty)
  }

  // MARK: Service discovery

  /// A service is announced again if its announcement changes or if the node publishes it again.
  @Test func updatesAnnouncements() {
    let (impairment, recorder) = (Impairment(), RecordingDiscovery(HostMachine().nextEventLoop()))
    let discovery = ImpairedDiscovery(recorder, impairment)
    discovery.publish(Self.service, on: nil, onConflict: nil)
    discovery.publish(Self.service, on: nil, onConflict: nil)
    #expect(recorder.newRequests == ["publish", "publish"])
    discovery.update()
    #expect(recorder.newRequests.isEmpty)
    impairment.change { $0.port = 5541 }
    #expect(recorder.newRequests == ["publish"] && recorder.lastPublished?.port == 5541)
    impairment.change { $0.port = nil }
    #expect(recorder.newRequests == ["hide"])
    discovery.update()
    discovery.publish(Self.service, on: nil, onConflict: nil)
    #expect(recorder.newRequests.isEmpty)
    impairment.change { $0.port = 5542 }
    #expect(recorder.newRequests == ["publish"] && recorder.lastPublished?.port == 5542)
  }

  /// The impairment of a search decides when its events are reported, until the search stops.
  @Test(.timeLimit(.minutes(10))) func appliesSearchImpairment() async throws {
    let loop = HostMachine().nextEventLoop()
    let (impairment, recorder) = (Impairment(), RecordingDiscovery(loop))
    impairment.change { $0.delaysEvents = true }
    let discovery = ImpairedDiscovery(recorder, impairment)
    let found = Collector()
    let begin = HostClock.now()
    let browse = discovery.browse(.commissionable(), on: loop) { event in
      found.bytes.withLock { $0.append($0.isEmpty ? 1 : 2) }
    }
    #expect(await found.has(1))
    #expect(HostClock.now() - begin >= .milliseconds(20))
    impairment.change { $0.seesOthers = false }
    impairment.change { $0.seesOthers = true }
    #expect(recorder.newRequests == ["browse", "stop", "browse"])
    #expect(impairment.restarts.load(ordering: .relaxed) == 3)
    #expect(await found.has(2))
    discovery.stop(browse)
    let stopped = discovery.browse(.commissionable(), on: loop) { _ in found.bytes.withLock { $0.append(3) } }
    discovery.stop(stopped)
    #expect(recorder.newRequests == ["stop", "browse", "stop"])
    // A delayed event would be reported before this timer.
    try await loop.scheduleTask(in: .milliseconds(30)) {}.futureResult.get()
    #expect(found.bytes.withLock(\.self) == [1, 2])
  }
}
