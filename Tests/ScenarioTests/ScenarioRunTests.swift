import Foundation
import FoundationXML
import Scenario
import Simulation
import Testing
import VirtualDevices

/// The results of running scenarios.
@Suite struct ScenarioRunTests {
  /// The result of an interrupted run includes its last events.
  @Test func reportsEventsOfInterruptedRun() async throws {
    let scenario = try ScenarioFileTests.load(
      ScenarioFileTests.lamp + "steps:\n  - do: on lamp\n  - wait: 1h\n")
    let timeline = Timeline()
    _ = await scenario.simulate(seed: 1, timeline: timeline)
    let result = scenario.result(endedEarly: "interrupted", seed: 1, timeline, after: .seconds(3))
    let failure = try #require(result.failure)
    #expect(failure.message == "interrupted" && failure.mark?.line == 6)
    #expect(result.duration > .zero)
    #expect(failure.timeline.contains { $0.hasSuffix(": do on lamp") }, "\(failure.timeline)")
    #expect(failure.timeline.contains { $0.hasSuffix("onOff.onOff = true") }, "\(failure.timeline)")
    #expect(JUnitReport.text([result]).contains("do on lamp"))
  }

  /// A failure during the setup lists the pairings, one line each, with the steps of the unfinished one.
  @Test func reportsProgressOfSetup() async throws {
    let text = "devices:\n  - { name: Lamp, type: on/off light, count: 40 }\nlimit: 2s\nsteps:\n  - do: on lamp 1\n"
    let result = await (try ScenarioFileTests.load(text)).simulate(seed: 1).result
    let failure = try #require(result.failure)
    #expect(failure.message.hasPrefix("the time is over"), "\(failure)")
    let lines = failure.timeline
    #expect(lines.first?.hasPrefix("setting up, ") == true, "\(lines)")
    #expect(lines.first?.hasSuffix(" pair Lamp 1, complete") == true, "\(lines)")
    #expect(lines.last?.contains(", discover 20 ms, connectByPasscode 12 ms, ") == true, "\(lines)")
    #expect(JUnitReport.text([result]).contains("pair Lamp 1, complete"))
  }

  /// Times count from the first step, and a pairing by a step is not part of the setup.
  @Test func reportsPairings() async throws {
    let text = ScenarioFileTests.lamp + "paired: false\nsteps:\n  - wait: 3s\n  - do: pair lamp\n"
    let scenario = try ScenarioFileTests.load(text + "  - expect: { lamp.connectivity: offline }\n")
    let lines = try #require(await scenario.simulate(seed: 1).result.failure).timeline
    #expect(lines.contains { $0 == "3 s: pair Kitchen/Lamp, complete" }, "\(lines)")
    // The first report is one line, so that it does not evict other lines.
    #expect(lines.contains("3 s: do pair lamp"), "\(lines)")
    #expect(lines.contains { $0.hasSuffix(" attributes") }, "\(lines)")
    let paired = try #require(try await Self.result("steps:\n  - expect: { lamp.connectivity: offline }\n").failure)
    #expect(paired.timeline.first == "setting up, 0 s: pair Kitchen/Lamp, complete", "\(paired)")
    #expect(paired.timeline.contains("0 s: expect lamp.connectivity: offline"), "\(paired)")
  }

  static func result(
    _ steps: String, seed: UInt64 = 1, devices: String = ScenarioFileTests.lamp
  ) async throws -> ScenarioResult {
    let scenario = try ScenarioFileTests.load(devices + steps)
    return await scenario.simulate(seed: seed).result
  }

  @Test func reportsUnmetExpectation() async throws {
    let result = try await Self.result(
      """
      steps:
        - do: on lamp
        - expect: { lamp.onOff: false, within: 2s }
      """)
    let failure = try #require(result.failure)
    #expect(failure.mark?.line == 6)
    #expect(failure.message == "expected lamp.onOff: false: it is true, also after 2 s")
    #expect(failure.timeline.contains { $0.contains("Kitchen/Lamp.onOff.onOff = true") })
  }

  /// Messages of the setup are not counted.
  @Test func countsMessagesSinceFirstStep() async throws {
    let result = try await Self.result("steps:\n  - expect: { messages: 0, lamp.messages: 0 }\n")
    #expect(result.isPassed, "\(result)")
  }

