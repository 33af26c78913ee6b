import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Simulation
import Testing

/// Random faults for half an hour of virtual time, then recovery on a perfect network. `hearth-bench random` runs many
/// more seeds with whole homes.
@Suite struct ChaosTests {
  @Test(arguments: 1...4) func recoversFromRandomFaults(seed: UInt64) throws {
    let home = try SimulatedHome(seed: seed)
    try home.commission()
    try home.subscribe(AttributePath(OnOff.onOff.path(on: 1)), maxInterval: .seconds(20))
    var random = SeededRandomSource(seed: seed &* 7919)
    var faults: [String] = []
    let end = home.world.now + .seconds(1800)
    while home.world.now < end {
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        faults.append("restart")
        home.light.restart()
      case 1:
        faults.append("power cut")
        home.light.cutPower()
        try home.world.run(for: .seconds(Int64.random(in: 1...200, using: &random)))
        home.light.powerOn()
      case 2:
        faults.append("partition")
        home.world.network.partition([home.light.id], from: [home.controller.id])
        try home.world.run(for: .seconds(Int64.random(in: 1...200, using: &random)))
        home.world.network.heal()
      case 3:
        faults.append("bad link")
        home.world.network.conditions = LinkConditions(
          latency: .milliseconds(Int64.random(in: 1...300, using: &random)),
          jitter: .milliseconds(Int64.random(in: 0...500, using: &random)),
          loss: Ratio(UInt64.random(in: 0...5, using: &random), of: 10), duplication: Ratio(1, of: 5))
      case 4:
        faults.append("good link")
        home.world.network.conditions = .perfect
      case 5:
        faults.append("by hand")
        home.switchByHand(Bool.random(using: &random))
      case 6:
        faults.append("move")
        home.light.cutPower()
        let number = UInt64.random(in: 100...10_000, using: &random)
        home.light.move(to: SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: number, scope: 0), port: 5540))
        home.light.powerOn()
      default:
        faults.append("toggle")
        _ = home.controller.command { $0.invoke(1, [CommandData(OnOff.toggle.path(on: 1))], at: $1) }
      }
      try home.world.run(for: .seconds(Int64.random(in: 0...30, using: &random)))
    }

    home.world.network.heal()
    home.world.network.conditions = .perfect
    // The maximum back-off before a lost subscription is retried, with a margin.
    try home.world.run(for: .seconds(500))
    let hint: Comment = "seed \(seed): \(faults.joined(separator: ", "))"
    #expect(home.light.engine?.fabrics.count == 1, hint)
    let state = try home.state()
    #expect(try home.reports(of: OnOff.onOff.path(on: 1), as: Bool.self).last == state, hint)
    #expect(throws: Never.self, hint) { try home.toggle() }
    #expect(home.isOn == !state, hint)
    try home.world.run(for: .seconds(2))
    #expect(try home.reports(of: OnOff.onOff.path(on: 1), as: Bool.self).last == !state, hint)
  }
}
