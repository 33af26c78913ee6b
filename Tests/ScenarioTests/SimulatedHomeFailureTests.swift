import Foundation
import HearthHome
import MatterClusters
import MatterProtocol
import Scenario
import Simulation
import Testing
import VirtualDevices

/// The failures of `withSimulatedHome`, which include what a replay needs.
@Suite struct SimulatedHomeFailureTests {
  private struct TestError: Error {}

  /// Runs a body with a temporary definition file.
  private func run(
    limit: Duration = .seconds(86_400), _ body: @escaping @Sendable (Home, SimulatedHome) async throws -> Void
  ) async throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "home-\(UUID().uuidString).yaml")
    try SimulatedHomeTests.lamp.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    try await withSimulatedHome(file.path, seed: 71, limit: limit) { home, world in try await body(home, world) }
    return file.path
  }

  @Test func reportsErrorOfBodyWithSeed() async throws {
    let failure = try #require(
      await #expect(throws: SimulatedHomeFailure.self) {
        try await run { _, world in
          try await world.inject("Lamp", .family(.v4, isOn: false))
          try await world.cutPower(of: "Lamp")
          try await world.simulation.sleep(for: .seconds(120))
          throw TestError()
        }
      })
    #expect(failure.cause is TestError && failure.seed == 71)
    let lines = "\(failure)".split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(lines.first == "TestError()" && lines.dropFirst().first == "seed: 71")
    #expect(lines.last?.hasPrefix("again: withSimulatedHome(\"") == true, "\(failure)")
    #expect(lines.last?.contains(", seed: 71) at ScenarioTests/SimulatedHomeFailureTests.swift:") == true, "\(failure)")
    let events = failure.timeline.compactMap { $0.components(separatedBy: ": ").last }
    let cut = try #require(events.firstIndex(of: "power Lamp off"), "\(failure)")
    let offline = try #require(events.firstIndex { $0.hasPrefix("Kitchen/Lamp offline") }, "\(failure)")
    #expect(cut < offline && offline < events.count - 1, "\(failure)")
    #expect(events.last == "the body ends with an error", "\(failure)")
    #expect(failure.timeline.contains { $0.contains("net Lamp: ") }, "\(failure)")
  }

  /// The home is replaced when its machine restarts, and the new one is recorded as well.
  @Test func reportsEndOfRunWithSeed() async throws {
    let failure = try #require(
      await #expect(throws: SimulatedHomeFailure.self) {
        try await run(limit: .seconds(600)) { _, world in
          try await world.cutPower(of: "hub")
          try await world.restorePower(of: "hub")
          try await world.simulation.sleep(for: .seconds(30))
          try await world.cutPower(of: "Lamp")
          await world.simulation.naming("a missing event") { await waitForCancellation() }
        }
      })
    #expect(failure.cause is SimulationError)
    #expect("\(failure)".contains("“a missing event”") && "\(failure)".contains("seed: 71"), "\(failure)")
    let cut = try #require(failure.timeline.lastIndex { $0.hasSuffix("power Lamp off") }, "\(failure)")
    #expect(failure.timeline[cut...].contains { $0.contains("Kitchen/Lamp offline") }, "\(failure)")
  }

  /// The body runs in the context of the current test, and can describe the world.
  @Test func runsBodyInCurrentTest() async throws {
    let test = Test.current?.name
    #expect(test != nil)
    _ = try await run { _, world in
      #expect(Test.current?.name == test)
      try await world.cutPower(of: "Lamp")
      let text = "\(world)"
      #expect(text.hasPrefix("seed: 71\n") && text.hasSuffix("power Lamp off"), "\(text)")
      let inner = try await withThrowingTaskGroup(of: String?.self) { group in
        group.addTask { Test.current?.name }
        return try await group.next() ?? nil
      }
      #expect(inner == test)
    }
  }

  // MARK: Pending operations

  /// Returns the unnamed operations that the body awaits at its time limit, the oldest first.
  private func waits(
    _ limit: Duration, _ body: @escaping @Sendable (Home, SimulatedHome) async throws -> Void
  ) async throws -> [String] {
    let failure = try #require(
      await #expect(throws: SimulatedHomeFailure.self) { try await run(limit: limit) { try await body($0, $1) } })
    guard case .timedOut(_, let waits) = failure.cause as? SimulationError else {
      #expect(Bool(false), "\(failure)")
      return []
    }
    #expect(waits.first == "the body of withSimulatedHome")
    return Array(waits.dropFirst())
  }

  private static func lamp(_ home: Home) async throws -> (device: HomeDevice, trait: OnOffTrait) {
    let device = try #require(try await home.devices().list().first)
    return (device, try #require(device.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait))
  }

  @Test func namesPendingOperations() async throws {
    #expect(
      try await waits(.seconds(60)) { _, world in try await world.simulation.sleep(for: .seconds(600)) } == [
        "600.0 seconds to pass"
      ])
    #expect(
      try await waits(.seconds(60)) { home, _ in for await _ in home.devices().stream() {} }
        == ["a change of the collection of HomeDevice"])
    #expect(
      try await waits(.seconds(60)) { home, _ in
        for await _ in try await Self.lamp(home).device.types.subscribe(DimmableLightDeviceType.self) {}
      } == ["Lamp to report a change of its Dimmable Light"])
    #expect(try await waits(.seconds(60)) { home, _ in for await _ in home.updates() {} } == ["the home to change"])
    #expect(
      try await waits(.seconds(6)) { home, world in
        try await world.inject("Lamp", .partition)
        try await Self.lamp(home).trait.on()
      } == ["Lamp to answer onOff.on"])
    #expect(
      try await waits(.seconds(300)) { home, world in
        try await world.inject("Lamp", .partition)
        try await world.simulation.sleep(for: .seconds(200))
        try await Self.lamp(home).trait.waiting(.seconds(2000)).on()
      } == ["Lamp to come online"])
    // Operations that have completed and observers are not listed.
    #expect(
      try await waits(.seconds(60)) { home, world in
        try await Self.lamp(home).trait.on()
        let listening = home.devices().batched().sink { _ in }
        async let first: Void = world.simulation.sleep(for: .seconds(600))
        async let second: Void = world.simulation.naming("a missing event") {
          try await world.simulation.sleep(for: .seconds(900))
        }
        _ = try await (first, second)
        listening.cancel()
      } == ["600.0 seconds to pass", "a missing event", "900.0 seconds to pass"])
  }
}
