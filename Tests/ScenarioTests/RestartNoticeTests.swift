import Scenario
import Simulation
import Testing

/// How soon a home notices the restart of a device: a device that resumes its subscriptions reports at once;
/// otherwise its announcement is the sign.
@Suite("Restarted devices") struct RestartNoticeTests {
  private func play(_ resumes: Bool, _ steps: String, seed: UInt64 = 1) async throws -> ScenarioResult {
    try await ScenarioFileTests.load(
      """
      devices:
        - { name: Lamp, type: dimmable light, resumesSubscriptions: \(resumes) }
        - { name: Bell, type: generic switch, resumesSubscriptions: \(resumes) }
      steps:
      """ + "\n" + steps
    ).simulate(seed: seed).result
  }

  @Test("are subscribed again within 2 s", arguments: [true, false], [1, 2, 3] as [UInt64])
  func changes(resumes: Bool, seed: UInt64) async throws {
    let result = try await play(
      resumes,
      """
        - do: off lamp
        - wait: 10s
        - power: { lamp: off }
        - wait: 1s
        - power: { lamp: on }
        - wait: 2s
        - set: { lamp.onOff: true }
        - expect: { lamp.onOff: true, lamp.connectivity: online, within: 1s }
        - power: { lamp: cycle }
        - wait: 2s
        - set: { lamp.onOff: false }
        - expect: { lamp.onOff: false, within: 1s }
        - do: on lamp
        - expect: { actual lamp.onOff: true, within: 1s }
      """, seed: seed)
    #expect(result.isPassed, "\(result)")
  }

  @Test("report events within 1 s", arguments: [true, false]) func events(resumes: Bool) async throws {
    let result = try await play(
      resumes,
      """
        - power: { bell: cycle }
        - wait: 2s
        - press: { bell: short }
        - expect: { event bell.switch.initialPress: true, within: 1s }
      """)
    #expect(result.isPassed, "\(result)")
  }

  /// The home restarts while the device is off, so that subscriptions stored by the device are not known to the home.
  @Test("are subscribed again by a restarted home", arguments: [true, false]) func both(resumes: Bool)
    async throws
  {
    let result = try await play(
      resumes,
      """
        - power: { lamp: off, hub: cycle }
        - wait: 5s
        - power: { lamp: on }
        - expect: { lamp.connectivity: online, within: 5s }
        - set: { lamp.onOff: true }
        - expect: { lamp.onOff: true, within: 1s }
        - wait: 10m
        - set: { lamp.onOff: false }
        - expect: { lamp.onOff: false, within: 1s }
      """)
    #expect(result.isPassed, "\(result)")
  }
}
