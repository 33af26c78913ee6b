import Scenario
import Testing

/// Alarms in scenarios, which are interconnected.
@Suite("Alarms in scenarios") struct AlarmTests {
  private static let scenario = """
    devices:
      - { name: Hall, room: Hall, type: smoke CO alarm }
      - { name: Attic, room: Attic, type: smoke alarm }
      - { name: Cellar, room: Cellar, type: CO alarm }
    steps:
      - set: { hall.smokeCoAlarm.smokeState: critical }
      - expect: { actual attic.smokeCoAlarm.interconnectSmokeAlarm: critical, within: 1s }
      - expect: { attic.smokeCoAlarm.expressedState: interconnectSmoke, within: 5s }
      - expect: { actual cellar.smokeCoAlarm.expressedState: normal }
      - set: { hall.smokeCoAlarm.smokeState: normal }
      - expect: { attic.smokeCoAlarm.expressedState: normal, within: 5s }
      - set: { hall.smokeCoAlarm.coState: warning }
      - expect: { cellar.smokeCoAlarm.interconnectCOAlarm: warning, within: 5s }
      - power: { hall: off }
      - expect: { cellar.smokeCoAlarm.expressedState: normal, within: 5s }
    """

  @Test("an alarm reaches the other devices of the home, in the same way each time") func interconnects() async throws {
    func run() async throws -> UInt64 {
      let result = await (try ScenarioFileTests.load(Self.scenario)).simulate(seed: 3).result
      #expect(result.isPassed, "\(result)")
      return result.digest
    }
    let first = try await run()
    #expect(try await run() == first)
  }
}
