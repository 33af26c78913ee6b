import Foundation
import Scenario
import Simulation
import Testing
import VirtualDevices

/// Parsing of scenario files, and the problems reported for invalid ones.
@Suite struct ScenarioFileTests {
  static let lamp = """
    devices:
      - { name: Lamp, room: Kitchen, type: dimmable light }
      - { name: Plug, type: plug }

    """

  /// The same devices, with a lamp that doesn't resume its subscriptions after a restart.
  static let forgetfulLamp = lamp.replacing("dimmable light }", with: "dimmable light, resumesSubscriptions: false }")

  static func load(_ text: String) throws -> ScenarioDefinition {
    try ScenarioDefinition.load(SourceFile("s.yaml", text)) {
      throw CocoaError(.fileNoSuchFile, userInfo: ["name": $0])
    }
  }

  static func problems(_ text: String) -> [String] {
    do {
      _ = try load(text)
      return []
    } catch let error as DefinitionError {
      return error.problems.map { "\($0)" }
    } catch {
      return ["\(error)"]
    }
  }

  @Test(arguments: [
    ("steps:\n  - power: { lmap: off }", "s.yaml:5:14: found device “lmap”"),
    ("steps:\n  - power: { lamp: half }", "s.yaml:5:20: found “half”, expected “on”, “off” or “cycle”"),
    ("steps:\n  - expect: { lamp.onOf: true }", "found attribute “onOf”"),
    ("steps:\n  - expect: { lamp.onOff: maybe }", "s.yaml:5:27: found “maybe”"),
    ("steps:\n  - expect: { lamp.connectivity: onlin }", "did you mean “online”?"),
    (
      "steps:\n  - expect: { actual lamp.connectivity: online }",
      "s.yaml:5:15: found “actual lamp.connectivity”, expected “lamp.connectivity”, or an attribute: “actual” is for what"
    ),
    ("steps:\n  - expect: { actual lamp.locality: local }", "expected “lamp.locality”, or an attribute"),
    ("steps:\n  - expect: { actual lamp.messages: 0 }", "expected “lamp.messages”, or an attribute"),
    ("always: { actual messages: 0 }\nsteps: []", "expected “messages”, or an attribute"),
    (
      "steps:\n  - expect: { lamp.onOff: null }",
      "s.yaml:5:27: found null, expected a value of the attribute: onOff.onOff can't be null"
    ),
    ("steps:\n  - set: { lamp.onOff: }", "s.yaml:5:24: found nothing, expected a value of the attribute"),
    ("steps:\n  - set: { lamp.onLevel: }", "s.yaml:5:26: found nothing, expected a value of the attribute"),
    ("steps:\n  - expect: { lamp.onLevel: }", "found nothing, expected a value of the attribute"),
    ("steps:\n  - expect: { actual lamp.startUpOnOff: }", "found nothing, expected a value of the attribute"),
    ("steps:\n  - set: { lamp.onOff: !!null '' }", "found null, expected a value of the attribute: onOff.onOff"),
    ("steps:\n  - expect: { lamp.messages: null }", "found null, expected a single value"),
    ("steps:\n  - expect: { lamp.onOff: true, within: soon }", "expected a time such as 2s"),
    ("steps:\n  - { power: { lamp: off }, do: on lamp }", "found power and do in one step"),
    ("steps:\n  - at: 3s", "found a step that does nothing"),
    ("steps:\n  - { at: 3s, after: 3s, do: on lamp }", "either “at” or “after”"),
    ("steps:\n  - do: sing lamp", "expected on NAME, off NAME"),
    ("steps:\n  - do: level lamp 140%", "expected level NAME 40%"),
    ("steps:\n  - net: { lamp: { loss: 130% } }", "a share from 0% to 100%"),
    ("steps:\n  - net: { lamp: broken }", "partition"),
    ("steps:\n  - { do: on lamp, times: 0 }", "a number from 1 to 100000"),
    (
      "steps:\n  - { do: on lamp, times: 60000 }\n  - { power: { lamp: on, plug: on }, times: 60000 }",
      "s.yaml:6:45: found 180000 steps so far, expected at most 100000 in all"
    ),
    (
      "steps:\n" + String(repeating: "  - { do: on lamp, times: 99999 }\n", count: 400),
      "s.yaml:6:27: found 199998 steps so far, expected at most 100000 in all"
    ),
    // Steps beyond the limit are not read.
    (
      "steps:\n  - { do: on lamp, times: 100000 }\n"
        + String(repeating: "  - { do: on lamp }\n  - { sing: lamp }\n", count: 5),
      "s.yaml:6:5: found 100001 steps so far, expected at most 100000 in all"
    ),
    ("defect: nobody\nsteps: []", "sendsOnce"),
    ("home: other.yaml\nsteps: []", "“other.yaml”, which can't be read"),
    ("home: { file: other.yaml }\nsteps: []", "s.yaml:4:7: found"),
    ("home:\nsteps: []", "expected a definition file, by its path from here"),
    ("  - { name: Hub, room: Kitchen, type: plug }\nsteps: []", "s.yaml:4:5: found a device with the name “Hub”"),
    ("stepps: []", "did you mean “steps”?"),
    (
      "seed: 5\nsteps: []",
      "s.yaml:4:1: found key “seed”, expected rooms, devices, clusters, scenario, home, paired, limit, "
    ),
    ("always: lamp\nsteps: []", "a mapping such as {lamp.connectivity: online}"),
    ("steps:\n  - net: { lamp: {} }", "s.yaml:5:18: found"),
    ("steps:\n  - net: { lamp: { rate: fast } }", "s.yaml:5:26: found “fast”, expected a rate such as 500B/s"),
    ("steps:\n  - net: { lamp: { mtu: 12 } }", "the size of an IP packet in bytes, from 49"),
    ("steps:\n  - net: { lamp: { hold: 5ms } }", "“hold” only beside “reorder”"),
    (
      "steps:\n  - net: { lamp: { latency: 80 } }",
      "s.yaml:5:29: found 80, expected a time with a unit, such as 80ms"
    ),
    ("steps:\n  - net: { lamp: { jitter: 1.5 } }", "found 1.5, expected a time with a unit, such as 1.5ms"),
    ("steps:\n  - net: { lamp: { reorder: 1%, hold: 5 } }", "found 5, expected a time with a unit, such as 5ms"),
    ("steps:\n  - net: { lamp: { latency: soon } }", "found “soon”, expected a time such as 2s"),
    ("steps:\n  - net: { lamp: no ipv5 }", "did you mean “no ipv4”"),
    ("steps:\n  - net: { lamp: { network: iot, loss: 5% } }", "“network” with nothing beside it"),
    ("steps:\n  - net: { lamp: { network: [] } }", "the name of a network, such as “iot”"),
    ("steps:\n  - drift: { lamp: 5 }", "such as 50ppm"),
    ("steps:\n  - cut: { lmap: 5 }", "found device “lmap”"),
    ("steps:\n  - rival: { lmap: 5 }", "found device “lmap”"),
    ("steps:\n  - rival: { lamp: none }", "a number of sessions from 1 to 10000, or {subscriptions: 80}"),
    ("steps:\n  - rival: { lamp: { subscriptions: 0 } }", "s.yaml:5:37: found 0, expected a number"),
    ("steps:\n  - rival: { lamp: { reads: 5 } }", "found key “reads”, expected subscriptions"),
    ("steps:\n  - rival: { lamp: {} }", "a mapping such as {subscriptions: 80}"),
    ("steps:\n  - do: level lmap 40%", "found device “lmap”"),
    ("steps:\n  - expect: {}", "s.yaml:5:13: found"),
    ("steps:\n  - expect: { within: 5s }", "what has to hold, such as"),
    ("always: []\nsteps:\n  - wait: 1s", "what has to hold, such as"),
    ("always: {}\nsteps:\n  - wait: 1s", "s.yaml:4:9: found a mapping, expected what has to hold, such as"),
    ("never: [ { plug.onOff: true }, {} ]\nsteps:\n  - wait: 1s", "s.yaml:4:32: found a mapping, expected what has"),
    ("steps:\n  - power: {}", "a mapping such as {lamp: …}"),
    ("steps: on", "a list of steps"),
    ("steps:\n  - on lamp", "a step with “power:”, “cut:” and “net:”"),
    ("paired: perhaps\nsteps: []", "s.yaml:4:9: found “perhaps”, expected true or false"),
    ("limit: soon\nsteps: []", "expected a time such as 2s"),
    ("scenario: [a]\nsteps: []", "the scenario's name"),
    ("steps:\n  - cut: { lamp: $n }", "the number of effects before the power cut"),
    ("steps:\n  - { at: -5s, do: on lamp }", "expected a time such as 2s"),
    ("  - { name: Bell, type: button }\nsteps:\n  - press: { bell: hard }", "expected “short”, “long” or “double”"),
    (
      "  - { name: Bell, type: button }\nsteps:\n  - press: { bell: { press: long, button: 2 } }",
      "found 2, expected 1, as it has one button"
    ),
    (
      "  - { name: Bell, type: button }\nsteps:\n  - press: { bell: { press: long, knob: 2 } }",
      "found key “knob”, expected press or button"
    ),
    (
      "steps:\n  - press: { lamp: short }",
      "s.yaml:5:14: found “lamp”, expected a device with buttons: a switch; “Kitchen/Lamp” has none"
    ),
    (
      "steps:\n  - press: { plug: { press: long, button: 1 } }",
      "s.yaml:5:14: found “plug”, expected a device with buttons"
    ),
    ("steps:\n  - do: off atic", "found device “atic”, expected a device or a room of the home"),
    ("steps:\n  - do: off 'attic/*'", "found room “attic/*”, expected a device or a room of the home"),
    ("steps:\n  - do: on lamp plgu", "found device “plgu”"),
    (
      "  - { name: Lamp, room: Hall, type: plug }\nsteps:\n  - do: on plug lamp",
      "found device “lamp”, expected one of Kitchen/Lamp, Hall/Lamp"
    ),
    (
      "  - { name: Plug Lamp, type: plug }\nsteps:\n  - do: on plug lamp",
      "found “plug lamp”, which may be “Plug Lamp”, or “Plug” and “Kitchen/Lamp”, expected a name with spaces in"
    ),
    (
      "  - { name: Kitchen, type: plug }\nsteps:\n  - do: on kitchen",
      "found “kitchen”, a room and a device, expected “Kitchen/*” for the room, or another name for the device"
    ),
    ("steps:\n  - do: bind lamp to lmap", "found device “lmap”"),
    ("steps:\n  - do: bind lamp", "expected bind NAME to NAME"),
    ("steps:\n  - do: unbind lamp to plug", "expected unbind NAME from NAME"),
    ("steps:\n  - do: color lamp #ff8800", "with quotation marks “color NAME #ff8800”"),
    ("steps:\n  - do: color lamp blue", "expected color NAME 2700K"),
    ("steps:\n  - do: group sing den", "expected group create GROUP, group delete GROUP"),
    ("steps:\n  - do: group invoke den onOff.togle", "a command to a group (OnOff has no command “togle”)"),
    ("steps:\n  - do: group invoke den", "or group invoke GROUP CLUSTER.COMMAND FIELD=VALUE"),
    ("steps:\n  - do: acl grant lamp operate", "expected acl grant NAME view|operate|manage|administer"),
    ("steps:\n  - do: acl grant lamp operate --to lmap", "found device “lmap”"),
    ("steps:\n  - do: acl grant lamp operate --to plug --cluster onOf", "a cluster (unknown cluster “onOf”)"),
    ("steps:\n  - do: acl grant lamp administer --to-group 7", "expected acl grant NAME"),
    ("steps:\n  - do: acl revoke lamp first", "or acl revoke NAME NUMBER"),
    ("steps:\n  - do: fabrics remove lamp", "expected fabrics remove NAME INDEX"),
    ("steps:\n  - do: home grace 2d", "a grace time of 0s to 24h"),
    ("steps:\n  - do: home primary", "expected home add HOME"),
    ("steps:\n  - do: group add lmap to den", "found device “lmap”"),
    ("steps:\n  - do: group create A name that is too long", "a group's name of at most 16 bytes"),
    ("steps:\n  - do: scene store A name that is too long", "a scene's name of at most 16 bytes"),
    ("steps:\n  - do: scene recall Evening of lmap", "found device “lmap”"),
    ("steps:\n  - do: scene play Evening", "expected scene store SCENE of NAME"),
    ("steps:\n  - do: share lamp for 1h", "expected a window of 3m to 15m"),
    ("steps:\n  - do: write lamp.onLevel bright", "found “bright”, expected a value of the attribute"),
    ("steps:\n  - do: write lamp.onLevl 5", "did you mean “OnLevel”?"),
    ("steps:\n  - do: togle lamp", "did you mean “toggle”?"),
    (
      "steps:\n  - expect: { event lamp.switch.longPress: true }",
      "s.yaml:5:15: found event “switch.longPress”, expected an event"
    ),
    ("steps:\n  - expect: { event lmap.switch.longPress: true }", "found device “lmap”"),
    (
      "  - { name: Bell, type: button }\nsteps:\n  - expect: { event bell.longPres: true }",
      "found event “longPres”, expected an event of a generic switch, did you mean “longPress”"
    ),
    (
      "  - { name: Bell, type: button }\nsteps:\n  - expect: { event bell.longPress: 5 }",
      "found 5, expected true, or fields of the event such as {newPosition: …}"
    ),
    (
      "  - { name: Bell, type: button }\nsteps:\n  - expect: { event bell.longPress: { newPosition: high } }",
      "found “high”, expected a value of newPosition"
    ),
    (
      "  - { name: Bell, type: button }\nsteps:\n  - expect: { event bell.longPress: { position: 1 } }",
      "found key “position”, expected a key of an event, did you mean “newPosition”?"
    ),
    ("steps:\n  - { at: 5s, do: on lamp }\n  - { at: 4s, do: off lamp }", "steps in the order of their times"),
  ]) func reportsProblem(_ text: String, _ expected: String) {
    let problems = Self.problems(Self.lamp + text)
    #expect(problems.count == 1 && problems[0].contains(expected), "\(problems)")
  }

