import HearthHome
import HomeText
import MatterClusters
import MatterModel
import MatterProtocol
import Simulation
import Testing

@testable import Scenario

/// The stored state of a home after a power cut of its machine.
@Suite struct StoredHomeTests {
  /// Cuts the power before each effect of a change, including the commit of the database: the change is present as a
  /// whole from the commit on.
  @Test func storesChangeAtomically() async throws {
    var names: [String] = []
    for effects in 0..<6 {
      let run = await simulate(try SimulatedHomeTests.definition(), seed: 3) { home, world in
        try await world.simulation.sleep(for: .seconds(5))
        let lamp = try #require(try await home.devices().list().first)
        await world.simulation.perform { _ in world.hub.effectsUntilPowerCut = effects }
        let isAnswered = (try? await home.rename(lamp.id, to: "Sun")) != nil
        try await world.cutPower(of: "hub")
        try await world.restorePower(of: "hub")
        let name = try #require(try await world.home.devices().list().first).name
        return (isAnswered, name)
      }
      let (isAnswered, name) = try run.result.get()
      if isAnswered { #expect(name == "Sun", "after \(effects) effects") }
      names.append(name)
    }
    // Both outcomes occur, in this order.
    #expect(names.first == "Lamp" && names.last == "Sun")
    #expect(names == names.sorted(), "\(names)")
  }

  @Test func restoresSecondHomeAfterPowerCut() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 5) { _, world in
      try await world.addOtherHome()
      let machine = await world.others[0].machine
      try await world.simulation.sleep(for: .seconds(5))
      await world.simulation.perform { _ in machine.cutPower() }
      let without = try await world.disagreements().map(\.what)
      try await world.simulation.sleep(for: .seconds(60))
      try await world.restoreOthers()
      try await world.simulation.sleep(for: .seconds(60))
      let after = try await world.disagreements()
      let isOpen = await world.others[0].home != nil
      return (without, after, isOpen)
    }
    let (without, after, isOpen) = try run.result.get()
    #expect(without == ["the second home is not open"])
    #expect(after.isEmpty && isOpen)
  }

  /// A random home whose plan cuts the power of the second home.
  @Test func randomHomeCutsPowerOfSecondHome() async throws {
    let seeds = (1...40 as ClosedRange<UInt64>).filter { seed in
      RandomPlan(seed: seed).steps.contains { step in if case .cutSecondHome = step.act { true } else { false } }
    }
    #expect(seeds.count > 3)
    let plan = RandomPlan(seed: try #require(seeds.first))
    #expect(await RandomHome.run(plan).failure == nil, "\(plan.lines.joined(separator: "\n"))")
  }

  @Test func ignoresNumbersInFailureKind() {
    func kind(_ failure: String) -> String? {
      RandomHome.Outcome(plan: RandomPlan(seed: 1), failure: failure, digest: 0, datagrams: 0).kind
    }
    #expect(
      kind("D3: 2/0x0006/0x0000 is 09, and the home has 08; more")
        == kind("D11: 1/0x0008/0x0011 is 0afe, and the home has 7"))
    #expect(kind("D3: 1/2/3 is 09, and the home has 08") != kind("D3: 1/2/3 is 09, and the home has none"))
    #expect(kind("a bad face") != kind("a dead bead"))
  }

  /// The host's clock was wrong when the home was opened: later samples have the corrected time.
  @Test func followsHostClock() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { home, world in
      let machine = world.hub
      await world.simulation.perform { _ in machine.moveWallClock(by: .seconds(365 * 86_400)) }
      try await world.simulation.sleep(for: .seconds(90))
      let anchor = try await home.anchor()
      let device = try #require(try await home.devices().list().first)
      try await device.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait?.toggle()
      try await world.simulation.sleep(for: .seconds(5))
      let now = await world.simulation.perform { _ in machine.unixMicroseconds() }
      guard case .samples(let samples, _, _) = try await home.results(of: AnchoredQuery(.all, after: anchor)) else {
        return [Int64]()
      }
      return samples.map { now - $0.time }
    }
    let ages = try run.result.get()
    #expect(!ages.isEmpty && ages.allSatisfy { $0 >= 0 && $0 < 6_000_000 }, "\(ages)")
  }

  /// The levels during a transition come from the light's reports, not from the target of the command.
  @Test func reportsLevelsDuringTransition() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { home, world in
      let device = try #require(try await home.devices().list().first)
      let light = try #require(device.types.get(DimmableLightDeviceType.self))
      try await light.matterTraits.levelControlTrait?.moveToLevelWithOnOff(level: 1, transitionTime: 0)
      try await world.simulation.sleep(for: .seconds(5))
      let target = Target(try #require(device.record))
      let before = try await home.anchor()
      try await home.dim(target, to: .encoded(254), over: 50)
      try await world.simulation.sleep(for: .seconds(20))
      guard case .samples(let samples, _, _) = try await home.results(of: AnchoredQuery(.all, after: before)) else {
        return [UInt8]()
      }
      let level = LevelControl.currentLevel.path(on: 1)
      return samples.compactMap { sample -> UInt8? in
        guard case .attribute(_, level, let value?) = sample.change else { return nil }
        return try? UInt8(tlv: value)
      }
    }
    let levels = try run.result.get()
    #expect(levels.count > 2 && levels == levels.sorted() && levels.last == 254, "\(levels)")
  }
}