  /// Effects are not counted without power.
  @Test(arguments: ["on", "cycle"]) func schedulesCutWithoutPower(_ power: String) async throws {
    let steps = """
      steps:
        - power: { lamp: off }
        - cut: { lamp: 2 }
        - wait: 10s
        - power: { lamp: \(power) }
        - wait: 5s
      """
    let expectation = "\n  - expect: { actual lamp.onOff: false }\n"
    let failure = try #require(try await Self.result(steps + expectation).failure)
    #expect(failure.message == "expected actual lamp.onOff: false: it is not there", "\(failure)")
    // The cut happens only once.
    let again = try await Self.result(steps + "\n  - power: { lamp: on }\n  - wait: 5s" + expectation)
    #expect(again.isPassed, "\(again)")
  }

  /// YAML's null is Matter's null wherever a value is expected.
  @Test func parsesNull() async throws {
    let text = """
      devices:
        - { name: Lamp, type: dimmable light, attributes: { levelControl.onLevel: null } }
      steps:
        - expect: { lamp.onLevel: null, actual lamp.onLevel: ~ }
        - set: { lamp.onLevel: 40 }
        - expect: { lamp.onLevel: 40, within: 5s }
        - set: { lamp.onLevel: null }
        - expect: { lamp.onLevel: null, actual lamp.onLevel: !!null "", within: 5s }
        - expect: { lamp.onLevel: 40 }
      """
    let scenario = try ScenarioFileTests.load(text)
    #expect(scenario.steps[3].text == "set lamp.onLevel null")
    let failure = try #require(await scenario.simulate(seed: 1).result.failure)
    #expect(failure.message == "expected lamp.onLevel: 16%: it is null" && failure.mark?.line == 9, "\(failure)")
  }

  @Test func detectsViolationOfAlways() async throws {
    let text = """
      always: { plug.onOff: false }
      steps:
        - { set: { plug.onOff: true } }
        - { after: 1s, set: { plug.onOff: false } }
        - wait: 10s
      """
    let failure = try #require(try await Self.result(text).failure)
    #expect(failure.mark?.line == 4)
    #expect(failure.message.hasPrefix("always plug.onOff: false: it is true"))
  }

  /// A router forwards unicast to known addresses, but blocks service discovery.
  @Test func reachesDeviceInOtherNetworkAtKnownAddress() async throws {
    let text = """
      steps:
        - net: { lamp: { network: iot } }
        - after: 300s
          do: on lamp
        - expect: { actual lamp.onOff: true, lamp.connectivity: online, within: 2s }
        - power: { hub: cycle }
        - expect: { lamp.connectivity: online, within: 60s }
        - power: { lamp: off }
        - expect: { lamp.connectivity: offline, within: 180s }
        - move: lamp
        - power: { lamp: on }
        - after: 600s
          expect: { lamp.connectivity: offline }
        - net: { lamp: heal }
        - expect: { lamp.connectivity: online, within: 10s }
      """
    let failure = try await Self.result(text, devices: ScenarioFileTests.forgetfulLamp).failure
    #expect(failure == nil, "\(failure?.message ?? "")")
  }

  @Test func detectsViolationOfNever() async throws {
    let text = """
      never: { plug.onOff: true }
      steps:
        - { set: { plug.onOff: true } }
        - { after: 1s, set: { plug.onOff: false } }
        - wait: 10s
      """
    let failure = try #require(try await Self.result(text).failure)
    #expect(failure.message.hasPrefix("never plug.onOff: true"))
  }

  /// Waits and expectations are not actions.
  @Test func countsMessagesSinceLastAction() async throws {
    let steps = """
      steps:
        - do: on lamp
        - expect: { messages: ">= 2", lamp.messages: "< 20" }
        - wait: 1s
        - expect: { messages: ">= 2", lamp.messages: ">= 1" }
        - { wait: 1s, times: 3 }
        - expect: { messages: ">= 2", lamp.messages: ">= 1" }
        - net: { lamp: heal }
        - wait: 1s
        - expect: { messages: 0 }
      """
    let failure = try await Self.result(steps).failure
    #expect(failure == nil, "\(String(describing: failure))")
    let tooFew = try await Self.result("steps:\n  - do: on lamp\n  - expect: { messages: \"> 1000\" }")
    #expect(tooFew.failure?.message.hasPrefix("expected messages: > 1000: it is") == true)
  }

