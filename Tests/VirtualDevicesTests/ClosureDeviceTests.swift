import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import VirtualDevices

/// Closures of definition files.
@Suite("Closures") struct ClosureDeviceTests {
  private func device(_ fields: String) throws -> DeviceDefinition {
    let text = "devices:\n  - name: Thing\n    type: closure\n    \(fields)\n"
    return try #require(try HomeDefinition.load(simulating: [("home.yaml", text)]).devices.first)
  }

  private func engine(_ fields: String = "", now: Instant = .zero) throws -> DeviceEngine {
    try DeviceEngine(
      device(fields), stored: [:], BehaviorClock(origin: .zero, now: now, seed: 0, rooms: Rooms()))
  }

  /// Advances an engine from timer to timer.
  private func run(_ engine: inout DeviceEngine, to seconds: Int64) {
    let end = Instant.zero + .seconds(seconds)
    while true {
      while engine.nextEffect() != nil {}
      guard let next = engine.nextDeadline, next <= end else { break }
      engine.advance(to: next)
    }
    engine.advance(to: end)
  }

  private func problem(_ fields: String) -> String? {
    let error = #expect(throws: DefinitionError.self) { try device(fields) }
    return error?.problems.map(\.description).joined(separator: "\n")
  }

  // MARK: Definitions

