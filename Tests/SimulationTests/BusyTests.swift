import Glibc
import Logging
import MatterProtocol
import Runtime
import Simulation
import Testing

/// Engines that keep each other or themselves busy, driven by `Runtime` on machines: a run without progress is stopped.
@Suite(.timeLimit(.minutes(5))) struct BusyTests {
  /// A signal handler can run after a stack overflow in a run.
  @Test func providesAlternateSignalStack() async throws {
    let run = await VirtualTime.run(seed: 1) { _ -> Bool in
      var stack = stack_t()
      guard sigaltstack(nil, &stack) == 0 else { return false }
      // Not `SS_DISABLE`.
      return stack.ss_flags & 2 == 0 && stack.ss_size >= 32 << 10
    }
    #expect(try run.result.get())
  }

  /// Echoes each datagram, and may have effects without end.
  struct Echo: Engine {
    enum Event: Sendable { case tick }

    var effects: [Effect<Event>] = []
    /// The effect to repeat forever.
    var forever: Effect<Event>?
    var nextDeadline: Instant? { nil }

    mutating func handle(_ input: Input, at now: Instant) {
      if case .datagram(let bytes, let from) = input { effects.append(.send(bytes, to: from)) }
    }
    mutating func advance(to now: Instant) {}
    mutating func nextEffect() -> Effect<Event>? { effects.isEmpty ? forever : effects.removeFirst() }
  }

  /// The drivers of the engines of one run. Confined to its thread.
  final class Hosts: @unchecked Sendable {
    var all: [EngineHost<Echo>] = []
  }

  private func run(
    latency: Duration, _ prepare: @escaping @Sendable (Hosts) -> Void
  ) async -> (error: (any Error)?, isPowered: [Bool], isStopped: [Bool]) {
    let hosts = Hosts()
    let machines = Machines()
    let run = await VirtualTime.run(seed: 1) { simulation in
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

  /// Without latency, each reply arrives immediately.
  @Test func detectsLivelockOfInstantReplies() async throws {
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

  /// Any kind of effect without end stops the run; the other machine is not affected.
  @Test(
    arguments: [
      .emit(.tick), .store([StoreChange("a", [1])]), .send([1], to: SocketAddress(.loopback6, port: 1)),
    ] as [Effect<Echo.Event>])
  func stopsEngineWithEndlessEffects(_ effect: Effect<Echo.Event>) async throws {
    let found = await run(latency: .milliseconds(1)) { hosts in
      hosts.all[1].perform { engine, _ in engine.forever = effect }
    }
    guard case SimulationError.endlessEffects(_, "other")? = found.error else {
      Issue.record("\(String(describing: found.error))")
      return
    }
    #expect(!found.isPowered[1] && found.isStopped == [false, true])
  }

  /// Many effects below the limit are allowed.
  @Test func allowsManyEffects() async throws {
    let found = await run(latency: .milliseconds(1)) { hosts in
      hosts.all[1].perform { engine, _ in engine.effects = Array(repeating: .emit(.tick), count: 9_000) }
    }
    #expect(found.error == nil && found.isPowered == [true, true] && found.isStopped == [false, false])
  }

  /// When a run fails, its waits end, so that the body can clean up.
  @Test func endsWaitsWhenARunFails() async throws {
    let ended = Hosts.Ended()
    let run = await VirtualTime.run(seed: 1, limit: .seconds(10)) { simulation in
      let isMet = await simulation.wait(for: "an impossible condition", within: .seconds(3600)) { _ in false }
      ended.all.append(isMet)
      // Canceled by now: the wait returns at once.
      ended.all.append(await simulation.wait(for: "an impossible condition", within: .seconds(3600)) { _ in false })
      try? await simulation.sleep(for: .seconds(3600))
      ended.all.append(true)
    }
    #expect(throws: SimulationError.timedOut(at: .zero + .seconds(10), waiting: ["an impossible condition"])) {
      try run.result.get()
    }
    #expect(ended.all == [false, false, true])
    #expect(run.end < .zero + .seconds(60))
  }

  /// Cancellation ends a wait before its timeout.
  @Test func cancelsWait() async throws {
    let run = await VirtualTime.run(seed: 1) { simulation in
      await withTaskGroup(of: Bool.self) { group in
        group.addTask { await simulation.wait(for: "an impossible condition", within: .seconds(3600)) { _ in false } }
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
    // Unchecked: confined to the world's thread, and read after the run.
    var all: [Bool] = []
  }
}