  @Test func countsMessagesOfRepeatedStepTogether() async throws {
    let steps = """
      steps:
        - { do: toggle lamp, times: 10 }
        - expect: { lamp.messages: "> 15" }
      """
    let failure = try await Self.result(steps).failure
    #expect(failure == nil, "\(String(describing: failure))")
  }

  @Test(arguments: [
    ("never: { lamp.messages: \"> 30\" }", "never lamp.messages: > 30"),
    ("always: { actual lamp.onOff: false }", "always actual lamp.onOff: false: it is true"),
    ("never: { actual lamp.onOff: true }", "never actual lamp.onOff: true"),
  ]) func checksRulesAboutDevicesAndMessages(_ rule: String, _ expected: String) async throws {
    let failure = try #require(
      try await Self.result(rule + "\nsteps:\n  - { do: toggle lamp, times: 11 }").failure)
    #expect(failure.message.hasPrefix(expected), "\(failure.message)")
    #expect(failure.mark?.line == 4)
    #expect(try await Self.result(rule + "\nsteps:\n  - wait: 1s").isPassed)
  }

  /// Rules are checked before the first step and during steps; without power a device has no value.
  @Test(arguments: [
    (
      "never: { actual lamp.onOff: false }", "set: { lamp.onOff: true }",
      "never actual lamp.onOff: false: it is so after 0 s"
    ),
    (
      "always: { actual lamp.onOff: false }", "power: { lamp: cycle }",
      "always actual lamp.onOff: false: it is not there"
    ),
    (
      "never: { lamp.messages: \"> 4\" }", "expect: { actual lamp.onOff: true, within: 3h }", "never lamp.messages: > 4"
    ),
  ]) func checksRulesContinuously(_ rule: String, _ step: String, _ expected: String) async throws {
    let result = try await Self.result("limit: 5h\n" + rule + "\nsteps:\n  - \(step)")
    let failure = try #require(result.failure)
    #expect(failure.message.hasPrefix(expected), "\(failure.message)")
    #expect(result.duration < .seconds(3600))
  }

  /// The report arrives at the home only after the last step.
  @Test func checksRulesAfterLastStep() async throws {
    let failure = try #require(
      try await Self.result("never: { lamp.onOff: true }\nsteps:\n  - set: { lamp.onOff: true }").failure)
    #expect(failure.message.hasPrefix("never lamp.onOff: true"))
  }

  @Test func failsStepThatIsTooLate() async throws {
    let failure = try #require(try await Self.result("steps:\n  - wait: 9s\n  - { at: 5s, do: on lamp }").failure)
    #expect(failure.message == "“at: 5 s” is over: the steps before it took until 9 s")
    #expect(failure.mark?.line == 6)
  }

  /// A step begins at its time, or the result has a remark.
  @Test func remarksLateStep() async throws {
    let text = """
      steps:
        - { at: 5s, do: on lamp }
        - { at: 5s, do: on plug }
        - { at: 9s, set: { plug.onOff: false } }
        - expect: { lamp.onOff: false }
      """
    let result = try await Self.result(text)
    #expect(result.remarks.count == 1, "\(result.remarks)")
    #expect(result.remarks.allSatisfy { $0.hasPrefix("s.yaml:6:5: “at: 5 s” is ") && $0.contains(" ms late") })
    let lines = result.failure?.timeline ?? []
    #expect(lines.contains("5 s: do on lamp") && lines.contains("9 s: set plug.onOff false"), "\(lines)")
    let punctual = try await Self.result(
      "always: { lamp.onOff: false }\nsteps:\n  - { at: 1500ms, wait: 2s }\n  - { at: 9s, wait: 1s }")
    #expect(punctual.isPassed && punctual.remarks.isEmpty, "\(punctual)")
    #expect(JUnitReport.text([punctual]).contains("system-out") == false)
    var passed = punctual
    passed.remarks = result.remarks
    let document = try XMLDocument(xmlString: JUnitReport.text([passed, result]))
    #expect(
      try document.nodes(forXPath: "//testcase/system-out").map { $0.stringValue?.components(separatedBy: "\n").first }
        == [result.remarks[0], result.remarks[0]])
  }

  @Test func findsRenamedDevice() async throws {
    let steps = """
      steps:
        - do: rename lamp to Sun
        - do: on lamp
        - expect: { actual lamp.onOff: true, lamp.onOff: true, lamp.connectivity: online, within: 2s }
      """
    let failure = try await Self.result(steps).failure
    #expect(failure == nil, "\(String(describing: failure))")
  }

  @Test func doesNotConfuseUnpairedDevice() async throws {
    let text = """
      devices:
        - { name: Lamp, type: on/off light }
        - { name: Lamp 2, type: on/off light }
      paired: false
      steps:
        - do: pair lamp 2
        - do: on lamp
        - expect: { actual lamp 2.onOff: false, within: 0s }
      """
    let result = await (try ScenarioFileTests.load(text)).simulate(seed: 1).result
    #expect(result.isPassed, "\(result)")
  }

  @Test func reportsStepAtTimeLimit() async throws {
    let failure = try #require(
      try await Self.result("limit: 1m\nsteps:\n  - do: on lamp\n  - wait: 5m").failure)
    #expect(failure.mark?.line == 7)
    #expect(failure.message.contains("the time is over after 1 min (“limit:” of the scenario)"))
    #expect(failure.message.contains("there still waits “s.yaml:7"))
    #expect(failure.timeline.contains { $0.contains("do on lamp") })
  }

  /// Also names a step whose time has not come yet.
  @Test(arguments: [
    ("- { at: 25h, do: on lamp }", "do on lamp, at 1500 min"),
    ("- { after: 2h, do: on lamp }", "do on lamp, after 120 min"),
    ("- { do: on lamp, times: 2, every: 1h }", "do on lamp, after 60 min"),
  ]) func reportsPendingStepAtTimeLimit(_ step: String, _ waits: String) async throws {
    let failure = try #require(try await Self.result("limit: 1h\nsteps:\n  - wait: 1s\n  \(step)").failure)
    #expect(failure.mark?.line == 7)
    #expect(
      failure.message.hasPrefix("the time is over after 60 min (“limit:” of the scenario), and there still waits “"))
    #expect(failure.message.contains("“s.yaml:7:5: \(waits)”"), "\(failure)")
    #expect(!failure.message.contains("outside of virtual time"))
  }

  /// Events are reported with their names, like attributes.
  @Test func reportsEventByName() async throws {
    let text = """
      devices:
        - name: Bridge
          type: bridge
          devices:
            - { name: Spot, type: dimmable light }
      steps:
        - power: { spot: off }
        - expect: { spot.connectivity: offline, within: 60s }
        - expect: { spot.connectivity: online }
      """
    let result = await (try ScenarioFileTests.load(text)).simulate(seed: 1).result
    let lines = try #require(result.failure).timeline
    #expect(
      lines.contains {
        $0.hasSuffix(": event Spot.bridgedDeviceBasicInformation.reachableChanged {reachableNewValue: false}")
      }, "\(lines)")
  }

  /// A failed claim about the locality shows the actual one.
  @Test func checksLocality() async throws {
    for (state, isRight) in [("peer", true), ("local", false), ("remote", false), ("unspecified", false)] {
      let result = try await Self.result("steps:\n  - expect: { lamp.locality: \(state) }")
      #expect(result.isPassed == isRight)
      if !isRight { #expect(result.failure?.message == "expected lamp.locality: \(state): it is peer", "\(result)") }
    }
  }

  /// The scenario at the start of the README, with some of its seeds.
  @Test func passesReadmeScenario() async throws {
    let file = LibraryTests.folder + "/../../README.md"
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let rest = try #require(text.components(separatedBy: "$ cat lamp.yaml\n").last)
    let scenario = try ScenarioFileTests.load(try #require(rest.components(separatedBy: "$ hearth test").first))
    for seed in [1, 50, 100] as [UInt64] {
      let result = await scenario.simulate(seed: seed).result
      #expect(result.isPassed, "\(result)")
    }
  }
}
