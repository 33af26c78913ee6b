import Foundation
import MatterClusters
import MatterProtocol
import Testing

@testable import VirtualDevices

/// The key `behave` of a definition file.
@Suite("Definitions of behaviors") struct BehaviorDefinitionTests {
  private func load(
    _ type: String, _ behave: String, files: [String: String] = [:]
  ) throws(DefinitionError) -> BehaviorDefinition? {
    let text = "devices:\n  - name: A\n    type: \(type)\n    behave:\n      \(behave)\n"
    return try HomeDefinition.load(
      simulating: [("rooms/home.yaml", text)],
      opening: { name, file in
        guard let text = files[name], file == "rooms/home.yaml" else { throw CocoaError(.fileReadNoSuchFile) }
        return text
      }
    ).devices.first?.behaviors.first
  }

  private func course(_ type: String, _ behave: String, files: [String: String] = [:]) throws -> Behavior.Course {
    try #require(try load(type, behave, files: files)).course
  }

  private let temperature = "temperatureMeasurement.measuredValue: "

  @Test func readsCourses() throws {
    let sine = try course("temperature sensor", temperature + "{ sine: { mean: 12C, amplitude: 8 °C, period: 24h } }")
    #expect(
      sine
        == .sine(
          mean: 12, amplitude: 8, period: .seconds(86_400), every: .seconds(240), .measure(.hundredthsOfDegree)))
    #expect(
      try course(
        "temperature sensor", temperature + "{ sine: { mean: 1200, amplitude: 5, period: 4s, every: 200ms } }")
        == .sine(mean: 1200, amplitude: 5, period: .seconds(4), every: .milliseconds(200), .integer))
    #expect(
      try course(
        "humidity sensor", "relativeHumidityMeasurement.measuredValue: { walk: { from: 40%, to: 60%, step: 0.5% } }")
        == .walk(from: 50, in: 40...60, step: 0.5, every: .seconds(60), .measure(.hundredthsOfPercent)))
    #expect(
      try course("on/off light", "onOff.onOff: { steps: [true for 30s, off for 5m] }")
        == .steps(
          [.init(.boolean(true), at: .zero), .init(.boolean(false), at: .seconds(30))], period: .seconds(330)))
    #expect(
      try course("temperature sensor", temperature + "{ steps: [21.5C for 1h, null for 1m, 2200] }")
        == .steps([
          .init(.integer(2150), at: .zero), .init(.null, at: .seconds(3600)), .init(.integer(2200), at: .seconds(3660)),
        ]))
    #expect(
      try course("occupancy sensor", "occupancySensing.occupancy: { steps: [true for 1m, false for 1m, occupied] }")
        == .steps([
          .init(.integer(1), at: .zero), .init(.integer(0), at: .seconds(60)), .init(.integer(1), at: .seconds(120)),
        ]))
  }

  @Test func readsFiles() throws {
    let steps: [Behavior.Step] = [.init(.integer(2000), at: .zero), .init(.integer(2150), at: .seconds(900))]
    let byDuration = ["a.csv": "time,value\n0s, 20C\n15m, 21.5 °C\n\n"]
    #expect(
      try course("temperature sensor", temperature + "{ file: a.csv }", files: byDuration) == .steps(steps, period: nil)
    )
    let byDate = ["a.csv": "2026-07-01T06:00:00Z,2000\r\n2026-07-01T06:15:00Z,2150\r\n"]
    #expect(
      try course("temperature sensor", temperature + "{ file: a.csv, period: 24h }", files: byDate)
        == .steps(steps, period: .seconds(86_400)))
  }

  @Test(
    "reports problems with their lines",
    arguments: [
      ("{ sin: { mean: 1C } }", "5:47: found key “sin”, expected a key of a behavior, did you mean “sine”?"),
      ("21C", "5:45: found “21C”, expected one of “sine:”, “walk:”, “steps:”, “file:”, “room:” or “expression:”"),
      (
        "{ period: 5s }",
        "5:45: found no behavior, expected one of “sine:”, “walk:”, “steps:”, “file:”, “room:” or “expression:”"
      ),
      ("{ sine: { mean: 12C, amplitude: 8C } }", "5:53: found no “period”, expected “period: …”"),
      (
        "{ sine: { mean: 12C, amplitude: 8, period: 1h } }",
        "5:53: found numbers with and without a unit, expected the unit with each one"
      ),
      (
        "{ sine: { mean: 12.5, amplitude: 8C, period: 1h } }",
        "5:61: found 12.5, expected a number with the unit °C, or an encoded integer"
      ),
      (
        "{ sine: { mean: 80C, amplitude: 8C, period: 1h } }",
        "5:53: found 88.0°C, expected a number from -40.0 °C to 85.0 °C, or null"
      ),
      (
        "{ walk: { from: 2C, to: 1C, step: 1C } }",
        "5:53: found a mapping, expected “from” below “to”, and a “step” above 0 that is at most their difference"
      ),
      (
        "{ steps: [21C for 30s, 99C for 1h] }", "5:68: found “99C”, expected a number from -40.0 °C to 85.0 °C, or null"
      ),
      ("{ steps: [21C, 22C for 1h] }", "5:55: found “21C”, expected a value and its time, such as “21C for 30s”"),
      (
        "{ sine: { mean: 12C, amplitude: 8C, period: 365d } }",
        "5:89: found “365d”, expected a time of at least 100 ms and less than 365 days, such as 30s, 5m or 24h"
      ),
      ("{ steps: [warm for 1h] }", "5:55: found “warm”, expected a number from -40.0 °C to 85.0 °C, or null"),
      (
        "{ steps: [] }",
        "5:54: found a list, expected a list of 1 to 256 steps, such as [true for 30s, false for 5m]"
      ),
      (
        "{ steps: [21C for 1ms] }",
        "5:55: found “21C for 1ms”, expected a value and its time, such as “21C for 30s”"
      ),
    ])
  func reports(_ behavior: String, _ message: String) {
    let error = #expect(throws: DefinitionError.self) { try load("temperature sensor", temperature + behavior) }
    #expect(error?.problems.map(\.description).first == "rooms/home.yaml:" + message)
  }

  @Test func reportsProblemsOfFiles() {
    func problem(_ text: String, _ more: String = "") -> String? {
      let error = #expect(throws: DefinitionError.self) {
        try load("temperature sensor", temperature + "{ file: a.csv\(more) }", files: ["a.csv": text])
      }
      return error?.problems.first?.description
    }
    #expect(
      problem("0s,20C\n0s,21C\n") == "rooms/a.csv:2:1: found “0s”, expected a later time than in the line before")
    #expect(
      problem("0s,20C\nnoon,21C\n")
        == "rooms/a.csv:2:1: found “noon,21C”, expected a time, a comma and a value, such as “15m, 21.5C”")
    #expect(
      problem("0s,20C\n10s,\n")
        == "rooms/a.csv:2:1: found “10s,”, expected a time, a comma and a value, such as “15m, 21.5C”")
    #expect(problem("0s, 90C\n") == "rooms/a.csv:1:5: found “90C”, expected a number from -40.0 °C to 85.0 °C, or null")
    #expect(problem("time,value\n")?.contains("found an empty file") == true)
    #expect(problem("0s,20C\n1h,21C\n", ", period: 1h")?.contains("expected a time after the last one") == true)
    let long = (0...100_000).map { "\($0)s,20C\n" }.joined()
    #expect(problem(long) == "rooms/a.csv:100001:1: found a further line, expected at most 100000 lines")
    let missing = #expect(throws: DefinitionError.self) {
      try load("temperature sensor", temperature + "{ file: b.csv }")
    }
    #expect(missing?.problems.first?.description.hasPrefix("rooms/home.yaml:5:53: found “b.csv”, which can't") == true)
  }

  @Test("reads files with a byte order mark, and names directories") func opensFiles() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "behave-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try Data([0xEF, 0xBB, 0xBF] + Array("0s,20C\n15m,21C\n".utf8)).write(to: URL(filePath: directory + "/a.csv"))
    #expect(try TextFile.read(directory + "/a.csv").hasPrefix("0s,"))
    func load(_ file: String) throws(DefinitionError) -> BehaviorDefinition? {
      let behave = temperature + "{ file: \(file) }"
      let text = "devices:\n  - { name: A, type: temperature sensor, behave: { \(behave) } }\n"
      return try HomeDefinition.load(
        simulating: [(directory + "/home.yaml", text)], opening: HomeDefinition.openFile
      ).devices.first?.behaviors.first
    }
    #expect(
      try load("a.csv")?.course
        == .steps([.init(.integer(2000), at: .zero), .init(.integer(2100), at: .seconds(900))], period: nil))
    for (file, reason) in [(".", "is a directory"), ("b.csv", "no such file")] {
      let error = #expect(throws: DefinitionError.self) { try load(file) }
      #expect(error?.problems.first?.found == "“\(file)”, which can't be read (\(reason))")
    }
  }

  @Test func rejectsAttributesOfOtherDevicesAndTypes() {
    func problem(_ behave: String) -> String? {
      let error = #expect(throws: DefinitionError.self) { try load("contact sensor", behave) }
      return error?.problems.first?.description
    }
    #expect(
      problem(temperature + "{ steps: [21C for 1h, 22C for 1h] }")
        == "rooms/home.yaml:5:7: found 1.temperatureMeasurement.measuredValue, expected an attribute that the device has"
    )
    #expect(
      problem("booleanState.stateValue: { sine: { mean: 1, amplitude: 1, period: 1h } }")
        == "rooms/home.yaml:5:40: found a mapping, expected “steps”, “file” or “expression”: the attribute is not a number"
    )
    #expect(
      problem(
        "booleanState.stateValue: { steps: [true for 1h, false] }\n    attributes: { booleanState.stateValue: on }")
        == "rooms/home.yaml:5:7: found attribute “booleanState.stateValue” again, "
        + "expected each attribute once; it is in line 6 already")
    #expect(problem("booleanState.stateValue: { steps: [true], period: 1h }")?.contains("only beside “file”") == true)
  }

  @Test("without files, none is opened") func opensNoFileByDefault() {
    let text =
      "devices:\n  - name: A\n    type: rain sensor\n    behave: { booleanState.stateValue: { file: /dev/zero } }\n"
    #expect(throws: DefinitionError.self) { try HomeDefinition.load(simulating: [("home.yaml", text)]) }
  }

  @Test("attributes accept units") func attributesAcceptUnits() throws {
    let text = "devices:\n  - name: A\n    type: temperature sensor\n    attributes: { \(temperature)-5.5 °C }\n"
    let device = try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
    #expect(device.initialValues.first?.value == .integer(-550))
  }

  @Test("docs/definition-files.md names each key and each type") func documentsKeysAndTypes() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let text = try String(contentsOf: root.appending(path: "docs/definition-files.md"), encoding: .utf8)
    for key in DefinitionReader.deviceKeys { #expect(text.contains("`\(key)`"), "\(key)") }
    for kind in DeviceKind.all { #expect(text.contains(kind.name), "\(kind.name)") }
  }
}
