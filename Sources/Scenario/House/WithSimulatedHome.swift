internal import Foundation
public import Home
public import Simulation
public import VirtualDevices

/// Runs a body with a home of virtual devices, on virtual time.
///
///     @Test func lampGoesOn() async throws {
///       try await withSimulatedHome("house.yaml", seed: 7) { home, world in
///         let lamp = try #require(try await home.devices().list().first { $0.name == "Lamp" })
///         try await lamp.types.get(OnOffLightDeviceType.self)?.matterTraits.onOffTrait?.on()
///         try await world.cutPower(of: "Lamp")
///       }
///     }
///
/// Tasks are to be started with `async let` or in a task group: `Task { }`, `Task.detached` and `Task.sleep` lead out of virtual
/// time, and end the run: with ``SimulationError/escaped(at:)`` if they come back in time, else with
/// ``SimulationError/deadlock(at:waiting:)`` or ``SimulationError/timedOut(at:waiting:)``. Time passes in ``SimulatedWorld/sleep(for:)``.
///
/// The devices are those of `hearth run`, commissioned by the home before the body begins; the network between them is the simulation's. The
/// same file, seed and body give the same run, to the byte, on every machine.
/// - Parameters:
///   - file: the path of a definition file.
///   - seed: of all that is left to chance.
///   - limit: how much virtual time it may take.
/// - Throws: ``DefinitionError`` for the file, ``SimulationError`` where the run can't go on, and what the body throws.
public func withSimulatedHome<R: Sendable>(
  _ file: String, seed: UInt64, limit: Duration = .seconds(7 * 86_400), _ options: SimulatedHomeOptions = .init(),
  _ body: @escaping @Sendable (Home, SimulatedHome) async throws -> R
) async throws -> R {
  let text = try String(contentsOfFile: file, encoding: .utf8)
  let definition = try HomeDefinition.load(simulating: [(file, text)])
  var options = options
  // Nobody gets to see it.
  options.keepsTrace = false
  return try await simulate(definition, seed: seed, limit: limit, options) { home, world in
    try await world.simulation.naming("the body of withSimulatedHome") { try await body(home, world) }
  }.result.get()
}

/// Runs a body with a home of virtual devices, and gives the trace, too.
public func simulate<R: Sendable>(
  _ definition: HomeDefinition, seed: UInt64, limit: Duration = .seconds(7 * 86_400),
  _ options: SimulatedHomeOptions = .init(), _ body: @escaping @Sendable (Home, SimulatedHome) async throws -> R
) async -> Simulation.Run<R> {
  let keepsTrace = options.keepsTrace
  return await Simulation.run(
    seed: seed, limit: limit, patience: options.patience, prepare: { $0.trace.keepsEntries = keepsTrace }
  ) { simulation in
    let simulated = try await SimulatedHome.start(definition, options, in: simulation)
    do {
      let result = try await body(try await simulated.home, simulated)
      await simulated.close()
      return result
    } catch {
      await simulated.close()
      throw error
    }
  }
}
