import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

/// Stories after commissioning, told again with each of their packets lost.
@Suite struct PacketLossTests {
  private let onOff = OnOff.onOff.path(on: 1)

  /// Runs a story whole, then once for each of its packets without it.
  private func loseEach(_ story: (SimulatedHome) throws -> Void) throws {
    func run(_ lost: Int?) throws -> Int {
      let home = try SimulatedHome()
      home.world.trace.keepsEntries = false
      try home.commission()
      try home.world.run(for: .seconds(1))
      let begin = home.world.network.packetCount
      if let lost { home.world.network.drop(packet: begin + lost) }
      try story(home)
      if lost != nil { #expect(home.world.network.losses == [.picked: 1]) }
      return home.world.network.packetCount - begin
    }
    let count = try run(nil)
    #expect(count >= 3)
    for packet in 0..<count {
      do { _ = try run(packet) } catch { Issue.record("packet \(packet) of \(count): \(error)") }
    }
  }

  @Test func switching() throws {
    try loseEach { home in
      for _ in 0..<3 {
        let before = try home.state()
        try home.toggle()
        #expect(home.isOn == !before)
      }
    }
  }

  /// A report of many messages comes whole, each of its attributes once.
  @Test func readingEverything() throws {
    var whole: [ConcreteAttributePath]?
    try loseEach { home in
      let report = try home.read([AttributePath()])
      let paths = report.attributes.map(\.path)
      #expect(paths.count > 150)
      #expect(Set(paths).count == paths.count)
      #expect(report.statuses.isEmpty)
      if let whole { #expect(paths == whole) } else { whole = paths }
    }
  }

  @Test func timedWriting() throws {
    try loseEach { home in
      let write = AttributeWrite(OnOff.onTime.path(on: 1), value: UInt16(77).tlv)
      let statuses = try home.write([write], timed: .seconds(10))
      #expect(statuses.map(\.status) == [.success])
      #expect(home.light.command { engine, _ in engine.value(OnOff.onTime, on: 1) } == 77)
    }
  }

  @Test func subscribing() throws {
    try loseEach { home in
      try home.subscribe(AttributePath(), maxInterval: .seconds(20))
      let before = try home.state()
      home.switchByHand(!before)
      try home.world.run(for: .seconds(30))
      home.switchByHand(before)
      try home.world.run(for: .seconds(60))
      // Whatever was lost, the last word is right, and nothing was told in the wrong order.
      let told = try home.reports(of: onOff, as: Bool.self)
      #expect(told.last == before)
      #expect(told.contains(!before))
    }
  }
}
