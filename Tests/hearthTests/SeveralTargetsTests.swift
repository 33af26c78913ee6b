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

  @Test("writes, invokes, waits for and removes the devices of a room", .timeLimit(.minutes(10)))
  func roomsAreTargets() async throws {
    let hearth = Hearth()
    let name = "Room " + UUID().uuidString.prefix(8)
    let fleet = try await Fleet(
      hearth,
      definition: """
        devices:
          - { name: \(name), type: dimmable light, count: 2 }
          - { name: \(name) Plug, type: plug }
        """)
    try #require(fleet.codes.count == 3)
    for (code, name) in zip(fleet.codes, ["Low", "High", "Plug"]) {
      #expect(try await hearth("pair", code, "--name", name, "--room", "Den").status == 0)
    }
    // Only the devices of a room that have the cluster.
    let written = try await hearth("write", "den.levelControl.onLevel=50%", "high.levelControl.onLevel=20%")
    #expect(written.status == 0 && written.output == "Low: written\nHigh: written\n", "\(written.errors)")
    #expect(try await hearth("read", "low.levelControl.onLevel").output == "50%\n")
    #expect(try await hearth("read", "high.levelControl.onLevel").output == "20%\n")
    let json = try await hearth("write", "den.levelControl.onLevel=30%", "--json")
    #expect(json.output.components(separatedBy: #""written":1,"ok":true"#).count == 3, "\(json.output)")
    // One that fails does not affect the others.
    let partly = try await hearth("write", "low.levelControl.onLevel=40%", "high.levelControl.currentLevel=1")
    #expect(partly.status == 10 && partly.output == "Low: written\n" && partly.errors.contains("High: "))
    #expect(try await hearth("write", "attic.levelControl.onLevel=40%").status == 3)

    #expect(try await hearth("invoke", "den.onOff.on").status == 0)
    let waited = try await hearth("wait", "den", "--for", "onOff=true", "--timeout", "5m")
    #expect(waited.status == 0 && waited.output == "Low: onOff is true\nHigh: onOff is true\nPlug: onOff is true\n")
    // Each endpoint once, also if it is named twice.
    let toggled = try await hearth("invoke", "low.onOff.toggle", "low/1.onOff.toggle", "plug.onOff.toggle")
    #expect(toggled.output == "Low: onOff.toggle done\nPlug: onOff.toggle done\n", "\(toggled.errors)")
    let late = try await hearth(
      "wait", "low", "high", "--for", "onOff=false", "--for", "connectivity=online", "--timeout", "8s")
    #expect(late.status == 11 && late.errors.contains("High: onOff is true, not false"), "\(late.errors)")
    #expect(late.output == "Low: onOff is false, connectivity is online\n", "\(late.output)")
    let both = try await hearth(
      "invoke", "low.levelControl.moveToLevelWithOnOff", "high.levelControl.moveToLevelWithOnOff", "level=40%")
    #expect(both.status == 0, "\(both.errors)")
    #expect(
      try await hearth("wait", "den", "--for", "currentLevel=40%", "--timeout", "5m").output
        == "Low: currentLevel is 40%\nHigh: currentLevel is 40%\n")
    let wrong = try await hearth("invoke", "den.levelControl.moveToLevel", "level", "40%")
    #expect(wrong.status == 2 && wrong.errors.contains("“level” is not a field"), "\(wrong.errors)")

    #expect(try await hearth("remove", "den", "low").output == "removed Low\nremoved High\nremoved Plug\n")
    #expect(try await hearth("rooms").output.contains("Den"))
  }
}
