import Foundation
import MatterProtocol
import Scenario
import Simulation
import Testing
import VirtualDevices

/// The shipped scenarios: each passes, and fails with the defect that it is meant to detect.
@Suite struct LibraryTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "devices/scenarios").path

  static let files: [String] = {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    // Its 250 devices take a minute in a debug build: CI runs it once, with `hearth test`.
    return all.filter { $0.hasSuffix(".yaml") && $0 != "many-devices.yaml" }.sorted()
  }()

  @Test func findsScenarios() { #expect(Self.files.count >= 10) }

  @Test(arguments: files) func passes(_ file: String) async throws {
    // `make scenarios` runs all variants.
    let variants = try ScenarioDefinition.variants("\(Self.folder)/\(file)")
    for index in stride(from: 0, to: variants.count, by: max(1, variants.count / 8)) {
      let scenario = variants[index]
      let (result, _) = await scenario.simulate(seed: 1)
      #expect(result.isPassed, "\(result)")
    }
  }

  /// The failures of the scenarios with their seeded defects.
  private static let findings = [
    "address-change.yaml": "actual lamp.onOff: true: it is false",
    "blackout.yaml": "night light.onOff: true: it is false; heater.onOff: false: it is true",
    "clock-jumps.yaml": "lamp.connectivity: online: it is no device of the home",
    "commissioning-power-cut.yaml": "lamp.connectivity: online: it is no device of the home",
    "door-lock.yaml": "door.lockState: Unlocked: it is NotFullyLocked",
    "dying-children.yaml": "spot 1.connectivity: offline: it is online",
    "evening.yaml": "actual lamp.onOff: true: it is false; actual lamp.currentLevel: 30%: it is 60%; "
      + "actual strip.onOff: true: it is false",
    "flood.yaml": "lamp.levelControl.onLevel: 16%: it is null",
    "loss.yaml": "lamp.onOff: true: it is false",
    "networks.yaml": "lamp.connectivity: online: it is offline (timed out)",
    "power-loss.yaml": "lamp.connectivity: online: it is offline (subscription lost)",
    "router-reboot.yaml": "lamp 1.connectivity: online: it is offline (subscription lost)",
    "sensors.yaml": "washer.connectivity: offline: it is online",
    "sleepy.yaml": "lock.lockState: Unlocked: it is Locked",
    "software-update.yaml": "event lamp.otaSoftwareUpdateRequestor.versionApplied",
    "stolen-sessions.yaml": "lamp.onOff: true: it is false",
    "subscription-flood.yaml": "lamp.onOff: true: it is false",
    "thermostat.yaml": "thermometer.connectivity: offline: it is online",
    "unnoticed-restart.yaml": "lamp.onOff: false: it is true",
    "window-covering.yaml": "shade.safetyStatus: PositionFailure | ObstacleDetected: it is 0",
  ]

  @Test(arguments: files) func detectsItsDefect(_ file: String) async throws {
    let finding = "expected " + (try #require(Self.findings[file], "the expected failure is missing"))
    let variants = try ScenarioDefinition.variants("\(Self.folder)/\(file)")
    let defect = try #require(variants.first?.defect, "the scenario names no defect")
    // One failing variant is enough, but an expectation of the scenario must fail.
    var others: [String] = []
    for scenario in variants {
      guard let failure = await scenario.simulate(seed: 1, defect: defect).result.failure else { continue }
      if failure.mark != nil, failure.message.hasPrefix(finding) { return }
      others.append(failure.message)
    }
    Issue.record("\(file) does not find \(defect.rawValue): \(others)")
  }

  /// The last power cut is after all effects of a commissioning.
  @Test func cutsPowerAtEveryEffectOfCommissioning() async throws {
    let variants = try ScenarioDefinition.variants("\(Self.folder)/commissioning-power-cut.yaml")
    let numbers = variants.compactMap(\.variant)
    #expect(numbers == Array(0..<numbers.count))
    var options = SimulatedHomeOptions()
    options.isPaired = false
    let run = await simulate(try #require(variants.first).home, seed: 1, options) { _, world in
      let lamp = try await world.machine(of: "Lamp")
      let before = lamp.effectCount
      try await world.pairDevice("Lamp")
      return lamp.effectCount - before
    }
    let effects = try run.result.get()
    #expect(effects > 20)
    #expect(effects <= numbers.count, "the scenario lacks the last cuts of a commissioning")
  }

  /// A defect without a scenario would not be tested.
  @Test func coversEveryDefect() throws {
    let all = try FileManager.default.contentsOfDirectory(atPath: Self.folder).filter { $0.hasSuffix(".yaml") }
    let found = try all.compactMap { try ScenarioDefinition.variants("\(Self.folder)/\($0)").first?.defect }
    #expect(Set(found) == Set(SeededDefect.allCases))
  }
}
