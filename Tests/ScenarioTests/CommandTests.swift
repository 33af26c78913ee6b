import Scenario
import Simulation
import Testing

/// `do:` commands and event expectations.
@Suite("Commands and events of scenarios") struct CommandTests {
  private static let devices = """
    devices:
      - { name: Lamp, room: Den, type: dimmable light }
      - { name: Strip, room: Den, type: extended color light }
      - { name: Wall, room: Den, type: on/off light switch }
      - { name: Remote, type: generic switch, buttons: [On, Off] }
      - { name: Bell, type: generic switch }

    """

  private func play(_ steps: String) async throws -> ScenarioResult {
    try await ScenarioFileTests.load(Self.devices + steps).simulate(seed: 1).result
  }

  private func passes(_ steps: String) async throws {
    let result = try await play("steps:\n" + steps)
    #expect(result.isPassed && result.commands.allSatisfy { $0.error == nil }, "\(result) \(result.commands)")
  }

  @Test("switches several devices, rooms, groups and all devices that serve the cluster") func targets() async throws {
    try await passes(
      """
        - do: on lamp strip
        - expect: { actual lamp.onOff: true, actual strip.onOff: true, within: 5s }
        - do: off den
        - expect: { actual lamp.onOff: false, actual strip.onOff: false, within: 5s }
        - do: level 'den/*' 40%
        - expect: { actual lamp.currentLevel: 40%, actual strip.currentLevel: 40%, within: 10s }
        - do: group create Best
        - do: group add lamp strip to best
        - do: off group:best
        - expect: { actual lamp.onOff: false, actual strip.onOff: false, within: 5s }
        - do: toggle "*"
        - expect: { actual lamp.onOff: true, actual strip.onOff: true, within: 5s }
        - do: color '*' 2700K
        - expect: { actual strip.colorTemperatureMireds: 370, within: 5s }
        - do: room add Attic
        - do: room assign lamp strip to attic
        - do: off attic
        - expect: { actual lamp.onOff: false, actual strip.onOff: false, within: 5s }
      """)
    let unknown = try await play("steps:\n  - do: off group:best")
    #expect(unknown.commands.first?.error?.contains("there is no group “best”") == true, "\(unknown.commands)")
  }

  @Test("a room and a wildcard leave out devices that can only be switched off") func offOnly() async throws {
    let devices = """
      devices:
        - { name: Lamp, room: Den, type: dimmable light }
        - { name: Hob, room: Den, type: cooktop }

      """
    let steps = """
      steps:
        - do: on den
        - do: toggle '*'
        - do: on '*'
        - do: off '*'
        - do: on hob
      """
    let result = try await ScenarioFileTests.load(devices + steps).simulate(seed: 1).result
    let errors = result.commands.map { $0.error }
    #expect(errors.dropLast() == [nil, nil, nil, nil], "\(errors)")
    #expect(errors.last??.contains("UNSUPPORTED_COMMAND") == true, "\(errors)")
  }

  @Test("reports the devices of a room that failed") func failedTargets() async throws {
    let result = try await play(
      """
      steps:
        - do: on den
        - power: { strip: off }
        - do: off den
        - expect: { actual lamp.onOff: false }
      """)
    #expect(result.isPassed, "\(result)")
    #expect(result.commands.last?.error?.hasPrefix("1 of 2 targets failed: Strip: ") == true, "\(result.commands)")
  }

  @Test("binds and unbinds") func bindings() async throws {
    try await passes(
      """
        - do: bind wall to lamp
        - press: { wall: short }
        - expect: { actual lamp.onOff: true, within: 5s }
        - do: unbind wall from lamp
        - expect: { actual lamp.onOff: true }
      """)
    let unbound = try await play(
      """
      steps:
        - do: bind wall to lamp
        - do: unbind wall from lamp
        - do: unbind wall from lamp
        - press: { wall: short }
      """)
    #expect(unbound.failure?.message.contains("it is not bound to anything") == true, "\(unbound)")
    #expect(unbound.commands.last?.error?.contains("no such binding") == true, "\(unbound.commands)")
  }

  @Test("creates, controls and deletes groups") func groups() async throws {
    try await passes(
      """
        - do: group create Den
        - do: group add lamp to den
        - do: group add strip to Den
        - do: group on den
        - expect: { actual lamp.onOff: true, actual strip.onOff: true, within: 5s }
        - do: group remove strip from den
        - do: group toggle den
        - expect: { actual lamp.onOff: false, within: 5s }
        - expect: { actual strip.onOff: true }
        - do: group add strip to den
        - do: group invoke den levelControl.moveToLevelWithOnOff level=100 transitionTime=0
        - expect: { actual lamp.currentLevel: 100, actual strip.currentLevel: 100, within: 5s }
        - do: group remove lamp strip from den
        - do: group delete den
      """)
  }

  @Test("colors, writes and shares") func settings() async throws {
    try await passes(
      """
        - do: "color strip #ff0000"
        - expect: { actual strip.currentSaturation: 254, within: 5s }
        - do: color strip 2700K
        - expect: { actual strip.colorTemperatureMireds: 370, within: 5s }
        - do: write lamp.onLevel 40%
        - expect: { actual lamp.onLevel: 40% }
        - do: share lamp
      """)
  }

