import MatterProtocol
import Scenario
import Testing

/// The digest of one run of a home, which is the same in every process, and meant to be the same on every machine and
/// in both debug and release builds (verified only in debug builds on one machine). It covers every byte that is sent
/// and stored, every timer and every random draw.
@Suite struct PinnedRunTests {
  /// Changes if the home or its devices send, store, wait for or draw anything else than before, even a string of
  /// Basic Information or an additional attribute. Such a change must update this value in the same commit, with the
  /// value from the failure. Without such a change, a different digest means that the run depends on the machine, the
  /// process or real randomness, and the value must stay.
  private static let digest: UInt64 = 0xD461EC9AB5993F7D

  private static let scenario = """
    scenario: Pinned
    paired: false
    devices:
      - { name: Lamp, room: Kitchen, type: dimmable light }
    steps:
      - do: pair lamp
      - expect: { lamp.connectivity: online, within: 30s }
      - do: on lamp
      - expect: { actual lamp.onOff: true, lamp.onOff: true, within: 2s }
      - net: { lamp: { loss: 20%, latency: 5ms, jitter: 30ms, duplicate: 5%, reorder: 10%, rate: 20kB/s } }
      - { do: toggle lamp, times: 6, every: 2s }
      - net: { lamp: partition }
      - expect: { lamp.connectivity: offline, within: 3m }
      - net: { lamp: heal }
      - expect: { lamp.connectivity: online, within: 5m }
      - power: { hub: cycle }
      - drift: { lamp: 200ppm }
      - set: { lamp.onOff: true }
      - expect: { lamp.connectivity: online, lamp.onOff: true, within: 60s }
      - wait: 5m
    """

  @Test func reproducesDigest() async throws {
    let result = await (try ScenarioFileTests.load(Self.scenario)).simulate(seed: 7).result
    #expect(result.isPassed, "\(result)")
    #expect(result.digest == Self.digest, "it is \(result.digest) now, after \(result.duration)")
  }
}