  @Test func readsClosures() throws {
    #expect(try device("room: Hall").closure == nil)
    let settings = try #require(
      try device(
        """
        travel: 20s
            closure:
              kind: gate
              latch: remote unlatching
              speeds: false
              ventilation: none
              pedestrian: 60%
              signature: 12.5%
              position: null
              latched: true
              panels:
                Left Wing: { rotates: left, range: [0°, 90°], travel: 12s }
                Right Wing: { rotates: centered vertical, overflow: right outside }
                Slats: { modulates: slats openwork, limits: [10%, 80%], resolution: 5%, step: 20% }
        """
      ).closure)
    #expect(settings.use == .gate)
    var expected = ClosureSettings(panels: [
      ClosurePanelSettings("Left Wing", .rotation(.left, .outside), unit: .degree, unitRange: 0...90),
      ClosurePanelSettings("Right Wing", .rotation(.centeredVertical, .rightOutside), unit: nil, unitRange: 0...0),
      ClosurePanelSettings("Slats", .modulation(.slatsOpenwork), unit: nil, unitRange: 0...0),
    ])
    expected.panels[0].travel = .seconds(12)
    (expected.panels[2].limits, expected.panels[2].resolution, expected.panels[2].step) = (1000...8000, 500, 2000)
    (expected.latch, expected.hasSpeeds, expected.ventilation) = (.remoteUnlatching, false, nil)
    (expected.pedestrian, expected.signature, expected.position, expected.isLatched) = (6000, 1250, nil, true)
    #expect(settings.settings == expected)
  }

  @Test(arguments: [
    ("kind: roof", "home.yaml:4:22: found “roof”, expected “garage door”, “gate”,"),
    ("latch: maybe", "home.yaml:4:23: found “maybe”, expected “none”, “remote”,"),
    ("pedestrian: 0%", "home.yaml:4:28: found “0%”, expected a position from 1% to 99% closed, or “none”"),
    ("signature: none", "home.yaml:4:27: found “none”, expected a position from 1% to 99% closed"),
    ("signature: 90%", "home.yaml:4:14: found the same position twice, expected different positions"),
    ("position: far", "home.yaml:4:26: found “far”, expected a share from 0% (open)"),
    ("latched: 1", "home.yaml:4:25: found 1, expected true or false"),
    ("latch: none, latched: true", "home.yaml:4:38: found true, expected false for a closure without a latch"),
    ("panel: {}", "home.yaml:4:16: found key “panel”, expected a key of a closure"),
    ("panels: { A: {} }", "home.yaml:4:29: found a panel without a movement, expected one of"),
    ("panels: { A: { moves: up } }", "home.yaml:4:38: found “up”, expected"),
    (
      "panels: { A: { moves: upward, rotates: left } }",
      "home.yaml:4:29: found moves and rotates, expected one of “moves: upward”"
    ),
    ("panels: { A: { moves: upward, overflow: inside } }", "home.yaml:4:56: found “overflow”, expected this key only"),
    (
      "panels: { A: { rotates: centered vertical, overflow: outside } }",
      "home.yaml:4:69: found “outside”, expected the side of a centered axis"
    ),
    ("panels: { A: { moves: upward, range: [0°, 400°] } }", "home.yaml:4:53: found a list, expected two ascending"),
    ("panels: { A: { moves: upward, limits: [90%, 10%] } }", "home.yaml:4:54: found a list, expected two ascending"),
    ("panels: { A: { moves: upward, resolution: 3% } }", "home.yaml:4:29: found a mapping, expected multiples of"),
    ("panels: { A: { moves: upward, travel: 2h } }", "home.yaml:4:54: found “2h”, expected a time of at most 1h"),
  ]) func reportsProblems(_ fields: String, _ message: String) {
    let problem = problem("closure: { \(fields) }")
    #expect(problem?.hasPrefix(message) == true, "\(problem ?? "")")
  }

  @Test func composition() throws {
    let endpoints = DeviceAssembly.endpoints(
      of: try device("closure: { kind: awning, panels: { A: { moves: forward }, B: { rotates: top } } }"))
    #expect(endpoints.map(\.id) == [1, 2, 3])
    #expect(endpoints.map { $0.deviceTypes.map(\.id) } == [[0x0230], [0x0231], [0x0231]])
    #expect(endpoints[0].parts == [2, 3] && endpoints[1].parts == [])
    #expect(endpoints[0].tags.map { [$0.namespaceID, $0.tag] } == [[0x44, 0], [0x46, 1]])
    #expect(endpoints[1].tags.map { [$0.namespaceID, $0.tag] } == [[0x45, 2], [0x07, 1]])
    #expect(endpoints[2].tags.map { [$0.namespaceID, $0.tag] } == [[0x45, 1], [0x07, 2]])
    #expect(DeviceAssembly.endpoints(of: try device("closure: { panels: {} }")).count == 1)
  }

  // MARK: Behavior

  @Test func movesAndIsDisplayed() throws {
    var engine = try engine("travel: 10s")
    func text() -> String? { VirtualDevice.position(&engine, on: 1) }
    #expect(text() == "fully closed")
    try engine.press(ClosureControl.moveTo, .init(position: .moveToFullyOpen), on: 1, at: .zero)
    run(&engine, to: 3)
    #expect(text() == "partially opened, moving")
    #expect(engine.value(ClosureDimension.currentState, on: 2)?.wrapped?.position == .value(7000))
    run(&engine, to: 10)
    #expect(text() == "fully opened")
    try engine.press(
      ClosureControl.moveTo, .init(position: .moveToFullyClosed, latch: true), on: 1, at: .zero + .seconds(10))
    run(&engine, to: 30)
    #expect(text() == "fully closed, latched")
    try engine.act(part: "latch", "open", on: 1, at: .zero + .seconds(30))
    try engine.act(part: "position", "40%", on: 1, at: .zero + .seconds(30))
    try engine.act(part: "way", "blocked", on: 1, at: .zero + .seconds(30))
    try engine.press(ClosureControl.moveTo, .init(position: .moveToFullyClosed), on: 1, at: .zero + .seconds(30))
    #expect(text() == "partially opened, error: physically blocked")
  }

  @Test("a closure without panels moves itself") func movesWithoutPanels() throws {
    var engine = try engine("travel: 4s\n    closure: { panels: {}, position: 0%, latch: none }")
    try engine.press(ClosureControl.moveTo, .init(position: .moveToFullyClosed), on: 1, at: .zero)
    run(&engine, to: 4)
    #expect(VirtualDevice.position(&engine, on: 1) == "fully closed")
  }

  @Test func idleClosureHasNoTimers() throws {
    let plug = try #require(
      try HomeDefinition.load(simulating: [("p.yaml", "devices:\n  - { name: Plug, type: plug }\n")]).devices.first)
    #expect(try engine().nextDeadline == DeviceEngine(plug).nextDeadline)
  }
}