  /// Ranges with too many numbers, or whose size overflows.
  @Test(arguments: [
    "-9223372036854775808..0", "0..9223372036854775807", "1..10001", "1..9999, 1..9999", "2..1", "1..2..3",
  ])
  func rejectsRange(_ numbers: String) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "vary-\(UUID().uuidString).yaml")
    defer { try? FileManager.default.removeItem(at: file) }
    try (Self.lamp + "vary: { n: \"\(numbers)\" }\nsteps:\n  - cut: { lamp: $n }\n").write(
      to: file, atomically: true, encoding: .utf8)
    let error = #expect(throws: DefinitionError.self) { try ScenarioDefinition.variants(file.path) }
    #expect(
      error.map { "\($0)".contains("expected at most 10000 numbers such as") } == true, "\(String(describing: error))")
  }

  @Test("limits all variants together") func variantsOfALongScenario() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "vary-\(UUID().uuidString).yaml")
    defer { try? FileManager.default.removeItem(at: file) }
    try (Self.lamp + "vary: { n: 1..9999 }\nsteps:\n  - { cut: { lamp: $n }, times: 90000 }\n").write(
      to: file, atomically: true, encoding: .utf8)
    let error = #expect(throws: DefinitionError.self) { try ScenarioDefinition.variants(file.path) }
    #expect(
      error.map { "\($0)" }?.contains(
        ".yaml:4:7: found 9999 variants of a long scenario, expected at most 250000 devices and steps") == true)
  }

  /// The clock stops at the limits of the calendar, and the run continues.
  @Test func acceptsExtremeClocks() async throws {
    for step in ["+100y", "-100y"] {
      let scenario = try Self.load(
        Self.lamp + "steps:\n  - { clock: { hub: \(step), lamp: \(step) }, times: 3000 }\n  - wait: 1h\n")
      #expect(scenario.steps.count == 6001)
      let result = await scenario.simulate(seed: 1).result
      #expect(result.failure == nil, "\(result)")
    }
  }

  /// The name of the home's machine is also reserved in `simulate`.
  @Test func rejectsDeviceNamedHub() async throws {
    let definition = try SimulatedHomeTests.definition("devices:\n  - { name: hub, type: plug }")
    let run = await simulate(definition, seed: 1) { _, _ in }
    #expect(throws: DefinitionError.self) { try run.result.get() }
  }

  /// Names may contain the separator “to”.
  @Test func parsesNamesWithSeparator() throws {
    func steps(_ command: String, _ names: [String]) throws -> [ScenarioStep] {
      let devices = names.map { "\n  - { name: \($0), type: plug }" }.joined()
      return try Self.load("devices:\(devices)\nsteps:\n  - do: \(command)\n").steps
    }
    for (command, old, new) in [
      ("rename way to go to Lamp", "Way to go", "Lamp"), ("rename plug to way to go", "Plug", "way to go"),
      ("rename way to go to a way to go", "Way to go", "a way to go"),
    ] {
      let action = try #require(try steps(command, ["Way to go", "Plug"]).first).action
      guard case .command(.rename(old, to: new)) = action else {
        Issue.record("\(command): \(action)")
        continue
      }
    }
    let error = #expect(throws: DefinitionError.self) {
      try steps("rename way to go to Lamp", ["Way", "Way to go"])
    }
    #expect(error.map { "\($0)" }?.contains("the name of one device, not of way or way to go") == true)
  }

  @Test(
    arguments: [
      ("on lamp plug", [.device("Kitchen/Lamp"), .device("Plug")]), ("off kitchen", [.several("Kitchen/*")]),
      ("toggle 'KITCHEN/*' \"plug lamp\"", [.several("Kitchen/*"), .device("Plug Lamp")]), ("on *", [.several("*")]),
      ("off '*' 'group:My den'", [.several("*"), .several("group:My den")]),
    ] as [(String, [TargetName])]) func parsesTargets(_ command: String, _ targets: [TargetName]) throws
  {
    let devices = Self.lamp + "  - { name: Plug Lamp, type: plug }\n"
    let action = try Self.load(devices + "steps:\n  - do: \(command)\n").steps.first?.action
    guard case .command(.turn(targets, _)) = action else {
      Issue.record("\(command): \(String(describing: action))")
      return
    }
  }

  @Test func knowsRoomsThatStepsAdd() {
    let steps = ["room add Attic", "off attic", "room rename attic to Loft", "off 'loft/*'"].map { "  - do: \($0)\n" }
    #expect(Self.problems(Self.lamp + "steps:\n" + steps.joined()) == [])
  }

  @Test func requiresSteps() { #expect(Self.problems(Self.lamp).contains { $0.contains("no steps") }) }

  @Test func repeatsStep() throws {
    let scenario = try Self.load(Self.lamp + "steps:\n  - { do: toggle lamp, times: 3, every: 2s }")
    #expect(scenario.steps.count == 3)
    #expect(scenario.steps.map(\.time) == [.after(.zero), .after(.seconds(2)), .after(.seconds(2))])
  }

  /// Reports and failures show a step with all of its values.
  @Test func describesSteps() throws {
    let scenario = try Self.load(
      Self.lamp + """
        steps:
          - net: { lamp: { loss: 30%, latency: 80ms } }
          - net: { plug: { network: iot }, lamp: partition }
          - rival: { lamp: { subscriptions: 80 } }
          - rival: { lamp: 8 }
        """)
    #expect(
      scenario.steps.map(\.text) == [
        "net lamp: loss 30%, latency 80ms", "net plug: network iot", "net lamp partition",
        "rival lamp: subscriptions 80",
        "rival lamp 8",
      ])
    guard case .subscriptions("Kitchen/Lamp", 80) = scenario.steps[3].action else {
      Issue.record("\(scenario.steps[3])")
      return
    }
  }

  @Test func expandsStepForSeveralDevices() throws {
    let scenario = try Self.load(Self.lamp + "steps:\n  - { at: 5s, power: { lamp: off, plug: cycle } }")
    #expect(scenario.steps.map(\.time) == [.at(.seconds(5)), .after(.zero)])
    guard case .power("Kitchen/Lamp", .off) = scenario.steps[0].action else {
      Issue.record("\(scenario.steps)"); return
    }
    guard case .power("Plug", .cycle) = scenario.steps[1].action else { Issue.record("\(scenario.steps)"); return }
  }

  /// Faults of machines can't be injected into a bridged device, which has no machine of its own.
  @Test(arguments: [
    "net: { spot: partition }", "cut: { spot: 3 }", "move: spot", "clock: { spot: 1h }", "drift: { spot: 50ppm }",
    "expect: { spot.messages: 0 }",
  ]) func rejectsMachineFaultOfBridgedDevice(_ step: String) throws {
    func load(_ step: String) throws -> ScenarioDefinition {
      try Self.load(
        """
        devices:
          - name: Bridge
            type: bridge
            devices:
              - { name: Spot, type: on/off light }
        steps:
          - \(step)
        """)
    }
    let error = #expect(throws: DefinitionError.self) { try load(step) }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("found device “spot”, expected a device on a machine of its own"), "\(text)")
    #expect(text.contains("“Bridge”"), "\(text)")
    for name in ["bridge", "hub"] { _ = try load(step.replacing("spot", with: name)) }
    _ = try load("power: { spot: off }")
  }
}
