import MatterProtocol
import NIOCore
import NIOPosix
import Testing

@testable import Runtime

@Suite struct EngineHostTests {
  let loop = MultiThreadedEventLoopGroup.singleton.next()

  @Test func echoesDatagramsOverEachFamily() async throws {
    let events = Collector<EchoEngine.Event>()
    let echo = try await startEcho(on: loop, echoes: true)
    let other = try await startEcho(on: MultiThreadedEventLoopGroup.singleton.next(), echoes: false, events: events)
    for address in echo.addresses {
      await other.actor.perform { engine, _ in
        for size in 0..<40 {
          engine.effects.append(.send([UInt8](repeating: UInt8(size), count: size * 32), to: address))
        }
      }
    }
    let expected = echo.addresses.count * 40
    #expect(await events.wait { $0.count == expected })
    for address in echo.addresses {
      for size in 0..<40 {
        #expect(events.all.contains(.received([UInt8](repeating: UInt8(size), count: size * 32), address)))
      }
    }
    await other.actor.stop()
    await echo.actor.stop()
  }

  @Test func advancesAtDeadlinesAndNeverEarly() async throws {
    let events = Collector<EchoEngine.Event>()
    let (actor, _) = try await startEcho(on: loop, echoes: false, events: events)
    let start = await actor.perform { engine, now in
      engine.deadlines = [now + .milliseconds(30), now + .milliseconds(30), now + .milliseconds(60)]
      return now
    }
    #expect(await events.wait { $0.count == 3 })
    let times = events.all.compactMap { if case .advanced(let at) = $0 { (at - start).milliseconds } else { nil } }
    #expect(times.count == 3)
    #expect(times[0] >= 30 && times[2] >= 60)
    await actor.stop()
  }

  @Test func movesAndClearsDeadlines() async throws {
    let events = Collector<EchoEngine.Event>()
    let (actor, _) = try await startEcho(on: loop, echoes: false, events: events)
    // One call on the loop, so that no deadline passes in between, even on a busy machine.
    let start = await actor.setDeadlines([.seconds(3600), .milliseconds(50), .milliseconds(150)])
    #expect(await events.wait { $0.count == 1 })
    guard case .advanced(let at) = events.all.first else { return }
    #expect((at - start).milliseconds >= 150)
    _ = await actor.setDeadlines([.milliseconds(20), nil])
    // A timer for the cleared deadline would be due before this one.
    try await loop.scheduleTask(in: .milliseconds(30)) {}.futureResult.get()
    #expect(events.all.count == 1)
    await actor.stop()
  }

  @Test func commitsBeforeTheNextEffect() async throws {
    let seen = Collector<StoredState>()
    let (loop, sockets) = (loop, try BoundSockets(.loopback))
    let actor = try await EngineActor.start(on: loop) {
      let store = MemoryStore(["old": [1]])
      return EngineHost(
        EchoEngine(), transport: UDPTransport(sockets, on: loop), store: store, logger: quiet,
        onEvent: { _ in seen.add((try? store.load()) ?? [:]) })
    }
    await actor.perform { engine, _ in
      engine.effects += [
        .emit(.note("before")), .store([StoreChange("old", nil), StoreChange("new", [2])]), .emit(.note("after")),
      ]
    }
    #expect(seen.all == [["old": [1]], ["new": [2]]])
    await actor.stop()
  }

  @Test func performsEffectsOfCallbacksInOrder() async throws {
    let seen = Collector<String>()
    let (loop, sockets) = (loop, try BoundSockets(.loopback))
    let actor = try await EngineActor.start(on: loop) {
      let host = EngineHost(EchoEngine(), transport: UDPTransport(sockets, on: loop), logger: quiet)
      host.onEvent = { [unowned host] event in
        guard case .note(let text) = event else { return }
        seen.add(text)
        if text == "first" { host.perform { engine, _ in engine.effects.append(.emit(.note("third"))) } }
      }
      return host
    }
    await actor.perform { engine, _ in engine.effects += [.emit(.note("first")), .emit(.note("second"))] }
    #expect(seen.all == ["first", "second", "third"])
    await actor.stop()
  }

  @Test func stopsAfterStoreFailure() async throws {
    final class BrokenStore: NodeStore {
      func load() throws(StoreError) -> StoredState { [:] }
      func commit(_ changes: [StoreChange]) throws(StoreError) { throw StoreError(.closed, path: "/nowhere") }
      func close() {}
    }
    let events = Collector<EchoEngine.Event>()
    let errors = Collector<StoreError>()
    let (actor, _) = try await startEcho(on: loop, echoes: false, events: events, store: { BrokenStore() })
    await actor.withHost { $0.onStoreFailure = { errors.add($0) } }
    await actor.perform { engine, _ in engine.effects += [.store([StoreChange("a", [1])]), .emit(.note("never"))] }
    #expect(events.all.isEmpty)
    #expect(errors.all == [StoreError(.closed, path: "/nowhere")])
    #expect(await actor.withHost { $0.isStopped })
  }

  @Test func releasesHostAndPortOnStop() async throws {
    let (loop, sockets) = (loop, try BoundSockets(.loopback))
    let weak = try await loop.submit {
      let host = EngineHost(EchoEngine(), transport: UDPTransport(sockets, on: loop), logger: quiet)
      host.start()
      host.stop()
      return NIOLoopBound(Weak(host), eventLoop: loop)
    }.get()
    #expect(try await loop.submit { weak.value.object == nil }.get())
    try BoundSockets(.loopback, port: sockets.port).close()
  }
}

extension EngineActor<EchoEngine> {
  /// Sets the engine's deadline several times in a row; nil for none.
  /// - Returns: the time of the first call.
  fileprivate func setDeadlines(_ times: [Duration?]) -> Instant {
    var start: Instant?
    for time in times {
      let now = perform { engine, now in
        engine.deadlines = time.map { [now + $0] } ?? []
        return now
      }
      start = start ?? now
    }
    return start ?? .zero
  }
}
