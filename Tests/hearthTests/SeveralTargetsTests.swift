import Foundation
import Testing

/// Commands for several devices at once, with real processes on loopback.
@Suite("Several targets", .serialized, .processes) struct SeveralTargetsTests {
  @Test("reads each value under the name of its own device", .timeLimit(.minutes(10)))
  func valuesKeepTheirDevice() async throws {
    let hearth = Hearth()
    // Other runs must not have devices with the same codes, which are made from the names.
    let name = "Several " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(hearth, definition: "devices:\n  - { name: \(name), type: dimmable light, count: 2 }\n")
    try #require(fleet.codes.count == 2)
    for (code, (name, level)) in zip(fleet.codes, [("Low", "20%"), ("High", "80%")]) {
      let paired = try await hearth("pair", code, "--name", name)
      #expect(paired.status == 0, "\(paired.errors)")
      #expect(try await hearth("level", name, level).status == 0)
    }
    let on = try await hearth("read", "low.onOff.onOff").output.trimmingCharacters(in: .newlines)
    let expected: Set = [
      ["Low/1.levelControl.currentLevel", "20%"], ["High/1.levelControl.currentLevel", "80%"],
      ["Low/1.onOff.onOff", on],
    ]
    let paths = ["low.levelControl.currentLevel", "high.levelControl.currentLevel", "low.onOff.onOff"]
    // In both orders of the devices, and repeatedly: the answers arrive in any order.
    for paths in [paths, Array(paths.reversed()), paths, paths] {
      let read = try await hearth.run(["read"] + paths)
      #expect(read.status == 0, "\(read.errors)")
      let rows = read.output.split(separator: "\n").dropFirst().map { $0.split(separator: " ").map(String.init) }
      #expect(rows.count == 3 && Set(rows) == expected, "\(read.output)")

      let json = try await hearth.run(["read"] + paths + ["--json"])
      let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
      let values = try #require(object["data"] as? [[String: Any]])
      #expect(values.count == 3)
      for value in values {
        let device = try #require(value["device"] as? String)
        if value["attribute"] as? String == "currentLevel" {
          #expect(value["text"] as? String == (device == "Low" ? "20%" : "80%"), "\(json.output)")
        } else {
          #expect(device == "Low" && value["attribute"] as? String == "onOff", "\(json.output)")
        }
      }
      #expect(Set(values.compactMap { $0["nodeID"] as? String }).count == 2, "\(json.output)")
    }
  }
}
