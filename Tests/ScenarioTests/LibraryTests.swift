import Foundation
import MatterProtocol
import Scenario
import Simulation
import Testing
import VirtualDevices

/// The scenarios that ship: each one passes, and fails where the fault that it is there to find is built in.
@Suite struct LibraryTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "devices/scenarios").path

  static let files: [String] = {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    // Its 250 devices take a debug build a minute: CI plays it once, by `hearth test`.
    return all.filter { $0.hasSuffix(".yaml") && $0 != "many-devices.yaml" }.sorted()
  }()

  @Test func thereAreScenarios() { #expect(Self.files.count >= 10) }

  @Test(arguments: files) func passes(_ file: String) async throws {
    for scenario in try ScenarioDefinition.variants("\(Self.folder)/\(file)") {
      let (result, _) = await scenario.simulate(seed: 1)
      #expect(result.isPassed, "\(result)")
    }
  }

  @Test(arguments: files) func findsItsFault(_ file: String) async throws {
    let variants = try ScenarioDefinition.variants("\(Self.folder)/\(file)")
    guard let mutant = variants.first?.mutant else { return }
    // One of the variants is enough.
    for scenario in variants {
      if await !scenario.simulate(seed: 1, mutant: mutant).result.isPassed { return }
    }
    Issue.record("\(file) passes with \(mutant.rawValue)")
  }

  /// A fault that no scenario is there for would be of no use.
  @Test func everyFaultHasItsScenario() throws {
    let all = try FileManager.default.contentsOfDirectory(atPath: Self.folder).filter { $0.hasSuffix(".yaml") }
    let found = try all.compactMap { try ScenarioDefinition.variants("\(Self.folder)/\($0)").first?.mutant }
    #expect(Set(found) == Set(Mutant.allCases))
  }
}
