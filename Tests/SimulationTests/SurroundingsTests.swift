import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Simulation
import Testing

/// Networks and clocks as they are in real homes: addresses that lead nowhere or change, and clocks that are wrong.
@Suite struct SurroundingsTests {
  private static let v4 = SocketAddress(.v4(0x0A00_0007), port: 5540)
  private static let v6 = SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: 7, scope: 0), port: 5540)

  /// A real machine signs with a random number, as it must; a simulated one always the same, as a run is to be repeated.
  @Test func aRealMachineSignsByChanceAndASimulatedOneDoesNot() throws {
    var random = SystemRandomSource()
    let key = P256PrivateKey(random: &random)
    let message: [UInt8] = Array("Sigma2".utf8)
    func signatures(_ machine: any Machine) throws -> Set<[UInt8]> {
      let made = try (0..<3).map { _ in try machine.signatures.sign(message: message, with: key) }
      for signature in made { #expect(key.publicKey.verify(signature, of: message)) }
      return Set(made)
    }
    let host = HostMachine()
    #expect(host.signatures is OpenSSLSignatures)
    #expect(try signatures(host).count == 3)
    let world = World(seed: 1)
    #expect(try signatures(world.addMachine("one")).count == 1)
    #expect(try signatures(world.addMachine("one")) == signatures(World(seed: 2).addMachine("two")))
  }

  /// Found, commissioned, switched, followed.
  private func story(_ home: SimulatedHome) throws {
    try home.commission()
    try home.subscribe(AttributePath(OnOff.onOff.path(on: 1)))
    let before: Bool = try home.state()
    try home.toggle()
    #expect(home.isOn == !before)
    try home.world.run(for: .seconds(2))
    #expect(try home.reports(of: OnOff.onOff.path(on: 1), as: Bool.self) == [before, !before])
  }

  /// A device that has one family alone, and one that tells addresses of the other, too, where it can't be reached.
  @Test(arguments: [v4, v6], [[], [IPAddress.v4(0x0A00_0063)], [.v6(high: 0xFD00_0000_0000_0000, low: 99, scope: 0)]])
  func oneFamilyIsEnough(_ address: SocketAddress, dead: [IPAddress]) throws {
    let home = try SimulatedHome(lightAddress: address)
    home.world.discovery.deadAddresses = [home.light.id: dead]
    // What it published when it was switched on did not have those yet.
    home.light.restart()
    try story(home)
    #expect(home.controller.engine?.nodes.map(\.address) == [address])
    #expect((home.world.network.losses[.noSuchAddress] ?? 0 > 0) == !dead.isEmpty)
    // Also after both have forgotten their session.
    home.controller.restart()
    home.controller.forgetEvents()
    home.light.restart()
    try home.toggle()
  }

  /// The lease is over while the controller follows the device: it hears of changes again, at the new address, whether DNS-SD
  /// tells of that or the device itself is heard from there.
  @Test(arguments: [true, false], [v4, v6])
  func anAddressThatChangesUnderASubscription(announces: Bool, to address: SocketAddress) throws {
    let home = try SimulatedHome()
    try home.commission()
    let onOff = OnOff.onOff.path(on: 1)
    try home.subscribe(AttributePath(onOff), maxInterval: .seconds(30))
    home.light.move(to: address, announces: announces)
    home.controller.forgetEvents()
    let state: Bool = try home.state()
    home.switchByHand(!state)
    try home.world.run(for: .seconds(600))
    #expect(try home.reports(of: onOff, as: Bool.self).last == !state)
    try home.toggle()
    #expect(home.isOn == state)
    try home.world.run(for: .seconds(2))
    #expect(try home.reports(of: onOff, as: Bool.self).last == state)
    #expect(home.controller.engine?.nodes.map(\.address) == [address])
    // It is remembered, too.
    home.controller.restart()
    home.controller.forgetEvents()
    try home.toggle()
  }

  /// Milliseconds of Unix time: the beginning of 2000 and a second, which is where a clock without a battery begins; 2010;
  /// 2099. Nil: no clock.
  @Test(arguments: [nil, 946_684_801_000, 1_262_304_000_000, 4_070_908_800_000] as [Int64?])
  func aDeviceWhoseClockIsWrong(epoch: Int64?) throws {
    let home = try SimulatedHome {
      $0.epoch = epoch
    } controller: {
      $0.notBefore = ControllerConfiguration.earliestNotBefore
      // 2026-11-22.
      $0.currentTime = 848_620_800
    }
    try story(home)
    home.light.restart()
    try home.toggle()
  }

  /// Seconds since 2000 as the controller has them: none, 2099.
  @Test(arguments: [nil, 3_124_224_000] as [Int64?], [nil, 1_795_305_600_000] as [Int64?])
  func aControllerWhoseClockIsWrong(time: Int64?, epoch: Int64?) throws {
    let home = try SimulatedHome {
      $0.epoch = epoch
    } controller: {
      $0.notBefore = ControllerConfiguration.earliestNotBefore
      $0.currentTime = time
    }
    try story(home)
  }

  /// A clock that is before all certificates is not taken for right in silence: what it makes fail is named, and may be
  /// overridden.
  @Test func aControllerThatLivesInThePast() throws {
    let home = try SimulatedHome { _ in
    } controller: {
      $0.notBefore = ControllerConfiguration.earliestNotBefore
      $0.currentTime = 1
    }
    do {
      try home.commission()
      Issue.record("it was commissioned")
    } catch ControllerError.commissioningFailed(.verifyAttestation, _) {
    }
    #expect(home.light.engine?.fabrics.isEmpty == true)
    var request = CommissioningRequest(
      passcode: SimulatedHome.passcode, target: .discriminator(.long(SimulatedHome.discriminator)))
    request.attestationPolicy = .proceedAnyway
    guard case .commissioned(let outcome) = try home.result(of: { $0.commission(request, at: $1) }) else {
      Issue.record("not commissioned")
      return
    }
    #expect(outcome.attestationFailure != nil)
    let toggled = try home.result { $0.invoke(outcome.nodeID, [CommandData(OnOff.toggle.path(on: 1))], at: $1) }
    guard case .invoked(let results) = toggled else {
      Issue.record("\(toggled)")
      return
    }
    try results.checkStatus()
  }
}
