import HearthHome
import MatterClusters
import MatterController
import MatterModel
import MatterProtocol
import Scenario
import Simulation
import Testing

/// Setting a device's clock while it runs affects all of its time attributes.
@Suite struct DeviceClockTests {
  private func utc(_ home: Home, _ node: NodeID) async throws -> Int64 {
    let report = try await home.controller.read(
      node, [AttributePath(TimeSynchronization.utcTime.path(on: .root))])
    return Int64(try #require(try report.value(of: TimeSynchronization.utcTime, on: .root).wrapped))
  }

  @Test func appliesClockChangeAtRuntime() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(), seed: 1) { home, world in
      let node = try #require(await home.registry.devices.first).nodeID
      // In whole seconds, as a response takes time.
      func moved(_ time: Duration) async throws -> Int64 {
        let before = try await utc(home, node)
        try await world.moveWallClock(of: "Lamp", by: time)
        return Int64((Double(try await utc(home, node) - before) / 1e6).rounded())
      }
      #expect(try await moved(.seconds(3 * 3600)) == 3 * 3600)
      #expect(try await moved(.seconds(-3600)) == -3600)

      // A time set by UTCTime moves with the clock, and an offset expires by it.
      let now = try await utc(home, node)
      var time = TimeSynchronization.SetUTCTimeRequest()
      (time.utcTime, time.granularity) = (UInt64(now + 86_400_000_000), .microsecondsGranularity)
      _ = try await home.backend.invoke(
        TimeSynchronization.setUTCTime, time, on: .root, of: node)
      var saving = TimeSynchronization.DSTOffsetStruct()
      (saving.offset, saving.validUntil) = (3600, .value(UInt64(now + 86_400_000_000 + 7_200_000_000)))
      var savings = TimeSynchronization.SetDSTOffsetRequest()
      savings.dstOffset = [saving]
      _ = try await home.backend.invoke(TimeSynchronization.setDSTOffset, savings, on: .root, of: node)
      #expect(try await moved(.seconds(3 * 3600)) == 3 * 3600)
      let elapsed = try await utc(home, node) - now
      #expect(elapsed / 1_000_000 / 10 == (86_400 + 3 * 3600) / 10, "\(elapsed)")
      let rest = try await home.controller.read(
        node, [AttributePath(TimeSynchronization.dstOffset.path(on: .root))])
      #expect(try rest.value(of: TimeSynchronization.dstOffset, on: .root).isEmpty)
    }
    _ = try run.result.get()
  }
}
