import Foundation
import HearthHome
import MatterClusters
import MatterModel
import MatterProtocol
import NIOCore
import Simulation
import Synchronization
import Testing
import VirtualDevices

@testable import Scenario

/// Waits for an event that never occurs, until the task is canceled.
func waitForCancellation() async {
  let (stream, _) = AsyncStream.makeStream(of: Void.self)
  for await _ in stream {}
}

/// The detection of runs without progress. The reports and retries of a home never end, so a run must end although
/// events occur; but not while the body itself has something scheduled.
@Suite struct ProgressTests {
  private func run<R: Sendable>(
    _ timeout: Duration, _ body: @escaping @Sendable (Home, SimulatedHome) async throws -> R
  ) async throws -> R {
    var options = SimulatedHomeOptions()
    options.timeout = timeout
    return try await simulate(try SimulatedHomeTests.definition(), seed: 1, options, body).result.get()
  }

  @Test func endsRunWithoutProgress() async throws {
    var options = SimulatedHomeOptions()
    options.timeout = .seconds(7200)
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1, options) { _, world in
      try await world.simulation.sleep(for: .seconds(1000))
      await world.simulation.naming("a missing event") { await waitForCancellation() }
    }
    let error = #expect(throws: SimulationError.self) { try run.result.get() }
    guard case .noProgress(let end, let since, ["a missing event"]) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect((1000..<1100).contains(since.nanoseconds / 1_000_000_000))
    // Some event, at least the deadline of a report, occurs once an hour.
    #expect(end - since > .seconds(7200) && end - since < .seconds(7200 + 3601))
    #expect(
      "\(SimulationError.noProgress(at: end, since: since, waiting: ["a missing event"]))".contains(
        "waits “a missing event”"))
  }

  @Test func doesNotEndSleepingBody() async throws {
    let now = try await run(.seconds(600)) { _, world in
      async let _: Void = waitForCancellation()
      try await world.simulation.sleep(for: .seconds(5_000))
      return await world.simulation.now
    }
    #expect(now > .zero + .seconds(5_000))
  }

  @Test func waitsForScheduledWork() async throws {
    let now = try await run(.seconds(600)) { _, world in
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let world = world.simulation.world.value
        world.at(world.now + .seconds(5_000)) { _ in continuation.resume() }
      }
      return await world.simulation.now
    }
    #expect(now > .zero + .seconds(5_000))
  }

  @Test func waitsForTimeLimitOfCondition() async throws {
    let isMet = try await run(.seconds(600)) { _, world in
      await world.simulation.wait(for: "a missing event", within: .seconds(5_000)) { _ in false }
    }
    #expect(!isMet)
  }

  /// A request with a long timeout ends by that timeout.
  @Test func waitsForLongTimeout() async throws {
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

  // MARK: Listeners

  /// Changes that are only recorded do not count as progress of the body.
  @Test func recordingChangesIsNoProgress() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "progress-\(UUID().uuidString).yaml")
    try SimulatedHomeTests.lamp.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    let failure = try #require(
      await #expect(throws: SimulatedHomeFailure.self) {
        try await withSimulatedHome(file.path, seed: 1, limit: .seconds(3 * 86_400)) { _, world in
          try await world.switchPeriodically("Lamp", every: .seconds(3_600))
          await world.simulation.naming("a missing event") { await waitForCancellation() }
        }
      })
    guard case .noProgress(_, _, let waiting) = failure.cause as? SimulationError else {
      return #expect(Bool(false), "\(failure)")
    }
    #expect(waiting.last == "a missing event")
    #expect(failure.timeline.contains { $0.hasSuffix("Kitchen/Lamp.onOff.onOff = true") }, "\(failure)")
  }

  @Test func observingChangesIsNoProgress() async throws {
    let scenario = try ScenarioFileTests.load(
      SimulatedHomeTests.lamp + "\nnever:\n  - { lamp.connectivity: offline }\nsteps:\n  - power: { lamp: off }\n")
    let timeline = Timeline()
    let run = await VirtualTime.run(seed: 1, limit: .seconds(86_400), timeout: .seconds(7200)) { simulation in
      let home = try await SimulatedHome.start(scenario.home, SimulatedHomeOptions(), in: simulation)
      try await home.switchPeriodically("Lamp", every: .seconds(3_600))
      let failure = await ScenarioDefinition.play(scenario, on: StuckStage(stage: home), timeline)
      await home.close()
      return failure
    }
    guard case .failure(let error) = run.result, case .noProgress = error as? SimulationError else {
      return #expect(Bool(false), "\(run.result)")
    }
    #expect(timeline.lines.contains { $0.hasSuffix("Kitchen/Lamp.onOff.onOff = true") }, "\(timeline.lines)")
  }

  /// Each change is observed with the state right after it, even if the next one follows at once.
  @Test func observesEachChangeSeparately() async throws {
    let names = try await run(VirtualTime.usualTimeout) { home, world -> [String] in
      let observed = Mutex<[String]>([])
      let listener = await HomeListener(to: home, DeviceNames(world.definition).identities) { view, _ in
        observed.withLock { $0.append(view.devices.first?.name ?? "none") }
      }
      let lamp = try #require(try await home.devices().list().first)
      async let first = home.rename(lamp.id, to: "First")
      async let second = home.rename(lamp.id, to: "Second")
      _ = try await (first, second)
      listener.close()
      try await home.rename(lamp.id, to: "Third")
      return observed.withLock(\.self)
    }
    #expect(names == ["Lamp", "First", "Second"])
  }
}

extension SimulatedHome {
  /// Switches a device periodically by hand, with no event on the body's machine.
  fileprivate func switchPeriodically(_ name: String, every time: Duration) throws {
    let found = try find(name)
    nonisolated(unsafe) let device = found.device
    let endpoints = found.place.endpoints(nil)
    let isOn = Mutex(false)
    let pause = TimeAmount.nanoseconds(time.nanoseconds)
    found.machine.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in
      let value: UInt8 = isOn.withLock { isOn in
        isOn.toggle()
        return isOn ? 9 : 8
      }
      try device.set(OnOff.id, OnOff.onOff.id, [value], on: endpoints)
    }
  }
}

/// A simulated home whose actions never complete.
private struct StuckStage: Stage {
  let stage: SimulatedHome
  var home: Home { get async throws(HomeError) { try await stage.home } }

  func perform(_: ScenarioStep.Action) async throws { await waitForCancellation() }

  var now: Duration { stage.now }
  func sleep(for time: Duration) async throws { try await stage.sleep(for: time) }
  func naming<R: Sendable>(_ what: String, _ body: @Sendable () async throws -> R) async rethrows -> R {
    try await stage.naming(what, body)
  }
  func note(_ text: String) async { await stage.note(text) }
  func value(of place: AttributePlace, in device: String) async -> [UInt8]? { await stage.value(of: place, in: device) }
  func messageCount(of device: String?) async -> Int { await stage.messageCount(of: device) }
  func watch(_ subjects: [Claim.Subject], _ onFact: @escaping @Sendable (Int, Fact, Duration) -> Void) async {
    await stage.watch(subjects, onFact)
  }
  func stopWatching() async { await stage.stopWatching() }
  func pair(_ device: String) async throws { try await stage.pair(device) }
}
