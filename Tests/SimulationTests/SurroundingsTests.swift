import MatterClusters
import MatterController
import MatterCrypto
import MatterDevice
import MatterModel
import MatterProtocol
import Runtime
import Simulation
import Testing

/// Imperfect networks and clocks: unreachable or changing addresses, and wrong clocks.
@Suite struct SurroundingsTests {
  private static let v4 = SocketAddress(.v4(0x0A00_0007), port: 5540)
  private static let v6 = SocketAddress(.v6(high: 0xFD00_0000_0000_0000, low: 7, scope: 0), port: 5540)

  /// A real machine signs with a random nonce, a simulated one deterministically, so that runs are reproducible.
  @Test func signaturesAreDeterministicOnlyInSimulation() throws {
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

  /// Commissioning, a subscription and a toggle.
  private func commissionSubscribeAndToggle(_ home: SimulatedHome) throws {
    try home.commission()
    try home.subscribe(AttributePath(OnOff.onOff.path(on: 1)))
    let before: Bool = try home.state()
    try home.toggle()
    #expect(home.isOn == !before)
    try home.world.run(for: .seconds(2))
    #expect(try home.reports(of: OnOff.onOff.path(on: 1), as: Bool.self) == [before, !before])
  }

  /// A device with one family only, and one that also announces unreachable addresses of the other family.
  @Test(arguments: [v4, v6], [[], [IPAddress.v4(0x0A00_0063)], [.v6(high: 0xFD00_0000_0000_0000, low: 99, scope: 0)]])
  func worksWithOneAddressFamily(_ address: SocketAddress, dead: [IPAddress]) throws {
    let home = try SimulatedHome(lightAddress: address)
    home.world.discovery.deadAddresses = [home.light.id: dead]
    // The publication from its first start does not have these addresses.
    home.light.restart()
    try commissionSubscribeAndToggle(home)
    #expect(home.controller.engine?.nodes.map(\.address) == [address])
    #expect((home.world.network.losses[.noSuchAddress] ?? 0 > 0) == !dead.isEmpty)
    // Also after both have lost their session.
    home.controller.restart()
    home.controller.forgetEvents()
    home.light.restart()
    try home.toggle()
  }

  /// The address changes during a subscription: reports resume at the new address, whether DNS-SD announces it or the
  /// device itself sends from there.
  @Test(arguments: [true, false], [v4, v6])
  func followsAddressChangeDuringSubscription(announces: Bool, to address: SocketAddress) throws {
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
    // The address is also stored.
    home.controller.restart()
    home.controller.forgetEvents()
    try home.toggle()
  }

  /// Unix time: one second after the start of 2000, where a clock without a battery starts; 2010; 2099.
  /// Nil: no clock.
  @Test(arguments: [nil, .seconds(946_684_801), .seconds(1_262_304_000), .seconds(4_070_908_800)] as [Duration?])
  func toleratesWrongDeviceClock(epoch: Duration?) throws {
    let home = try SimulatedHome {
      $0.epoch = epoch
    } controller: {
      $0.notBefore = ControllerConfiguration.earliestNotBefore
      // 2026-11-22.
      $0.currentTime = .seconds(848_620_800)
    }
    try commissionSubscribeAndToggle(home)
    home.light.restart()
    try home.reconnect()
    try home.toggle()
  }

  /// The controller's time since 2000: none, 2099.
  @Test(arguments: [nil, .seconds(3_124_224_000)] as [Duration?], [nil, .seconds(1_795_305_600)] as [Duration?])
  func toleratesWrongControllerClock(time: Duration?, epoch: Duration?) throws {
    let home = try SimulatedHome {
      $0.epoch = epoch
    } controller: {
      $0.notBefore = ControllerConfiguration.earliestNotBefore
      $0.currentTime = time
    }
    try commissionSubscribeAndToggle(home)
  }

  /// A clock before the validity of all certificates is not ignored silently: the failed step is reported, and can be
  /// overridden.
  @Test func reportsControllerClockBeforeCertificates() throws {
    let home = try SimulatedHome { _ in
    } controller: {
      $0.notBefore = ControllerConfiguration.earliestNotBefore
      $0.currentTime = .seconds(1)
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