  @Test("changes rooms and removes devices") func rooms() async throws {
    try await passes(
      """
        - do: room add Attic
        - do: room assign lamp to attic
        - do: room rename attic to Loft
        - do: on lamp
        - expect: { lamp.onOff: true, within: 5s }
        - do: room remove loft
        - do: remove lamp
        - do: pair lamp
        - expect: { lamp.connectivity: online, within: 10s }
      """)
  }

  @Test("adds, chooses, renames and removes homes") func homes() async throws {
    let result = try await play(
      """
      steps:
        - do: home add Cottage
        - do: home primary cottage
        - do: room add Attic
        - do: home rename cottage to Barn
        - do: home primary home
        - do: home remove barn
        - do: home grace 30s
        - do: home primary barn
        - do: room remove attic
        - do: home remove home
      """)
    let failures = [
      "there is no home “barn”", "there is no room “attic”", "“Home” has devices; remove them first",
    ]
    #expect(result.commands.compactMap(\.error) == failures, "\(result.commands)")
  }

  @Test("changes access control lists") func access() async throws {
    let result = try await play(
      """
      steps:
        - do: acl revoke lamp 2
        - do: acl grant lamp operate --to wall --endpoint 1 --cluster onOff
        - do: acl grant lamp view --to-group 7
        - do: acl revoke lamp 3
        - do: acl revoke lamp 2
        - do: acl revoke lamp 2
      """)
    let missing = "Lamp: no entry 2; expected 1 to 1"
    #expect(result.commands.map(\.error) == [missing, nil, nil, nil, nil, missing], "\(result.commands)")
  }

  @Test("removes a device from another fabric") func fabrics() async throws {
    let result = try await play(
      """
      steps:
        - rival: { lamp: 1 }
        - do: fabrics remove lamp 2
        - do: fabrics remove lamp 2
      """)
    #expect(
      result.commands.map(\.error) == [nil, "Lamp: no fabric 2; expected 1"],
      "\(result) \(result.commands)")
  }

  @Test("stores, recalls and removes scenes") func scenes() async throws {
    try await passes(
      """
        - do: level lamp 30%
        - do: on strip
        - wait: 10s
        - do: scene store Evening
        - do: off lamp
        - do: off strip
        - expect: { actual lamp.onOff: false, actual strip.onOff: false, within: 5s }
        - do: scene recall evening of lamp
        - expect: { actual lamp.onOff: true, actual lamp.currentLevel: 30%, within: 5s }
        - expect: { actual strip.onOff: false }
        - do: scene recall 1
        - expect: { actual strip.onOff: true, within: 5s }
        - do: scene remove evening of lamp
        - do: scene recall evening
        - do: scene remove evening
      """)
    let none = try await play("steps:\n  - do: scene store Day of lamp\n  - do: scene recall Night of lamp")
    #expect(none.commands.last?.error == "Lamp: no scene “Night”; it has Day", "\(none.commands)")
  }

  @Test("invokes commands") func invoke() async throws {
    try await passes(
      """
        - do: invoke lamp.levelControl.moveToLevelWithOnOff level=100 transitionTime=0
        - expect: { actual lamp.currentLevel: 100, actual lamp.onOff: true, within: 5s }
        - do: invoke lamp.onOff.off
        - expect: { actual lamp.onOff: false, within: 5s }
      """)
    for (text, expected) in [
      ("lamp.onOff.of", "a command of a dimmable light"), ("lamp.moveToLevel level=x", "level"),
      ("nobody.onOff.off", "a device"),
    ] {
      let error = await #expect(throws: (any Error).self) { try await self.play("steps:\n  - do: invoke \(text)") }
      #expect("\(error as Any)".contains(expected), "\(error as Any)")
    }
  }

  @Test("waits for events with their fields") func events() async throws {
    try await passes(
      """
        - press: { bell: double }
        - expect: { event bell.switch.multiPressComplete: { totalNumberOfPressesCounted: 2 }, within: 2s }
        - press: { remote: { press: long, button: Off } }
        - expect: { event remote.longPress: { button: Off, newPosition: 1 }, within: 2s }
        - expect: { event remote.longRelease: { button: Off, previousPosition: 1 }, within: 5s }
      """)
    let other = try await play(
      """
      steps:
        - press: { bell: short }
        - expect: { event bell.switch.multiPressComplete: { totalNumberOfPressesCounted: 2 }, within: 5s }
      """)
    let message = other.failure?.message ?? ""
    #expect(message.hasPrefix("expected event bell.switch.multiPressComplete: {totalNumberOfPressesCounted 2}: it is "))
    #expect(message.contains("1"), "\(message)")
    // An event of an earlier step does not count.
    let old = try await play(
      """
      steps:
        - press: { bell: short }
        - wait: 2m
        - do: on lamp
        - expect: { event bell.switch.initialPress: true, within: 2m }
      """)
    #expect(old.failure?.message.contains("it is not received") == true, "\(old)")
    let button = try await play(
      """
      steps:
        - press: { remote: { press: short, button: On } }
        - expect: { event remote.initialPress: { button: Off }, within: 2m }
      """)
    #expect(button.failure?.message.contains("it is not received") == true, "\(button)")
  }

  @Test("reports a forbidden event") func rules() async throws {
    let result = try await play(
      """
      never: { event bell.switch.longPress: true }
      steps:
        - press: { bell: short }
        - wait: 2m
        - press: { bell: long }
        - wait: 2m
      """)
    #expect(result.failure?.message.hasPrefix("never event bell.switch.longPress: true") == true, "\(result)")
  }
}
