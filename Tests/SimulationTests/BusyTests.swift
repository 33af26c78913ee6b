import Glibc
import Logging
import MatterProtocol
import Runtime
import Simulation
import Testing

/// Engines that keep each other or themselves busy, as `Runtime` drives them on machines: a run that makes no progress is stopped.
@Suite(.timeLimit(.minutes(5))) struct BusyTests {
  /// Whoever uses up all of the stack of a run can be told of still.
  @Test func thereIsAnotherStackForSignals() async throws {
    let run = await Simulation.run(seed: 1) { _ -> Bool in
      var stack = stack_t()
      guard sigaltstack(nil, &stack) == 0 else { return false }
      // Not “disabled”.
      return stack.ss_flags & 2 == 0 && stack.ss_size >= 32 << 10
    }
    #expect(try run.result.get())
  }

  /// Answers each datagram, and may never come to the end of its effects.
  struct Echo: Engine {
    enum Event: Sendable { case tick }

    var effects: [Effect<Event>] = []
    /// What it does for ever.
    var forever: Effect<Event>?
    var nextDeadline: Instant? { nil }

    mutating func handle(_ input: Input, at now: Instant) {
      if case .datagram(let bytes, let from) = input { effects.append(.send(bytes, to: from)) }
    }
    mutating func advance(to now: Instant) {}
    mutating func nextEffect() -> Effect<Event>? { effects.isEmpty ? forever : effects.removeFirst() }
  }

  /// What drives the engines of one run; confined to its thread.
  final class Hosts: @unchecked Sendable {
    var all: [EngineHost<Echo>] = []
  }

  private func run(
    latency: Duration, _ prepare: @escaping @Sendable (Hosts) -> Void
  ) async -> (error: (any Error)?, isPowered: [Bool], isStopped: [Bool]) {
    let hosts = Hosts()
    let machines = Machines()
    let run = await Simulation.run(seed: 1) { simulation in
      try await simulation.perform { world in
        world.network.conditions.latency = latency
        world.maximumEffects = 10_000
        for name in ["one", "other"] {
          let machine = world.addMachine(name)
          machines.all.append(machine)
          let transport = try machine.openTransport(.all, port: 5540, on: machine.eventLoop)
          hosts.all.append(EngineHost(Echo(), transport: transport, logger: Logger(label: "test")))
        }
        for host in hosts.all { host.start() }
        prepare(hosts)
      }
      try await simulation.sleep(for: .seconds(1))
    }
    let error: (any Error)? = if case .failure(let error) = run.result { error } else { nil }
    return (error, machines.all.map(\.isPowered), hosts.all.map(\.isStopped))
  }

  final class Machines: @unchecked Sendable {
    var all: [SimulatedMachine] = []
  }

  /// Each answer is there as soon as it is sent.
  @Test func answersThatTakeNoTime() async throws {
    for (latency, isFound) in [(Duration.zero, true), (.milliseconds(1), false)] {
      let found = await run(latency: latency) { hosts in
        let (one, other) = (hosts.all[0], hosts.all[1].transport.addresses[0])
        one.perform { engine, _ in engine.effects = [.send([1], to: other)] }
      }
      guard isFound else {
        #expect(found.error == nil)
        continue
      }
      guard case SimulationError.livelock? = found.error else {
        Issue.record("\(String(describing: found.error))")
        continue
      }
    }
  }

  /// Whatever it does, it has no end; the other one is left alone.
  @Test(
    arguments: [
      .emit(.tick), .store([StoreChange("a", [1])]), .send([1], to: SocketAddress(.loopback6, port: 1)),
    ] as [Effect<Echo.Event>])
  func anEngineThatNeverComesToAnEnd(_ effect: Effect<Echo.Event>) async throws {
    let found = await run(latency: .milliseconds(1)) { hosts in
      hosts.all[1].perform { engine, _ in engine.forever = effect }
    }
    guard case SimulationError.endlessEffects(_, "other")? = found.error else {
      Issue.record("\(String(describing: found.error))")
      return
    }
    #expect(!found.isPowered[1] && found.isStopped == [false, true])
  }

  /// As many as make sense are none too many.
  @Test func manyEffectsAreFine() async throws {
    let found = await run(latency: .milliseconds(1)) { hosts in
      hosts.all[1].perform { engine, _ in engine.effects = Array(repeating: .emit(.tick), count: 9_000) }
    }
    #expect(found.error == nil && found.isPowered == [true, true] && found.isStopped == [false, false])
  }

  /// Whoever waits when a run has failed is let go, so that it can clear away behind itself.
  @Test func whoWaitsIsLetGoWhenARunFails() async throws {
    let ended = Hosts.Ended()
    let run = await Simulation.run(seed: 1, limit: .seconds(10)) { simulation in
      let came = await simulation.wait(for: "what never comes", within: .seconds(3600)) { _ in false }
      ended.all.append(came)
      // Cancelled by then: it waits for nothing any more.
      ended.all.append(await simulation.wait(for: "what never comes", within: .seconds(3600)) { _ in false })
      try? await simulation.sleep(for: .seconds(3600))
      ended.all.append(true)
    }
    #expect(throws: SimulationError.timedOut(at: .zero + .seconds(10), waiting: ["what never comes"])) {
      try run.result.get()
    }
    #expect(ended.all == [false, false, true])
    #expect(run.end < .zero + .seconds(60))
  }

  /// Who is cancelled does not wait to the end.
  @Test func aWaitIsCancelled() async throws {
    let run = await Simulation.run(seed: 1) { simulation in
      await withTaskGroup(of: Bool.self) { group in
        group.addTask { await simulation.wait(for: "what never comes", within: .seconds(3600)) { _ in false } }
        try? await simulation.sleep(for: .seconds(1))
        group.cancelAll()
        return await group.next()
      }
    }
    #expect(try run.result.get() == false)
    #expect(run.end == .zero + .seconds(1))
  }
}

extension BusyTests.Hosts {
  final class Ended: @unchecked Sendable {
    // Not checked: touched on the world's thread alone, and read when that has ended.
    var all: [Bool] = []
  }
}
