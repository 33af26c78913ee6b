import HearthHome
import HomeControl
import MatterClusters
import MatterDevice
import MatterModel
import MatterProtocol
import Testing

@testable import Simulation

/// Changes of the addresses of the home's own host.
@Suite struct AddressChangeTests {
  private func move(_ home: FollowedHome, to number: UInt64) {
    home.home.move(
      to: SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: number, scope: 0), port: home.home.address.port))
    home.home.command { engine, now in engine.addressesChanged(at: now) }
  }

  @Test func renewsSubscriptions() throws {
    let home = try FollowedHome()
    try home.start()
    let count = home.log.count
    for number in [77, 78, 79] as [UInt64] {
      try home.world.run(for: .seconds(20))
      let wasOn = try home.lampState()
      move(home, to: number)
      // The report goes to the former address.
      home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, !wasOn, on: 1, at: now) }
      #expect(try home.run(for: .seconds(3)) { home.lampIsOn($0) == !wasOn }, "\(number)")
      home.lamp.command { engine, now in try? engine.act(set: OnOff.onOff, wasOn, on: 1, at: now) }
      #expect(try home.run(for: .seconds(3)) { home.lampIsOn($0) == wasOn }, "\(number)")
    }
    // The devices never counted as offline.
    try home.world.run(for: .seconds(100))
    let changes = home.log.dropFirst(count).flatMap(\.changes)
    #expect(!changes.contains { if case .connectivity = $0 { true } else { false } }, "\(changes)")
  }

  /// Otherwise the device would be tried again only after minutes.
  @Test func retriesUnreachableDevicesAtOnce() throws {
    let home = try FollowedHome()
    try home.start()
    home.world.network.partition([home.home.id], from: [home.lamp.id])
    #expect(try home.run(for: .seconds(7200)) { $0.devices["1"]?.isOnline == false })
    try home.world.run(for: .seconds(3600))
    home.world.network.heal()
    move(home, to: 77)
    #expect(try home.run(for: .seconds(3)) { $0.devices["1"]?.isOnline == true })
  }
}
