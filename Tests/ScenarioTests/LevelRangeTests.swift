import HearthHome
import HomeText
import MatterClusters
import MatterModel
import Scenario
import Simulation
import Testing
import VirtualDevices

@Suite("Levels and wildcards in a home") struct LevelRangeTests {
  private static let home = """
    devices:
      - name: Speaker
        room: Den
        type: dimmable light
        attributes:
          levelControl.currentLevel: 20
          levelControl.maxLevel: 100
      - { name: Lamp, room: Den, type: on/off light }
      - { name: Bell, room: Den, type: generic switch }
      - { name: Lamp, room: Hall, type: on/off light }
    """

  @Test("scales a percentage to the device's maximum level") func percentages() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(Self.home), seed: 1) { home, world in
      let target = try await home.registry.resolve("speaker")
      let path = LevelControl.currentLevel.path(on: 1)
      var levels: [UInt8?] = []
      for percent in [40.0, 100, 0.1] {
        let part = try await home.dim(target, to: .percent(percent), over: 0)[0]
        let report = try await home.read(target.device, [AttributePath(path)])
        let level = report[path].flatMap { try? Nullable<UInt8>(tlv: $0.value) }?.wrapped
        #expect(part.level == level)
        levels.append(level)
      }
      _ = try await home.dim(target, to: .percent(60), over: 0)
      try await world.simulation.sleep(for: .seconds(2))
      let text = try await home.devices().list().first { $0.name == "Speaker" }?.state.text
      return (levels, text)
    }
    let (levels, text) = try run.result.get()
    #expect(levels == [40, 100, 1] && text == "on 60%")
  }

  @Test("refuses a wire level that the device can't have") func outOfRange() async throws {
    let definition = try SimulatedHomeTests.definition(
      """
      devices:
        - name: Speaker
          type: dimmable light
          attributes:
            levelControl.currentLevel: 50
            levelControl.minLevel: 20
            levelControl.maxLevel: 100
      """)
    let run = await simulate(definition, seed: 1) { home, _ in
      let target = try await home.registry.resolve("speaker")
      for level in [5, 200] as [UInt8] {
        let error = await #expect(throws: HomeError.self) {
          _ = try await home.dim(target, to: .encoded(level), over: 0)
        }
        #expect(error?.code == .badArguments)
        #expect(error?.message == "level \(level) is out of range; expected 0 or 20 to 100")
      }
      var levels: [UInt8?] = []
      for level in [20, 100, 0] as [UInt8] {
        levels.append(try await home.dim(target, to: .encoded(level), over: 0).first?.level)
      }
      return levels
    }
    #expect(try run.result.get() == [20, 100, 0])
  }

  @Test("a scenario reads and shows percentages of the highest level that the device has") func scenario() async throws
  {
    let passing = try ScenarioFileTests.load(
      Self.home + """

        steps:
          - do: level speaker 50%
          - expect: { actual speaker.levelControl.currentLevel: 50%, speaker.levelControl.currentLevel: 50%, within: 5s }
          - set: { speaker.levelControl.currentLevel: 60% }
          - expect: { actual speaker.levelControl.currentLevel: 60, speaker.levelControl.currentLevel: 60%, within: 5s }
        """)
    let result = await passing.simulate(seed: 1).result
    #expect(result.failure == nil, "\(result.failure.map { "\($0)" } ?? "")")
    let failing = try ScenarioFileTests.load(
      Self.home + """

        steps:
          - do: level speaker 50%
          - expect: { actual speaker.levelControl.currentLevel: 30%, within: 1s }
        """)
    let failure = try #require(await failing.simulate(seed: 1).result.failure)
    #expect(failure.message.contains("30%: it is 50%"), "\(failure.message)")
    #expect(failure.timeline.contains { $0.contains("currentLevel = 50%") }, "\(failure.timeline)")
  }

  @Test("a wildcard for a color skips lights without colors") func colors() async throws {
    let definition = try SimulatedHomeTests.definition(
      """
      devices:
        - { name: White, room: Den, type: color temperature light }
        - { name: Strip, room: Den, type: extended color light }
        - { name: Plain, room: Hall, type: color temperature light }
        - { name: Desk, room: Hall, type: color temperature light }
      """)
    let run = await simulate(definition, seed: 1) { home, _ in
      func names(_ texts: String..., color: LightColor) async throws -> [String] {
        try await home.targets(texts, showing: color).map(\.device.name).sorted()
      }
      let red = LightColor.rgb(red: 255, green: 0, blue: 0)
      for target in try await home.targets(["*"], showing: red) { _ = try await home.color(target, red, over: 0) }
      let none = await #expect(throws: HomeError.self) { _ = try await names("hall", color: red) }
      #expect(none?.code == .notFound)
      // A light that is named is not left out.
      #expect(try await names("white", "strip", color: red) == ["Strip", "White"])
      let all = try await names("*", color: red)
      let den = try await names("den", color: red)
      let white = try await names("*", color: .kelvin(2700))
      return (all, den, white)
    }
    let (all, den, white) = try run.result.get()
    #expect(all == ["Strip"] && den == ["Strip"] && white == ["Desk", "Plain", "Strip", "White"])
  }

  @Test("a wildcard and a room skip devices without On/Off") func wildcards() async throws {
    let run = await simulate(try SimulatedHomeTests.definition(Self.home), seed: 1) { home, _ in
      let registry = await home.registry
      func labels(_ texts: String...) throws -> [String] {
        try registry.resolve(all: texts, serving: OnOff.id).map(\.device.label).sorted()
      }
      for target in try registry.resolve(all: ["*"], serving: OnOff.id) { _ = try await home.turn(target, .off) }
      return (try labels("*"), try labels("den"), try labels("hall/*"))
    }
    let (all, den, hall) = try run.result.get()
    #expect(all == ["Den/Lamp", "Hall/Lamp", "Speaker"] && den == ["Den/Lamp", "Speaker"] && hall == ["Hall/Lamp"])
  }
}
