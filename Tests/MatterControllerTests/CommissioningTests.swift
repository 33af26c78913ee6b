import MatterCertificates
import MatterClusters
import MatterController
import MatterCrypto
import MatterModel
import MatterProtocol
import Testing

@Suite struct CommissioningTests {
  /// The finished steps, in order.
  private func steps(_ world: World, _ id: OperationID) -> [CommissioningStep] {
    world.events.compactMap {
      if case .commissioningStep(id, let step, .finished) = $0.event { step } else { nil }
    }
  }

  @Test func performsStepsInOrder() throws {
    var world = try World()
    try world.addDevice(discriminator: 0xABC)
    let id = world.controller.commission(
      CommissioningRequest(SetupPayload(discriminator: .short(0xA), passcode: 20_202_021)), at: world.now)
    guard case .commissioned(let result)? = try world.result(of: id)?.get() else {
      Issue.record("not commissioned")
      return
    }
    #expect(steps(world, id) == CommissioningStep.allCases)
    #expect(
      world.devices[0].log == [
        "Read", "ArmFailSafe", "SetRegulatoryConfig", "CertificateChainRequest", "CertificateChainRequest",
        "AttestationRequest", "CSRRequest", "AddTrustedRootCertificate", "AddNOC", "CommissioningComplete",
      ])
    #expect(result.nodeID == 1)
    #expect(result.fabricIndex == 1)
    #expect(result.attestationFailure == nil && result.attestation == .test)
    #expect(result.information.productName == "Lamp")
    #expect(result.information.endpoints.map(\.id) == [0, 1])
    #expect(result.information.endpoints.last?.deviceTypes == [0x0100])
    #expect(world.browsed.isEmpty)
    #expect(world.controller.isConnected(1))
    #expect(world.completions(of: id) == 1)
    // No artificial delays: 3 round trips for PASE, 10 for requests, 2 for CASE, at 2 ms each.
    #expect(result.duration <= .milliseconds(2 * 18))
    // The device holds our root and a certificate for node 1.
    #expect(world.devices[0].core.fabric(1)?.nodeID == 1)
    #expect(world.devices[0].rootCertificate == world.controller.fabric.rootCertificate)
  }

  @Test(arguments: [
    ("ArmFailSafe", CommissioningStep.armFailSafe), ("SetRegulatoryConfig", .setRegulatoryConfig),
    ("CertificateChainRequest", .requestAttestation), ("AttestationRequest", .requestAttestation),
    ("CSRRequest", .requestSigning), ("AddTrustedRootCertificate", .addTrustedRoot), ("AddNOC", .addCertificate),
    ("CommissioningComplete", .complete),
  ])
  func failsWhenAStepIsRefused(_ command: String, _ step: CommissioningStep) throws {
    var world = try World()
    try world.addDevice()
    world.devices[0].refusals[command] = Status(.invalidCommand)
    let id = world.controller.commission(
      CommissioningRequest(passcode: 20_202_021, target: .addresses([world.devices[0].address])), at: world.now)
    #expect(world.error(of: id) == .commissioningFailed(step, .status(Status(.invalidCommand))))
    // An armed fail-safe is disarmed.
    let arms = world.devices[0].log.filter { $0 == "ArmFailSafe" }.count
    #expect(arms == (command == "ArmFailSafe" ? 1 : 2))
    if command != "ArmFailSafe" { #expect(world.devices[0].log.last == "ArmFailSafe") }
    #expect(world.controller.nodes.isEmpty)
    #expect(world.browsed.isEmpty)
    #expect(world.store["peer/0000000000000001"] == nil)
    // The next attempt succeeds once the device accepts the command.
    world.devices[0].refusals = [:]
    let again = world.controller.commission(
      CommissioningRequest(passcode: 20_202_021, target: .addresses([world.devices[0].address])), at: world.now)
    _ = try #require(try world.result(of: again)?.get())
  }

  @Test func timesOutWithoutAnAnswer() throws {
    var world = try World()
    try world.addDevice()
    world.devices[0].silent = ["AddNOC"]
    var request = CommissioningRequest(passcode: 20_202_021, target: .addresses([world.devices[0].address]))
    request.timeout = .seconds(5)
    let id = world.controller.commission(request, at: world.now)
    #expect(world.error(of: id) == .commissioningFailed(.addCertificate, .timedOut))
    #expect(world.devices[0].log.last == "ArmFailSafe")
    #expect(world.now >= .zero + .seconds(5) && world.now < .zero + .seconds(9))
  }

  @Test func appliesAttestationPolicy() throws {
    var world = try World { $0.attestation.trustedRoots = [] }
    try world.addDevice()
    var request = CommissioningRequest(passcode: 20_202_021, target: .addresses([world.devices[0].address]))
    let id = world.controller.commission(request, at: world.now)
    #expect(world.error(of: id) == .commissioningFailed(.verifyAttestation, .attestation(.init(.noTrustedRoot))))
    request.attestationPolicy = .proceedAnyway
    let again = world.controller.commission(request, at: world.now)
    guard case .commissioned(let result)? = try world.result(of: again)?.get() else {
      Issue.record("not commissioned")
      return
    }
    #expect(result.attestationFailure?.description == "noTrustedRoot" && result.attestation == .unverified)
  }

  @Test("rejects a test device without test keys allowed, unless the policy is to proceed")
  func rejectsTestDevices() throws {
    var world = try World { $0.attestation.acceptsTestKeys = false }
    try world.addDevice()
    var request = CommissioningRequest(passcode: 20_202_021, target: .addresses([world.devices[0].address]))
    let id = world.controller.commission(request, at: world.now)
    #expect(world.error(of: id) == .commissioningFailed(.verifyAttestation, .attestation(.init(.testKeys))))
    request.attestationPolicy = .proceedAnyway
    let again = world.controller.commission(request, at: world.now)
    guard case .commissioned(let result)? = try world.result(of: again)?.get() else {
      Issue.record("not commissioned")
      return
    }
    #expect(result.attestation == .test && result.attestationFailure?.isForTests == true)
    #expect(world.controller.node(result.nodeID)?.attestation == .test)
  }

  @Test func rejectsForgedAttestationSignature() throws {
    var world = try World()
    try world.addDevice()
    world.devices[0].signsWithOtherKey = true
    let id = world.controller.commission(
      CommissioningRequest(passcode: 20_202_021, target: .addresses([world.devices[0].address])), at: world.now)
    #expect(
      world.error(of: id) == .commissioningFailed(.verifyAttestation, .attestation(.init(.responseSignature))))
  }

  @Test func triesDevicesWithTheSameDiscriminatorInTurn() throws {
    var world = try World()
    try world.addDevice(passcode: 11_223_344, discriminator: 0x301)
    try world.addDevice(passcode: 20_202_021, discriminator: 0x302)
    let id = world.controller.commission(
      CommissioningRequest(passcode: 20_202_021, target: .discriminator(.short(3))), at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    #expect(world.devices[0].log.isEmpty)
    #expect(world.devices[1].log.last == "CommissioningComplete")
    #expect(world.controller.node(1)?.address == world.devices[1].address)
  }

  @Test(arguments: [CommissioningRequest.Target.discriminator(.long(0x302)), .discriminator(.short(3)), .any])
  func findsDeviceWithoutSubtypes(_ target: CommissioningRequest.Target) throws {
    var world = try World()
    world.publishesSubtypes = false
    if target != .any { try world.addDevice(discriminator: 0x402) }
    try world.addDevice(discriminator: 0x302)
    let id = world.controller.commission(CommissioningRequest(passcode: 20_202_021, target: target), at: world.now)
    world.run(for: .milliseconds(1999))
    #expect(
      !world.browsed.contains(.commissionable(.any)), "all devices were queried before the matching ones could answer")
    _ = try #require(try world.result(of: id)?.get())
    #expect(world.now < .zero + .seconds(3))
    #expect(target == .any || world.devices[0].log.isEmpty, "a device with another discriminator was tried")
    #expect(world.devices.last?.log.last == "CommissioningComplete")
    #expect(world.browsed.isEmpty)
  }

  @Test func reportsWrongPasscodeAndMissingDevice() throws {
    var world = try World()
    try world.addDevice(passcode: 11_223_344, discriminator: 0x301)
    let wrong = world.controller.commission(
      CommissioningRequest(passcode: 20_202_021, target: .discriminator(.long(0x301))), at: world.now)
    #expect(world.error(of: wrong) == .commissioningFailed(.connectByPasscode, .wrongPasscode))
    #expect(world.now < .zero + .seconds(3))
    let absent = world.controller.commission(
      CommissioningRequest(passcode: 20_202_021, target: .discriminator(.long(0x777))), at: world.now)
    let start = world.now
    #expect(world.error(of: absent) == .commissioningFailed(.discover, .notFound))
    #expect(world.now - start == .seconds(15))
    #expect(world.browsed.isEmpty)
    let unreachable = world.controller.commission(
      CommissioningRequest(
        passcode: 20_202_021, target: .addresses([SocketAddress(.loopback6, port: 9)])), at: world.now)
    #expect(world.error(of: unreachable) == .commissioningFailed(.connectByPasscode, .unreachable))
    let bad = world.controller.commission(
      CommissioningRequest(passcode: 12_345_678, target: .any), at: world.now)
    #expect(world.error(of: bad) == .invalidRequest("passcode 12345678: invalid"))
  }

  @Test func triesSecondAddressWhenTheFirstIsDead() throws {
    var world = try World()
    try world.addDevice()
    let id = world.controller.commission(
      CommissioningRequest(
        passcode: 20_202_021, target: .addresses([SocketAddress(.loopback6, port: 9), world.devices[0].address])),
      at: world.now)
    _ = try #require(try world.result(of: id)?.get())
    #expect(world.now < .zero + .seconds(4))
  }

  @Test func revertsCanceledCommissioning() throws {
    var world = try World()
    try world.addDevice()
    let id = world.controller.commission(
      CommissioningRequest(passcode: 20_202_021, target: .addresses([world.devices[0].address])), at: world.now)
    while !world.devices[0].log.contains("CSRRequest"), world.step(until: .zero + .seconds(5)) {}
    world.controller.cancel(id, at: world.now)
    #expect(world.error(of: id) == .canceled)
    #expect(world.devices[0].log.last == "ArmFailSafe")
    #expect(world.completions(of: id) == 1)
  }

  @Test func succeedsWithAnyOneDatagramLost() throws {
    var number = 0
    while true {
      var world = try World()
      try world.addDevice()
      let lost = number
      world.loses = { $0 == lost }
      let id = world.controller.commission(
        CommissioningRequest(passcode: 20_202_021, target: .discriminator(.long(0xF00))), at: world.now)
      let result = world.result(of: id)
      guard case .success(.commissioned)? = result else {
        Issue.record("datagram \(number): \(String(describing: result))")
        return
      }
      number += 1
      if number > world.datagramCount { break }
    }
    #expect(number > 30)
  }
}
