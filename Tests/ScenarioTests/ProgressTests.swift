import Home
import MatterClusters
import MatterProtocol
import Scenario
import Simulation
import Testing

/// A home is never done: its reports and retries go on for ever. A run in which somebody waits in vain ends nevertheless, and one
/// in which something is still to come does not.
@Suite struct ProgressTests {
  private static let never = { @Sendable in await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }

  private func run<R: Sendable>(
    _ patience: Duration, _ body: @escaping @Sendable (Home, SimulatedHome) async throws -> R
  ) async throws -> R {
    var options = SimulatedHomeOptions()
    options.patience = patience
    return try await simulate(try SimulatedHomeTests.definition(), seed: 1, options, body).result.get()
  }

  @Test func whoWaitsInVainIsToldSo() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      try await world.simulation.sleep(for: .seconds(1000))
      await world.simulation.naming("Godot") { await Self.never() }
    }
    let error = #expect(throws: SimulationError.self) { try run.result.get() }
    guard case .noProgress(let end, let since, ["Godot"]) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect((1000..<1100).contains(since.nanoseconds / 1_000_000_000))
    // Something happens at least once in an hour, if only that a report is due.
    #expect(end - since > Simulation.usualPatience && end - since < Simulation.usualPatience + .seconds(3_601))
    #expect("\(SimulationError.noProgress(at: end, since: since, waiting: ["Godot"]))".contains("waits “Godot”"))
  }

  @Test func whoSleepsIsNotStopped() async throws {
    let now = try await run(.seconds(600)) { _, world in
      async let _: Void = Self.neverOrCancelled()
      try await world.simulation.sleep(for: .seconds(20_000))
      return await world.simulation.now
    }
    #expect(now > .zero + .seconds(20_000))
  }

  private static func neverOrCancelled() async {
    let (stream, _) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
  }

  @Test func whatIsToBeDoneLaterIsWaitedFor() async throws {
    let now = try await run(.seconds(600)) { _, world in
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let world = world.simulation.world.value
        world.at(world.now + .seconds(20_000)) { _ in continuation.resume() }
      }
      return await world.simulation.now
    }
    #expect(now > .zero + .seconds(20_000))
  }

  @Test func aConditionHasItsTime() async throws {
    let isMet = try await run(.seconds(600)) { _, world in
      await world.simulation.wait(for: "Godot", within: .seconds(20_000)) { _ in false }
    }
    #expect(!isMet)
  }

  /// A request that may wait for its device for long ends by its own time.
  @Test func aLongTimeoutIsWaitedFor() async throws {
    let error = try await run(.seconds(600)) { home, world -> HomeError? in
      let lamp = try #require(try await home.devices().list().first)
      let trait = try #require(lamp.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait)
      try await world.cutPower(of: "Lamp")
      do {
        try await trait.waiting(.seconds(2000)).on()
        return nil
      } catch let error as HomeError {
        return error
      }
    }
    #expect(error?.code == .timedOut || error?.code == .unreachable, "\(String(describing: error))")
  }
}
