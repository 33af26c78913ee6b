import MatterClusters
import MatterController
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

/// Interactions after commissioning, repeated with each of their packets lost.
@Suite struct PacketLossTests {
  private let onOff = OnOff.onOff.path(on: 1)

  /// Runs an interaction without loss, then once for each of its packets with that packet lost.
  private func loseEach(_ interaction: (SimulatedHome) throws -> Void) throws {
    func run(_ lost: Int?) throws -> Int {
      let home = try SimulatedHome()
      home.world.trace.keepsEntries = false
      try home.commission()
      try home.world.run(for: .seconds(1))
      let begin = home.world.network.packetCount
      if let lost { home.world.network.drop(packet: begin + lost) }
      try interaction(home)
      if lost != nil { #expect(home.world.network.losses == [.picked: 1]) }
      return home.world.network.packetCount - begin
    }
    let count = try run(nil)
    #expect(count >= 3)
    for packet in 0..<count {
      do { _ = try run(packet) } catch { Issue.record("packet \(packet) of \(count): \(error)") }
    }
  }

  @Test func toggles() throws {
    try loseEach { home in
      for _ in 0..<3 {
        let before = try home.state()
        try home.toggle()
        #expect(home.isOn == !before)
      }
    }
  }

  /// A report of several messages arrives completely, with each attribute once.
  @Test func readsAllAttributes() throws {
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

  @Test func writesTimed() throws {
    try loseEach { home in
      let write = AttributeWrite(OnOff.onTime.path(on: 1), value: UInt16(77).tlv)
      let statuses = try home.write([write], timed: .seconds(10))
      #expect(statuses.map(\.status) == [.success])
      #expect(home.light.command { engine, _ in engine.value(OnOff.onTime, on: 1) } == 77)
    }
  }

  @Test func subscribes() throws {
    try loseEach { home in
      try home.subscribe(AttributePath(), maxInterval: .seconds(20))
      let before = try home.state()
      home.switchByHand(!before)
      try home.world.run(for: .seconds(30))
      home.switchByHand(before)
      try home.world.run(for: .seconds(60))
      // Whichever packet is lost, the last value is correct, and values arrive in order.
      let reported = try home.reports(of: onOff, as: Bool.self)
      #expect(reported.last == before)
      #expect(reported.contains(!before))
    }
  }
}
