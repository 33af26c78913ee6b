import Foundation
import HearthHome
import MatterProtocol
import Scenario
import Simulation
import Testing
import VirtualDevices

/// The text of results and timelines.
@Suite struct ScenarioReportTests {
  /// The description of a result is the output of `hearth test`.
  @Test func describesFailedResult() async throws {
    let steps = "steps:\n  - do: on lamp\n  - expect: { lamp.onOff: false, within: 2s }\n"
    var scenario = try ScenarioDefinition.load(SourceFile("Ann's lamp.yaml", ScenarioFileTests.lamp + steps)) {
      throw CocoaError(.fileNoSuchFile, userInfo: ["name": $0])
    }
    scenario.variant = 3
    var result = await scenario.simulate(seed: 7, defect: .sendsOnce).result
    result.remarks = ["late"]
    let lines = "\(result)".components(separatedBy: "\n")
    let again = "hearth test 'Ann'\\''s lamp.yaml' --seed 7 --variant 3 --defect sendsOnce"
    #expect(
      Array(lines.prefix(2)) == [
        "FAILED  Ann's lamp, seed 7",
        "  Ann's lamp.yaml:6:15: expected lamp.onOff: false: it is true, also after 2 s",
      ], "\(result)")
    #expect(lines.contains("    0 s: do on lamp"), "\(result)")
    #expect(Array(lines.suffix(2)) == ["  again: \(again)", "  late"], "\(result)")
    #expect(result.failure?.again == again && JUnitReport.text([result]).contains("--defect sendsOnce"))
    // Also for other kinds of failures.
    let ended = scenario.result(endedEarly: "interrupted", seed: nil, defect: .sendsOnce, Timeline(), after: .zero)
    #expect("\(ended)".hasSuffix("  again: \(again.replacing("--seed 7", with: "--realtime"))"), "\(ended)")
    scenario.limit = .milliseconds(1)
    #expect("\(await scenario.simulate(seed: 8).result)".hasSuffix(" --seed 8 --variant 3"))
    scenario.files = []
    #expect(!"\(await scenario.simulate(seed: 8).result)".contains("again"))
  }

  @Test func describesPassedResult() async throws {
    let result = try await ScenarioRunTests.result("steps:\n  - wait: 90s\n", seed: 5)
    #expect("\(result)".hasPrefix("passed  s, seed 5  (9") && "\(result)".hasSuffix(" s)"), "\(result)")
  }

  @Test func countsFailedCommandsOfPassedResult() async throws {
    for (times, note) in [
      (1, "passed (1 command failed)  s, seed 5  ("), (3, "passed (3 commands failed)  s, seed 5  ("),
    ] {
      let result = try await ScenarioRunTests.result(
        "steps:\n  - do: on lamp\n  - { do: room remove Attic, times: \(times) }\n", seed: 5)
      #expect(result.isPassed && "\(result)".hasPrefix(note), "\(result)")
    }
  }

  /// Expected and actual value have the same unit, unless their text would be the same.
  @Test(arguments: [
    ("actual lamp.currentLevel: 100", "expected actual lamp.currentLevel: 39%: it is 100%"),
    ("lamp.currentLevel: 100", "expected lamp.currentLevel: 39%: it is 100%"),
    ("lamp.currentLevel: 253", "expected lamp.currentLevel: 253: it is 254"),
    ("actual lamp.currentLevel: 253", "expected actual lamp.currentLevel: 253: it is 254"),
    ("lamp.currentLevel: 40%", "expected lamp.currentLevel: 40%: it is 100%"),
    ("plug.onOff: on", "expected plug.onOff: true: it is false"),
    ("actual plug.startUpOnOff: 1", "expected actual plug.startUpOnOff: On: it is null"),
    ("lamp.connectivity: offline", "expected lamp.connectivity: offline: it is online"),
    ("messages: \"> 5\"", "expected messages: > 5: it is 0"),
  ])
  func usesSameUnitForBothValues(_ claim: String, _ message: String) async throws {
    let result = try await ScenarioRunTests.result("steps:\n  - expect: { \(claim) }\n")
    #expect(result.failure?.message == message, "\(result)")
    guard !claim.hasPrefix("messages") else { return }
    let always = try await ScenarioRunTests.result("always: { \(claim) }\nsteps:\n  - wait: 1s\n")
    let prefix = message.replacing("expected ", with: "always ")
    #expect(always.failure?.message.hasPrefix("\(prefix) after ") == true, "\(always)")
  }

  /// All changes of a home are described in plain text.
  @Test func describesChangesOfHome() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "words-\(UUID().uuidString).yaml")
    try ScenarioFileTests.lamp.write(to: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: file) }
    try await withSimulatedHome(file.path, seed: 3) { home, world in
      let plug = try #require(await home.registry.devices.first { $0.name == "Plug" })
      // The setup adds more lines than the timeline keeps.
      let first = "\(world)"
      let hall = try await home.addRoom("Hall")
      try await home.move(plug.id, to: hall.id)
      try await home.rename(plug.id, to: "Funzel")
      try await home.renameRoom(hall.id, to: "Corridor")
      try await home.move(plug.id, to: nil)
      try await home.removeRoom(hall.id)
      let barn = try await home.addStructure("Barn")
      try await home.renameStructure(barn.id, to: "Stable")
      try await home.updatePrimaryStructure(barn.id)
      try await home.removeStructure(barn.id)
      _ = try await home.remove(plug, force: true)
      let text = "\(world)"
      for words in [
        "room Hall added", "Plug moved to room Hall", "Plug renamed to Funzel", "a room renamed to Corridor",
        "Plug moved to no room", "a room removed", "structure Barn added", "a structure renamed to Stable",
        "structure Stable is the primary one", "a structure removed", "device \(plug.id) removed",
      ] {
        #expect(text.contains(": \(words)\n") || text.hasSuffix(": \(words)"), "\(words) is not in: \(text)")
      }
      for words in ["structure Home added", "Kitchen/Lamp added as Lamp", "Kitchen/Lamp can be reached as node 1"] {
        #expect(first.contains(": \(words)\n"), "\(words) is not in: \(first)")
      }
      for swift in ["Optional", "(id", "Home.", "name:", "SourceID"] {
        #expect(!(first + text).contains(swift), "\(swift) is in: \(first)\n\(text)")
      }
    }
  }
}
