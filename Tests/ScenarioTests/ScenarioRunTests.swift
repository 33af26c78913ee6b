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

  @Test func replaysTrace() async throws {
    let scenario = try ScenarioFileTests.load(
      ScenarioFileTests.lamp
        + "steps:\n  - net: { lamp: { loss: 20%, jitter: 30ms } }\n  - { do: toggle lamp, times: 5 }")
    let recorded = TraceFile(scenario, seed: 3, await scenario.simulate(seed: 3, keepsTrace: true).trace)
    let read = try TraceFile(name: "t", text: recorded.text)
    let again = try read.scenario()
    #expect(
      read.difference(from: TraceFile(again, seed: 3, await again.simulate(seed: 3, keepsTrace: true).trace)) == nil)
    let other = TraceFile(again, seed: 4, await again.simulate(seed: 4, keepsTrace: true).trace)
    #expect(try #require(read.difference(from: other)).entry > 0)
  }

  @Test func findsFirstDifferentByte() throws {
    var first = try TraceFile(
      name: "t", text: "{\"hearthTrace\":2,\"seed\":1,\"files\":[{\"name\":\"a\",\"text\":\"\"}]}\n1 a\n2 bcd\n")
    var second = first
    first.entries[1] = "2 bXd"
    #expect(second.difference(from: first)?.entry == 2)
    #expect(second.difference(from: first)?.byte == 3)
    first.entries[1] = "2 bcd"
    (first.header.digest, second.header.digest) = ("1", "2")
    #expect(second.difference(from: first)?.entry == 3)
    first.entries = ["1 a"]
    let missing = try #require(second.difference(from: first))
    #expect(missing.entry == 2 && missing.byte == 0 && missing.now == nil)
    // Equal strings with different bytes.
    (first.entries, second.entries) = (["1 caf\u{E9}"], ["1 cafe\u{301}"])
    #expect(second.difference(from: first).map { [$0.entry, $0.byte] } == [1, 5])
  }

  /// Unicode line separators that JSON doesn't escape do not split a line.
  @Test func parsesTraceWithUnicodeLineSeparators() throws {
    let text = "scenario: \"one\u{2028}two\u{85}three\"\n" + ScenarioFileTests.lamp + "steps: []"
    let scenario = try ScenarioFileTests.load(text)
    let file = try TraceFile(name: "t", text: TraceFile(scenario, seed: 1, Trace()).text)
    #expect(file.header.files.map(\.text) == [text])
    #expect(file.entries.isEmpty)
  }

  /// A different random draw is detected at its position, before it has an effect.
  @Test func recordsRandomDraws() async throws {
    let scenario = try ScenarioFileTests.load(ScenarioFileTests.lamp + "steps:\n  - do: on lamp")
    var recorded = TraceFile(scenario, seed: 3, await scenario.simulate(seed: 3, keepsTrace: true).trace)
    let whole = recorded
    let index = try #require(recorded.entries.lastIndex { $0.contains(" draws ") })
    recorded.entries[index] += "0"
    #expect(whole.difference(from: recorded)?.entry == index + 1)
    let (draws, all) = (whole.entries.filter { $0.contains(" draws ") }, whole.entries)
    #expect(draws.count > 10)
    #expect(draws.reduce(0) { $0 + $1.utf8.count } * 10 < all.reduce(0) { $0 + $1.utf8.count }, "draws are too large")
  }

  /// Truncated traces, other line ends and invalid files.
  @Test func parsesDamagedTraces() async throws {
    let scenario = try ScenarioFileTests.load(ScenarioFileTests.lamp + "steps:\n  - do: on lamp")
    let whole = TraceFile(scenario, seed: 3, await scenario.simulate(seed: 3, keepsTrace: true).trace)
    let text = whole.text
    let half = try TraceFile(name: "t", text: String(text.prefix(text.count - 20)))
    #expect(half.difference(from: whole)?.entry == whole.entries.count)
    #expect(try TraceFile(name: "t", text: text.replacing("\n", with: "\r\n")).difference(from: whole) == nil)
    let other = text.replacing("\"hearthTrace\":2", with: "\"hearthTrace\":3")
    for (broken, found) in [
      ("", "an empty file"), (String(text.prefix(100)), "something else than a trace"), (other, "a trace of format 3"),
      ("{\"hearthTrace\":2,\"seed\":1,\"files\":[]}", "something else than a trace"),
    ] {
      let error = #expect(throws: DefinitionError.self) { try TraceFile(name: "t", text: broken) }
      #expect(error.map { "\($0)".contains(found) } == true, "\(String(describing: error))")
    }
    let noFile = "{\"hearthTrace\":2,\"seed\":1,\"files\":[{\"name\":\"a\",\"text\":\"home: b.yaml\\nsteps: []\"}]}"
    #expect(throws: DefinitionError.self) { try TraceFile(name: "t", text: noFile).scenario() }
  }

  @Test func escapesTextForXML() async throws {
    var result = try await Self.result("steps:\n  - wait: 1s")
    let text = "]]> <![CDATA[ \u{0} \u{1B}[31m \u{FFFE}\u{FFFF} \r\n \u{85} \u{1F4A1} é \" ' & <"
    (result.scenario, result.failure) = (text, .init(message: text, mark: nil, timeline: [text]))
    result.failure?.again = text
    let document = try XMLDocument(xmlString: JUnitReport.text([result]))
    let failure = try #require(try document.nodes(forXPath: "//failure").first as? XMLElement)
    #expect(failure.attribute(forName: "message")?.stringValue?.contains("\u{1F4A1} é \" ' & <") == true)
    #expect(failure.stringValue?.contains("again: ]]> <![CDATA[ ? ?[31m ??") == true)
  }

  @Test("reports wall-clock seconds, the source line, commands and losses") func detailsOfAReport() async throws {
    let text = """
      steps:
        - do: off lamp
        - net: { lamp: { loss: 100% } }
        - { do: on lamp, times: 2 }
        - wait: 2h
        - expect: { lamp.onOff: true }
      """
    let result = try await Self.result(text)
    #expect(result.duration > .seconds(7200) && result.elapsed < .seconds(3600))
    let failure = try #require(result.failure)
    #expect(failure.excerpt == "9 |   - expect: { lamp.onOff: true }\n  |               ^", "\(failure)")
    #expect(result.commands.map(\.count) == [1, 2], "\(result.commands)")
    #expect(result.commands[0].description == "0 s: do off lamp: done")
    #expect(result.commands[1].error?.isEmpty == false, "\(result.commands)")
    #expect(result.losses.contains { ($0.sender, $0.receiver, $0.reason) == ("hub", "Kitchen/Lamp", .link) })
    #expect("\(result)".contains("  9 |   - expect: { lamp.onOff: true }\n"), "\(result)")

    let document = try XMLDocument(xmlString: JUnitReport.text([result]))
    func value(_ path: String) throws -> String { try document.nodes(forXPath: path).first?.stringValue ?? "" }
    #expect((Double(try value("//testsuites/@time")) ?? .infinity) < 3600)
    #expect((Double(try value("//testsuite/@time")) ?? .infinity) < 3600)
    #expect((Double(try value("//testcase/@time")) ?? .infinity) < 3600)
    #expect((Double(try value("//testcase/properties/property/@value")) ?? 0) > 7200)
    #expect(try value("//failure").contains("9 |   - expect: { lamp.onOff: true }"))
    let output = try value("//testcase/system-out")
    #expect(output.contains("  0 s: do off lamp: done\n") && output.contains("s: do on lamp: failed: "), "\(output)")
    #expect(output.contains("hub to Kitchen/Lamp: ") && output.contains(" lost by the link, from "), "\(output)")
  }

  @Test("groups failures with the same line and cause") func groupedFailures() async throws {
    let passed = try await Self.result("steps:\n  - wait: 1s")
    func failed(_ seed: UInt64, _ message: String, line: Int = 7) -> ScenarioResult {
      var result = passed
      result.seed = seed
      result.failure = .init(
        message: message, mark: SourceMark(file: "s.yaml", line: line, column: 1), timeline: ["what led to \(seed)"])
      return result
    }
    let results = [
      passed, failed(2, "expected messages: < 50: it is 57"), failed(3, "expected messages: < 50: it is 63.5"),
      failed(4, "expected lamp.onOff: true: it is false"), failed(5, "expected messages: < 50: it is 71"),
      failed(6, "expected messages: < 50: it is 57", line: 8),
    ]
    let groups = FailureGroup.groups(of: results)
    #expect(groups.map(\.seeds) == ["3 seeds: 2 to 3, 5", "seed 4", "seed 6"])
    #expect(groups[0].message == "s.yaml:7:1: expected messages: < 50: it is 57")
    let document = try XMLDocument(xmlString: JUnitReport.text(results))
    let failures = try document.nodes(forXPath: "//failure").compactMap(\.stringValue)
    #expect(failures.count == 5 && failures[0].contains("what led to 2") && failures[2].contains("what led to 4"))
    #expect(failures[1].contains("the same line and cause as seed 2") && !failures[1].contains("what led to"))
    let output = try document.nodes(forXPath: "//testsuite/system-out").first?.stringValue ?? ""
    #expect(output.hasPrefix("3 seeds: 2 to 3, 5: s.yaml:7:1: expected messages: < 50: it is 57\n"), "\(output)")
  }

  @Test func formatsJUnitXML() async throws {
    let passed = try await Self.result("steps:\n  - wait: 1s")
    var failed = passed
    failed.seed = 2
    failed.failure = .init(message: "5 < 6 & \"so\"", mark: nil, timeline: ["a", "b"])
    let text = JUnitReport.text([passed, failed])
    #expect(text.contains("<testsuites tests=\"2\" failures=\"1\""))
    #expect(text.contains("name=\"seed 1\""))
    #expect(text.contains("message=\"5 &lt; 6 &amp; &quot;so&quot;\""))
    #expect(try XMLDocument(xmlString: text).rootElement()?.name == "testsuites")
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
