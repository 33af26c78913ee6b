import HearthHome
import MatterClusters
import MatterModel
import MatterProtocol
import Scenario
import Simulation
import Testing

/// The home model across a restart of the home's machine, on virtual time.
@Suite struct RestoredHomeTests {
  private func stored(_ world: SimulatedHome) async throws -> OnOffTrait {
    let device = try #require(try await world.home.devices().list().first)
    return try #require(device.types.get(DimmableLightDeviceType.self)?.matterTraits.onOffTrait)
  }

  /// Returns the error code of a command and its duration.
  private func outcome(
    _ world: SimulatedHome, _ body: () async throws -> Void
  ) async -> (code: HomeError.Code?, time: Duration) {
    let begin = await world.simulation.now
    var code: HomeError.Code?
    do { try await body() } catch { code = HomeError(error).code }
    return (code, await world.simulation.now - begin)
  }

  /// Locality `unspecified`: commands fail at once unless asked to wait.
  @Test func failsCommandsToUnreachedDeviceUnlessWaiting() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      try await world.inject("Lamp", .partition)
      try await world.cutPower(of: "hub")
      try await world.simulation.sleep(for: .seconds(1))
      try await world.restorePower(of: "hub")
      let light = try await stored(world)
      #expect(light.metadata.sourceConnectivity == .unknown && light.attributes.onOff != nil)
      let atOnce = await outcome(world) { try await light.on() }
      let written = await outcome(world) { try await light.write(OnOff.onTime, 7) }
      let inVain = await outcome(world) { try await light.waiting(.seconds(5)).on() }
      async let later = outcome(world) { try await light.waiting(.seconds(300)).on() }
      try await world.simulation.sleep(for: .seconds(10))
      try await world.inject("Lamp", .heal)
      let waited = await later
      try await world.simulation.sleep(for: .seconds(5))
      let truth = try await stored(world).attributes.onOff
      return (atOnce, written, inVain, waited, truth)
    }
    let (atOnce, written, inVain, waited, isOn) = try run.result.get()
    #expect(atOnce.code == .unreachable && atOnce.time == .zero)
    #expect(written.code == .unreachable && written.time == .zero)
    #expect(inVain.code == .timedOut && inVain.time >= .seconds(5) && inVain.time < .seconds(6))
    #expect(waited.code == nil && waited.time > .seconds(10) && waited.time < .seconds(200))
    #expect(isOn == true)
  }

  /// Closing the home ends its subscriptions without a change of the devices in the log.
  @Test func closingHomeRecordsNoChanges() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { home, world in
      guard case .samples(_, let before, _) = try await home.results(of: AnchoredQuery(.all, after: nil)) else {
        return [ConnectivityState]()
      }
      await home.close()
      try await world.simulation.sleep(for: .seconds(1))
      try await world.cutPower(of: "hub")
      try await world.restorePower(of: "hub")
      try await world.simulation.sleep(for: .seconds(10))
      return try await world.home.results(of: AnchoredQuery(.all, after: before)).added.compactMap { sample in
        guard case .connectivity(_, let status) = sample.change else { return nil }
        return status.connectivity.connectivityState
      }
    }
    #expect(try run.result.get() == [.unknown, .online])
  }

  /// Waiting commands also wait for a device that was lost.
  @Test func waitsForLostDevice() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      // Without multicast the device's return is not announced.
      try await world.inject("hub", .multicast(false))
      try await world.inject("Lamp", .partition)
      // Long enough to be detected, and for retries to be rare.
      try await world.simulation.sleep(for: .seconds(3600))
      let light = try await stored(world)
      #expect(light.metadata.sourceConnectivity == SourceConnectivity(.offline, .peer))
      let inVain = await outcome(world) { try await light.waiting(.seconds(50)).on() }
      async let later = outcome(world) { try await light.waiting(.seconds(300)).on() }
      try await world.simulation.sleep(for: .seconds(100))
      try await world.inject("Lamp", .heal)
      let waited = await later
      try await world.simulation.sleep(for: .seconds(5))
      let isOn = try await stored(world).attributes.onOff
      return (inVain, waited, isOn)
    }
    let (inVain, waited, isOn) = try run.result.get()
    #expect(inVain.code == .timedOut && inVain.time >= .seconds(50) && inVain.time < .seconds(51), "\(inVain)")
    #expect(waited.code == nil && waited.time > .seconds(100) && waited.time < .seconds(130), "\(waited)")
    #expect(isOn == true)
  }

  /// After ten minutes without changes and a power cut, at most about a minute of contact time is lost.
  @Test func restoresContactTimeAfterPowerCut() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { _, world in
      try await world.simulation.sleep(for: .seconds(600))
      let before = try #require(try await world.home.devices().list().first?.contact.last)
      try await world.inject("Lamp", .partition)
      try await world.cutPower(of: "hub")
      try await world.restorePower(of: "hub")
      let after = try #require(try await world.home.devices().list().first?.contact.last)
      return (before, after)
    }
    let (before, after) = try run.result.get()
    // The device reports once a minute, and the contact time is stored once a minute.
    #expect(after <= before && before - after <= 125_000_000, "\((before - after) / 1_000_000) s")
  }
}
