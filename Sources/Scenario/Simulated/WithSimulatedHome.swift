internal import Foundation
public import HearthHome
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
/// Start tasks with `async let` or in a task group. `Task { }`, `Task.detached` and `Task.sleep` leave virtual time
/// and end the run: with `SimulationError.escaped(at:)` if they resume during the run, otherwise with
/// `SimulationError.deadlock(at:waiting:)` or `SimulationError.timedOut(at:waiting:)`. Use
/// `SimulatedWorld.sleep(for:)` to let time pass.
///
/// The devices run the same code as `hearth run`, and are commissioned before the body begins; the network between
/// them is simulated. The same file, seed and body give the same run, to the byte, on every machine.
/// - Parameters:
///   - file: the path of a definition file.
///   - seed: the seed of all random draws.
///   - limit: the limit of virtual time.
///   - fileID: the source file of the call, for failures.
///   - line: the line of the call, for failures.
/// - Throws: `DefinitionError` for the file, and ``SimulatedHomeFailure``, with the seed and the last events, for
///   errors of the body and of the simulation (`SimulationError`). An expectation that doesn't throw can report the
///   same with `#expect(isOn, "\(world)")`.
public func withSimulatedHome<R: Sendable>(
  _ file: String, seed: UInt64, limit: Duration = .seconds(7 * 86_400), fileID: String = #fileID, line: Int = #line,
  _ options: SimulatedHomeOptions = .init(), _ body: @escaping @Sendable (Home, SimulatedHome) async throws -> R
) async throws -> R {
  let text = try TextFile.read(file)
  let definition = try HomeDefinition.load(simulating: [(file, text)], opening: HomeDefinition.openFile)
  var options = options
  // The trace is not returned.
  options.keepsTrace = false
  let timeline = Timeline()
  options.timeline = timeline
  let run = await simulate(definition, seed: seed, limit: limit, options) { home, world in
    do {
      return try await world.simulation.naming("the body of withSimulatedHome") { try await body(home, world) }
    } catch {
      await world.addToTimeline("the body ends with an error")
      throw error
    }
  }
  do {
    return try run.result.get()
  } catch let error as DefinitionError {
    throw error
  } catch {
    throw SimulatedHomeFailure(
      cause: error, seed: seed, again: "withSimulatedHome(\"\(file)\", seed: \(seed)) at \(fileID):\(line)",
      timeline: timeline.lines)
  }
}

/// Runs a body with a home of virtual devices, and also returns the trace.
public func simulate<R: Sendable>(
  _ definition: HomeDefinition, seed: UInt64, limit: Duration = .seconds(7 * 86_400),
  _ options: SimulatedHomeOptions = .init(), _ body: @escaping @Sendable (Home, SimulatedHome) async throws -> R
) async -> VirtualTime.Run<R> {
  let keepsTrace = options.keepsTrace
  return await VirtualTime.run(
    seed: seed, limit: limit, timeout: options.timeout, prepare: { $0.trace.keepsEntries = keepsTrace }
  ) { simulation in
    let simulated = try await SimulatedHome.start(definition, options, in: simulation)
    do {
      let home = try await simulated.home
      let result = try await simulation.noting { try await body(home, simulated) }
      await simulated.close()
      return result
    } catch {
      await simulated.close()
      throw error
    }
  }
}
